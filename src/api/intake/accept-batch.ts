import pLimit from "p-limit";
import { canonicalEventId } from "../../event/formats.ts";
import { MEMBER_CHARACTERS_SHOWN, pointerToken } from "../../event/json-pointer.ts";
import type { Problem } from "../../event/validate.ts";
import type { Warning } from "../../event/warnings.ts";
import { BATCH_EVENTS_MAX, EVENT_BYTES_MAX, PROBLEMS_PER_BATCH_MAX } from "../../limits.ts";
import type { LogReader, OutgoingRecord } from "../../log/event-log.ts";
import { messageIdOfEvent } from "../../log/message-id.ts";
import type { Outcome } from "../../log/outcome.ts";
import { recordStart } from "../../log/record.ts";
import type { BatchAnswer, BatchReceipt, Refusal, RejectedEvent } from "./answer.ts";
import { collectWarnings } from "./batch-warnings.ts";
import { type BodyText, readBodyText } from "./body-text.ts";
import { type JsonSlice, sliceBatch } from "./json/slice.ts";
import { judge, type Refused, toRecord, unknownIn } from "./judge.ts";
import { createPace } from "./pace.ts";
import { receiptOf } from "./receipt.ts";
import { type Replay, replayDuplicate } from "./replay.ts";
import type { IntakeDependencies, Submission } from "./submission.ts";

export type BatchSubmission = Submission & { readonly wantsReceipts: boolean };

/** One bad event never hurts the others: each has an outcome of its own. */
export const acceptBatch = async (
  dependencies: IntakeDependencies,
  submission: BatchSubmission,
): Promise<BatchAnswer | Refusal> => {
  const body = readBodyText(submission.body);
  if (body === undefined) return { kind: "invalid_utf8" };
  const now = dependencies.now();
  const receivedAt = now.toISOString();
  const events = createCollection(dependencies, submission, { body, now });
  const { take } = events;
  const batch = await sliceBatch({ text: body.text, eventsMax: BATCH_EVENTS_MAX, pace: createPace(), take });
  if (batch.kind === "invalid_json") return batch;
  if (batch.kind === "not_a_batch") return notABatch(batch);
  const { taken, rejected } = events;
  const admission = await submission.admit(taken.length + rejected.length);
  if (admission.kind === "limited") return admission;

  const outcomes = submission.isResent
    ? await appendUnlessEarlier(dependencies, submission, events)
    : await dependencies.appender.append(events.records);
  if ("kind" in outcomes) return outcomes;
  const { tenant } = submission;
  const replays = await readReplays({
    reader: dependencies.reader,
    tenant,
    text: body.text,
    taken,
    outcomes,
  });
  const stored = outcomes.reduce((count, { kind }) => count + Number(kind === "appended"), 0);
  if (stored > 0) dependencies.onAccepted({ tenant, receivedAt, events: stored });
  const summary = summarise({ events, outcomes, replays, otherMembers: batch.otherMembers });
  const answer = submission.wantsReceipts
    ? { ...summary, receipts: receiptsOf({ events, outcomes, replays, receivedAt }) }
    : summary;
  if (events.unknownFields > 0) dependencies.onUnknownFields(events.unknownFields);
  return nothingToAnswerFor(answer) ?? answer;
};

/** What is kept of a valid event until its outcome is known. Its parsed form is not kept. */
interface TakenEvent {
  readonly index: number;
  readonly eventId: string;
  readonly warnings: readonly Warning[];
  /** Position of its text in the text of the body. */
  readonly start: number;
  readonly end: number;
}

interface Collection {
  /** Event by event, in order. */
  readonly take: (slice: JsonSlice) => void;
  readonly taken: readonly TakenEvent[];
  /** The records of `taken`, in the same order. */
  readonly records: readonly OutgoingRecord[];
  readonly rejected: readonly RejectedEvent[];
  readonly unknownFields: number;
}

const createCollection = (
  { validate, subjectOf }: IntakeDependencies,
  { tenant, requestId }: Submission,
  { body, now }: { body: BodyText; now: Date },
): Collection => {
  const taken: TakenEvent[] = [];
  const records: OutgoingRecord[] = [];
  const rejected: RejectedEvent[] = [];
  const recordsStart = recordStart({ tenant, receivedAt: now.toISOString(), requestId });
  const nowMs = now.getTime();
  let unknownFields = 0;
  let problemsLeft = PROBLEMS_PER_BATCH_MAX;
  const take = (slice: JsonSlice): void => {
    const index = taken.length + rejected.length;
    const judged = judge(validate, slice, nowMs);
    if (judged.kind !== "valid") {
      const rejection = rejectInvalid(index, judged, problemsLeft);
      problemsLeft -= Math.max(0, rejection.problems.length - 1);
      rejected.push(rejection);
      return;
    }
    const { event, warnings } = judged;
    const messageId = messageIdOfEvent(tenant, canonicalEventId(event.event_id));
    records.push(
      toRecord({ subject: subjectOf(tenant, event), start: recordsStart, body, slice, messageId }),
    );
    const { start, text } = slice;
    taken.push({ index, eventId: event.event_id, warnings, start, end: start + text.length });
    unknownFields += unknownIn(warnings);
  };
  return {
    take,
    taken,
    records,
    rejected,
    get unknownFields() {
      return unknownFields;
    },
  };
};

/** Appends the records whose events the log does not hold yet. The others become duplicates of what it holds. */
const appendUnlessEarlier = async (
  { appender, earlier }: IntakeDependencies,
  { tenant, isStillAllowed }: Submission,
  { taken, records }: Collection,
): Promise<readonly Outcome[] | Refusal> => {
  const eventIds = taken.map(({ eventId }) => canonicalEventId(eventId));
  const found = await earlier.find(tenant, eventIds);
  if (!isStillAllowed()) return { kind: "key_ended" };
  if (found.kind !== "found") return found;
  const known = eventIds.map((eventId) => found.sequences.get(eventId));
  const appended = await appender.append(records.filter((_, position) => known[position] === undefined));
  const others = appended.values();
  return known.map((sequence) => {
    if (sequence !== undefined) return { kind: "duplicate", sequence };
    const { value } = others.next();
    if (!value) throw new Error("append answers every record");
    return value;
  });
};

/** Concurrent reads. */
const REPLAYS_AT_ONCE = 16;

/**
 * Keyed by position in `taken`; only duplicates have an entry. If the log does not answer for one, the others are not tried: each could
 * wait as long.
 */
const readReplays = async (parts: {
  reader: LogReader;
  tenant: string;
  text: string;
  taken: readonly TakenEvent[];
  outcomes: readonly Outcome[];
}): Promise<ReadonlyMap<number, Replay>> => {
  const { reader, tenant, text, taken, outcomes } = parts;
  const replays = new Map<number, Replay>();
  if (!outcomes.some(({ kind }) => kind === "duplicate")) return replays;
  const left = taken.entries();
  let away: Replay | undefined;
  const pace = createPace();
  const oneByOne = pLimit(1);
  /** Compares one after another and lets other requests run in between, because concurrent reads finish at the same time. */
  const inTurn = (compare: () => Replay): Promise<Replay> =>
    oneByOne(async () => {
      if (pace.isDue()) await pace.rest();
      return compare();
    });
  const readOn = async (): Promise<void> => {
    for (const [position, { eventId, start, end }] of left) {
      const outcome = outcomes[position];
      if (outcome?.kind !== "duplicate") continue;
      const sent = { tenant, eventId: canonicalEventId(eventId), eventText: text.slice(start, end) };
      const replay = away ?? (await replayDuplicate(reader, outcome.sequence, sent, inTurn));
      if (replay.kind === "unavailable" && replay.isLogAway) away = replay;
      replays.set(position, replay);
    }
  };
  await Promise.all(Array.from({ length: REPLAYS_AT_ONCE }, readOn));
  return replays;
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

const summarise = ({
  events,
  outcomes,
  replays,
  otherMembers,
}: {
  events: Collection;
  outcomes: readonly Outcome[];
  replays: ReadonlyMap<number, Replay>;
  otherMembers: readonly string[];
}): BatchAnswer => {
  const rejected = [...events.rejected];
  const warned: TakenEvent[] = [];
  let accepted = 0;
  let duplicates = 0;
  let sequence = 0;
  for (let position = 0; position < events.taken.length; position++) {
    const event = events.taken[position];
    const outcome = outcomes[position];
    if (!event || !outcome) throw new Error("append answers every record");
    const rejection =
      outcome.kind === "appended" ? undefined : rejectSettled(event, outcome, replays.get(position));
    if (rejection) {
      rejected.push(rejection);
      continue;
    }
    accepted++;
    if (outcome.kind === "duplicate") duplicates++;
    if (outcome.kind === "duplicate" || outcome.kind === "appended") {
      sequence = Math.max(sequence, outcome.sequence);
    }
    if (event.warnings.length > 0) warned.push(event);
  }
  rejected.sort((a, b) => a.index - b.index);
  return {
    kind: "answered",
    accepted,
    duplicates,
    rejected,
    warnings: collectWarnings(otherMembers.map(ignoredMember), warned),
    ...(sequence > 0 && { sequence }),
  };
};

const receiptsOf = ({
  events,
  outcomes,
  replays,
  receivedAt,
}: {
  events: Collection;
  outcomes: readonly Outcome[];
  replays: ReadonlyMap<number, Replay>;
  receivedAt: string;
}): readonly BatchReceipt[] => {
  const receipts: BatchReceipt[] = [];
  for (let position = 0; position < events.taken.length; position++) {
    const [taken, record, outcome] = [events.taken[position], events.records[position], outcomes[position]];
    const replay = replays.get(position);
    if (!(taken && record) || (outcome?.kind !== "appended" && outcome?.kind !== "duplicate")) continue;
    const { index, eventId } = taken;
    const { sequence } = outcome;
    if (outcome.kind === "appended")
      receipts.push({ index, eventId, sequence, receivedAt, leafHash: receiptOf(record), duplicate: false });
    else if (replay?.kind === "same") receipts.push({ index, ...replay.first, sequence, duplicate: true });
  }
  return receipts;
};

/** Members beside `events` belong to no event, so there is nowhere to keep them. */
const ignoredMember = (member: string): Warning => ({
  path: `/${pointerToken(member.slice(0, MEMBER_CHARACTERS_SHOWN))}`,
  code: "unknown_field",
  message: "Not kept: only the members of an event are stored. Put it into the events.",
});

/** Lists the first problem, and as many others as the batch has left. */
const rejectInvalid = (index: number, judgement: Refused, othersMax: number): RejectedEvent => {
  if (judgement.kind === "too_large") {
    const message = `The event is larger than ${EVENT_BYTES_MAX} bytes.`;
    return { index, code: "payload_too_large", message, problems: [], retryable: false };
  }
  const { problems, problemCount, eventId } = judgement;
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

const rejectSettled = (
  { index, eventId }: TakenEvent,
  outcome: Outcome,
  replay: Replay | undefined,
): RejectedEvent | undefined => {
  const entry = { index, eventId, problems: [] };
  const retry = "Send the event again: it is stored at most once.";
  if (outcome.kind === "refused" && outcome.reason === "overloaded") {
    return { ...entry, code: "overloaded", message: `${outcome.detail} ${retry}`, retryable: true };
  }
  if (outcome.kind === "refused" || outcome.kind === "unknown") {
    return { ...entry, code: "log_unavailable", message: `${outcome.detail} ${retry}`, retryable: true };
  }
  if (replay?.kind === "unavailable") {
    return { ...entry, code: "log_unavailable", message: `${replay.detail} ${retry}`, retryable: true };
  }
  if (replay?.kind === "different") {
    const message =
      "Another event with this event_id is in the log: give the new one an event_id of its own.";
    return { ...entry, code: "event_id_conflict", message, retryable: false };
  }
  return undefined;
};

/** The refusal of the whole batch, if nothing was stored and every event may simply be sent again. */
const nothingToAnswerFor = (answer: BatchAnswer): Refusal | undefined => {
  const [first] = answer.rejected;
  if (answer.accepted > 0 || !first || !answer.rejected.every((rejection) => rejection.retryable))
    return undefined;
  return { kind: first.code === "overloaded" ? "overloaded" : "unavailable", detail: first.message };
};
