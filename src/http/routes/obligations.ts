import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { timeKey, WHOLE_SECONDS } from "../../event/formats.ts";
import { DEADLINES, deadlineOf } from "../../obligations/deadlines.ts";
import type { ObligationStatus, Rules } from "../../obligations/obligation.ts";
import { OBLIGATION_STATES, type ObligationState, soonAfter } from "../../obligations/state.ts";
import { obligationEntry, obligationList } from "../../projections/cases/registers/obligations.ts";
import { entryMembers } from "../../projections/list.ts";
import type { Condition } from "../../views/conditions.ts";
import type { Guard } from "../guard.ts";
import { listFilterParameters, readListFilter } from "../list-filter.ts";
import { describe, EXAMPLE_REQUEST_ID, type Operation } from "../openapi.ts";
import type { Query } from "../query.ts";
import {
  answerList,
  PAGE_PARAMETERS,
  parameter,
  type ReadDependencies,
  reading,
  readPage,
} from "../reading.ts";
import { listOf } from "../schemas.ts";
import { readTimeRange, timeParameter } from "../time-range.ts";
import { OBLIGATION_EXAMPLE } from "./register-examples.ts";

export const obligationRoutes = ({
  guard,
  views,
  now,
  rules,
}: ReadDependencies & { readonly guard: Guard; readonly rules: Rules }) => {
  const list = reading(views, {
    view: obligationList.view,
    ask: (query) => {
      // In whole seconds: an obligation is in time until the end of its last second.
      const at = timeKey(`${now().toISOString().slice(0, WHOLE_SECONDS)}Z`);
      const due = readTimeRange(query, { from: "due_from", to: "due_to" });
      const [from, to] = [due.from, due.to].map((time) => (time === undefined ? undefined : timeKey(time)));
      const states = readStates(query);
      const late = query.oneOf("recorded_late", ["true", "false"]);
      const where = [
        ...withLaw(readListFilter(query, obligationList)),
        ...(late === undefined
          ? []
          : [{ kind: "equals", column: "recorded_late", value: late === "true" ? 1 : 0 } as const]),
        ...(from === undefined && to === undefined
          ? []
          : [{ kind: "range", column: "due_at", from, to } as const]),
      ];
      return {
        ...readPage(query),
        at,
        where,
        ...(states && { anyOf: states.flatMap((state) => conditionsOf(state, at)) }),
        // Part of the cursor. The time is not, because it moves on between two pages.
        asked: [states ?? null, ...where],
      };
    },
    answer: ({ at, ...asked }, call) =>
      answerList(views, call, obligationList, { ...asked, entry: (row) => obligationEntry(row, rules, at) }),
  });
  return new Elysia({ prefix: "/v1" }).get("/obligations", guard("events:read", list), {
    detail: describe(LIST),
  });
};

/** In the order of the states, so that the order in which they are asked for changes nothing. */
const readStates = (query: Query): readonly ObligationState[] | undefined => {
  const isKnown = (name: string): boolean => OBLIGATION_STATES.some((state) => state === name);
  const expects = `one of ${OBLIGATION_STATES.join(", ")}, or several of them separated by commas`;
  const asked = query.checked("state", (sent) => sent.split(",").every(isKnown), expects)?.split(",");
  return asked && OBLIGATION_STATES.filter((state) => asked.includes(state));
};

/** Adds the law of the requested rule, because the index begins with the law. If another law was requested, nothing can match. */
const withLaw = (conditions: readonly Condition[]): readonly Condition[] => {
  const asked = new Map(
    conditions.map((each) => (each.kind === "equals" ? [each.column, each.value] : ["", ""])),
  );
  const law = deadlineOf(DEADLINES, String(asked.get("rule") ?? ""))?.law;
  if (law === undefined || asked.get("law") === law) return conditions;
  return [...conditions, asked.has("law") ? NO_TIME : { kind: "equals", column: "law", value: law }];
};

const NO_TIME: Condition = { kind: "range", column: "due_at", from: "1", to: "0" };

/** The alternatives for this state at a time. The state itself is not stored, because it changes without an event. */
const conditionsOf = (state: ObligationState, now: string): readonly (readonly Condition[])[] => {
  const due = (from: string | undefined, to: string | undefined): Condition => ({
    kind: "range",
    column: "due_at",
    from,
    to,
  });
  const status = (value: ObligationStatus): Condition => ({ kind: "equals", column: "status", value });
  const open = status("open");
  const soon = soonAfter(now);
  switch (state) {
    case "breached":
    case "met":
    case "met_late":
    case "waived":
      return [[status(state)]];
    case "overdue":
      return [[open, due(undefined, now)]];
    case "due_soon":
      return [[open, due(now, soon)]];
    case "extended":
      return [[open, due(soon, undefined), { kind: "range", column: "extensions", from: 1 }]];
    case "open":
      return [
        [open, due(soon, undefined), { kind: "equals", column: "extensions", value: 0 }],
        [status("waiting")],
      ];
  }
};

export const obligationSchema = Type.Object({
  ...entryMembers(obligationList),
  duty: Type.Union([Type.String({ description: "What must be done." }), Type.Null()]),
  clause: Type.Union([Type.String({ description: "Where the law says so." }), Type.Null()]),
  ruleset_version: Type.String({
    description:
      "By which rules it was computed: the date of the table of rules; behind a plus what tells an operator's own rules (OBLIGATION_RULES_FILE, LATE_RECORD_GRACE) apart.",
  }),
  state: Type.Union(
    OBLIGATION_STATES.map((state) => Type.Literal(state)),
    {
      description:
        "At the time of the answer. `open`: not met, and due in more than a week, or not before a decision is made. `extended`: the same, after its limit was made longer. `due_soon`: not met, and due within a week. `overdue`: not met, and `due_at` is over; it can still be met, late. `breached`: it can never be met any more, because what had to come before the decision did not come. `met`, `met_late`: met in time, or not. `waived`: not met, and somebody said why it will not be; `waived_by`, `waived_reason` and `waived_at` say who, why and when.",
    },
  ),
});

const LIST: Operation = {
  id: "listObligations",
  tag: "Registers",
  summary: "Obligations and when they fall due",
  description:
    "Computed from the events by their own times. Each names the events that started and met it, and says when the log received them. Not legal advice: `clause` is where to check.",
  scope: "events:read",
  parameters: [
    {
      ...parameter("state", "At the time of the question; several are separated by commas.", {
        type: "array",
        items: { type: "string", enum: [...OBLIGATION_STATES] },
      }),
      style: "form",
      explode: false,
    },
    parameter("recorded_late", "Only those that were, or were not, recorded late.", {
      type: "string",
      enum: ["true", "false"],
    }),
    ...listFilterParameters(obligationList),
    timeParameter("due_from", "Due at or after this time, RFC 3339 in UTC."),
    timeParameter("due_to", "Due before this time, RFC 3339 in UTC."),
    ...PAGE_PARAMETERS,
  ],
  answer: {
    status: 200,
    description: "One page, in the order in which they fall due.",
    schema: listOf(obligationSchema),
    example: { data: [OBLIGATION_EXAMPLE], next_cursor: null, request_id: EXAMPLE_REQUEST_ID },
  },
  problems: ["invalid_request", "view_behind"],
};
