/** Times in query parameters. */
import { isUtcTimestamp, timeKey } from "../../event/formats.ts";
import type { Parameter } from "./openapi.ts";
import type { Query } from "./query.ts";
import { parameter } from "./reading.ts";

/** As it was sent. */
const readTime = (query: Query, name: string): string | undefined =>
  query.checked(name, isUtcTimestamp, "a time as RFC 3339 in UTC, for example 2026-11-20T10:00:00Z");

/** Both as they were sent. A range that ends before it begins is refused: most often the two were swapped. */
export const readTimeRange = (
  query: Query,
  names: { readonly from: string; readonly to: string } = { from: "from", to: "to" },
): { readonly from: string | undefined; readonly to: string | undefined } => {
  const [from, to] = [readTime(query, names.from), readTime(query, names.to)];
  if (from !== undefined && to !== undefined && timeKey(from) > timeKey(to))
    query.refuse(names.from, `${names.from} is after ${names.to}: send the earlier time in ${names.from}.`);
  return { from, to };
};

export const timeParameter = (name: string, description: string): Parameter =>
  parameter(name, description, { type: "string", format: "date-time" });

/** `counted`: a sentence about the time that is compared. */
export const timeRangeParameters = (counted: string): readonly Parameter[] => [
  timeParameter("from", `At or after this time, RFC 3339 in UTC. ${counted}`),
  timeParameter("to", `Before this time, RFC 3339 in UTC. ${counted}`),
];
