import { strict as assert } from "node:assert";
import { INTEGER, type Row, rowInteger, rowText, type Table, TEXT, type Value } from "../store/tables.ts";
import { type Counted, tenantTotals } from "../store/tenant-query.ts";
import type { ViewStore } from "../store/view-store.ts";

/** Columns that count the events of each hour of the day, in their order. */
export const HOURS = [
  ...(["h00", "h01", "h02", "h03", "h04", "h05", "h06", "h07", "h08", "h09", "h10", "h11"] as const),
  ...(["h12", "h13", "h14", "h15", "h16", "h17", "h18", "h19", "h20", "h21", "h22", "h23"] as const),
] as const;

/** The number of events on a day of the events' own time, in UTC, and in each of its hours: most are 0, which takes a byte in SQLite. */
const COUNTS = {
  events: INTEGER,
  h00: INTEGER,
  h01: INTEGER,
  h02: INTEGER,
  h03: INTEGER,
  h04: INTEGER,
  h05: INTEGER,
  h06: INTEGER,
  h07: INTEGER,
  h08: INTEGER,
  h09: INTEGER,
  h10: INTEGER,
  h11: INTEGER,
  h12: INTEGER,
  h13: INTEGER,
  h14: INTEGER,
  h15: INTEGER,
  h16: INTEGER,
  h17: INTEGER,
  h18: INTEGER,
  h19: INTEGER,
  h20: INTEGER,
  h21: INTEGER,
  h22: INTEGER,
  h23: INTEGER,
} as const satisfies Readonly<Record<"events" | (typeof HOURS)[number], typeof INTEGER>>;

export const ACTIVITY = {
  name: "activity",
  columns: {
    tenant: TEXT,
    start: TEXT,
    asset_id: TEXT,
    event_type: TEXT,
    /** Empty if the event has none. */
    risk_tier: TEXT,
    event_group: TEXT,
    ...COUNTS,
  },
  // The group follows from the type; it is part of the key because all other columns are added up.
  primaryKey: ["tenant", "start", "asset_id", "event_type", "risk_tier", "event_group"],
  indexes: [],
} as const satisfies Table;

/** The same for all assets together: with assets there may be a thousand times as many rows. */
export const ACTIVITY_OF_ALL = {
  name: "activity_of_all",
  columns: {
    tenant: TEXT,
    start: TEXT,
    event_type: TEXT,
    risk_tier: TEXT,
    event_group: TEXT,
    ...COUNTS,
  },
  primaryKey: ["tenant", "start", "event_type", "risk_tier", "event_group"],
  indexes: [],
} as const satisfies Table;

export const ACTIVITY_GROUPS = ["start", "asset_id", "event_group", "event_type", "risk_tier"] as const;
export type ActivityGroup = (typeof ACTIVITY_GROUPS)[number];

export interface ActivityQuestion {
  readonly bucket: "hour" | "day";
  readonly groupBy: readonly ActivityGroup[];
  /** Inclusive; a prefix of RFC 3339, like `start`. */
  readonly from: string;
  /** Exclusive. */
  readonly to: string;
  readonly assetIds?: readonly string[] | undefined;
  readonly eventTypes?: readonly string[] | undefined;
  readonly eventGroups?: readonly string[] | undefined;
  readonly rowsMax: number;
}

/** Undefined if there are more than `rowsMax`. */
export const readActivity = async (
  views: ViewStore,
  tenant: string,
  question: ActivityQuestion,
): Promise<readonly Row[] | undefined> => {
  const { rowsMax } = question;
  const found = await views.select(activityQuery(tenant, question));
  // A day that is found has an hour.
  if (found.length > rowsMax) return undefined;
  const rows = isByHour(question) ? hoursOf(found, question) : found;
  return rows.length > rowsMax ? undefined : rows;
};

const isByHour = ({ bucket, groupBy }: ActivityQuestion): boolean =>
  bucket === "hour" && groupBy.includes("start");

/** Rows are days; of days that the range cuts only the hours inside it count. Separate so that a test can ask the database for its plan. */
export const activityQuery = (tenant: string, question: ActivityQuestion) => {
  const { groupBy, from, to, assetIds, eventTypes, eventGroups, rowsMax } = question;
  assert(!groupBy.includes("start", 1), "what begins when is asked first");
  const oneOf = <Name extends string>(column: Name, values: readonly string[] = []) => {
    const [value, ...others] = values;
    if (value === undefined) return [];
    if (others.length === 0) return [{ kind: "equals", column, value } as const];
    return [{ kind: "one_of", column, values } as const];
  };
  const range = { column: "start", from: dayOf(from), to } as const;
  const where = [...oneOf("event_type", eventTypes), ...oneOf("event_group", eventGroups)];
  const sums = isByHour(question) ? HOURS : (["events"] as const);
  const parts = { tenant, sums, counted: countedIn(question), rowsMax: rowsMax + 1 };
  if (assetIds !== undefined) {
    // Day by day: rows are ordered by day first, and an index ordered by asset would cost 0.8 µs per row that is added to (measured).
    const days = { kind: "among", ...range, table: ACTIVITY_OF_ALL } as const;
    return tenantTotals({
      ...parts,
      table: ACTIVITY,
      where: [days, ...oneOf("asset_id", assetIds), ...where],
      groupBy,
    });
  }
  const days = { kind: "range", ...range } as const;
  const others = groupBy.filter((group) => group !== "asset_id");
  return others.length < groupBy.length
    ? tenantTotals({ ...parts, table: ACTIVITY, where: [days, ...where], groupBy })
    : tenantTotals({ ...parts, table: ACTIVITY_OF_ALL, where: [days, ...where], groupBy: others });
};

const dayOf = (time: string): string => time.slice(0, "2026-11-20".length);

const startOf = (day: string, hour: (typeof HOURS)[number]): string => `${day}T${hour.slice(1)}`;

type Range = Pick<ActivityQuestion, "from" | "to">;

const isInside = (start: string, { from, to }: Range): boolean => start >= from && start < to;

const countedIn = ({
  bucket,
  ...range
}: ActivityQuestion): Counted<"start" | "events" | (typeof HOURS)[number]> => {
  const ends = bucket === "day" ? [] : [...new Set([dayOf(range.from), dayOf(range.to)])];
  const except = ends
    .filter((day) => day < range.to)
    .map((value) => ({ value, parts: HOURS.filter((hour) => isInside(startOf(value, hour), range)) }))
    .filter(({ parts }) => parts.length < HOURS.length);
  return { column: "events", by: "start", except };
};

const hoursOf = (days: readonly Row[], { groupBy, ...range }: ActivityQuestion): readonly Row[] => {
  const [, ...others] = groupBy;
  const found: Row[] = [];
  for (const [day, rows] of Map.groupBy(days, (row) => rowText(row, "start"))) {
    for (const hour of HOURS) {
      const start = startOf(day, hour);
      if (!isInside(start, range)) continue;
      for (const row of rows) {
        const events = rowInteger(row, hour);
        if (events === 0) continue;
        const made: Record<string, Value> = { start };
        for (const name of others) made[name] = row[name] ?? null;
        made.events = events;
        found.push(made);
      }
    }
  }
  return found;
};
