/**
 * The intake: bytes → text → slices → valid events → records → outcomes → an answer. It knows nothing of HTTP and nothing of NATS. Every
 * accepted event is in the log, fsynced, before its answer exists.
 */
import { acceptBatch, type BatchSubmission } from "./accept-batch.ts";
import { acceptOne, type SingleSubmission } from "./accept-one.ts";
import type { AcceptedEvent, BatchAnswer, Refusal } from "./answer.ts";
import type { IntakeDependencies } from "./submission.ts";

export interface Intake {
  acceptOne(submission: SingleSubmission): Promise<AcceptedEvent | Refusal>;
  acceptBatch(submission: BatchSubmission): Promise<BatchAnswer | Refusal>;
}

export const createIntake = (dependencies: IntakeDependencies): Intake => ({
  acceptOne: (submission) => acceptOne(dependencies, submission),
  acceptBatch: (submission) => acceptBatch(dependencies, submission),
});
