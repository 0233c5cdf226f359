/**
 * Accepted = stored = projected, hour by hour. Each of the three is counted independently: accepted by the front ends when they answer, stored by
 * reading the log, projected by the rows of the view `events`. If they differ, the log is read and the events are named.
 */

import { setTimeout as delay, setImmediate as otherWork } from "node:timers/promises";
import { canonicalEventId } from "../../event/formats.ts";
import {
  COUNTS_FLUSH_MS,
  DEAD_LETTERS_LISTED_MAX,
  LOG_FOLLOWED_BYTES_MAX,
  RECONCILED_EVENTS_NAMED_MAX,
  RECONCILED_RECORDS_READ_MAX,
} from "../../limits.ts";
import { type AcceptedCounts, type Hour, hourAt } from "../../log/accepted-counts.ts";
import type { LogReader } from "../../log/event-log.ts";
import type { Sequence } from "../../log/outcome.ts";
import { decodeRecord } from "../../log/record.ts";
import { EVENTS, EVENTS_VIEW } from "../events/tables.ts";
import { RECONCILE_AFTER_MS, RECONCILED_SEQUENCES_PER_TURN } from "../kit/limits.ts";
import { type Row, rowInteger, rowText } from "../store/tables.ts";
import { tenantCount, tenantList } from "../store/tenant-query.ts";
import { DEAD_LETTERS, type ViewStore } from "../store/view-store.ts";
import { LEDGER } from "./tables.ts";

export interface HourBalance {
  readonly hour: Hour;
  /** Null if nobody counted, or not from the first event on: the counts are of an earlier version, were lost, or are not stored yet. */
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

/** `refused`: the counts agree, but the view could not take some of the records. `not_counted`: nothing to compare the log with. */
export const BALANCE_STATES = [
  "balanced",
  "more_stored",
  "not_counted",
  "refused",
  "missing_in_log",
  "not_projected",
] as const;
export type BalanceState = (typeof BALANCE_STATES)[number];

/** Whether an acknowledged event is missing in the log or in the view. */
export const isAlarm = ({ state }: { readonly state: string }): boolean =>
  !["balanced", "more_stored", "not_counted"].includes(state);

/** Whether every acknowledged event is in the log and in the view, where there may be more; null if nobody counted what was acknowledged. */
export const isBalanced = (hours: readonly { readonly state: string }[]): boolean | null => {
  if (hours.some(isAlarm)) return false;
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
  readonly accepted: Pick<AcceptedCounts, "read" | "begin">;
}

export const reconcile = async (
  dependencies: ReconciliationDependencies,
  tenant: string,
  hours: readonly Hour[],
): Promise<readonly HourBalance[]> => {
  const { views, accepted } = dependencies;
  const rows = await views.load(
    LEDGER,
    hours.map((hour) => ({ tenant, hour })),
  );
  const ledger = new Map(rows.map((row) => [row.hour, row]));
  const counts = await accepted.read(tenant, hours);
  const balances: HourBalance[] = [];
  for (const hour of hours) {
    const row = ledger.get(hour);
    const count = counts.get(hour);
    if (row || count !== undefined)
      balances.push(await balanceOf(dependencies, { tenant, hour, row, count }));
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

const balanceOf = async (
  { views, log, accepted: counts }: ReconciliationDependencies,
  at: { tenant: string; hour: Hour; row: Row | undefined; count: number | undefined },
): Promise<HourBalance> => {
  const { tenant, hour, row, count } = at;
  if (!row) {
    const accepted = count ?? null;
    const nothing = { stored: 0, projected: 0, repeated: 0, deadLetters: 0 };
    return { hour, accepted, ...nothing, state: "missing_in_log", differing: [], isComplete: false };
  }
  const range = { first: rowInteger(row, "first_sequence"), last: rowInteger(row, "last_sequence") };
  const projected = await countRows(views, tenant, hour, range);
  const stored = rowInteger(row, "records");
  const repeated = rowInteger(row, "repeated");
  const isCounted = count === undefined || count >= stored || (await isCountedFrom(log, counts, range.first));
  const accepted = isCounted ? (count ?? null) : null;
  const isProjected = projected + repeated + rowInteger(row, "malformed") === stored;
  const where: HourRead = { views, log, tenant, hour, range };
  const refused = await refusedRecords(where);
  const lost = isProjected ? NOTHING_DIFFERS : await lostRecords(where);
  const isRefused = refused.differing.length > 0 || !refused.isComplete;
  return {
    hour,
    accepted,
    stored,
    projected,
    repeated,
    deadLetters: refused.deadLetters,
    state: stateOf({ accepted, stored, isProjected, isRefused }),
    ...together(refused, lost),
  };
};

/** In the hour in which counting began, as at an upgrade or after the stream COUNTS was lost, nobody counted the first events. */
const isCountedFrom = async (
  log: Pick<LogReader, "read">,
  counts: Pick<AcceptedCounts, "begin">,
  first: number,
): Promise<boolean> => {
  const message = await log.read(first);
  const receivedAt = message && decodeRecord(message.payload)?.receivedAt;
  return receivedAt === undefined || receivedAt >= (await counts.begin());
};

const stateOf = (found: {
  readonly accepted: number | null;
  readonly stored: number;
  readonly isProjected: boolean;
  readonly isRefused: boolean;
}): BalanceState => {
  const { accepted, stored, isProjected, isRefused } = found;
  if (!isProjected) return "not_projected";
  if (accepted !== null && accepted > stored) return "missing_in_log";
  if (isRefused) return "refused";
  if (accepted === null) return "not_counted";
  return accepted === stored ? "balanced" : "more_stored";
};

type Named = Pick<HourBalance, "differing" | "isComplete">;

/** A refused record has no row either; it is named once, with the reason in its dead letter. */
const together = (refused: Named, lost: Named): Named => {
  const named = new Set(refused.differing.map(({ sequence }) => sequence));
  const others = lost.differing.filter(({ sequence }) => !named.has(sequence));
  const all = [...refused.differing, ...others].sort((one, other) => one.sequence - other.sequence);
  const differing = all.slice(0, RECONCILED_EVENTS_NAMED_MAX);
  return { differing, isComplete: refused.isComplete && lost.isComplete && all.length === differing.length };
};

interface Range {
  readonly first: number;
  readonly last: number;
}

const NOTHING_DIFFERS: Named = { differing: [], isComplete: true };

/** What is read for one hour of a tenant. */
interface HourRead {
  readonly views: ViewStore;
  readonly log: LogReader;
  readonly tenant: string;
  readonly hour: Hour;
  readonly range: Range;
}

const sequenceRange = ({ first, last }: Range) =>
  ({ kind: "range", column: "sequence", from: first, to: last + 1 }) as const;

/** Includes expired events: the view has taken them. */
const countRows = async (views: ViewStore, tenant: string, hour: Hour, range: Range): Promise<number> => {
  const count = async (column: "received" | "received_at", { first, last }: Range): Promise<number> => {
    // `~` sorts after every character of a time.
    const inHour = { kind: "range", column, from: hour, to: `${hour}~` } as const;
    let sum = 0;
    for (let start = first; start <= last; start += RECONCILED_SEQUENCES_PER_TURN) {
      const sequences = { first: start, last: Math.min(last, start + RECONCILED_SEQUENCES_PER_TURN - 1) };
      sum += await countOf(
        views,
        tenantCount({ tenant, table: EVENTS, where: [sequenceRange(sequences), inHour] }),
      );
      await otherWork();
    }
    return sum;
  };
  const shown = await count("received", range);
  return shown + (await count("received_at", { first: -range.last, last: -range.first }));
};

const lettersIn = (range: Range) =>
  [{ kind: "equals", column: "projection", value: EVENTS_VIEW }, sequenceRange(range)] as const;

const countLetters = (views: ViewStore, tenant: string, range: Range): Promise<number> =>
  countOf(views, tenantCount({ tenant, table: DEAD_LETTERS, where: lettersIn(range) }));

const countOf = async (views: ViewStore, query: ReturnType<typeof tenantCount>): Promise<number> => {
  const [row] = await views.select(query);
  return row ? rowInteger(row, "count") : 0;
};

/**
 * Counts and names the records for which the view has a dead letter. Hours may overlap in the log, so each record is checked for its own hour. After
 * the last named letter, letters are counted without that check: most hours overlap with none.
 */
const refusedRecords = async (where: HourRead): Promise<Named & Pick<HourBalance, "deadLetters">> => {
  const { views, log, tenant, hour, range } = where;
  const differing: DifferingEvent[] = [];
  let read = 0;
  for (let after: readonly [number] | undefined; ; ) {
    const letters: readonly Row[] = await views.select(
      tenantList({
        tenant,
        table: DEAD_LETTERS,
        columns: ["sequence", "event_id", "code"],
        where: lettersIn(range),
        orderBy: ["sequence"],
        order: "asc",
        after,
        rowsMax: DEAD_LETTERS_LISTED_MAX,
      }),
    );
    for (const letter of letters) {
      const sequence = rowInteger(letter, "sequence");
      after = [sequence];
      const isReadEnough = read++ === RECONCILED_RECORDS_READ_MAX;
      if (!isReadEnough && (await isOfAnotherHour(log, sequence, hour))) continue;
      if (isReadEnough || differing.length === RECONCILED_EVENTS_NAMED_MAX) {
        const others = await countLetters(views, tenant, { first: sequence, last: range.last });
        return { differing, isComplete: false, deadLetters: differing.length + others };
      }
      const eventId = letter.event_id === null ? null : rowText(letter, "event_id");
      differing.push({ eventId, sequence, code: rowText(letter, "code") });
    }
    if (letters.length < DEAD_LETTERS_LISTED_MAX)
      return { differing, isComplete: true, deadLetters: differing.length };
  }
};

/** A record that cannot be read any more counts for the requested hour. */
const isOfAnotherHour = async (log: LogReader, sequence: number, hour: Hour): Promise<boolean> => {
  const message = await log.read(sequence);
  return message !== undefined && decodeRecord(message.payload)?.receivedAt.startsWith(hour) === false;
};

/** Reads the hour in the log, and names the events without a row. A log restored from an older copy ends before the hour does. */
const lostRecords = async ({ views, log, tenant, hour, range }: HourRead): Promise<Named> => {
  const last = Math.min(range.last, await log.lastSequence());
  const differing: DifferingEvent[] = [];
  if (last < range.first) return { differing, isComplete: false };
  const stop = new AbortController();
  let read = 0;
  const following = { messagesMax: 500, bytesMax: LOG_FOLLOWED_BYTES_MAX, signal: stop.signal };
  for await (const messages of log.follow({ from: range.first, ...following })) {
    const events = messages.flatMap(({ sequence, payload }) => {
      const record = sequence <= last ? decodeRecord(payload) : undefined;
      return record?.tenant === tenant && record.receivedAt.startsWith(hour)
        ? [{ sequence, eventId: idIn(record.eventText), code: NOT_PROJECTED }]
        : [];
    });
    const ids = events.flatMap(({ eventId }) => eventId ?? []);
    const rows = await views.load(
      EVENTS,
      ids.map((eventId) => ({ tenant, event_id: eventId })),
    );
    const known = new Set(rows.map((row) => row.event_id));
    differing.push(...events.filter(({ eventId }) => eventId === null || !known.has(eventId)));
    read += messages.length;
    const isOver = (messages.at(-1)?.sequence ?? last) >= last;
    if (isOver || read >= RECONCILED_RECORDS_READ_MAX || differing.length >= RECONCILED_EVENTS_NAMED_MAX) {
      stop.abort();
      return {
        differing: differing.slice(0, RECONCILED_EVENTS_NAMED_MAX),
        isComplete: isOver && last === range.last && differing.length <= RECONCILED_EVENTS_NAMED_MAX,
      };
    }
  }
  return { differing, isComplete: false };
};

const idIn = (eventText: string): string | null => {
  try {
    const { event_id: eventId }: { event_id?: unknown } = JSON.parse(eventText);
    return typeof eventId === "string" ? canonicalEventId(eventId) : null;
  } catch {
    // No version of the program wrote it: it has a dead letter.
    return null;
  }
};

/** `view_behind`: the missing events may be among those that the views have not read yet. */
export const TOLD_STATES = [...BALANCE_STATES, "view_behind"] as const;

export interface ToldBalance extends Omit<HourBalance, "state"> {
  readonly state: (typeof TOLD_STATES)[number];
}

/**
 * `position`: what the views had read before the hours were reconciled; `end`: the end of the log after that. Records are in the order of their
 * times, to within seconds, so everything unread belongs to the hour of the first unread record or a later one: events missing in an earlier hour are
 * lost, however far behind the views are.
 */
export const tellUnread = async (
  log: Pick<LogReader, "read">,
  { position, end }: { readonly position: Sequence; readonly end: Sequence },
  balances: readonly HourBalance[],
): Promise<readonly ToldBalance[]> => {
  if (position >= end || !balances.some(isLacking)) return balances;
  const first = await log.read(position + 1);
  const record = first && decodeRecord(first.payload);
  // The hour of an unreadable record is not known, so it excuses none.
  if (record === undefined) return balances;
  const from = hourAt(Date.parse(record.receivedAt) - RECONCILE_AFTER_MS);
  return balances.map((balance) => (isLacking(balance) && balance.hour >= from ? unread(balance) : balance));
};

const isLacking = ({ state }: HourBalance): boolean =>
  state === "missing_in_log" || state === "not_projected";

const unread = (balance: HourBalance): ToldBalance => ({
  ...balance,
  state: "view_behind",
  differing: balance.differing.filter(({ code }) => code !== NOT_PROJECTED),
  isComplete: false,
});
