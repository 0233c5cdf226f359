/** Slice → record: whether the event is valid, and what the log gets. Pure. */
import { Buffer } from "node:buffer";
import type { EventValidator, InvalidEvent, Problem, Validation } from "../../event/validate.ts";
import type { Warning } from "../../event/warnings.ts";
import { EVENT_BYTES_MAX, EVENT_DEPTH_MAX, PROBLEMS_PER_EVENT_MAX } from "../../limits.ts";
import type { OutgoingRecord } from "../../log/event-log.ts";
import { type BodyText, bytesOf } from "./body-text.ts";
import type { JsonSlice } from "./json/slice.ts";

export type ValidEvent = Extract<Validation, { readonly kind: "valid" }>;
export type Refused = { readonly kind: "too_large" } | InvalidEvent;
type Judgement = ValidEvent | Refused;

const TOO_LARGE = { kind: "too_large" } as const;

/** A character takes at most three bytes per UTF-16 unit, so most texts need no counting. */
const isTooLarge = (text: string): boolean =>
  text.length > EVENT_BYTES_MAX ||
  (text.length * 3 > EVENT_BYTES_MAX && Buffer.byteLength(text) > EVENT_BYTES_MAX);

export const judge = (validate: EventValidator, slice: JsonSlice, now: number): Judgement => {
  if (isTooLarge(slice.text)) return TOO_LARGE;
  if (slice.depth > EVENT_DEPTH_MAX) return tooDeep(slice.depth);
  const judged = validate(slice.value, now);
  return slice.duplicateMembers.length > 0 ? withDuplicates(slice.duplicateMembers, judged) : judged;
};

/** What a metric counts of an accepted event: members, keys and names that mean nothing here. */
export const unknownIn = (warnings: readonly Warning[]): number =>
  warnings.reduce((count, { code }) => count + Number(code.startsWith("unknown_")), 0);

/** A value that is nested too deep is not walked, neither by the validator nor for duplicate members. So nothing else is known about it. */
const tooDeep = (depth: number): InvalidEvent => {
  const message = `The event is nested ${depth} levels deep: send at most ${EVENT_DEPTH_MAX}.`;
  return { kind: "invalid", problems: [{ path: "", code: "too_deep", message }], problemCount: 1 };
};

/** Keeps the other problems too, so that one attempt shows them all. For a duplicate member only the duplication is reported. */
const withDuplicates = (paths: readonly string[], judged: Validation): InvalidEvent => {
  const twice = new Set(paths);
  const duplicates: readonly Problem[] = paths.map((path) => ({
    path,
    code: "duplicate_member",
    message: "The member stands twice in one object: send it once.",
  }));
  const others = judged.kind === "invalid" ? judged.problems.filter(({ path }) => !twice.has(path)) : [];
  const problems = [...duplicates, ...others].slice(0, PROBLEMS_PER_EVENT_MAX);
  const eventId = judged.kind === "invalid" ? judged.eventId : judged.event.event_id;
  return {
    kind: "invalid",
    problems,
    problemCount: duplicates.length + others.length,
    ...(eventId !== undefined && !twice.has("/event_id") && { eventId }),
  };
};

export const toRecord = (parts: {
  readonly subject: string;
  /** See recordStart. */
  readonly start: string;
  readonly body: BodyText;
  readonly slice: JsonSlice;
  readonly messageId: string;
}): OutgoingRecord => {
  const { subject, start, body, slice, messageId } = parts;
  return {
    subject,
    messageId,
    start,
    event: bytesOf(body, slice),
  };
};
