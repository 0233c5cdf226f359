import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { WHOLE_SECONDS } from "../../event/formats.ts";
import { DEADLINES, deadlineOf } from "../../law/obligations/deadlines.ts";
import type { ObligationStatus, Rules } from "../../law/obligations/obligation.ts";
import { OBLIGATION_STATES, type ObligationState, soonAfter } from "../../law/obligations/state.ts";
import { obligationEntry, obligationList } from "../../views/cases/registers/obligations.ts";
import { entryMembers, YES_OR_NO } from "../../views/kit/list.ts";
import type { Condition } from "../../views/store/conditions.ts";
import { REGISTER } from "../http/access.ts";
import { fileForms } from "../http/entry-file.ts";
import type { Guard } from "../http/guard.ts";
import { LIST_PARAMETERS, LIST_PROBLEMS, type ListDependencies, listAnswer } from "../http/list-answer.ts";
import { readTimedFilter, type TimedFilter, timedFilterParameters } from "../http/list-filter.ts";
import { describe, EXAMPLE_REQUEST_ID, type Operation } from "../http/openapi.ts";
import type { Query } from "../http/query.ts";
import { parameter } from "../http/reading.ts";
import { listOf } from "../http/schemas.ts";
import { combinations, oneOf, several, severalParameter } from "../http/several.ts";
import { tableSource } from "../http/table-source.ts";
import { OBLIGATION_EXAMPLE } from "./register-examples.ts";

type Dependencies = ListDependencies & { readonly rules: Rules };

export const obligationRoutes = ({ guard, ...dependencies }: Dependencies & { readonly guard: Guard }) =>
  new Elysia({ prefix: "/v1" }).get(
    "/obligations",
    guard(REGISTER, listAnswer(dependencies, obligationSource(dependencies))),
    { detail: describe(LIST) },
  );

export const obligationSource = (dependencies: Pick<Dependencies, "views" | "now" | "rules">) =>
  tableSource(dependencies, {
    name: "obligations",
    list: obligationList,
    columns: COLUMNS,
    // In whole seconds: an obligation is in time until the end of its last second.
    entry: (row, at) => obligationEntry(row, dependencies.rules, at.slice(0, WHOLE_SECONDS)),
    readFilter,
  });

const readFilter = (query: Query, now: string): TimedFilter => {
  const at = now.slice(0, WHOLE_SECONDS);
  const filter = readTimedFilter(query, obligationList);
  const states = several(query, "state", oneOf(OBLIGATION_STATES))?.filter(isState);
  const late = query.oneOf("recorded_late", YES_OR_NO);
  const alternatives = states?.flatMap((state) => conditionsOf(state, at)) ?? [[]];
  const values = filter.anyOf.flatMap(withLaw);
  return {
    ...filter,
    range: [
      ...filter.range,
      ...(late === undefined
        ? []
        : [{ kind: "equals", column: "recorded_late", value: late === "true" ? 1 : 0 } as const]),
    ],
    anyOf: combinations(query, [
      { name: "state", values: alternatives },
      { name: "rule", values },
    ]).map((conditions) => conditions.flat()),
    asked: [...filter.asked, ["state", states ?? []]],
  };
};

const isState = (name: string): name is ObligationState => OBLIGATION_STATES.some((state) => state === name);

/** Adds the law of the requested rule, because the index begins with the law. If another law was requested, nothing can match. */
const withLaw = (conditions: readonly Condition[]): readonly (readonly Condition[])[] => {
  const asked = new Map(
    conditions.map((each) => (each.kind === "equals" ? [each.column, each.value] : ["", ""])),
  );
  const law = deadlineOf(DEADLINES, String(asked.get("rule") ?? ""))?.law;
  if (law === undefined || asked.get("law") === law) return [conditions];
  return asked.has("law") ? [] : [[...conditions, { kind: "equals", column: "law", value: law }]];
};

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

const COLUMNS = Object.keys(obligationSchema.properties);

const LIST: Operation = {
  id: "listObligations",
  tag: "Registers",
  summary: "Obligations and when they fall due",
  description:
    "Computed from the events by their own times. Each names the events that started and met it, and says when the log received them. Not legal advice: `clause` is where to check.",
  access: REGISTER,
  parameters: [
    severalParameter("state", "At the time of the question.", {
      type: "string",
      enum: [...OBLIGATION_STATES],
    }),
    parameter("recorded_late", "Only those that were, or were not, recorded late.", {
      type: "string",
      enum: [...YES_OR_NO],
    }),
    ...timedFilterParameters(obligationList),
    ...LIST_PARAMETERS,
  ],
  answer: {
    status: 200,
    description: "One page, in the order in which they fall due.",
    schema: listOf(obligationSchema),
    example: { data: [OBLIGATION_EXAMPLE], next_cursor: null, request_id: EXAMPLE_REQUEST_ID },
    others: fileForms(COLUMNS, OBLIGATION_EXAMPLE),
  },
  problems: LIST_PROBLEMS,
};
