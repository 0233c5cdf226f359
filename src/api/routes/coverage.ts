import { setImmediate as otherWork } from "node:timers/promises";
import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { CANNOT_SHOW } from "../../law/obligations/duties.ts";
import type { Rules } from "../../law/obligations/obligation.ts";
import { COVERAGE_EXAMPLES_MAX, KEPT_LEGAL_BASES_MAX, PART_ROWS_MAX } from "../../limits.ts";
import {
  COVERAGE_STATES,
  COVERAGE_WARNINGS,
  type CoverageEntry,
  coverageEntries,
} from "../../views/coverage/entries.ts";
import { COVERAGE_FILTERS, COVERAGE_VIEWS, countCoverage, readCoverage } from "../../views/coverage/page.ts";
import { SYSTEMS } from "../http/access.ts";
import { fileForms } from "../http/entry-file.ts";
import type { Guard } from "../http/guard.ts";
import {
  LIST_PARAMETERS,
  LIST_PROBLEMS,
  type ListDependencies,
  type ListSource,
  listAnswer,
} from "../http/list-answer.ts";
import { type ListFilter, listFilterParameters, readListFilter } from "../http/list-filter.ts";
import { describe, EXAMPLE_REQUEST_ID, type Operation } from "../http/openapi.ts";
import type { ReadDependencies } from "../http/reading.ts";
import { listOf } from "../http/schemas.ts";
import { COVERAGE_EXAMPLE } from "./register-examples.ts";

export interface CoverageDependencies extends ReadDependencies {
  readonly rules: Rules;
}

export const coverageRoutes = ({
  guard,
  ...dependencies
}: CoverageDependencies & ListDependencies & { readonly guard: Guard }) => {
  const list = listAnswer(dependencies, coverageSource(dependencies));
  return new Elysia({ prefix: "/v1" }).get("/coverage", guard(SYSTEMS, list), {
    detail: describe(LIST),
  });
};

const coverageSource = ({ views, rules, now }: CoverageDependencies): ListSource<ListFilter> => ({
  name: "coverage",
  views: COVERAGE_VIEWS,
  columns: COLUMNS,
  ask: (query) => readListFilter(query, COVERAGE_FILTERS),
  page: async ({ anyOf }, tenant, page) => {
    const found = await readCoverage(views, tenant, { ...page, anyOf });
    if (found.kind === "invalid_cursor") return found;
    const entries: CoverageEntry[] = [];
    for (let start = 0; start < found.rows.length; start += PART_ROWS_MAX) {
      // Each row looks for its evidence, and SQLite answers synchronously.
      if (start > 0) await otherWork();
      const part = found.rows.slice(start, start + PART_ROWS_MAX);
      entries.push(...(await coverageEntries(views, tenant, part, { rules, now: now() })));
    }
    return { kind: "page", entries: entries.map((entry) => ({ ...entry })), nextCursor: found.nextCursor };
  },
  count: ({ anyOf }, tenant) => countCoverage(views, tenant, anyOf),
  beside: ({ asked }) => ({ cannot_show: cannotShow(new Map(asked)) }),
});

/** Those that match the requested law and duty. They belong to no asset, so a filter by asset does not matter. */
const cannotShow = (asked: ReadonlyMap<string, readonly string[]>) =>
  CANNOT_SHOW.filter(
    ({ law, duty }) =>
      asked.get("law")?.includes(law) !== false && asked.get("duty")?.includes(duty) !== false,
  );

const count = (description: string) => Type.Integer({ minimum: 0, description });
const orNull = (description: string, options: object = {}) =>
  Type.Union([Type.String({ ...options, description }), Type.Null()]);

export const coverageSchema = Type.Object({
  asset_id: Type.String(),
  law: Type.String({
    description: "A legal basis; `any` for what is asked of everybody, `policy` for rules of the operator.",
  }),
  duty: Type.String(),
  due: count(
    "How often it fell due, or was met before it did. The `lifecycle` of an asset asks for two things.",
  ),
  in_time: count("How often the log holds evidence that it was met in time."),
  late: count("How often it was met late."),
  unmet: count("Due and not met, or breached: `state=overdue,breached` of `/v1/obligations`."),
  pending: count("Running: not met, and not due yet. Counted nowhere else."),
  waived: count("Waived and not met. Counted nowhere else."),
  ratio: Type.Union([
    Type.Number({ minimum: 0, maximum: 1, description: "`in_time` of `due`; null where nothing was due." }),
    Type.Null(),
  ]),
  state: Type.Union(
    COVERAGE_STATES.map((state) => Type.Literal(state)),
    {
      description:
        "At the time of the answer. `covered`: all in time. `partial`: some of it, or late. `missing`: nothing of it in time or late so far; bias audits that were completed only after the decisions are named all the same. `stale`: there was evidence, and it is no longer valid: every bias audit is more than a year old, or ended by its `valid_until`. `pending`: nothing was due so far, and something is running. `not_applicable`: nothing was asked for, or all of it was waived.",
    },
  ),
  clause: orNull("Where the law says so; null for a legal basis that has no known article for it."),
  last_evidence_at: orNull(
    "Time of the newest evidence that is found; null where there is none, or no more.",
    {
      format: "date-time",
    },
  ),
  example_event_ids: Type.Array(Type.String(), {
    maxItems: COVERAGE_EXAMPLES_MAX,
    description:
      "Events that are evidence, the newest first, among the newest decisions, obligations and labels of the asset, and of an outcome that another asset labeled the first label; none that has expired.",
  }),
  warnings: Type.Array(Type.Union(COVERAGE_WARNINGS.map((warning) => Type.Literal(warning))), {
    description:
      "`unregistered_legal_basis`: no rule of this program names the law. It may be misspelt in the events; nothing but the notice is counted under it.",
  }),
});

const COLUMNS = Object.keys(coverageSchema.properties);

const CannotShow = Type.Array(
  Type.Object({ law: Type.String(), duty: Type.String(), clause: Type.String(), why: Type.String() }),
  {
    description:
      "Obligations that no count of events can show to be met, and why; those of the asked `law` and `duty`.",
  },
);

const LIST: Operation = {
  id: "listCoverage",
  tag: "Registers",
  summary: "Which obligations have evidence",
  description: `Per asset, law and duty: how often the obligation fell due and how often the log holds evidence that it was met. \`notice\` counts decisions, under each legal basis that the decision names, or its notice, or whatever else belongs to it, at most ${KEPT_LEGAL_BASES_MAX} of them and first those that this program knows. \`labeling\` counts outcomes by their hash: those that an event labels, of all that events give out. \`bias_audit\` counts decisions, in time where a bias audit was completed no more than a year before and had not ended by its \`valid_until\`, in dates of New York. \`lifecycle\` requires \`asset.created\` and a version. The log cannot show what was not sent to it; obligations that no count of events can show to be met are in \`cannot_show\`. Not legal advice: \`clause\` is where to check.`,
  access: SYSTEMS,
  parameters: [...listFilterParameters(COVERAGE_FILTERS), ...LIST_PARAMETERS],
  answer: {
    status: 200,
    description: "One page, in the order of asset, law and duty.",
    schema: Type.Object({ ...listOf(coverageSchema).properties, cannot_show: CannotShow }),
    example: {
      data: [COVERAGE_EXAMPLE],
      next_cursor: null,
      cannot_show: CANNOT_SHOW,
      request_id: EXAMPLE_REQUEST_ID,
    },
    others: fileForms(COLUMNS, COVERAGE_EXAMPLE),
  },
  problems: LIST_PROBLEMS,
};
