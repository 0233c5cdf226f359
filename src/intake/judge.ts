/** Text → record: is it UTF-8, is the event one we can take, and what does the log get. Pure. */
import { Buffer } from "node:buffer";
import { auditSubject } from "../../streams/subjects.ts";
import type { AuditEvent } from "../event/audit-event.ts";
import type { EventValidator, InvalidEvent, Problem, Warning } from "../event/validate.ts";
import { EVENT_BYTES_MAX, EVENT_DEPTH_MAX } from "../limits.ts";
import type { OutgoingRecord } from "../log/event-log.ts";
import { encodeRecord } from "../log/record.ts";
import type { JsonSlice } from "./json/slice.ts";
import type { Submission } from "./submission.ts";

export interface ValidSlice {
  readonly kind: "valid";
  readonly slice: JsonSlice;
  readonly event: AuditEvent;
  readonly warnings: readonly Warning[];
}

export type Judgement = ValidSlice | { readonly kind: "too_large" } | InvalidEvent;

/** A character takes at most three bytes per UTF-16 unit, so most texts need no counting. */
const isTooLarge = (text: string): boolean =>
  text.length > EVENT_BYTES_MAX ||
  (text.length * 3 > EVENT_BYTES_MAX && Buffer.byteLength(text) > EVENT_BYTES_MAX);

export const judge = (validate: EventValidator, slice: JsonSlice): Judgement => {
  if (isTooLarge(slice.text)) return { kind: "too_large" };
  const structural = structuralProblems(slice);
  if (structural.length > 0)
    return { kind: "invalid", problems: structural, problemCount: structural.length };
  const validation = validate(slice.value);
  return validation.kind === "valid" ? { ...validation, slice } : validation;
};

const structuralProblems = (slice: JsonSlice): readonly Problem[] => {
  if (slice.depth > EVENT_DEPTH_MAX) {
    const message = `The event is nested ${slice.depth} levels deep: send at most ${EVENT_DEPTH_MAX}.`;
    return [{ path: "", code: "too_deep", message }];
  }
  return slice.duplicateMembers.map((path) => ({
    path,
    code: "duplicate_member",
    message: "The member stands twice in one object: send it once.",
  }));
};

export const toRecord = ({
  submission,
  receivedAt,
  judged,
  messageId,
}: {
  submission: Submission;
  receivedAt: string;
  judged: ValidSlice;
  messageId: string;
}): OutgoingRecord => {
  const { tenant, requestId } = submission;
  const payload = encodeRecord({ tenant, receivedAt, requestId, eventText: judged.slice.text });
  return {
    subject: auditSubject(tenant, judged.event.asset_id, judged.event.event_type),
    messageId,
    payload,
    payloadBytes: Buffer.byteLength(payload),
  };
};

const decoder = new TextDecoder("utf-8", { fatal: true });

/** RFC 8259 §8.1: UTF-8; a byte order mark is ignored. */
export const decodeUtf8 = (body: Uint8Array): string | undefined => {
  try {
    return decoder.decode(body);
  } catch {
    return undefined;
  }
};
