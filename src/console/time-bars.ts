/** Counts by hour or day as the bars of a histogram. Pure, but for the zone of the reader. */
import { valuesIn } from "./comma-list.ts";

/** A row of `GET /v1/activity`. */
export interface Counted {
  readonly start: string;
  readonly events: number;
  readonly event_type?: string;
  readonly asset_id?: string;
  readonly risk_tier?: string;
}

type Asked = Readonly<Record<string, string | undefined>>;

const HOUR_MS = 3_600_000;
const DAY_HOURS = 24;
const STEPS = [1, 2, 3, 6, 12, 24, 48, 168, 336, 720, 2160] as const;
const YEAR_HOURS = 8760;
const BARS_MAX = 48;
const DAYS_DEFAULT = 30;
/** So many hours are counted by hour, so that days begin in the reader's zone. */
const BY_HOUR_MAX = 62 * DAY_HOURS;

export interface Scale {
  /** Length of a bar. */
  readonly hours: number;
  readonly bucket: "hour" | "day";
  /** Where bars begin, and the end of the last one; milliseconds. */
  readonly edges: readonly number[];
  /** Whether a bar reaches beyond what was asked for. */
  readonly isCut: boolean;
}

export const scaleOf = ({ from, to }: Asked, now: number): Scale => {
  const asked = { from: Date.parse(from ?? ""), to: Date.parse(to ?? "") };
  const end = Number.isNaN(asked.to) ? Math.max(now, (asked.from || 0) + HOUR_MS) : asked.to;
  const start = Number.isNaN(asked.from) ? end - (DAYS_DEFAULT - 1) * DAY_HOURS * HOUR_MS : asked.from;
  const span = (end - start) / HOUR_MS;
  const hours =
    STEPS.find((step) => span / step <= BARS_MAX) ?? Math.ceil(span / YEAR_HOURS / BARS_MAX) * YEAR_HOURS;
  const bucket = end - start > BY_HOUR_MAX * HOUR_MS ? "day" : "hour";
  const edges = [edgeBefore(start, hours, bucket)];
  for (let last = edges[0] ?? start; last < end; ) {
    last = edgeAfter(last, hours, bucket);
    edges.push(last);
  }
  const isCut = (asked.from || Infinity) > (edges[0] ?? 0) && !Number.isNaN(asked.from);
  return { hours, bucket, edges, isCut: isCut || (edges.at(-1) ?? 0) > asked.to };
};

/** Days are those of UTC where the service counts by day, or where the reader's hours begin at other minutes than those of UTC. */
const isUtc = (at: number, bucket: string): boolean =>
  bucket === "day" || new Date(at).getTimezoneOffset() % 60 !== 0;

const edgeBefore = (at: number, hours: number, bucket: string): number => {
  const edge = new Date(at);
  const part = Math.min(hours, DAY_HOURS);
  if (isUtc(at, bucket)) edge.setUTCHours(edge.getUTCHours() - (edge.getUTCHours() % part), 0, 0, 0);
  else edge.setHours(edge.getHours() - (edge.getHours() % part), 0, 0, 0);
  return edge.getTime();
};

/** Days are counted by the calendar, because some have 23 hours. */
const edgeAfter = (at: number, hours: number, bucket: string): number => {
  if (hours < DAY_HOURS || isUtc(at, bucket)) return at + hours * HOUR_MS;
  const edge = new Date(at);
  return edge.setDate(edge.getDate() + hours / DAY_HOURS);
};

export const barsOf = (rows: readonly Counted[], { edges }: Scale): readonly number[] => {
  const bars = edges.slice(1).map(() => 0);
  for (const { start, events } of rows) {
    const bar = edges.findLastIndex((edge) => edge <= Date.parse(start));
    if (bar >= 0 && bar < bars.length) bars[bar] = (bars[bar] ?? 0) + events;
  }
  return bars;
};

const COUNTED = ["event_type", "asset_id", "risk_tier"] as const;

/** With another filter the bars would show other events than the list. */
export const isCounted = (name: string): boolean =>
  ["from", "to", ...COUNTED].includes(name.replace("not_", ""));

/** What the service is asked to count apart, because it does not filter by it. */
export const apartFor = (asked: Asked): readonly string[] =>
  COUNTED.filter(
    (name) => asked[`not_${name}`] !== undefined || (asked[name] !== undefined && !isSent(name, asked[name])),
  );

/** Types and groups together are no filter of counts. */
export const isSent = (name: string, value: string): boolean => {
  if (name === "asset_id") return true;
  const groups = valuesIn(value).map((each) => each.endsWith(".*"));
  return name === "event_type" && new Set(groups).size === 1;
};

export const isAsked = (row: Counted, asked: Asked): boolean =>
  COUNTED.every((name) => {
    const has = row[name];
    if (has === undefined) return true;
    const isIn = (values: string): boolean => valuesIn(values).some((value) => isOf(name, has, value));
    const [only, not] = [asked[name], asked[`not_${name}`]];
    return (only === undefined || isIn(only)) && (not === undefined || !isIn(not));
  });

const isOf = (name: string, has: string, value: string): boolean => {
  if (name !== "event_type" || !value.endsWith(".*")) return has === value;
  return (has.includes(".") ? has.slice(0, has.indexOf(".")) : "legacy") === value.slice(0, -2);
};
