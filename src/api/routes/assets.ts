import { Type } from "@sinclair/typebox";
import { timeKey } from "../../event/formats.ts";
import { PART_ROWS_MAX } from "../../limits.ts";
import { riskChangeList } from "../../views/assessments/queries.ts";
import { assetEntry, assetList, assetMembers, findAsset } from "../../views/assets/queries.ts";
import { coverageEntries } from "../../views/coverage/entries.ts";
import { COVERAGE_VIEWS, readCoverage } from "../../views/coverage/page.ts";
import { entryOf, entrySchema, type List, readList } from "../../views/kit/list.ts";
import { modelList } from "../../views/models/queries.ts";
import type { Condition } from "../../views/store/conditions.ts";
import { SYSTEMS } from "../http/access.ts";
import { type Answer, give, notFound } from "../http/answers.ts";
import type { Call } from "../http/call.ts";
import type { Dependencies } from "../http/dependencies.ts";
import { listRoute, movesWithEvents, tableSource } from "../http/lists.ts";
import type { Route } from "../http/route.ts";
import { coverageSchema } from "./registers.ts";

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
      description: `Every asset that an event names, the one with the newest event first, with its latest values by the time of the events. ${movesWithEvents("An asset")}`,
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
    problems: ["not_found", "overloaded"],
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
