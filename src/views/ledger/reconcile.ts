/**
 * Accepted = stored = projected, hour by hour. Each of the three is counted independently: accepted by the front ends when they answer, stored by
 * reading the log, projected by the rows of the view `events`. If they differ, the log is read and the events are named.
 */

import { setTimeout as delay, setImmediate as otherWork } from "node:timers/promises";
import {
  COUNTS_FLUSH_MS,
  LOG_FOLLOWED_BYTES_MAX,
  RECONCILED_EVENTS_NAMED_MAX,
  RECONCILED_RECORDS_READ_MAX,
} from "../../limits.ts";
import { type AcceptedCounts, type Hour, hourAt } from "../../log/accepted-counts.ts";
import type { LogReader, StoredMessage } from "../../log/event-log.ts";
import type { Sequence } from "../../log/outcome.ts";
import { decodeRecord, eventIdOf } from "../../log/record.ts";
import { EVENTS, EVENTS_VIEW } from "../events/tables.ts";
import { RECONCILE_AFTER_MS, RECONCILED_SEQUENCES_PER_TURN } from "../kit/limits.ts";
import { type Row, rowInteger, rowText } from "../store/tables.ts";
import { tenantCount, tenantList } from "../store/tenant-query.ts";
import { DEAD_LETTERS, type ViewStore } from "../store/view-store.ts";
import { LEDGER } from "./tables.ts";

export interface HourBalance {
  readonly hour: Hour;
  /** Null without counts: they are of an earlier version, were lost, or are not stored yet. */
  readonly accepted: number | null;
  readonly stored: number;
  readonly projected: number;
  /** Records with an event_id that was stored before: an event is in the view once. */
  readonly repeated: number;
  /** Records that the view could not take, including those that repeat an event_id with other content. */
  readonly deadLetters: number;
  readonly state: BalanceState;
  readonly differing: readonly DifferingEvent[];
  /** Whether all differing events are named. */
  readonly isComplete: boolean;
}

/**
 * `refused`: the counts agree, but the view could not take some of the records. `not_counted`: nothing to compare the log with. `view_behind`: the
 * missing events may be among those that the views have not read yet.
 */
export const BALANCE_STATES = [
  "balanced",
  "more_stored",
  "not_counted",
  "refused",
  "missing_in_log",
  "not_projected",
  "view_behind",
] as const;
export type BalanceState = (typeof BALANCE_STATES)[number];

const ALARMS: readonly string[] = ["refused", "missing_in_log", "not_projected"];

/** Whether an acknowledged event is missing in the log or in the view. */
export const isAlarm = ({ state }: { readonly state: string }): boolean => ALARMS.includes(state);

/** Whether every acknowledged event is in the log and in the view, where there may be more; null if there are no counts. */
export const isBalanced = (hours: readonly Pick<HourBalance, "state">[]): boolean | null => {
  if (hours.some((hour) => isAlarm(hour) || hour.state === "view_behind")) return false;
  return hours.length === 0 || hours.some(({ state }) => state === "not_counted") ? null : true;
};

export interface DifferingEvent {
  /** Null for a record whose event has none. */
  readonly eventId: string | null;
  readonly sequence: number;
  /** The code of its dead letter, or NOT_PROJECTED. */
  readonly code: string;
}

/** It should be in the view, and nothing says why it is not. */
export const NOT_PROJECTED = "not_projected";

export interface ReconciliationDependencies {
  readonly views: ViewStore;
  readonly log: LogReader;
  readonly accepted: Pick<AcceptedCounts, "read">;
}

export const reconcile = async (
  dependencies: ReconciliationDependencies,
  tenant: string,
  hours: readonly Hour[],
): Promise<readonly HourBalance[]> => {
  const keys = hours.map((hour) => ({ tenant, hour }));
  const ledger = new Map((await dependencies.views.load(LEDGER, keys)).map((row) => [row.hour, row]));
  const counts = await dependencies.accepted.read(tenant, hours);
  const balances: HourBalance[] = [];
  for (const hour of hours) {
    const row = ledger.get(hour);
    const accepted = counts.get(hour) ?? null;
    if (row) balances.push(await balanceOf(dependencies, { tenant, hour, row, accepted }));
    else if (accepted !== null)
      balances.push({
        ...{ hour, accepted, stored: 0, projected: 0, repeated: 0, deadLetters: 0 },
        ...{ state: "missing_in_log", differing: [], isComplete: false },
      });
  }
  return balances;
};

/** The interval at which counts are stored, and as long again for the broker. */
const COUNTS_WAIT_MS_MAX = 2 * COUNTS_FLUSH_MS;
const COUNTS_POLL_MS = COUNTS_FLUSH_MS / 10;

/**
 * Like `reconcile`, for a request about events written a moment ago: front ends store their counts once in COUNTS_FLUSH_MS, and until then the
 * events seem unacknowledged. Events that come meanwhile may seem so again. `deadline` by `performance.now()`.
 */
export const reconcileCounted = async (
  dependencies: ReconciliationDependencies,
  tenant: string,
  hours: readonly Hour[],
  { now, deadline }: { readonly now: Date; readonly deadline: number },
): Promise<readonly HourBalance[]> => {
  const balances = [...(await reconcile(dependencies, tenant, hours))];
  const recent = hourAt(now.getTime() - COUNTS_WAIT_MS_MAX);
  const waitsUntil = Math.min(deadline, performance.now() + COUNTS_WAIT_MS_MAX);
  for (;;) {
    const last = balances.at(-1);
    const isCounted = !last || last.hour < recent || (last.accepted ?? 0) >= last.stored;
    if (isCounted || performance.now() >= waitsUntil) return balances;
    await delay(COUNTS_POLL_MS);
    balances.splice(-1, 1, ...(await reconcile(dependencies, tenant, [last.hour])));
  }
};

/** What is read for one hour of a tenant. */
interface HourRead extends Pick<ReconciliationDependencies, "views" | "log"> {
  readonly tenant: string;
  readonly hour: Hour;
  readonly first: Sequence;
  readonly last: Sequence;
}

const balanceOf = async (
  { views, log }: ReconciliationDependencies,
  hourly: { tenant: string; hour: Hour; row: Row; accepted: number | null },
): Promise<HourBalance> => {
  const { tenant, hour, row, accepted } = hourly;
  const [stored, repeated] = [rowInteger(row, "records"), rowInteger(row, "repeated")];
  const [first, last] = [rowInteger(row, "first_sequence"), rowInteger(row, "last_sequence")];
  const read: HourRead = { views, log, tenant, hour, first, last };
  const projected = await countRows(read);
  const isProjected = projected + repeated + rowInteger(row, "malformed") === stored;
  const found = await findDiffering(read, isProjected ? refusedRecords(read) : lackingRecords(read));
  const stateOfProjected = (): BalanceState => {
    if (accepted !== null && accepted > stored) return "missing_in_log";
    if (found.differing.length > 0 || !found.isComplete) return "refused";
    if (accepted === null) return "not_counted";
    return accepted === stored ? "balanced" : "more_stored";
  };
  const state = isProjected ? stateOfProjected() : "not_projected";
  return { hour, accepted, stored, projected, repeated, state, ...found };
};

const between = (first: Sequence, last: Sequence) =>
  ({ kind: "range", column: "sequence", from: first, to: last + 1 }) as const;

/** Includes expired events: the view has taken them. */
const countRows = async ({ views, tenant, hour, first, last }: HourRead): Promise<number> => {
  let sum = 0;
  for (let start = first; start <= last; start += RECONCILED_SEQUENCES_PER_TURN) {
    const end = Math.min(last, start + RECONCILED_SEQUENCES_PER_TURN - 1);
    // `~` sorts after every character of a time.
    const inHour = { kind: "range", column: "received_at", from: hour, to: `${hour}~` } as const;
    for (const sequences of [between(start, end), between(-end, -start)])
      sum += await countOf(views, tenantCount({ tenant, table: EVENTS, where: [sequences, inHour] }));
    await otherWork();
  }
  return sum;
};

const countOf = async (views: HourRead["views"], query: ReturnType<typeof tenantCount>): Promise<number> => {
  const [row] = await views.select(query);
  return row ? rowInteger(row, "count") : 0;
};

/** Messages of the log among which all are that the view does not have, and up to which sequence. */
interface Read {
  readonly messages: readonly StoredMessage[];
  readonly upTo: Sequence;
}

/** Names what the view does not have. Behind the last named event, letters are counted without a look at their hour: most hours overlap with none. */
const findDiffering = async (
  read: HourRead,
  parts: AsyncIterable<Read>,
): Promise<Pick<HourBalance, "differing" | "deadLetters" | "isComplete">> => {
  const { views, tenant, last } = read;
  const differing: DifferingEvent[] = [];
  let [records, upTo]: [number, Sequence] = [0, 0];
  for await (const part of parts) {
    differing.push(...(await withoutRow(read, part.messages)));
    records += part.messages.length;
    upTo = part.upTo;
    if (differing.length > RECONCILED_EVENTS_NAMED_MAX || records >= RECONCILED_RECORDS_READ_MAX) break;
  }
  const named = differing.slice(0, RECONCILED_EVENTS_NAMED_MAX);
  if (named.length < differing.length) upTo = named.at(-1)?.sequence ?? upTo;
  const letters = named.filter(({ code }) => code !== NOT_PROJECTED).length;
  if (upTo >= last) return { differing: named, deadLetters: letters, isComplete: true };
  const where = lettersBetween(upTo + 1, last);
  const others = await countOf(views, tenantCount({ tenant, table: DEAD_LETTERS, where }));
  return { differing: named, deadLetters: letters + others, isComplete: false };
};

const lettersBetween = (first: Sequence, last: Sequence) =>
  [{ kind: "equals", column: "projection", value: EVENTS_VIEW }, between(first, last)] as const;

const LETTERS_AT_ONCE = RECONCILED_EVENTS_NAMED_MAX;

/** Those with a dead letter. */
async function* refusedRecords({ views, log, tenant, first, last }: HourRead): AsyncGenerator<Read> {
  for (let upTo = first - 1; upTo < last; ) {
    const letters = await views.select(
      tenantList({
        ...{ tenant, table: DEAD_LETTERS, columns: ["sequence"], rowsMax: LETTERS_AT_ONCE },
        ...{ where: lettersBetween(upTo + 1, last), orderBy: ["sequence"], order: "asc" },
      }),
    );
    const sequences = letters.map((letter) => rowInteger(letter, "sequence"));
    const messages: StoredMessage[] = [];
    for (const sequence of sequences) {
      const message = await log.read(sequence);
      if (message) messages.push(message);
    }
    upTo = letters.length === LETTERS_AT_ONCE ? (sequences.at(-1) ?? last) : last;
    yield { messages, upTo };
  }
}

/** All of the log. If it was restored from an older copy, it ends before the hour does. */
async function* lackingRecords({ log, first, last }: HourRead): AsyncGenerator<Read> {
  const end = Math.min(last, await log.lastSequence());
  if (end < first) return;
  const stop = new AbortController();
  const size = { messagesMax: 500, bytesMax: LOG_FOLLOWED_BYTES_MAX };
  try {
    for await (const messages of log.follow({ from: first, ...size, signal: stop.signal })) {
      const upTo = Math.min(end, messages.at(-1)?.sequence ?? end);
      yield { messages: messages.filter(({ sequence }) => sequence <= end), upTo };
      if (upTo >= end) return;
    }
  } finally {
    stop.abort();
  }
}

/** Of these messages those of the hour that have no row, or a dead letter. Hours may overlap in the log. */
const withoutRow = async (
  { views, tenant, hour }: HourRead,
  messages: readonly StoredMessage[],
): Promise<readonly DifferingEvent[]> => {
  const events = messages.flatMap(({ sequence, payload }) => {
    const record = decodeRecord(payload);
    const isOwn = record?.tenant === tenant && record.receivedAt.startsWith(hour);
    return isOwn ? [{ sequence, eventId: eventIdOf(payload, tenant) ?? null }] : [];
  });
  const ids = events.flatMap(({ eventId }) => eventId ?? []);
  const rows = await views.load(
    EVENTS,
    ids.map((eventId) => ({ tenant, event_id: eventId })),
  );
  const letters = await views.load(
    DEAD_LETTERS,
    events.map(({ sequence }) => ({ projection: EVENTS_VIEW, sequence })),
  );
  const known = new Set(rows.map((row) => row.event_id));
  const codes = new Map(
    letters.flatMap((row) => (row.tenant === tenant ? [[row.sequence, rowText(row, "code")]] : [])),
  );
  return events.flatMap(({ eventId, sequence }) => {
    const code = codes.get(sequence) ?? (eventId !== null && known.has(eventId) ? undefined : NOT_PROJECTED);
    return code === undefined ? [] : [{ eventId, sequence, code }];
  });
};

/**
 * `position`: what the views had read before the hours were reconciled; `end`: the end of the log after that. Records are in the order of their
 * times, to within seconds, so everything unread belongs to the hour of the first unread record or a later one: events missing in an earlier hour are
 * lost, however far behind the views are.
 */
export const tellUnread = async (
  log: Pick<LogReader, "read">,
  { position, end }: { readonly position: Sequence; readonly end: Sequence },
  balances: readonly HourBalance[],
): Promise<readonly HourBalance[]> => {
  const isLacking = ({ state }: HourBalance): boolean =>
    state === "missing_in_log" || state === "not_projected";
  if (position >= end || !balances.some(isLacking)) return balances;
  const first = await log.read(position + 1);
  const record = first && decodeRecord(first.payload);
  // The hour of an unreadable record is not known, so it excuses none.
  if (record === undefined) return balances;
  const from = hourAt(Date.parse(record.receivedAt) - RECONCILE_AFTER_MS);
  return balances.map((balance) => {
    if (!isLacking(balance) || balance.hour < from) return balance;
    const differing = balance.differing.filter(({ code }) => code !== NOT_PROJECTED);
    return { ...balance, state: "view_behind", differing, isComplete: false };
  });
};
