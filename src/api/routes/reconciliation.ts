import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { timeKey } from "../../event/formats.ts";
import { RECONCILED_EVENTS_NAMED_MAX, RECONCILED_HOURS_MAX } from "../../limits.ts";
import { beginOfHour, HOUR_MS, hourAt, hourOf } from "../../log/accepted-counts.ts";
import { EVENTS_VIEW } from "../../views/events/tables.ts";
import {
  isBalanced,
  type ReconciliationDependencies,
  reconcile,
  reconcileCounted,
  TOLD_STATES,
  type ToldBalance,
  tellUnread,
} from "../../views/ledger/reconcile.ts";
import { LEDGER_VIEW } from "../../views/ledger/tables.ts";
import { BALANCES } from "../http/access.ts";
import type { Guard } from "../http/guard.ts";
import { describe, EXAMPLE_REQUEST_ID, type Operation } from "../http/openapi.ts";
import type { Query } from "../http/query.ts";
import { answerOne, MIN_SEQUENCE, parameter, type ReadDependencies, reading } from "../http/reading.ts";
import { dataOf } from "../http/schemas.ts";
import { readTimeRange } from "../http/time-range.ts";

export const reconciliationRoutes = ({
  guard,
  views,
  now,
  reconciliation,
}: ReadDependencies & { readonly guard: Guard; readonly reconciliation: ReconciliationDependencies }) => {
  const read = reading(views, {
    view: [LEDGER_VIEW, EVENTS_VIEW],
    tellsPosition: true,
    ask: (query) => hoursAsked(query, now()),
    answer: async (hours, call, awaited) => {
      const { tenant } = call.principal;
      const { log } = reconciliation;
      const position = Math.min(await views.position(LEDGER_VIEW), await views.position(EVENTS_VIEW));
      const found =
        awaited === undefined
          ? await reconcile(reconciliation, tenant, hours)
          : await reconcileCounted(reconciliation, tenant, hours, { now: now(), deadline: awaited.until });
      const lastSequence = await log.lastSequence();
      const balances = await tellUnread(log, { position, end: lastSequence }, found);
      return answerOne(call, {
        is_balanced: isBalanced(balances),
        log_last_sequence: lastSequence,
        view_position: position,
        hours: balances.map(hourEntry),
      });
    },
  });
  return new Elysia({ prefix: "/v1" }).get("/reconciliation", guard(BALANCES, read), {
    detail: describe(READ),
  });
};

const hoursAsked = (query: Query, now: Date): readonly string[] => {
  const { from, to } = readTimeRange(query);
  const hour = (time: string): number => beginOfHour(hourOf(timeKey(time)));
  const end = to === undefined ? now.getTime() : hour(to);
  const start = from === undefined ? end - 24 * HOUR_MS : hour(from);
  if (to === undefined && start > end) {
    query.refuse("from", "from is in the future, and without to the answer ends now: send an earlier from.");
    return [];
  }
  const first = Math.floor(start / HOUR_MS);
  const count = Math.max(0, Math.floor(end / HOUR_MS) - first + 1);
  if (count > RECONCILED_HOURS_MAX) {
    const message = `The time asked for has ${count} hours, and at most ${RECONCILED_HOURS_MAX} are answered at once: send a later from or an earlier to.`;
    query.refuse("from", message);
    return [];
  }
  return Array.from({ length: count }, (_, index) => hourAt((first + index) * HOUR_MS));
};

const hourEntry = (balance: ToldBalance) => ({
  hour: `${balance.hour}:00:00Z`,
  accepted: balance.accepted,
  stored: balance.stored,
  projected: balance.projected,
  repeated: balance.repeated,
  dead_letters: balance.deadLetters,
  state: balance.state,
  differing: balance.differing.map(({ eventId, sequence, code }) => ({ event_id: eventId, sequence, code })),
  is_complete: balance.isComplete,
});

const HourEntry = Type.Object({
  hour: Type.String({ format: "date-time", description: "The hour that begins then, by `received_at`." }),
  accepted: Type.Union([Type.Integer(), Type.Null()], {
    description:
      "Events answered with 202 and stored by that answer, counted by the front ends; null where nothing was counted, or what was is not handed on yet: that takes about a second, and with `min_sequence` the answer waits for it, up to 2 s.",
  }),
  stored: Type.Integer({ description: "Records in the log." }),
  projected: Type.Integer({ description: "Events in the view, counted now." }),
  repeated: Type.Integer({ description: "Records under an event_id that the log held already." }),
  dead_letters: Type.Integer({
    description:
      "Records that the view could not take, among them those that repeat an event_id with other content. Where `is_complete` is false, some of them may be of another hour that overlaps with this one in the log.",
  }),
  state: Type.Union(
    TOLD_STATES.map((state) => Type.Literal(state)),
    {
      description:
        "`not_counted`: nothing says how many events were acknowledged, as in hours before an upgrade from v0.1.0. `more_stored`: stored, but nobody was told, because a front end or its connection ended first, or told and not counted yet. `refused`: nothing is lost, and the view could not take what `differing` names. `view_behind`: the views have not read all of the hour yet, so nobody can tell: ask again. `missing_in_log` and `not_projected` are alarms.",
    },
  ),
  differing: Type.Array(
    Type.Object({
      event_id: Type.Union([Type.String(), Type.Null()], { description: "Null where the event has none." }),
      sequence: Type.Integer(),
      code: Type.String({
        description:
          "Why the view does not have it: the code of its dead letter, such as `event_id_conflict` (an earlier event with this event_id has other content), or `not_projected`.",
      }),
    }),
    {
      maxItems: RECONCILED_EVENTS_NAMED_MAX,
      description: "Records in the log that the view does not have.",
    },
  ),
  is_complete: Type.Boolean({ description: "Whether all that differ are named." }),
});

const READ: Operation = {
  id: "reconcile",
  tag: "Reading",
  summary: "Accepted = stored = projected",
  description: `Compares what was acknowledged with what the log holds and what the view shows, hour by hour. Each of the three is counted by a different part of the service. Hours without events are left out. At most ${RECONCILED_HOURS_MAX} hours at once. Counts of the last seconds may still be incomplete.`,
  access: BALANCES,
  parameters: [
    parameter("from", "From the hour with this time on, RFC 3339 in UTC. Absent: 24 hours before `to`.", {
      type: "string",
      format: "date-time",
    }),
    parameter("to", "Up to the hour with this time. Absent: now.", { type: "string", format: "date-time" }),
    MIN_SEQUENCE,
  ],
  answer: {
    status: 200,
    description: "One row per hour with events.",
    schema: dataOf(
      Type.Object({
        is_balanced: Type.Union([Type.Boolean(), Type.Null()], {
          description: "Null where nothing was counted, so that nobody can tell.",
        }),
        log_last_sequence: Type.Integer(),
        view_position: Type.Integer(),
        hours: Type.Array(HourEntry),
      }),
    ),
    example: {
      data: {
        is_balanced: true,
        log_last_sequence: 42,
        view_position: 42,
        hours: [
          {
            hour: "2026-11-20T10:00:00Z",
            accepted: 42,
            stored: 42,
            projected: 41,
            repeated: 1,
            dead_letters: 0,
            state: "balanced",
            differing: [],
            is_complete: true,
          },
        ],
      },
      request_id: EXAMPLE_REQUEST_ID,
    },
  },
  problems: ["invalid_request", "view_behind", "overloaded", "log_unavailable"],
};
