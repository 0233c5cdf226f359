/** Lists that show a table directly: the registers, and other lists of rows. */
import { setImmediate as otherWork } from "node:timers/promises";
import { Type } from "@sinclair/typebox";
import { timeKey } from "../../event/formats.ts";
import { CANNOT_SHOW } from "../../law/obligations/deadline-table.ts";
import { COVERAGE_EXAMPLES_MAX, KEPT_LEGAL_BASES_MAX, PART_ROWS_MAX } from "../../limits.ts";
import { assessmentList, riskChangeList } from "../../views/assessments/tables.ts";
import { assetEntry, assetList, assetMembers, findAsset } from "../../views/assets/tables.ts";
import { decisionList } from "../../views/cases/registers/decisions.ts";
import { humanReviewList } from "../../views/cases/registers/human-reviews.ts";
import { incidentList } from "../../views/cases/registers/incidents.ts";
import { noticeList } from "../../views/cases/registers/notices.ts";
import { objectionList } from "../../views/cases/registers/objections.ts";
import {
  COVERAGE_FILTERS,
  COVERAGE_STATES,
  COVERAGE_VIEWS,
  COVERAGE_WARNINGS,
  type CoverageEntry,
  countCoverage,
  coverageEntries,
  readCoverage,
} from "../../views/coverage/coverage.ts";
import { entryOf, entrySchema, type List, readList } from "../../views/kit/list.ts";
import { modelList } from "../../views/models/tables.ts";
import { sourceGapList, sourceList } from "../../views/sources/tables.ts";
import type { Condition } from "../../views/store/conditions.ts";
import { REGISTER, SOURCES, SYSTEMS } from "../http/access.ts";
import { type Answer, give, notFound } from "../http/answers.ts";
import type { Call } from "../http/call.ts";
import type { Dependencies } from "../http/dependencies.ts";
import { type ListFilter, listFilter } from "../http/list-filter.ts";
import { type ListSource, listRoute, movesWithEvents, tableSource } from "../http/lists.ts";
import type { Route } from "../http/route.ts";
import { nullable, str, time, wordsOf } from "../http/schemas.ts";

interface Register {
  readonly path: string;
  readonly id: string;
  readonly list: List;
  readonly summary: string;
  readonly description: string;
}

/** Exported so that a test can check answers against the schemas. */
export const LISTS: readonly Register[] = [
  {
    path: "/decisions",
    id: "listDecisions",
    list: decisionList,
    summary: "The register of decisions",
    description:
      "Each automated decision with its notice, explanation, review, reversal and objections, and what the log lacks. A decision that other events name but nobody sent has no `made_at`.",
  },
  {
    path: "/registers/transparency",
    id: "listNotices",
    list: noticeList,
    summary: "The transparency register",
    description:
      "Each notice that was shown: where, in which language, by which version of the policy, and whether it was dismissed or acknowledged. A dismissal or acknowledgement belongs to the only notice that names its decision, else to the only one under its correlation; with none or several, it is an `orphan`.",
  },
  {
    path: "/registers/objections",
    id: "listObjections",
    list: objectionList,
    summary: "The register of objections",
    description:
      "When each was received, acknowledged, escalated and resolved, when the answer is due, how often and why that was extended, and whether it is late. An objection that events name but that was never received is an `orphan`.",
  },
  {
    path: "/registers/human-reviews",
    id: "listHumanReviews",
    list: humanReviewList,
    summary: "The register of human oversight",
    description:
      "Who looked at which decision, how long it took, and whether the outcome was changed. A review without an event that triggered it is an `orphan`.",
  },
  {
    path: "/registers/incidents",
    id: "listIncidents",
    list: incidentList,
    summary: "The register of incidents",
    description:
      "From detection through the initial and complete reports to mitigation. `complete_report_at` is null while the log has only an initial report.",
  },
  {
    path: "/registers/assessments",
    id: "listAssessments",
    list: assessmentList,
    summary: "The register of impact assessments",
    description: "Impact assessments and bias audits, which items they cover, and until when they are valid.",
  },
  {
    path: "/registers/risk-changes",
    id: "listRiskChanges",
    list: riskChangeList,
    summary: "The history of risk classifications",
    description:
      "Every change of the risk tier of an asset: when, why, by whom, by which rules, from which input, under which articles.",
  },
  {
    path: "/registers/models",
    id: "listModels",
    list: modelList,
    summary: "The register of models",
    description:
      "The models behind each asset, with each version: deployed, degraded, retired. An event without a model is about the only one of its version, and is listed apart if there are several. One without a version is too: the version it is about may still be listed as deployed.",
  },
  {
    path: "/sources",
    id: "listSources",
    list: sourceList,
    summary: "Senders that number their events",
    description: `A sender that puts \`source_id\` and a \`source_sequence\` from 1 into \`metadata\` shows which events are missing: \`missing\` counts them. With \`last_source_sequence\`, the highest number assigned, its \`sdk.heartbeat\` covers the last ones too. The one with the newest event comes first. ${movesWithEvents("A sender")}`,
  },
  {
    path: "/sources/gaps",
    id: "listSourceGaps",
    list: sourceGapList,
    summary: "Missing numbers",
    description: "Each gap is listed until the events with its numbers arrive.",
  },
];

export const registerRoutes = (dependencies: Dependencies): readonly Route[] =>
  LISTS.map(({ path, list, ...described }) =>
    listRoute(dependencies, tableSource(dependencies, { name: path.split("/").at(-1) ?? "", list }), {
      ...described,
      on: `GET /v1${path}`,
      tag: "Registers",
      // Senders belong to no register: they send for any system.
      access: path.startsWith("/sources") ? SOURCES : REGISTER,
    }),
  );

export const coverageRoutes = (dependencies: Dependencies): readonly Route[] => [
  listRoute(dependencies, coverageSource(dependencies), {
    on: "GET /v1/coverage",
    access: SYSTEMS,
    id: "listCoverage",
    tag: "Registers",
    summary: "Which obligations have evidence",
    description: `Per asset, law and duty: how often the obligation fell due and how often the log holds evidence that it was met. \`notice\` counts decisions under each legal basis that the decision, its notice or anything else linked to it names, at most ${KEPT_LEGAL_BASES_MAX}, known ones first. \`labeling\` counts outcomes by hash: those that an event labels, of all that events report. \`bias_audit\` counts decisions, in time if a bias audit was completed at most a year before and still valid by its \`valid_until\`, in New York dates. \`lifecycle\` requires \`asset.created\` and a version. The log cannot show what was not sent to it; obligations that no count of events can show to be met are in \`cannot_show\`. Not legal advice: check \`clause\`.`,
    beside: { cannot_show: CannotShow },
  }),
];

const coverageSource = ({ views, rules, now }: Dependencies): ListSource<ListFilter> => ({
  name: "coverage",
  views: COVERAGE_VIEWS,
  members: coverageSchema.properties,
  query: listFilter(COVERAGE_FILTERS),
  page: async ({ anyOf }, { tenant }, page) => {
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
  count: ({ anyOf }, { tenant }) => countCoverage(views, tenant, anyOf),
  beside: ({ asked }) => ({ cannot_show: cannotShow(new Map(asked)) }),
});

/** Those that match the requested law and duty. They belong to no asset, so an asset filter does not apply. */
const cannotShow = (asked: ReadonlyMap<string, readonly string[]>) =>
  CANNOT_SHOW.filter(
    ({ law, duty }) =>
      asked.get("law")?.includes(law) !== false && asked.get("duty")?.includes(duty) !== false,
  );

const count = (description: string) => Type.Integer({ minimum: 0, description });

export const coverageSchema = Type.Object({
  asset_id: Type.String(),
  law: str("A legal basis; `any` for what applies to everybody, `policy` for the operator's rules."),
  duty: Type.String(),
  due: count("How often it fell due, or was met before. The `lifecycle` of an asset needs two things."),
  in_time: count("How often the log holds evidence that it was met in time."),
  late: count("How often it was met late."),
  unmet: count("Due and not met, or breached: `state=overdue,breached` of `/v1/obligations`."),
  pending: count("Running: not met, not due yet. Counted nowhere else."),
  waived: count("Waived and not met. Counted nowhere else."),
  ratio: nullable(
    Type.Number({ minimum: 0, maximum: 1, description: "`in_time` of `due`; null where nothing was due." }),
  ),
  state: wordsOf(COVERAGE_STATES, {
    description:
      "At the time of the answer. `covered`: all in time. `partial`: some of it, or late. `missing`: none of it, in time or late, so far; bias audits completed only after the decisions are still named. `stale`: there was evidence, but it is no longer valid: every bias audit is more than a year old, or past its `valid_until`. `pending`: nothing was due so far, and something is running. `not_applicable`: nothing was required, or all of it was waived.",
  }),
  clause: nullable(str("Where the law says so; null for a legal basis without a known article for it.")),
  last_evidence_at: nullable(
    time("Time of the newest evidence found; null where there is none, or none is left."),
  ),
  example_event_ids: Type.Array(Type.String(), {
    maxItems: COVERAGE_EXAMPLES_MAX,
    description:
      "Events that are evidence, newest first, from the newest decisions, obligations and labels of the asset, and the first label where another asset labeled the outcome; none that has expired.",
  }),
  warnings: Type.Array(wordsOf(COVERAGE_WARNINGS), {
    description:
      "`unregistered_legal_basis`: no rule of this program names the law. It may be misspelt in the events; only the notice is counted under it.",
  }),
});

const CannotShow = Type.Array(
  Type.Object({ law: Type.String(), duty: Type.String(), clause: Type.String(), why: Type.String() }),
  {
    description:
      "Obligations that no count of events can show to be met, and why, for the given `law` and `duty`.",
  },
);

export const assetRoutes = (dependencies: Dependencies): readonly Route[] => [
  listRoute(
    dependencies,
    tableSource(dependencies, { name: "assets", list: assetList, members: assetMembers, entry: assetEntry }),
    {
      on: "GET /v1/assets",
      access: SYSTEMS,
      id: "listAssets",
      tag: "Reading",
      summary: "The register of AI systems",
      description: `Every asset that an event names, newest event first, with its latest values by the time of the events. ${movesWithEvents("An asset")}`,
    },
  ),
  dependencies.route({
    on: "GET /v1/assets/:asset_id",
    access: SYSTEMS,
    id: "readAsset",
    tag: "Reading",
    summary: "One AI system",
    description: `The asset with its models, the changes of its risk tier and the evidence for its obligations, up to ${PART_ROWS_MAX} each.`,
    views: [...new Set([assetList.view, modelList.view, riskChangeList.view, ...COVERAGE_VIEWS])],
    gives: Type.Object({
      ...assetMembers,
      models: Type.Array(entrySchema(modelList)),
      risk_changes: Type.Array(entrySchema(riskChangeList)),
      coverage: Type.Array(coverageSchema),
    }),
    problems: ["overloaded"],
    answer: (call) => readAsset(dependencies, call),
  }),
];

/** With the newest entries about it; the lists have the others. */
const readAsset = async (
  { views, rules, now }: Dependencies,
  { principal: { tenant }, params: { asset_id: assetId } }: Call,
): Promise<Answer> => {
  const row = assetId ? await findAsset(views, tenant, assetId) : undefined;
  if (!row || !assetId) return notFound("asset");
  const at = timeKey(now().toISOString());
  const where: readonly Condition[] = [{ kind: "equals", column: "asset_id", value: assetId }];
  const partOf = async (list: List) => {
    const found = await readList(views, tenant, list, { where, order: "desc", limit: PART_ROWS_MAX });
    return found.kind === "page" ? found.rows.map((each) => entryOf(list, each, at)) : [];
  };
  const covered = await readCoverage(views, tenant, { order: "asc", limit: PART_ROWS_MAX, anyOf: [where] });
  return give({
    ...assetEntry(row, at),
    models: await partOf(modelList),
    risk_changes: await partOf(riskChangeList),
    coverage:
      covered.kind === "page"
        ? await coverageEntries(views, tenant, covered.rows, { rules, now: now() })
        : [],
  });
};
