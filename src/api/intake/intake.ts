/**
 * The intake: text → slices → judged events → records → outcomes → an answer. It knows nothing of HTTP and nothing of NATS. Between
 * judging and appending its caller decides whether the sender may: rate, key. Every accepted event is in the log, fsynced, before its answer
 * exists.
 */
import { Buffer } from "node:buffer";
import { canonicalEventId } from "../../event/formats.ts";
import type { EventValidator, InvalidEvent, Problem, Validation } from "../../event/validate.ts";
import type { Warning } from "../../event/warnings.ts";
import {
  BATCH_EVENTS_MAX,
  EVENT_BYTES_MAX,
  EVENT_DEPTH_MAX,
  INTAKE_TURN_MS_MAX,
  PROBLEMS_PER_BATCH_MAX,
  PROBLEMS_PER_EVENT_MAX,
} from "../../limits.ts";
import type { AcceptedCounts } from "../../log/accepted-counts.ts";
import {
  type LogReader,
  messageIdOfEvent,
  messageIdOfKey,
  type OutgoingRecord,
  type PayloadText,
  RECORD_END,
  type RecordAppender,
  recordBytes,
  wholeText,
} from "../../log/event-log.ts";
import type { Outcome, Sequence } from "../../log/outcome.ts";
import { recordStart } from "../../log/record.ts";
import { leafHashOfText } from "../../proof/rfc6962.ts";
import { createPauses } from "../../runtime/pauses.ts";
import { type JsonSlice, sliceBatch, sliceBody } from "./json/slice.ts";
import { type Repeat, readRepeats, type Settled } from "./replay.ts";

/** Why a whole request was refused. */
export type Refusal =
  | { readonly kind: "invalid_json"; readonly detail: string }
  | { readonly kind: "invalid_request"; readonly problems: readonly Problem[]; readonly problemCount: number }
  | { readonly kind: "event_too_large" }
  | Exclude<Settled, { readonly kind: "stored" }>
  /** Unknown in time whether the log already holds the events. Nothing was stored. */
  | { readonly kind: "view_behind" };

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
export type Sequences = ReadonlyMap<string, Sequence>;

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
  readonly subjectOf: (tenant: string, assetId: string, eventType: string) => string;
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
  append: (request, options) => append(dependencies, request, options),
});

const judgeOne = (
  dependencies: IntakeDependencies,
  submission: Submission,
  idempotencyKey: string | undefined,
): JudgedRequest | Refusal => {
  const sliced = sliceBody(submission.text);
  if (sliced.kind === "invalid_json") return sliced;
  const arrival = arrivalOf(dependencies, submission);
  const event = judgeEvent(dependencies, arrival, sliced.slice, { index: 0, idempotencyKey });
  if (event.kind === "too_large") return { kind: "event_too_large" };
  if (event.kind === "invalid") return { ...event, kind: "invalid_request" };
  const { tenant, receivedAt } = arrival;
  const isKeyed = idempotencyKey !== undefined;
  return { kind: "judged", tenant, receivedAt, isKeyed, events: [event], rejected: NONE, otherMembers: NONE };
};

const NONE: readonly never[] = [];

const judgeBatch = async (
  dependencies: IntakeDependencies,
  submission: Submission,
): Promise<JudgedRequest | Refusal> => {
  const arrival = arrivalOf(dependencies, submission);
  const events: JudgedEvent[] = [];
  const rejected: RejectedEvent[] = [];
  let problemsLeft = PROBLEMS_PER_BATCH_MAX;
  const take = (slice: JsonSlice): void => {
    const index = events.length + rejected.length;
    const event = judgeEvent(dependencies, arrival, slice, { index });
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
  const { tenant, receivedAt } = arrival;
  const { otherMembers } = batch;
  return { kind: "judged", tenant, receivedAt, isKeyed: false, events, rejected, otherMembers };
};

/** What the events of a request share. */
const arrivalOf = ({ now }: IntakeDependencies, { tenant, requestId }: Submission) => {
  const time = now();
  const receivedAt = time.toISOString();
  return { tenant, receivedAt, nowMs: time.getTime(), start: recordStart({ tenant, receivedAt, requestId }) };
};

const judgeEvent = (
  { validate, subjectOf }: IntakeDependencies,
  { tenant, nowMs, start }: ReturnType<typeof arrivalOf>,
  slice: JsonSlice,
  { index, idempotencyKey }: { readonly index: number; readonly idempotencyKey?: string | undefined },
): JudgedEvent | Refused => {
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
    subject: subjectOf(tenant, event.asset_id, event.event_type),
    messageId,
    start,
    text,
    end: RECORD_END,
    bytes: recordBytes(start, text),
  };
};

/** Appends the events that were not found earlier. One result for each, in the same order. */
const append = async (
  dependencies: IntakeDependencies,
  request: JudgedRequest,
  { earlier, wantsReceipts }: Parameters<Intake["append"]>[1],
): Promise<readonly Settled[]> => {
  const { tenant, events } = request;
  const fresh = earlier === undefined ? events : events.filter(({ identity }) => !earlier.has(identity));
  const appended = dependencies.appender.append(fresh);
  // While the broker syncs.
  const hashes = wantsReceipts ? fresh.map(receiptOf) : NONE;
  const { settled, repeats } = settle(dependencies, request, { outcomes: await appended, hashes, earlier });
  if (repeats.length > 0) await readRepeats({ reader: dependencies.reader, tenant, repeats, settled });
  return settled;
};

const settle = (
  { onAccepted, onUnknownFields }: IntakeDependencies,
  { tenant, receivedAt, isKeyed, events }: JudgedRequest,
  found: {
    readonly outcomes: readonly Outcome[];
    readonly hashes: readonly string[];
    readonly earlier: Sequences | undefined;
  },
) => {
  const { outcomes, hashes, earlier } = found;
  const settled: Settled[] = [];
  const repeats: Repeat[] = [];
  let next = 0;
  let stored = 0;
  let unknownFields = 0;
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
  if (stored > 0) onAccepted({ tenant, receivedAt, events: stored });
  if (unknownFields > 0) onUnknownFields(unknownFields);
  return { settled, repeats };
};

const receiptOf = (record: PayloadText): string => leafHashOfText(wholeText(record));

/** Of a repeat until it has been read. */
const unsettled = (outcome: Exclude<Outcome, { readonly kind: "appended" }>): Settled => {
  if (outcome.kind === "duplicate") return { kind: "unavailable", detail: "" };
  return { kind: outcome.kind === "refused" ? outcome.reason : "unavailable", detail: outcome.detail };
};

type ValidEvent = Extract<Validation, { readonly kind: "valid" }>;
type Refused = { readonly kind: "too_large" } | InvalidEvent;

const TOO_LARGE = { kind: "too_large" } as const;

/** A character takes at most three bytes per UTF-16 unit, so most texts need no counting. */
const isTooLarge = (text: string): boolean =>
  text.length > EVENT_BYTES_MAX ||
  (text.length * 3 > EVENT_BYTES_MAX && Buffer.byteLength(text) > EVENT_BYTES_MAX);

const judge = (validate: EventValidator, slice: JsonSlice, now: number): ValidEvent | Refused => {
  if (isTooLarge(slice.text)) return TOO_LARGE;
  if (slice.depth > EVENT_DEPTH_MAX) return tooDeep(slice.depth);
  const judged = validate(slice.value, now);
  return slice.duplicateMembers.length > 0 ? withDuplicates(slice.duplicateMembers, judged) : judged;
};

/** What a metric counts in an accepted event: unknown members, keys and names. */
const unknownIn = (warnings: readonly Warning[]): number =>
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
const rejectInvalid = (index: number, judged: Refused, othersMax: number): RejectedEvent => {
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

const notABatch = ({
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
