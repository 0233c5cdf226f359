import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { timeKey } from "../../event/formats.ts";
import { PART_ROWS_MAX } from "../../limits.ts";
import { riskChangeList } from "../../views/assessments/queries.ts";
import { assetEntry, assetList, assetMembers, findAsset } from "../../views/assets/queries.ts";
import { coverageEntries } from "../../views/coverage/entries.ts";
import { COVERAGE_VIEWS, readCoverage } from "../../views/coverage/page.ts";
import { entryOf, entrySchema, type List, type Page, readList } from "../../views/kit/list.ts";
import { modelList } from "../../views/models/queries.ts";
import type { ViewStore } from "../../views/store/view-store.ts";
import { SYSTEMS } from "../http/access.ts";
import { fileForms } from "../http/entry-file.ts";
import type { Guard } from "../http/guard.ts";
import { LIST_PARAMETERS, LIST_PROBLEMS, type ListDependencies, listAnswer } from "../http/list-answer.ts";
import { timedFilterParameters } from "../http/list-filter.ts";
import { describe, EXAMPLE_REQUEST_ID, type Operation } from "../http/openapi.ts";
import {
  answerOne,
  equalTo,
  MIN_SEQUENCE,
  movesWithEvents,
  notFound,
  pathParameter,
  reading,
} from "../http/reading.ts";
import { dataOf, listOf } from "../http/schemas.ts";
import { tableSource } from "../http/table-source.ts";
import { type CoverageDependencies, coverageSchema } from "./coverage.ts";
import { COVERAGE_EXAMPLE, MODEL_EXAMPLE, RISK_CHANGE_EXAMPLE } from "./register-examples.ts";

type Dependencies = CoverageDependencies & ListDependencies;

export const assetRoutes = ({ guard, ...dependencies }: Dependencies & { readonly guard: Guard }) =>
  new Elysia({ prefix: "/v1" })
    .get("/assets", guard(SYSTEMS, listAssets(dependencies)), { detail: describe(LIST) })
    .get("/assets/:asset_id", guard(SYSTEMS, oneAsset(dependencies)), { detail: describe(ONE) });

const COLUMNS = Object.keys(assetMembers);

const listAssets = (dependencies: Dependencies) =>
  listAnswer(
    dependencies,
    tableSource(dependencies, { name: "assets", list: assetList, columns: COLUMNS, entry: assetEntry }),
  );

const oneAsset = (dependencies: CoverageDependencies) => {
  const { views, now } = dependencies;
  return reading(views, {
    view: [...new Set([assetList.view, modelList.view, riskChangeList.view, ...COVERAGE_VIEWS])],
    ask: () => timeKey(now().toISOString()),
    answer: async (at, call) => {
      const { tenant } = call.principal;
      const assetId = call.params.asset_id;
      const row = assetId ? await findAsset(views, tenant, assetId) : undefined;
      if (!row || !assetId) return notFound(call, "asset");
      const part = (list: List) => partOf(views, { tenant, list, assetId, at });
      return answerOne(call, {
        ...assetEntry(row, at),
        models: await part(modelList),
        risk_changes: await part(riskChangeList),
        coverage: await coverageOf(dependencies, tenant, assetId),
      });
    },
  });
};

/** The newest entries about one asset; the list has the others. */
const partOf = async (
  views: ViewStore,
  about: { readonly tenant: string; readonly list: List; readonly assetId: string; readonly at: string },
) => {
  const { tenant, list, assetId, at } = about;
  const where = equalTo("asset_id", assetId);
  const found = await readList(views, tenant, list, { where, order: "desc", limit: PART_ROWS_MAX });
  return found.kind === "page" ? found.rows.map((each) => entryOf(list, each, at)) : [];
};

const coverageOf = async ({ views, rules, now }: CoverageDependencies, tenant: string, assetId: string) => {
  const page: Page = { order: "asc", limit: PART_ROWS_MAX };
  const found = await readCoverage(views, tenant, { ...page, anyOf: [equalTo("asset_id", assetId)] });
  return found.kind === "page" ? coverageEntries(views, tenant, found.rows, { rules, now: now() }) : [];
};

const EXAMPLE = {
  asset_id: "credit_model",
  events: 3,
  first_at: "2026-11-20T10:00:00Z",
  first_recorded_at: "2026-11-20T10:00:00.512Z",
  last_at: "2026-11-20T10:00:02Z",
  last_recorded_at: "2026-11-20T10:00:02.512Z",
  status: "active",
  risk_tier: "high",
  version: "7.1",
  legal_bases: ["pipa_37_2_kr"],
  owner: "Credit risk team",
  oversight_person: "Kim Ji-woo",
  oversight_contact: "oversight@example.com",
  clauses: RISK_CHANGE_EXAMPLE.clauses,
};

const LIST: Operation = {
  id: "listAssets",
  tag: "Reading",
  summary: "The register of AI systems",
  description: `Every asset that an event names, the one with the newest event first, with its latest values by the time of the events. ${movesWithEvents("An asset")}`,
  access: SYSTEMS,
  parameters: [...timedFilterParameters(assetList), ...LIST_PARAMETERS],
  answer: {
    status: 200,
    description: "One page.",
    schema: listOf(Type.Object(assetMembers)),
    example: { data: [EXAMPLE], next_cursor: null, request_id: EXAMPLE_REQUEST_ID },
    others: fileForms(COLUMNS, EXAMPLE),
  },
  problems: LIST_PROBLEMS,
};

const ONE: Operation = {
  id: "readAsset",
  tag: "Reading",
  summary: "One AI system",
  description: `The asset with its models, the changes of its risk tier and the evidence for its obligations, up to ${PART_ROWS_MAX} each.`,
  access: SYSTEMS,
  parameters: [pathParameter("asset_id", "credit_model"), MIN_SEQUENCE],
  answer: {
    status: 200,
    description: "The asset.",
    schema: dataOf(
      Type.Object({
        ...assetMembers,
        models: Type.Array(entrySchema(modelList)),
        risk_changes: Type.Array(entrySchema(riskChangeList)),
        coverage: Type.Array(coverageSchema),
      }),
    ),
    example: {
      data: {
        ...EXAMPLE,
        models: [MODEL_EXAMPLE],
        risk_changes: [RISK_CHANGE_EXAMPLE],
        coverage: [COVERAGE_EXAMPLE],
      },
      request_id: EXAMPLE_REQUEST_ID,
    },
  },
  problems: ["invalid_request", "not_found", "view_behind", "overloaded"],
};
