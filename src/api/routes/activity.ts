import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { timeKey } from "../../event/formats.ts";
import { DAY_MS, FIRST_INSTANT, instantOf } from "../../law/obligations/calendar.ts";
import { ACTIVITY_ROWS_MAX } from "../../limits.ts";
import { ACTIVITY_GROUPS, type ActivityGroup, readActivity } from "../../views/activity/queries.ts";
import { EVENT_COUNTS } from "../http/access.ts";
import { EVENT_TYPE_PARAMETER, readEventTypes } from "../http/event-filter.ts";
import type { Guard } from "../http/guard.ts";
import { describe, EXAMPLE_REQUEST_ID, type Operation } from "../http/openapi.ts";
import { problem } from "../http/problem.ts";
import type { Query } from "../http/query.ts";
import { MIN_SEQUENCE, parameter, type ReadDependencies, reading } from "../http/reading.ts";
import { listOf } from "../http/schemas.ts";
import { several, severalParameter } from "../http/several.ts";
import { successList } from "../http/success.ts";
import { readTimeRange, timeParameter } from "../http/time-range.ts";

export const activityRoutes = ({ guard, views, now }: ReadDependencies & { readonly guard: Guard }) => {
  const read = reading(views, {
    view: "activity",
    ask: (query) => ask(query, now()),
    answer: async (asked, call) => {
      const rowsMax = ACTIVITY_ROWS_MAX;
      const rows = await readActivity(views, call.principal.tenant, { ...asked, rowsMax });
      if (rows === undefined) {
        const message = `The answer has more than ${ACTIVITY_ROWS_MAX} rows: ask for a shorter time with from and to, days, or fewer groups.`;
        return problem(call.context, "invalid_request", {
          detail: message,
          errors: [{ path: "query:from", code: "too_many", message }],
        });
      }
      return successList({
        context: call.context,
        rowTexts: rows.map(({ start, ...row }) =>
          JSON.stringify(start === undefined ? row : { start: startTime(String(start)), ...row }),
        ),
        // The answer is complete, or refused as too large.
        nextCursor: null,
      });
    },
  });
  return new Elysia({ prefix: "/v1" }).get("/activity", guard(EVENT_COUNTS, read), {
    detail: describe(READ),
  });
};

const DAYS_DEFAULT = 30;

const ask = (query: Query, now: Date) => {
  const bucket = query.choice("bucket", ["hour", "day"], "day");
  const asked = readTimeRange(query);
  const to = timeKey(asked.to ?? new Date(now.getTime() + DAY_MS).toISOString());
  const from = timeKey(
    asked.from ??
      new Date(Math.max(instantOf(`${to}Z`) - DAYS_DEFAULT * DAY_MS, FIRST_INSTANT)).toISOString(),
  );
  if (asked.to === undefined && from > to)
    query.refuse(
      "from",
      "from is after to, which is a day from now where it is left out: send a to as well.",
    );
  const characters = bucket === "hour" ? "2026-11-20T10".length : "2026-11-20".length;
  const groups = query.checked(
    "group_by",
    (text) => text.split(",").every((name) => ACTIVITY_GROUPS.some((known) => known === name)),
    `some of ${ACTIVITY_GROUPS.join(", ")}, separated by commas`,
  );
  return {
    bucket,
    groupBy: groupsIn(groups ?? "start"),
    from: from.slice(0, characters),
    to: isWhole(to, bucket) ? to.slice(0, characters) : `${to.slice(0, characters)}~`,
    assetIds: several(query, "asset_id"),
    ...readEventTypes(query),
  };
};

const groupsIn = (text: string): readonly ActivityGroup[] =>
  ACTIVITY_GROUPS.filter((name) => text.split(",").includes(name));

/** Whether `to` is the beginning of a bucket. One that it cuts is counted whole. */
const isWhole = (to: string, bucket: "hour" | "day"): boolean =>
  to.endsWith(bucket === "day" ? "T00:00:00" : ":00:00");

const startTime = (start: string): string => (start.length > 10 ? `${start}:00:00Z` : `${start}T00:00:00Z`);

const READ: Operation = {
  id: "readActivity",
  tag: "Reading",
  summary: "How many events there were",
  description: `Counts by hour or day of the events' own time (UTC), grouped as asked. Buckets that \`from\` or \`to\` cuts are counted whole. Without \`from\` the 30 days before \`to\`. The answer has all rows, of which there may be ${ACTIVITY_ROWS_MAX}, past that 400: \`next_cursor\` is always null.`,
  access: EVENT_COUNTS,
  parameters: [
    parameter("bucket", "Length of a bucket.", { type: "string", enum: ["hour", "day"], default: "day" }),
    parameter("group_by", `Some of ${ACTIVITY_GROUPS.join(", ")}, separated by commas.`, {
      type: "string",
      pattern: `^(${ACTIVITY_GROUPS.join("|")})(,(${ACTIVITY_GROUPS.join("|")}))*$`,
      default: "start",
    }),
    timeParameter("from", "From the bucket with this time on, RFC 3339 in UTC."),
    timeParameter("to", "Up to this time, RFC 3339 in UTC. Absent: a day from now."),
    severalParameter("asset_id", "Exactly this asset."),
    EVENT_TYPE_PARAMETER,
    MIN_SEQUENCE,
  ],
  answer: {
    status: 200,
    description: "One row per group, in their order.",
    schema: listOf(
      Type.Object({
        start: Type.Optional(Type.String({ format: "date-time" })),
        asset_id: Type.Optional(Type.String()),
        event_group: Type.Optional(Type.String()),
        event_type: Type.Optional(Type.String()),
        risk_tier: Type.Optional(Type.String({ description: "Empty for events without one." })),
        events: Type.Integer({ minimum: 1 }),
      }),
    ),
    example: {
      data: [{ start: "2026-11-20T00:00:00Z", events: 42 }],
      next_cursor: null,
      request_id: EXAMPLE_REQUEST_ID,
    },
  },
  problems: ["invalid_request", "view_behind"],
};
