import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { timeKey, WHOLE_SECONDS } from "../../event/formats.ts";
import type { Rules } from "../../obligations/clocks.ts";
import { DEADLINES, deadlineOf } from "../../obligations/deadlines.ts";
import { OBLIGATION_STATES, type ObligationState, soonAfter } from "../../obligations/state.ts";
import { obligationEntry, obligationList } from "../../projections/cases/registers/obligations.ts";
import { entryMembers } from "../../projections/list.ts";
import type { Condition } from "../../views/conditions.ts";
import type { Guard } from "../guard.ts";
import { listFilterParameters, readListFilter } from "../list-filter.ts";
import { describe, EXAMPLE_REQUEST_ID, type Operation } from "../openapi.ts";
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
      // In whole seconds: a duty is in time until the end of its last second.
      const at = timeKey(`${now().toISOString().slice(0, WHOLE_SECONDS)}Z`);
      const due = readTimeRange(query, { from: "due_from", to: "due_to" });
      const [from, to] = [due.from, due.to].map((time) => (time === undefined ? undefined : timeKey(time)));
      const state = query.oneOf("state", OBLIGATION_STATES);
      const others = [
        ...withLaw(readListFilter(query, obligationList)),
        ...(from === undefined && to === undefined
          ? []
          : [{ kind: "range", column: "due_at", from, to } as const]),
      ];
      return {
        ...readPage(query),
        at,
        where: [...conditionsOf(state, at), ...others],
        // Part of the cursor. The time is not, because it moves on between two pages.
        asked: [state ?? null, ...others],
      };
    },
    answer: ({ at, ...asked }, call) =>
      answerList(views, call, obligationList, { ...asked, entry: (row) => obligationEntry(row, rules, at) }),
  });
  return new Elysia({ prefix: "/v1" }).get("/obligations", guard("events:read", list), {
    detail: describe(LIST),
  });
};

/** Adds the law of the requested deadline, because the index begins with the law. If another law was requested, nothing can match. */
const withLaw = (conditions: readonly Condition[]): readonly Condition[] => {
  const asked = new Map(
    conditions.map((each) => (each.kind === "equals" ? [each.column, each.value] : ["", ""])),
  );
  const law = deadlineOf(DEADLINES, String(asked.get("deadline") ?? ""))?.law;
  if (law === undefined || asked.get("law") === law) return conditions;
  return [...conditions, asked.has("law") ? NO_TIME : { kind: "equals", column: "law", value: law }];
};

const NO_TIME: Condition = { kind: "range", column: "due_at", from: "1", to: "0" };

/** Conditions for this state at a time. The state itself is not stored, because it changes without an event. */
const conditionsOf = (state: ObligationState | undefined, now: string): readonly Condition[] => {
  const due = (from: string | undefined, to: string | undefined): Condition => ({
    kind: "range",
    column: "due_at",
    from,
    to,
  });
  const open: Condition = { kind: "equals", column: "status", value: "open" };
  const soon = soonAfter(now);
  switch (state) {
    case undefined:
      return [];
    case "met":
    case "met_late":
      return [{ kind: "equals", column: "status", value: state }];
    case "overdue":
      return [open, due(undefined, now)];
    case "due_soon":
      return [open, due(now, soon)];
    case "extended":
      return [open, due(soon, undefined), { kind: "range", column: "extensions", from: 1 }];
    case "open":
      return [open, due(soon, undefined), { kind: "equals", column: "extensions", value: 0 }];
  }
};

export const obligationSchema = Type.Object({
  ...entryMembers(obligationList),
  duty: Type.Union([Type.String({ description: "What must be done." }), Type.Null()]),
  clause: Type.Union([Type.String({ description: "Where the law says so." }), Type.Null()]),
  ruleset_version: Type.String({
    description:
      "By which rules it was computed: the date of the table of deadlines; behind a plus what tells an operator's own rules (DEADLINES_FILE) apart.",
  }),
  state: Type.Union(
    OBLIGATION_STATES.map((state) => Type.Literal(state)),
    { description: "At the time of the answer." },
  ),
});

const LIST: Operation = {
  id: "listObligations",
  tag: "Registers",
  summary: "Duties and when they fall due",
  description:
    "Computed from the events by their own times. Each names the events that started and stopped its clock. Not legal advice: `clause` is where to check.",
  scope: "events:read",
  parameters: [
    parameter("state", "At the time of the question.", { type: "string", enum: [...OBLIGATION_STATES] }),
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
