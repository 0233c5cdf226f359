/** Whether the event of a slice is valid. Pure. */
import { Buffer } from "node:buffer";
import type { EventValidator, InvalidEvent, Problem, Validation } from "../../event/validate.ts";
import type { Warning } from "../../event/warnings.ts";
import { BATCH_EVENTS_MAX, EVENT_BYTES_MAX, EVENT_DEPTH_MAX, PROBLEMS_PER_EVENT_MAX } from "../../limits.ts";
import type { OutgoingRecord } from "../../log/event-log.ts";
import type { Sequence } from "../../log/outcome.ts";
import type { JsonSlice } from "./json/slice.ts";

/** Why a whole request was refused. */
export type Refusal =
  | { readonly kind: "invalid_json"; readonly detail: string }
  | { readonly kind: "invalid_request"; readonly problems: readonly Problem[]; readonly problemCount: number }
  | { readonly kind: "event_too_large" }
  | { readonly kind: "conflict"; readonly identity: "event_id" | "idempotency_key" }
  | { readonly kind: "overloaded"; readonly detail: string }
  /** Unknown in time whether the log already holds the events. Nothing was stored. */
  | { readonly kind: "view_behind" }
  | { readonly kind: "unavailable"; readonly detail: string };

export interface JudgedRequest {
  readonly kind: "judged";
  readonly tenant: string;
  readonly receivedAt: string;
  /** The Idempotency-Key is the identity of its one event. */
  readonly isKeyed: boolean;
  readonly events: readonly JudgedEvent[];
  readonly rejected: readonly RejectedEvent[];
  readonly otherMembers: readonly string[];
}

/** A valid event, as the record to append. Its parsed form is not kept. */
export interface JudgedEvent extends OutgoingRecord {
  readonly kind: "judged";
  readonly index: number;
  readonly eventId: string;
  /** In canonical form (event/formats.ts). */
  readonly identity: string;
  readonly warnings: readonly Warning[];
}

/** Of an event in the log, in the terms of the answer. */
export interface Receipt {
  /** As spelt when first stored. */
  readonly event_id: string;
  readonly sequence: Sequence;
  readonly received_at: string;
  /** Empty if no receipt was asked for. */
  readonly leaf_hash: string;
  readonly duplicate: boolean;
}

/** The result of a judged event. Conflict: the log has another event with the same identity. */
export type Settled =
  | { readonly kind: "stored"; readonly receipt: Receipt }
  | Extract<Refusal, { readonly kind: "conflict" | "overloaded" | "unavailable" }>;

export const REJECTION_CODES = [
  "invalid_event",
  "payload_too_large",
  "event_id_conflict",
  "log_unavailable",
  "overloaded",
] as const;

/** What is wrong with one event of a batch, in the terms of the answer. */
export interface RejectedEvent {
  readonly index: number;
  readonly event_id?: string;
  readonly code: (typeof REJECTION_CODES)[number];
  readonly message: string;
  readonly errors: readonly Problem[];
  readonly retryable?: true;
}

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

/** What a metric counts in an accepted event: unknown members, keys and names. */
export const unknownIn = (warnings: readonly Warning[]): number =>
  warnings.reduce((count, { code }) => count + Number(code.startsWith("unknown_")), 0);

/** A value nested too deep is not walked, neither by the validator nor for duplicates, so nothing else is known about it. */
const tooDeep = (depth: number): InvalidEvent => {
  const message = `The event is nested ${depth} levels deep: send at most ${EVENT_DEPTH_MAX}.`;
  return { kind: "invalid", problems: [{ path: "", code: "too_deep", message }], problemCount: 1 };
};

/** Keeps the other problems too, so that one attempt shows them all. For a duplicate member only that is reported. */
const withDuplicates = (paths: readonly string[], judged: Validation): InvalidEvent => {
  const twice = new Set(paths);
  const duplicates: readonly Problem[] = paths.map((path) => ({
    path,
    code: "duplicate_member",
    message: "The member occurs twice in one object: send it once.",
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

/** Lists the first problem, and as many others as the batch still allows. */
export const rejectInvalid = (index: number, judged: Refused, othersMax: number): RejectedEvent => {
  if (judged.kind === "too_large") {
    const message = `The event is larger than ${EVENT_BYTES_MAX} bytes.`;
    return { index, code: "payload_too_large", message, errors: [] };
  }
  const { problems, problemCount, eventId } = judged;
  const message = `The event has ${problemCount === 1 ? "one problem" : `${problemCount} problems`}; see errors.`;
  return {
    index,
    ...(eventId !== undefined && { event_id: eventId }),
    code: "invalid_event",
    message,
    errors: problems.slice(0, 1 + othersMax),
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
    duplicate: { path, code: "duplicate_member", message: "events occurs twice: send it once." },
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
