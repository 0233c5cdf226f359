/** Whether the event of a slice is valid. Pure. */
import { Buffer } from "node:buffer";
import type { EventValidator, InvalidEvent, Problem, Validation } from "../../event/validate.ts";
import type { Warning } from "../../event/warnings.ts";
import { BATCH_EVENTS_MAX, EVENT_BYTES_MAX, EVENT_DEPTH_MAX, PROBLEMS_PER_EVENT_MAX } from "../../limits.ts";
import type { Refusal } from "./answer.ts";
import type { JsonSlice } from "./json/slice.ts";
import type { RejectedEvent } from "./judged.ts";

type ValidEvent = Extract<Validation, { readonly kind: "valid" }>;
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

/** Lists the first problem, and as many others as the batch has left. */
export const rejectInvalid = (index: number, judged: Refused, othersMax: number): RejectedEvent => {
  if (judged.kind === "too_large") {
    const message = `The event is larger than ${EVENT_BYTES_MAX} bytes.`;
    return { index, code: "payload_too_large", message, problems: [], retryable: false };
  }
  const { problems, problemCount, eventId } = judged;
  const message = `The event has ${problemCount === 1 ? "one problem" : `${problemCount} problems`}; see errors.`;
  return {
    index,
    ...(eventId !== undefined && { eventId }),
    code: "invalid_event",
    message,
    problems: problems.slice(0, 1 + othersMax),
    retryable: false,
  };
};

export const notABatch = ({
  path,
  reason,
}: {
  path: string;
  reason: "type" | "missing" | "duplicate" | "count" | "members";
}): Refusal => {
  const problem: Record<typeof reason, Problem> = {
    type: {
      path,
      code: "invalid_type",
      message:
        path === "" ? 'Send an object: {"events": […]}.' : "events is not valid: send an array of events.",
    },
    missing: { path, code: "required", message: "events is required: send an array of events." },
    duplicate: { path, code: "duplicate_member", message: "events stands twice: send it once." },
    members: {
      path,
      code: "too_many",
      message: 'The body has many members beside "events": send an object with "events" alone.',
    },
    count: {
      path,
      code: "too_many",
      message: `events holds too many: send at most ${BATCH_EVENTS_MAX} per request.`,
    },
  };
  return { kind: "invalid_request", problems: [problem[reason]], problemCount: 1 };
};
