/**
 * The intake: text → slices → judged events → records → outcomes → an answer. It knows nothing of HTTP and nothing of NATS. Between
 * judging and appending its caller decides whether the sender may: rate, key. Every accepted event is in the log, fsynced, before its answer
 * exists.
 */
import type { AuditEvent } from "../../event/audit-event.ts";
import { canonicalEventId } from "../../event/formats.ts";
import type { EventValidator } from "../../event/validate.ts";
import { BATCH_EVENTS_MAX, INTAKE_TURN_MS_MAX, PROBLEMS_PER_BATCH_MAX } from "../../limits.ts";
import type { AcceptedCounts } from "../../log/accepted-counts.ts";
import type { LogReader, RecordAppender } from "../../log/event-log.ts";
import { messageIdOfEvent, messageIdOfKey } from "../../log/message-id.ts";
import type { Outcome, Sequence } from "../../log/outcome.ts";
import { type PayloadText, RECORD_END, recordBytes, wholeText } from "../../log/payload.ts";
import { recordStart } from "../../log/record.ts";
import { leafHashOfText } from "../../proof/rfc6962.ts";
import { createPauses } from "../../runtime/pauses.ts";
import { type JsonSlice, sliceBatch, sliceBody } from "./json/slice.ts";
import {
  type JudgedEvent,
  type JudgedRequest,
  judge,
  notABatch,
  type Refusal,
  type Refused,
  type RejectedEvent,
  rejectInvalid,
  type Settled,
  unknownIn,
} from "./judge.ts";
import { type Repeat, readRepeats } from "./replay.ts";

interface Submission {
  readonly tenant: string;
  readonly requestId: string;
  readonly text: string;
}

export interface Intake {
  /** With an `idempotencyKey`, that is the identity of the event. */
  judgeOne(submission: Submission, idempotencyKey?: string): JudgedRequest | Refusal;
  /** One bad event never affects the others: each has its own outcome. */
  judgeBatch(submission: Submission): Promise<JudgedRequest | Refusal>;
  /** The events that the log already holds, of any age: for `resent=true`. The broker remembers ids for ten minutes. */
  findEarlier(request: JudgedRequest): Promise<FoundEarlier>;
  /** The result of each judged event, in the same order. */
  append(
    request: JudgedRequest,
    options: { readonly wantsReceipts: boolean; readonly earlier?: Sequences | undefined },
  ): Promise<readonly Settled[]>;
}

/** By identity. Such an event is answered as a repeat. */
type Sequences = ReadonlyMap<string, Sequence>;

export type FoundEarlier =
  /** Covers everything that was in the log when it was asked for. */
  | { readonly kind: "found"; readonly sequences: Sequences }
  | Extract<Refusal, { readonly kind: "view_behind" | "unavailable" }>;

export interface EarlierEvents {
  find(tenant: string, identities: readonly string[]): Promise<FoundEarlier>;
}

export interface IntakeDependencies {
  readonly appender: RecordAppender;
  readonly reader: Pick<LogReader, "read">;
  readonly earlier: EarlierEvents;
  readonly validate: EventValidator;
  readonly subjectOf: (tenant: string, event: AuditEvent) => string;
  readonly now: () => Date;
  /** Called with what was stored and will be acknowledged. */
  readonly onAccepted: AcceptedCounts["add"];
  /** Called with the number of unknown members that were kept, for a metric. */
  readonly onUnknownFields: (count: number) => void;
}

export const createIntake = (dependencies: IntakeDependencies): Intake => ({
  judgeOne: (submission, idempotencyKey) => judgeOne(dependencies, submission, idempotencyKey),
  judgeBatch: (submission) => judgeBatch(dependencies, submission),
  findEarlier: ({ tenant, events }) =>
    dependencies.earlier.find(
      tenant,
      events.map(({ identity }) => identity),
    ),
  append: (request, options) => settle(dependencies, request, options),
});

const judgeOne = (
  dependencies: IntakeDependencies,
  submission: Submission,
  idempotencyKey: string | undefined,
): JudgedRequest | Refusal => {
  const sliced = sliceBody(submission.text);
  if (sliced.kind === "invalid_json") return sliced;
  const { receivedAt, judgeSlice } = createJudge(dependencies, submission);
  const event = judgeSlice(sliced.slice, 0, idempotencyKey);
  if (event.kind === "too_large") return { kind: "event_too_large" };
  if (event.kind === "invalid") return { ...event, kind: "invalid_request" };
  const { tenant } = submission;
  const isKeyed = idempotencyKey !== undefined;
  return { kind: "judged", tenant, receivedAt, isKeyed, events: [event], rejected: [], otherMembers: [] };
};

const judgeBatch = async (
  dependencies: IntakeDependencies,
  submission: Submission,
): Promise<JudgedRequest | Refusal> => {
  const { receivedAt, judgeSlice } = createJudge(dependencies, submission);
  const events: JudgedEvent[] = [];
  const rejected: RejectedEvent[] = [];
  let problemsLeft = PROBLEMS_PER_BATCH_MAX;
  const take = (slice: JsonSlice): void => {
    const index = events.length + rejected.length;
    const event = judgeSlice(slice, index);
    if (event.kind === "judged") return void events.push(event);
    const rejection = rejectInvalid(index, event, problemsLeft);
    problemsLeft -= Math.max(0, rejection.errors.length - 1);
    rejected.push(rejection);
  };
  const { text } = submission;
  const batch = await sliceBatch({
    text,
    eventsMax: BATCH_EVENTS_MAX,
    pause: createPauses(INTAKE_TURN_MS_MAX),
    take,
  });
  if (batch.kind === "invalid_json") return batch;
  if (batch.kind === "not_a_batch") return notABatch(batch);
  const { tenant } = submission;
  const { otherMembers } = batch;
  return { kind: "judged", tenant, receivedAt, isKeyed: false, events, rejected, otherMembers };
};

const createJudge = ({ validate, subjectOf, now }: IntakeDependencies, { tenant, requestId }: Submission) => {
  const time = now();
  const nowMs = time.getTime();
  const receivedAt = time.toISOString();
  const start = recordStart({ tenant, receivedAt, requestId });
  const judgeSlice = (slice: JsonSlice, index: number, idempotencyKey?: string): JudgedEvent | Refused => {
    const judged = judge(validate, slice, nowMs);
    if (judged.kind !== "valid") return judged;
    const { event, warnings } = judged;
    const identity = canonicalEventId(event.event_id);
    const messageId =
      idempotencyKey === undefined
        ? messageIdOfEvent(tenant, identity)
        : messageIdOfKey(tenant, idempotencyKey);
    const { text } = slice;
    return {
      kind: "judged",
      index,
      eventId: event.event_id,
      identity,
      warnings,
      tenant,
      subject: subjectOf(tenant, event),
      messageId,
      start,
      text,
      end: RECORD_END,
      bytes: recordBytes(start, text),
    };
  };
  return { receivedAt, judgeSlice };
};

/** Appends the events that were not found earlier. One result for each, in the same order. */
const settle = async (
  { appender, reader, onAccepted, onUnknownFields }: IntakeDependencies,
  { tenant, receivedAt, isKeyed, events }: JudgedRequest,
  { earlier, wantsReceipts }: { readonly earlier?: Sequences | undefined; readonly wantsReceipts: boolean },
): Promise<readonly Settled[]> => {
  const fresh = earlier === undefined ? events : events.filter(({ identity }) => !earlier.has(identity));
  const appended = appender.append(fresh);
  // While the broker syncs.
  const hashes = wantsReceipts ? fresh.map(receiptOf) : [];
  const outcomes = await appended;
  const settled: Settled[] = [];
  const repeats: Repeat[] = [];
  let [next, stored, unknownFields] = [0, 0, 0];
  for (const event of events) {
    const { eventId, identity, warnings } = event;
    if (warnings.length > 0) unknownFields += unknownIn(warnings);
    const known = earlier?.get(identity);
    const position = settled.length;
    const outcome =
      known === undefined ? outcomes[next++] : ({ kind: "duplicate", sequence: known } as const);
    if (outcome === undefined) throw new Error("append answers every record");
    if (outcome.kind === "appended") {
      stored++;
      const { sequence } = outcome;
      const leaf_hash = hashes[next - 1] ?? "";
      const receipt = { event_id: eventId, sequence, received_at: receivedAt, leaf_hash, duplicate: false };
      settled.push({ kind: "stored", receipt });
      continue;
    }
    if (outcome.kind === "duplicate")
      repeats.push({ position, sequence: outcome.sequence, event, isKeyed: isKeyed && known === undefined });
    settled.push(unsettled(outcome));
  }
  if (repeats.length > 0) await readRepeats({ reader, tenant, repeats, settled });
  if (stored > 0) onAccepted({ tenant, receivedAt, events: stored });
  if (unknownFields > 0) onUnknownFields(unknownFields);
  return settled;
};

const receiptOf = (record: PayloadText): string => leafHashOfText(wholeText(record));

/** Of a repeat until it has been read. */
const unsettled = (outcome: Exclude<Outcome, { readonly kind: "appended" }>): Settled => {
  if (outcome.kind === "duplicate") return { kind: "unavailable", detail: "" };
  return { kind: outcome.kind === "refused" ? outcome.reason : "unavailable", detail: outcome.detail };
};
