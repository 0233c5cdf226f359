import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { PAGE_ROWS_MAX } from "../../limits.ts";
import { riskChangeList } from "../../projections/assessments/queries.ts";
import { assetEntry, assetList, assetMembers, findAsset } from "../../projections/assets/queries.ts";
import { coverageList } from "../../projections/cases/registers/coverage.ts";
import { entryOf, entrySchema, type List, readList } from "../../projections/list.ts";
import { modelList } from "../../projections/models/queries.ts";
import type { ViewStore } from "../../views/view-store.ts";
import type { Guard } from "../guard.ts";
import { listFilterParameters, readListFilter } from "../list-filter.ts";
import { describe, EXAMPLE_REQUEST_ID, type Operation } from "../openapi.ts";
import {
  answerList,
  answerOne,
  equalTo,
  MIN_SEQUENCE,
  notFound,
  PAGE_PARAMETERS,
  pathParameter,
  reading,
  readPage,
} from "../reading.ts";
import { dataOf, listOf } from "../schemas.ts";

export const assetRoutes = ({ guard, views }: { readonly guard: Guard; readonly views: ViewStore }) =>
  new Elysia({ prefix: "/v1" })
    .get("/assets", guard("events:read", listAssets(views)), { detail: describe(LIST) })
    .get("/assets/:asset_id", guard("events:read", oneAsset(views)), { detail: describe(ONE) });

const listAssets = (views: ViewStore) =>
  reading(views, {
    view: assetList.view,
    ask: (query) => ({
      ...readPage(query),
      where: readListFilter(query, assetList),
    }),
    answer: (asked, call) => answerList(views, call, assetList, { ...asked, entry: assetEntry }),
  });

const oneAsset = (views: ViewStore) =>
  reading(views, {
    view: assetList.view,
    ask: () => undefined,
    answer: async (_, call) => {
      const { tenant } = call.principal;
      const assetId = call.params.asset_id;
      const row = assetId ? await findAsset(views, tenant, assetId) : undefined;
      if (!row || !assetId) return notFound(call, "asset");
      const part = (list: List) => partOf(views, tenant, list, assetId);
      return answerOne(call, {
        ...assetEntry(row),
        models: await part(modelList),
        risk_changes: await part(riskChangeList),
        coverage: await part(coverageList),
      });
    },
  });

/** The newest entries about one asset; the list itself has the others. */
const partOf = async (views: ViewStore, tenant: string, list: List, assetId: string) => {
  const where = equalTo("asset_id", assetId);
  const found = await readList(views, tenant, list, { where, order: "desc", limit: PAGE_ROWS_MAX });
  return found.kind === "page" ? found.rows.map((each) => entryOf(list, each)) : [];
};

const EXAMPLE = {
  asset_id: "credit_model",
  events: 3,
  first_at: "2026-11-20T10:00:00Z",
  last_at: "2026-11-20T10:00:02Z",
  status: "active",
  risk_tier: "high",
  version: "7.1",
  legal_bases: ["pipa_37_2_kr"],
  owner: "Credit risk team",
};

const LIST: Operation = {
  id: "listAssets",
  tag: "Reading",
  summary: "The register of AI systems",
  description:
    "Every asset that events speak of, the one with the newest event first: what was said of it last, by the time of the events.",
  scope: "events:read",
  parameters: [...listFilterParameters(assetList), ...PAGE_PARAMETERS],
  answer: {
    status: 200,
    description: "One page.",
    schema: listOf(Type.Object(assetMembers)),
    example: { data: [EXAMPLE], next_cursor: null, request_id: EXAMPLE_REQUEST_ID },
  },
  problems: ["invalid_request", "view_behind"],
};

const ONE: Operation = {
  id: "readAsset",
  tag: "Reading",
  summary: "One AI system",
  description: `With its models, the changes of its risk tier and the evidence for its duties, up to ${PAGE_ROWS_MAX} each.`,
  scope: "events:read",
  parameters: [pathParameter("asset_id", "credit_model"), MIN_SEQUENCE],
  answer: {
    status: 200,
    description: "The asset.",
    schema: dataOf(
      Type.Object({
        ...assetMembers,
        models: Type.Array(entrySchema(modelList)),
        risk_changes: Type.Array(entrySchema(riskChangeList)),
        coverage: Type.Array(entrySchema(coverageList)),
      }),
    ),
    example: {
      data: { ...EXAMPLE, models: [], risk_changes: [], coverage: [] },
      request_id: EXAMPLE_REQUEST_ID,
    },
  },
  problems: ["invalid_request", "not_found", "view_behind"],
};
