/**
 * Advances a lane: views at one position, so that what is read for one is read for all. A batch of records is decoded once and committed in one
 * transaction, rows and position together. It never skips a record: one that cannot be taken becomes a dead letter, and a missing sequence is an alarm.
 */
import { LOG_FOLLOWED_BYTES_MAX } from "../../limits.ts";
import type { LogReader, StoredMessage } from "../../log/event-log.ts";
import type { Sequence } from "../../log/outcome.ts";
import { EVENTS_VIEW } from "../events/tables.ts";
import type { CommitResult, DeadLetter, ViewStore } from "../store/view-store.ts";
import { type AppliedBatch, applyBatch, letterOf, RuleError } from "./apply-batch.ts";
import { PROJECTION_RECORDS_PER_COMMIT_MAX } from "./limits.ts";
import type { Projection } from "./projection.ts";
import { endWrites } from "./view-end.ts";

export const ALARMS = [
  /** A sequence is missing in what the log returned. */
  "hole",
  /** The view has seen more than the log contains: the log was replaced, or restored from an older copy. */
  "ahead_of_log",
  /** The log has grown again since, and contains another record at the view's position. */
  "other_log",
] as const;

export type Alarm = (typeof ALARMS)[number];

export type Stopped =
  /** As far as requested, or until the log returned nothing more, as after an abort. */
  | { readonly kind: "reached" }
  /** Somebody else moves this view, or `events`, which leads it, has been rebuilt and is behind. */
  | { readonly kind: "superseded"; readonly projection: string }
  | {
      readonly kind: "alarm";
      readonly alarm: Alarm;
      readonly projection: string;
      readonly sequence: Sequence;
      readonly position: Sequence;
    }
  | { readonly kind: "failed"; readonly error: unknown };

export interface Lane {
  readonly projections: readonly [Projection, ...Projection[]];
  readonly position: Sequence;
}

export interface Progress {
  readonly lane: Lane;
  readonly position: Sequence;
  readonly records: number;
  readonly deadLetters: readonly DeadLetter[];
}

export interface Advancing {
  readonly log: Pick<LogReader, "follow">;
  readonly views: Pick<ViewStore, "load" | "commit">;
  readonly clock: () => Date;
  readonly onProgress: (progress: Progress) => void;
}

export interface Bounds {
  /** The sequence of the last record to take. */
  readonly to: Sequence;
  /** No batch is started after this time. */
  readonly msMax: number;
  /** How long it waits for a new record; by default for as long as it takes. */
  readonly idleMsMax?: number;
  readonly signal: AbortSignal;
}

export const advance = async (
  advancing: Advancing,
  lane: Lane,
  { to, msMax, idleMsMax, signal }: Bounds,
): Promise<Stopped> => {
  const end = performance.now() + msMax;
  const idle = new AbortController();
  using timer = idleMsMax === undefined ? undefined : setTimeout(() => idle.abort(), idleMsMax);
  const ended = AbortSignal.any([signal, idle.signal]);
  // In bytes, because a projection takes a batch without a pause: 63 of the largest events in one took it 4 s (measured).
  const size = { messagesMax: PROJECTION_RECORDS_PER_COMMIT_MAX, bytesMax: LOG_FOLLOWED_BYTES_MAX };
  let { position } = lane;
  for await (const messages of advancing.log.follow({ from: position + 1, ...size, signal: ended })) {
    timer?.refresh();
    const from = position;
    const gap = messages.findIndex((message, index) => message.sequence !== from + 1 + index);
    const whole = messages.slice(0, Math.min(gap < 0 ? messages.length : gap, to - from));
    const taken = await take(advancing, { ...lane, position }, whole);
    if (taken.kind === "superseded") return { kind: "superseded", projection: taken.view };
    position += whole.length;
    if (position >= to) break;
    const unexpected = messages[gap];
    if (unexpected) {
      const { name: projection } = lane.projections[0];
      return { kind: "alarm", alarm: "hole", projection, sequence: unexpected.sequence, position };
    }
    if (signal.aborted || performance.now() > end) break;
  }
  return { kind: "reached" };
};

type Taken = Extract<CommitResult, { kind: "committed" | "superseded" }>;

const COMMITTED: Taken = { kind: "committed" };

/** The messages follow the lane's position. */
const take = async (advancing: Advancing, lane: Lane, messages: readonly StoredMessage[]): Promise<Taken> => {
  const [message, ...others] = messages;
  if (message === undefined) return COMMITTED;
  const result = await takeAll(advancing, lane, messages);
  if (result.kind === "outdated") return take(advancing, lane, messages);
  if (result.kind !== "unwritable") return result;
  if (others.length === 0) return refuse(advancing, lane, message, result.detail);
  // A rule throws because of one record of the batch, or its rows violate a table, and the database does not say which: halving finds it.
  const half = Math.ceil(messages.length / 2);
  const first = await take(advancing, lane, messages.slice(0, half));
  return first.kind === "committed"
    ? take(advancing, { ...lane, position: lane.position + half }, messages.slice(half))
    : first;
};

const takeAll = async (
  advancing: Advancing,
  lane: Lane,
  messages: readonly StoredMessage[],
): Promise<CommitResult> => {
  const { views, clock } = advancing;
  const { projections, position } = lane;
  try {
    const batch = { projections, messages, load: views.load, now: clock().toISOString() };
    const applied = await applyBatch(batch);
    if (applied.eventsAt < position + messages.length)
      return { kind: "superseded", view: EVENTS_VIEW, position: applied.eventsAt };
    return await commit(advancing, lane, messages, applied);
  } catch (error) {
    if (error instanceof RuleError) return { kind: "unwritable", detail: error.message };
    throw error;
  }
};

/**
 * The database does not say either to which view the violated table belongs: it is the view without which the rest can be written. If there are
 * several such views, only those that take messages unparsed go on, because a tree that lacks a leaf could never be repaired.
 */
const refuse = async (
  advancing: Advancing,
  lane: Lane,
  message: StoredMessage,
  detail: string,
): Promise<Taken> => {
  const { projections } = lane;
  const { views, clock } = advancing;
  const now = clock().toISOString();
  const isTree = ({ takes }: Projection): boolean => takes === "entries";
  const [leader, ...others] = projections;
  // The leader comes after the others, because these skip a record for which it has no row.
  const suspects = [...others.filter((each) => !isTree(each)), leader];
  const tries = [
    ...suspects.map((left) => projections.filter((each) => each !== left)),
    others.filter(isTree),
    projections.filter((each) => !isTree(each)),
    [],
  ];
  for (const taking of tries) {
    const applied = await applyBatch({ projections: taking, messages: [message], load: views.load, now });
    const refused = projections.filter((each) => !taking.includes(each));
    const letters = refused.map(({ name }) => letterOf(name, message, { code: "row_refused", detail, now }));
    const deadLetters = [...applied.deadLetters, ...letters];
    const result = await commit(advancing, lane, [message], { ...applied, deadLetters });
    if (result.kind === "outdated") return take(advancing, lane, [message]);
    if (result.kind !== "unwritable") return result;
  }
  throw new Error(`a dead letter cannot be written: ${detail}`);
};

const commit = async (
  { views, onProgress }: Advancing,
  lane: Lane,
  messages: readonly StoredMessage[],
  { writes, deadLetters, expected }: AppliedBatch,
): Promise<CommitResult> => {
  const { projections, position: from } = lane;
  const last = messages.at(-1);
  const names = projections.map(({ name }) => name);
  const ends = last ? endWrites(names, last) : [];
  const to = from + messages.length;
  const moved = { views: projections, from, to, writes: [...writes, ...ends], deadLetters, expected };
  const result = await views.commit(moved);
  if (result.kind === "committed") onProgress({ lane, position: to, records: messages.length, deadLetters });
  return result;
};
