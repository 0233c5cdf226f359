/** How many events there were, and whether all acknowledged ones are there. */
import { Type } from "@sinclair/typebox";
import { timeKey } from "../../event/formats.ts";
import { DAY_MS, FIRST_INSTANT, instantOf } from "../../law/obligations/due-date.ts";
import { ACTIVITY_ROWS_MAX, RECONCILED_EVENTS_NAMED_MAX, RECONCILED_HOURS_MAX } from "../../limits.ts";
import { beginOfHour, HOUR_MS, hourAt, hourOf } from "../../log/accepted-counts.ts";
import { ACTIVITY_GROUPS, readActivity } from "../../views/activity/queries.ts";
import { EVENTS_VIEW } from "../../views/events/tables.ts";
import {
  BALANCE_STATES,
  type HourBalance,
  isBalanced,
  reconcile,
  reconcileCounted,
  tellUnread,
} from "../../views/ledger/reconcile.ts";
import { LEDGER_VIEW } from "../../views/ledger/tables.ts";
import { BALANCES, EVENT_COUNTS } from "../http/access.ts";
import { give, givePage, refuse } from "../http/answers.ts";
import type { Dependencies } from "../http/dependencies.ts";
import { TYPES_OR_GROUPS } from "../http/event-filter.ts";
import { allOf, choice, type Query, several, textAs, timesBetween } from "../http/parameters.ts";
import type { Route } from "../http/route.ts";
import { bool, int, nullable, str, Time, time, wordsOf } from "../http/schemas.ts";

export const activityRoutes = ({ route, views, now }: Dependencies): readonly Route[] => [
  route({
    on: "GET /v1/activity",
    access: EVENT_COUNTS,
    id: "readActivity",
    tag: "Reading",
    summary: "How many events there were",
    description: `Counts by hour or day of the events' own time (UTC), grouped as asked. Buckets that \`from\` or \`to\` cuts are counted whole. Without \`from\`: the 30 days before \`to\`. The answer has all rows, at most ${ACTIVITY_ROWS_MAX}, beyond that 400: \`next_cursor\` is always null.`,
    views: ["activity"],
    query: {
      wanted: { documented: QUESTIONS.documented, read: (query: Query) => wantedOf(query, now()) },
    },
    isList: true,
    gives: Type.Object({
      start: Type.Optional(Time),
      asset_id: Type.Optional(Type.String()),
      event_group: Type.Optional(Type.String()),
      event_type: Type.Optional(Type.String()),
      risk_tier: Type.Optional(str("Empty for events without one.")),
      events: Type.Integer({ minimum: 1 }),
    }),
    example: { start: "2026-11-20T00:00:00Z", events: 42 },
    answer: async ({ principal, asked }) => {
      const rowsMax = ACTIVITY_ROWS_MAX;
      const rows = await readActivity(views, principal.tenant, { ...asked.wanted, rowsMax });
      if (rows === undefined) return TOO_MANY_ROWS;
      const texts = rows.map(({ start, ...row }) => {
        const zone = String(start).length > "2026-11-20".length ? ":00:00Z" : "T00:00:00Z";
        return JSON.stringify(start === undefined ? row : { start: start + zone, ...row });
      });
      return givePage(texts, null);
    },
  }),
];

const MANY = `The answer has more than ${ACTIVITY_ROWS_MAX} rows: ask for a shorter period with from and to, days, or fewer groups.`;
const TOO_MANY_ROWS = refuse("invalid_request", {
  detail: MANY,
  errors: [{ path: "query:from", code: "too_many", message: MANY }],
});

const GROUPS = ACTIVITY_GROUPS.join("|");
const SOME = `some of ${ACTIVITY_GROUPS.join(", ")}, separated by commas.`;
const QUESTIONS = allOf({
  bucket: choice("bucket", "Length of a bucket.", ["hour", "day"], "day"),
  groups: textAs(
    "group_by",
    `S${SOME.slice(1)}`,
    { type: "string", pattern: `^(${GROUPS})(,(${GROUPS}))*$`, default: "start" },
    (sent) => {
      const names = sent.split(",");
      const isKnown = names.every((name) => ACTIVITY_GROUPS.some((known) => known === name));
      return isKnown
        ? { value: ACTIVITY_GROUPS.filter((name) => names.includes(name)) }
        : { message: `group_by is not valid: send ${SOME}` };
    },
  ),
  times: timesBetween(
    "From the bucket with this time on, RFC 3339 in UTC.",
    "Up to this time, RFC 3339 in UTC. Absent: a day from now.",
  ),
  assetIds: several("asset_id", "Exactly this asset."),
  types: TYPES_OR_GROUPS,
});

const DAYS_DEFAULT = 30;
const FROM_LATER = "from is after to, which defaults to a day from now: send a to as well.";

const wantedOf = (query: Query, now: Date) => {
  const { bucket, groups = ["start" as const], times, assetIds, types } = QUESTIONS.read(query);
  const to = timeKey(times.to ?? new Date(now.getTime() + DAY_MS).toISOString());
  const first = Math.max(instantOf(`${to}Z`) - DAYS_DEFAULT * DAY_MS, FIRST_INSTANT);
  const from = timeKey(times.from ?? new Date(first).toISOString());
  if (times.to === undefined && from > to) query.refuse("from", FROM_LATER);
  const characters = bucket === "hour" ? "2026-11-20T10".length : "2026-11-20".length;
  // A bucket that `to` cuts is counted whole.
  const isWhole = to.endsWith(bucket === "day" ? "T00:00:00" : ":00:00");
  return {
    bucket,
    groupBy: groups,
    from: from.slice(0, characters),
    to: to.slice(0, characters) + (isWhole ? "" : "~"),
    assetIds,
    ...types,
  };
};

const TIMES = timesBetween(
  "From the hour with this time on, RFC 3339 in UTC. Absent: 24 hours before `to`.",
  "Up to the hour with this time. Absent: now.",
);

export const reconciliationRoutes = ({
  route,
  views,
  now,
  reconciliation,
}: Dependencies): readonly Route[] => [
  route({
    on: "GET /v1/reconciliation",
    access: BALANCES,
    id: "reconcile",
    tag: "Reading",
    summary: "Accepted = stored = projected",
    description: `Compares what was acknowledged with what the log holds and what the view shows, hour by hour. A different part of the service counts each of the three. Hours without events are omitted. At most ${RECONCILED_HOURS_MAX} hours at once. Counts of the last seconds may still be incomplete.`,
    views: [LEDGER_VIEW, EVENTS_VIEW],
    tellsPosition: true,
    query: { hours: { documented: TIMES.documented, read: (query: Query) => hoursAsked(query, now()) } },
    gives: Type.Object({
      is_balanced: nullable(bool("Null where nothing was counted: unknown.")),
      log_last_sequence: Type.Integer(),
      view_position: Type.Integer(),
      hours: Type.Array(HourEntry),
    }),
    problems: ["overloaded", "log_unavailable"],
    answer: async ({ principal: { tenant }, asked: { hours }, awaited }) => {
      const { log } = reconciliation;
      const position = Math.min(await views.position(LEDGER_VIEW), await views.position(EVENTS_VIEW));
      const found =
        awaited === undefined
          ? await reconcile(reconciliation, tenant, hours)
          : await reconcileCounted(reconciliation, tenant, hours, { now: now(), deadline: awaited.until });
      const lastSequence = await log.lastSequence();
      const balances = await tellUnread(log, { position, end: lastSequence }, found);
      return give({
        is_balanced: isBalanced(balances),
        log_last_sequence: lastSequence,
        view_position: position,
        hours: balances.map(hourEntry),
      });
    },
  }),
];

const hoursAsked = (query: Query, now: Date): readonly string[] => {
  const { from, to } = TIMES.read(query);
  const hour = (time: string): number => beginOfHour(hourOf(timeKey(time)));
  const end = to === undefined ? now.getTime() : hour(to);
  const start = from === undefined ? end - 24 * HOUR_MS : hour(from);
  if (to === undefined && start > end) {
    query.refuse("from", "from is in the future, and to defaults to now: send an earlier from.");
    return [];
  }
  const first = Math.floor(start / HOUR_MS);
  const count = Math.max(0, Math.floor(end / HOUR_MS) - first + 1);
  if (count > RECONCILED_HOURS_MAX) {
    const message = `The period has ${count} hours; at most ${RECONCILED_HOURS_MAX} are allowed at once: send a later from or an earlier to.`;
    query.refuse("from", message);
    return [];
  }
  return Array.from({ length: count }, (_, index) => hourAt((first + index) * HOUR_MS));
};

const hourEntry = ({ hour, deadLetters, differing, isComplete, ...counts }: HourBalance) => ({
  hour: `${hour}:00:00Z`,
  ...counts,
  dead_letters: deadLetters,
  differing: differing.map(({ eventId, sequence, code }) => ({ event_id: eventId, sequence, code })),
  is_complete: isComplete,
});

const HourEntry = Type.Object({
  hour: time("Start of the hour, by `received_at`."),
  accepted: nullable(
    int(
      "Events answered with 202 and stored by that answer, counted by the front ends; null where nothing was counted or the count has not arrived: that takes about a second, and with `min_sequence` the answer waits for it, up to 2 s.",
    ),
  ),
  stored: int("Records in the log."),
  projected: int("Events in the view, counted now."),
  repeated: int("Records under an event_id that the log already held."),
  dead_letters: int(
    "Records that the view refused, including those that repeat an event_id with different content. Where `is_complete` is false, some may be from another hour that overlaps this one in the log.",
  ),
  state: wordsOf(BALANCE_STATES, {
    description:
      "`not_counted`: the number of acknowledged events is unknown, as in hours before an upgrade from v0.1.0. `more_stored`: stored but not acknowledged, because a front end or its connection ended first, or not counted yet. `refused`: nothing is lost, but the view refused what `differing` lists. `view_behind`: the views have not read the whole hour yet: retry. `missing_in_log` and `not_projected` are alarms.",
  }),
  differing: Type.Array(
    Type.Object({
      event_id: nullable(str("Null where the event has none.")),
      sequence: Type.Integer(),
      code: str(
        "Why the view does not have it: the code of its dead letter, such as `event_id_conflict` (an earlier event with this event_id differs), or `not_projected`.",
      ),
    }),
    {
      maxItems: RECONCILED_EVENTS_NAMED_MAX,
      description: "Records in the log that the view lacks.",
    },
  ),
  is_complete: bool("Whether all that differ are listed."),
});
