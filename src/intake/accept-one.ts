import { canonicalEventId } from "../event/formats.ts";
import { messageIdOfEvent, messageIdOfKey } from "../log/message-id.ts";
import type { Outcome } from "../log/outcome.ts";
import type { AcceptedEvent, Refusal } from "./answer.ts";
import { sliceBody } from "./json/slice.ts";
import { decodeUtf8, judge, toRecord, type ValidSlice } from "./judge.ts";
import { replayDuplicate } from "./replay.ts";
import type { IntakeDependencies, Submission } from "./submission.ts";

export const acceptOne = async (
  dependencies: IntakeDependencies,
  submission: Submission & { readonly idempotencyKey?: string },
): Promise<AcceptedEvent | Refusal> => {
  const text = decodeUtf8(submission.body);
  if (text === undefined) return { kind: "invalid_utf8" };
  const sliced = sliceBody(text);
  if (sliced.kind === "invalid_json") return sliced;
  const judged = judge(dependencies.validate, sliced.slice);
  if (judged.kind === "too_large") return { kind: "event_too_large" };
  if (judged.kind === "invalid") return { ...judged, kind: "invalid_request" };

  const admission = await submission.admit(1);
  if (admission.kind === "limited") return admission;
  const { idempotencyKey, tenant } = submission;
  const receivedAt = dependencies.now().toISOString();
  const byEvent = messageIdOfEvent(tenant, canonicalEventId(judged.event.event_id));
  const messageId = idempotencyKey === undefined ? byEvent : messageIdOfKey(tenant, idempotencyKey);
  const record = toRecord({ submission, receivedAt, judged, messageId });
  const [outcome] = await dependencies.appender.append([record]);
  if (!outcome) throw new Error("append answers every record");
  if (judged.warnings.length > 0) dependencies.onUnknownFields(judged.warnings.length);
  return answerOne(dependencies, { outcome, judged, receivedAt, idempotencyKey });
};

const answerOne = async (
  { reader }: IntakeDependencies,
  {
    outcome,
    judged,
    receivedAt,
    idempotencyKey,
  }: {
    outcome: Outcome;
    judged: ValidSlice;
    receivedAt: string;
    idempotencyKey: string | undefined;
  },
): Promise<AcceptedEvent | Refusal> => {
  const { warnings } = judged;
  const eventId = judged.event.event_id;
  switch (outcome.kind) {
    case "appended":
      return {
        kind: "accepted",
        eventId,
        sequence: outcome.sequence,
        receivedAt,
        duplicate: false,
        warnings,
      };
    case "duplicate": {
      const replay = await replayDuplicate(reader, outcome.sequence, judged.slice.text);
      if (replay.kind === "unavailable") return replay;
      if (replay.kind === "different") {
        return { kind: "conflict", identity: idempotencyKey === undefined ? "event_id" : "idempotency_key" };
      }
      return { ...replay, kind: "accepted", eventId, sequence: outcome.sequence, duplicate: true, warnings };
    }
    case "refused":
      return { kind: outcome.reason, detail: outcome.detail };
    case "unknown":
      return { kind: "unavailable", detail: outcome.detail };
  }
};
