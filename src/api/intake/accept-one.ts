import { canonicalEventId } from "../../event/formats.ts";
import { messageIdOfEvent, messageIdOfKey } from "../../log/message-id.ts";
import type { Outcome } from "../../log/outcome.ts";
import { recordStart } from "../../log/record.ts";
import type { AcceptedEvent, Refusal } from "./answer.ts";
import { readBodyText } from "./body-text.ts";
import { type JsonSlice, sliceBody } from "./json/slice.ts";
import { judge, toRecord, unknownIn, type ValidEvent } from "./judge.ts";
import { receiptOf } from "./receipt.ts";
import { replayDuplicate } from "./replay.ts";
import type { IntakeDependencies, Submission } from "./submission.ts";

export type SingleSubmission = Submission & { readonly idempotencyKey: string | undefined };

export const acceptOne = async (
  dependencies: IntakeDependencies,
  submission: SingleSubmission,
): Promise<AcceptedEvent | Refusal> => {
  const body = readBodyText(submission.body);
  if (body === undefined) return { kind: "invalid_utf8" };
  const sliced = sliceBody(body.text);
  if (sliced.kind === "invalid_json") return sliced;
  const { slice } = sliced;
  const judged = judge(dependencies.validate, slice, dependencies.now().getTime());
  if (judged.kind === "too_large") return { kind: "event_too_large" };
  if (judged.kind === "invalid") return { ...judged, kind: "invalid_request" };

  const admission = submission.admit(1);
  // Most keys are admitted synchronously; awaiting would cost them a turn.
  const admitted = admission instanceof Promise ? await admission : admission;
  if (admitted.kind === "limited") return admitted;
  const { idempotencyKey, tenant, requestId } = submission;
  if (submission.isResent) {
    const answer = await answerEarlier(dependencies, { tenant, judged, slice });
    if (!submission.isStillAllowed()) return { kind: "key_ended" };
    if (answer) return answer;
  }
  const receivedAt = dependencies.now().toISOString();
  const { event, warnings } = judged;
  const messageId =
    idempotencyKey === undefined
      ? messageIdOfEvent(tenant, canonicalEventId(event.event_id))
      : messageIdOfKey(tenant, idempotencyKey);
  const start = recordStart({ tenant, receivedAt, requestId });
  const record = toRecord({
    subject: dependencies.subjectOf(tenant, event),
    start,
    body,
    slice,
    messageId,
  });
  const appended = dependencies.appender.append([record]);
  // Computed while the broker syncs. An event that is not stored needs no hash, but that is rare.
  const leafHash = receiptOf(record);
  const outcome = (await appended)[0];
  if (!outcome) throw new Error("append answers every record");
  if (warnings.length > 0) dependencies.onUnknownFields(unknownIn(warnings));
  if (outcome.kind !== "appended") {
    return answerOther(dependencies, { outcome, tenant, judged, slice, idempotencyKey });
  }
  dependencies.onAccepted({ tenant, receivedAt, events: 1 });
  const { sequence } = outcome;
  return {
    kind: "accepted",
    eventId: event.event_id,
    sequence,
    receivedAt,
    leafHash,
    duplicate: false,
    warnings,
  };
};

/** Undefined if the log does not hold the event. It is looked up by its event_id, whatever the Idempotency-Key is. */
const answerEarlier = async (
  dependencies: IntakeDependencies,
  { tenant, judged, slice }: { tenant: string; judged: ValidEvent; slice: JsonSlice },
): Promise<AcceptedEvent | Refusal | undefined> => {
  const eventId = canonicalEventId(judged.event.event_id);
  const earlier = await dependencies.earlier.find(tenant, [eventId]);
  if (earlier.kind !== "found") return earlier;
  const sequence = earlier.sequences.get(eventId);
  if (sequence === undefined) return undefined;
  if (judged.warnings.length > 0) dependencies.onUnknownFields(unknownIn(judged.warnings));
  const outcome = { kind: "duplicate", sequence } as const;
  return answerOther(dependencies, { outcome, tenant, judged, slice, idempotencyKey: undefined });
};

const answerOther = async (
  { reader }: IntakeDependencies,
  answered: {
    outcome: Exclude<Outcome, { readonly kind: "appended" }>;
    tenant: string;
    judged: ValidEvent;
    slice: JsonSlice;
    idempotencyKey: string | undefined;
  },
): Promise<AcceptedEvent | Refusal> => {
  const { outcome, tenant, judged, slice, idempotencyKey } = answered;
  switch (outcome.kind) {
    case "duplicate": {
      const { sequence } = outcome;
      const eventId = idempotencyKey === undefined ? canonicalEventId(judged.event.event_id) : undefined;
      const replay = await replayDuplicate(reader, sequence, { tenant, eventId, eventText: slice.text });
      if (replay.kind === "unavailable") return replay;
      if (replay.kind === "different") {
        return { kind: "conflict", identity: idempotencyKey === undefined ? "event_id" : "idempotency_key" };
      }
      return { kind: "accepted", ...replay.first, sequence, duplicate: true, warnings: judged.warnings };
    }
    case "refused":
      return { kind: outcome.reason, detail: outcome.detail };
    case "unknown":
      return { kind: "unavailable", detail: outcome.detail };
  }
};
