/** How the database answers lists: always from an index, in the order of the answer, with all combinations of filters. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { DatabaseSync } from "node:sqlite";
import { activityQuery } from "../../src/views/activity/queries.ts";
import { assessmentList, riskChangeList } from "../../src/views/assessments/tables.ts";
import { assetList } from "../../src/views/assets/tables.ts";
import { auditedList, statementList } from "../../src/views/audits/queries.ts";
import { decisionList } from "../../src/views/cases/registers/decisions.ts";
import { humanReviewList } from "../../src/views/cases/registers/human-reviews.ts";
import { incidentList } from "../../src/views/cases/registers/incidents.ts";
import { noticeList } from "../../src/views/cases/registers/notices.ts";
import { objectionList } from "../../src/views/cases/registers/objections.ts";
import { agendaQuery, allDutiesQuery, obligationList } from "../../src/views/cases/registers/obligations.ts";
import { COVERAGE_LISTS, overdueQuery, usesQuery } from "../../src/views/coverage/coverage.ts";
import { labelsQuery, newestQuery } from "../../src/views/coverage/evidence.ts";
import { type List, listQuery } from "../../src/views/kit/list.ts";
import { modelList } from "../../src/views/models/tables.ts";
import { PROJECTIONS } from "../../src/views/registry.ts";
import { sourceGapList, sourceList } from "../../src/views/sources/tables.ts";
import type { Condition } from "../../src/views/store/conditions.ts";
import { sqliteParameter } from "../../src/views/store/sqlite.ts";
import type { TenantQuery } from "../../src/views/store/tenant-query.ts";
import { subsets } from "../support/subsets.ts";
import { createSqliteDatabase } from "./sqlite-database.ts";

const database = createSqliteDatabase();
const views = database.connect();
let sqlite: DatabaseSync;

beforeAll(async () => {
  for (const view of PROJECTIONS) await views.open(view);
  sqlite = new DatabaseSync(database.path, { readOnly: true });
});
afterAll(async () => {
  sqlite.close();
  await views.close();
  await database[Symbol.asyncDispose]();
});

const planOf = ({ sql, params }: TenantQuery): string =>
  sqlite
    .prepare(`EXPLAIN QUERY PLAN ${sql}`)
    .all(...params.map(sqliteParameter))
    .map(({ detail }) => String(detail))
    .join("; ");

const LISTS: readonly (readonly [string, List, readonly Condition[]])[] = [
  ["assets", assetList, []],
  ["decisions", decisionList, []],
  ["notices", noticeList, []],
  ["objections", objectionList, []],
  ["human reviews", humanReviewList, []],
  ["incidents", incidentList, []],
  ["obligations", obligationList, []],
  [
    "obligations in a state",
    obligationList,
    [
      { kind: "equals", column: "status", value: "open" },
      { kind: "range", column: "due_at", from: "2026", to: "2027" },
    ],
  ],
  ...COVERAGE_LISTS.map((list) => [`coverage in ${list.table.name}`, list, []] as const),
  ["models", modelList, []],
  ["assessments", assessmentList, []],
  ["risk changes", riskChangeList, []],
  ["sources", sourceList, []],
  ["gaps of sources", sourceGapList, []],
];

const withTime = LISTS.flatMap(([name, list, always]) => {
  const [column = ""] = list.orderBy;
  const range = { kind: "range", column, from: "2026", to: "2027" } as const;
  return list.time === undefined ? [] : [[`${name} in a time`, list, [...always, range]] as const];
});

test.each([...LISTS, ...withTime])("the list of %s needs no table scan and no sorting", (_, list, always) => {
  for (const filters of subsets(list.filters)) {
    const where = [...always, ...filters.map((column) => ({ kind: "equals", column, value: "x" }) as const)];
    for (const order of ["asc", "desc"] as const) {
      for (const after of [undefined, list.orderBy.map(() => "x")]) {
        const plan = planOf(listQuery("acme", list, { where, order, after, rowsMax: 51 }));
        expect([filters, plan]).toEqual([
          filters,
          expect.stringMatching(/^SEARCH main USING (INDEX|PRIMARY KEY)/),
        ]);
        expect([filters, plan]).toEqual([filters, expect.not.stringContaining("TEMP B-TREE")]);
      }
    }
  }
});

test("if there are several filters, the one with the later index decides which rows are read", () => {
  const readBy = (list: List, ...columns: readonly string[]): string => {
    const where = columns.map((column) => ({ kind: "equals", column, value: "x" }) as const);
    return planOf(listQuery("acme", list, { where, order: "desc", rowsMax: 51 }));
  };
  expect(readBy(decisionList, "outcome")).toContain("(tenant=? AND outcome=?)");
  expect(readBy(decisionList, "outcome", "asset_id")).toContain("(tenant=? AND asset_id=?)");
  const ofPerson = "(tenant=? AND subject_hash=?)";
  expect(readBy(decisionList, "subject_hash")).toContain(ofPerson);
  expect(readBy(decisionList, "outcome", "subject_hash")).toContain(ofPerson);
  expect(readBy(decisionList, "subject_hash", "asset_id")).toContain(ofPerson);
  expect(readBy(decisionList, "outcome", "asset_id", "subject_hash")).toContain(ofPerson);
  expect(readBy(obligationList, "status", "law")).toContain("(tenant=? AND law=? AND status=?)");
  expect(readBy(obligationList, "status", "law", "asset_id")).toContain("(tenant=? AND asset_id=?)");
});

test("the agenda of obligations is read from one place of an index, over all tenants", () => {
  const after = { owner: "acme", obligation_id: "o1" };
  for (const query of [
    agendaQuery("2027", 500),
    allDutiesQuery(undefined, 500),
    allDutiesQuery(after, 500),
  ]) {
    const plan = planOf(query);
    expect(plan).toMatch(/^SEARCH main USING (COVERING INDEX \S+|PRIMARY KEY) \(tenant=\?/);
    expect(plan).not.toContain("TEMP B-TREE");
  }
});

test("activity is summed from one range of an index; an asset's activity from one place in it for each day", () => {
  const range = { from: "2026-11-20T10", to: "2026-12-20T10", rowsMax: 10 };
  const days = "(tenant=? AND start>? AND start<?)";
  for (const bucket of ["hour", "day"] as const) {
    for (const groupBy of [["start"], ["asset_id"], ["start", "event_group"], ["event_type"]] as const) {
      const ask = (assetId: string | undefined) =>
        planOf(
          activityQuery("acme", {
            ...range,
            bucket,
            assetIds: assetId === undefined ? undefined : [assetId],
            groupBy,
          }),
        );
      expect(ask(undefined)).toStartWith(`SEARCH main USING PRIMARY KEY ${days}`);
      const ofAsset = ask("a");
      expect(ofAsset).toStartWith("SEARCH main USING PRIMARY KEY (tenant=? AND start=? AND asset_id=?");
      expect(ofAsset).toContain(`SEARCH other USING PRIMARY KEY ${days}`);
      expect(ofAsset).not.toContain("SCAN");
    }
  }
});

test("statements about an assessment are read in order, from one place of an index", () => {
  for (const after of [undefined, ["2026", "evt_1"]]) {
    const where = [{ kind: "equals", column: "assessment_id", value: "a" }] as const;
    const plan = planOf(listQuery("acme", statementList, { where, order: "asc", after, rowsMax: 10 }));
    expect(plan).toMatch(/^SEARCH main USING (INDEX|PRIMARY KEY) .*\(tenant=\? AND assessment_id=\?/);
    expect(plan).not.toContain("TEMP B-TREE");
  }
});

test("evidence of an asset is read from one place of an index, newest first", () => {
  const one = { assetId: "a", rowsMax: 10 };
  const queries = [
    newestQuery("acme", auditedList, one),
    labelsQuery("acme", "a"),
    usesQuery("acme", "a", { first: "2026-01-01", last: "2027-01-01" }),
    overdueQuery(
      { tenant: "acme", asset_id: "a", law: "policy", duty: "human_review" },
      "2026-11-20T00:00:00",
    ),
    newestQuery("acme", decisionList, one),
    newestQuery("acme", obligationList, one),
  ];
  for (const query of queries) {
    const plan = planOf(query);
    expect(plan).toMatch(/^SEARCH main USING (INDEX|PRIMARY KEY) .*\(tenant=\? AND asset_id=\?/);
    expect(plan).not.toContain("TEMP B-TREE");
  }
});
