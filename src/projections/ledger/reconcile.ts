/**
 * Accepted = stored = projected, hour by hour. Each of the three is counted by somebody else: accepted by the front ends when they answer, stored by
 * reading the log, projected in the rows of the view `events` as they stand. Where they differ the log is read and the events are named.
 */

import { setImmediate as otherWork } from "node:timers/promises";
import { canonicalEventId } from "../../event/formats.ts";
import {
  RECONCILED_EVENTS_NAMED_MAX,
  RECONCILED_RECORDS_READ_MAX,
  RECONCILED_SEQUENCES_PER_TURN,
} from "../../limits.ts";
import type { AcceptedCounts, Hour } from "../../log/accepted-counts.ts";
import type { LogReader } from "../../log/event-log.ts";
import { decodeRecord } from "../../log/record.ts";
import { type Row, rowInteger } from "../../views/tables.ts";
import { tenantCount } from "../../views/tenant-query.ts";
import { DEAD_LETTERS, type ViewStore } from "../../views/view-store.ts";
import { EVENTS } from "../events/tables.ts";
import { LEDGER } from "./tables.ts";

export interface HourBalance {
  readonly hour: Hour;
  /** Null where nobody counted: events from before there were counts. */
  readonly accepted: number | null;
  readonly stored: number;
  readonly projected: number;
  /** Records of events that were stored before: their event stands in the view once. */
  readonly repeated: number;
  readonly deadLetters: number;
  readonly state: "balanced" | "more_stored" | "missing_in_log" | "not_projected";
  readonly differing: readonly DifferingEvent[];
  /** Whether all that differ are named. */
  readonly isComplete: boolean;
}

export interface DifferingEvent {
  readonly eventId: string;
  readonly sequence: number;
}

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

const balanceOf = async (
  { views, log }: ReconciliationDependencies,
  at: { tenant: string; hour: Hour; row: Row | undefined; count: number | undefined },
): Promise<HourBalance> => {
  const { tenant, hour, row, count } = at;
  const accepted = count ?? null;
  if (!row) {
    const nothing = { stored: 0, projected: 0, repeated: 0, deadLetters: 0 };
    return { hour, accepted, ...nothing, state: "missing_in_log", differing: [], isComplete: false };
  }
  const range = { first: rowInteger(row, "first_sequence"), last: rowInteger(row, "last_sequence") };
  const projected = await countRows(views, tenant, hour, range);
  const deadLetters = await countLetters(views, tenant, range);
  const stored = rowInteger(row, "records");
  const repeated = rowInteger(row, "repeated");
  const isProjected = projected + repeated + rowInteger(row, "malformed") === stored;
  const state = !isProjected
    ? "not_projected"
    : accepted === null || accepted === stored
      ? "balanced"
      : accepted > stored
        ? "missing_in_log"
        : "more_stored";
  const named = isProjected ? NOTHING_DIFFERS : await namedDifferences({ views, log, tenant, hour, range });
  return { hour, accepted, stored, projected, repeated, deadLetters, state, ...named };
};

interface Range {
  readonly first: number;
  readonly last: number;
}

const NOTHING_DIFFERS = { differing: [], isComplete: true } as const;

const sequenceRange = ({ first, last }: Range) =>
  ({ kind: "range", column: "sequence", from: first, to: last + 1 }) as const;

/** Those that have expired, too: the view has taken them. */
const countRows = async (views: ViewStore, tenant: string, hour: Hour, range: Range): Promise<number> => {
  const count = async (column: "received" | "received_at", { first, last }: Range): Promise<number> => {
    // `~` sorts behind every character of a time.
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

const countLetters = (views: ViewStore, tenant: string, range: Range): Promise<number> =>
  countOf(
    views,
    tenantCount({
      tenant,
      table: DEAD_LETTERS,
      where: [{ kind: "equals", column: "projection", value: "events" }, sequenceRange(range)],
    }),
  );

const countOf = async (views: ViewStore, query: ReturnType<typeof tenantCount>): Promise<number> => {
  const [row] = await views.select(query);
  return row ? rowInteger(row, "count") : 0;
};

/** Reads the hour in the log, and names what has no row under its event_id. */
const namedDifferences = async (parts: {
  views: ViewStore;
  log: LogReader;
  tenant: string;
  hour: Hour;
  range: Range;
}): Promise<Pick<HourBalance, "differing" | "isComplete">> => {
  const { views, log, tenant, hour, range } = parts;
  const differing: DifferingEvent[] = [];
  const stop = new AbortController();
  let read = 0;
  for await (const messages of log.follow({ from: range.first, messagesMax: 500, signal: stop.signal })) {
    const events = messages.flatMap(({ sequence, payload }) => {
      const record = sequence <= range.last ? decodeRecord(payload) : undefined;
      return record?.tenant === tenant && record.receivedAt.startsWith(hour)
        ? [{ sequence, eventId: idIn(record.eventText) }]
        : [];
    });
    const rows = await views.load(
      EVENTS,
      events.map(({ eventId }) => ({ tenant, event_id: eventId })),
    );
    const known = new Set(rows.map((row) => row.event_id));
    differing.push(...events.filter(({ eventId }) => !known.has(eventId)));
    read += messages.length;
    const isOver = (messages.at(-1)?.sequence ?? range.last) >= range.last;
    if (isOver || read >= RECONCILED_RECORDS_READ_MAX || differing.length >= RECONCILED_EVENTS_NAMED_MAX) {
      stop.abort();
      return {
        differing: differing.slice(0, RECONCILED_EVENTS_NAMED_MAX),
        isComplete: isOver && differing.length <= RECONCILED_EVENTS_NAMED_MAX,
      };
    }
  }
  return { differing, isComplete: false };
};

const idIn = (eventText: string): string => {
  const { event_id: eventId }: { event_id?: unknown } = JSON.parse(eventText);
  return typeof eventId === "string" ? canonicalEventId(eventId) : "";
};
