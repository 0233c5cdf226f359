import { canonicalEventId } from "../event/formats.ts";
import { pointerToken } from "../event/json-pointer.ts";
import type { Problem, Warning } from "../event/validate.ts";
import { BATCH_EVENTS_MAX, EVENT_BYTES_MAX, WARNINGS_MAX } from "../limits.ts";
import type { LogReader, OutgoingRecord } from "../log/event-log.ts";
import { messageIdOfEvent } from "../log/message-id.ts";
import type { Outcome } from "../log/outcome.ts";
import type { BatchAnswer, Refusal, RejectedEvent } from "./answer.ts";
import { sliceBatch } from "./json/slice.ts";
import { decodeUtf8, type Judgement, judge, toRecord, type ValidSlice } from "./judge.ts";
import { createPace } from "./pace.ts";
import { type Replay, replayDuplicate } from "./replay.ts";
import type { IntakeDependencies, Submission } from "./submission.ts";

/** One bad event never hurts the others: each has an outcome of its own. */
export const acceptBatch = async (
  dependencies: IntakeDependencies,
  submission: Submission,
): Promise<BatchAnswer | Refusal> => {
  const text = decodeUtf8(submission.body);
  if (text === undefined) return { kind: "invalid_utf8" };
  const pace = createPace();
  const batch = await sliceBatch(text, BATCH_EVENTS_MAX, pace);
  if (batch.kind === "invalid_json") return batch;
  if (batch.kind === "not_a_batch") return notABatch(batch);
  const admission = await submission.admit(batch.events.length);
  if (admission.kind === "limited") return admission;

  const receivedAt = dependencies.now().toISOString();
  const judged: Judgement[] = [];
  for (const slice of batch.events) {
    judged.push(judge(dependencies.validate, slice));
    if (pace.isDue()) await pace.rest();
  }
  const valid: ValidEvent[] = [];
  for (const [index, judgement] of judged.entries()) {
    if (judgement.kind !== "valid") continue;
    const messageId = messageIdOfEvent(submission.tenant, canonicalEventId(judgement.event.event_id));
    const record = toRecord({ submission, receivedAt, judged: judgement, messageId });
    valid.push({ index, judged: judgement, record });
  }
  const outcomes = await dependencies.appender.append(valid.map(({ record }) => record));
  const settled = await settle(dependencies.reader, valid, outcomes);
  const answer = summarise({ judged, settled, otherMembers: batch.otherMembers });
  const unknownFields = valid.reduce((count, entry) => count + entry.judged.warnings.length, 0);
  if (unknownFields > 0) dependencies.onUnknownFields(unknownFields);
  return nothingToAnswerFor(answer) ?? answer;
};

interface ValidEvent {
  readonly index: number;
  readonly judged: ValidSlice;
  readonly record: OutgoingRecord;
}

/** Only duplicates have to be looked at again; they are read side by side. */
const settle = async (
  reader: LogReader,
  valid: readonly ValidEvent[],
  outcomes: readonly Outcome[],
): Promise<readonly SettledEvent[]> => {
  const replays = new Map<number, Replay>();
  const reading: Promise<void>[] = [];
  for (let position = 0; position < valid.length; position++) {
    const outcome = outcomes[position];
    const text = valid[position]?.judged.slice.text;
    if (outcome?.kind !== "duplicate" || text === undefined) continue;
    reading.push(
      replayDuplicate(reader, outcome.sequence, text).then((replay) => void replays.set(position, replay)),
    );
  }
  if (reading.length > 0) await Promise.all(reading);
  return valid.map((entry, position): SettledEvent => {
    const outcome = outcomes[position];
    if (!outcome) throw new Error("append answers every record");
    const replay = replays.get(position);
    return { index: entry.index, judged: entry.judged, outcome, ...(replay && { replay }) };
  });
};

interface SettledEvent {
  readonly index: number;
  readonly judged: ValidSlice;
  readonly outcome: Outcome;
  readonly replay?: Replay;
}

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
  judged,
  settled,
  otherMembers,
}: {
  judged: readonly Judgement[];
  settled: readonly SettledEvent[];
  otherMembers: readonly string[];
}): BatchAnswer => {
  const rejected: RejectedEvent[] = [];
  for (const [index, judgement] of judged.entries()) {
    if (judgement.kind !== "valid") rejected.push(rejectInvalid(index, judgement));
  }
  let sequence = 0;
  let duplicates = 0;
  for (const entry of settled) {
    const rejection = rejectSettled(entry);
    if (rejection) {
      rejected.push(rejection);
    } else if (entry.outcome.kind === "appended" || entry.outcome.kind === "duplicate") {
      sequence = Math.max(sequence, entry.outcome.sequence);
      if (entry.outcome.kind === "duplicate") duplicates++;
    }
  }
  rejected.sort((a, b) => a.index - b.index);
  const eventWarnings = settled.flatMap(({ index, judged: { warnings } }) =>
    warnings.map((warning) => ({ index, ...warning })),
  );
  return {
    kind: "answered",
    accepted: judged.length - rejected.length,
    duplicates,
    rejected,
    warnings: [...otherMembers.map(ignoredMember), ...eventWarnings].slice(0, WARNINGS_MAX),
    ...(sequence > 0 && { sequence }),
  };
};

const MEMBER_CHARACTERS_SHOWN = 64;

/** Members beside `events` are no part of any event, so there is nowhere to keep them. */
const ignoredMember = (member: string): Warning => ({
  path: `/${pointerToken(member.slice(0, MEMBER_CHARACTERS_SHOWN))}`,
  code: "unknown_field",
  message: "Not kept: only the members of an event are stored. Put it into the events.",
});

const rejectInvalid = (index: number, judgement: Exclude<Judgement, ValidSlice>): RejectedEvent => {
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
    problems,
    retryable: false,
  };
};

const rejectSettled = ({ index, judged, outcome, replay }: SettledEvent): RejectedEvent | undefined => {
  const entry = { index, eventId: judged.event.event_id, problems: [] };
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

/** Where nothing was stored and only the log's absence is to be told, the whole request can simply be sent again. */
const nothingToAnswerFor = (answer: BatchAnswer): Refusal | undefined => {
  const [first] = answer.rejected;
  if (answer.accepted > 0 || !first || !answer.rejected.every((rejection) => rejection.retryable))
    return undefined;
  return { kind: first.code === "overloaded" ? "overloaded" : "unavailable", detail: first.message };
};
