/** What auditors ask on the command line, as processes against one real service. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { REGISTERS, type RegisterSpec } from "../../src/cli/registers.ts";
import { runCli } from "../support/cli.ts";
import { event, fact, MADE, startTestService, type TestService } from "../support/service.ts";

let service: TestService;
let sequence = 0;
const HASH = `sha256:${"a".repeat(64)}`;
const LONG_ID = `dec_${"x".repeat(120)}`;

beforeAll(async () => {
  service = await startTestService();
  const of = (decision_id: string, members: object = {}) => ({ metadata: { decision_id, ...members } });
  const { json } = await service.call("/v1/events/batch", {
    body: {
      events: [
        fact("evt_made", "asset.created", { name: "Credit scorer", owner: "Risk" }),
        fact("evt_1", MADE, undefined, {
          subject_hash: HASH,
          legal_bases: ["gdpr_art_22"],
          ...of("dec_1", { outcome: "denied" }),
        }),
        event({ event_id: "evt_2", asset_id: "chat_bot", ...of(LONG_ID, { outcome: "approved" }) }),
        fact("evt_objected", "objection.received", undefined, {
          timestamp: "2026-01-02T10:00:00Z",
          legal_bases: ["gdpr_art_22"],
          ...of("dec_1", { objection_id: "obj_1" }),
        }),
        fact("evt_incident", "incident.detected", { incident_id: "inc_1", incident_class: "death" }),
      ],
    },
  });
  expect(json.data).toMatchObject({ rejected: 0 });
  ({ sequence } = json.data);
  await service.call("/v1/holds", {
    body: { tenant: "default", asset_id: "chat_bot", reason: "Complaint 7" },
  });
});
afterAll(() => service[Symbol.asyncDispose]());

const cli = (...args: readonly string[]) =>
  runCli(args, { environment: { PROOFTRAIL_URL: service.url, PROOFTRAIL_API_KEY: service.adminKey } });

const seen = (): readonly string[] => ["--min-sequence", String(sequence)];

test.each([
  ["decisions list --missing notice --asset-id credit_model", ["dec_1", "denied", "notice"]],
  [`decisions list --outcome approved,other`, [LONG_ID, "chat_bot"]],
  [`decisions list --subject-hash ${HASH}`, ["dec_1"]],
  ["objections list --late true", ["obj_1", "dec_1", "received", "2026-02-02 22:59:59Z", "yes"]],
  [
    "obligations list --state overdue --order asc",
    ["GDPR-12-3:evt_objected", "Answer the request", "GDPR art. 12(3)"],
  ],
  ["assets list", ["credit_model", "Credit scorer", "Risk", "chat_bot"]],
  ["incidents list --state detected", ["inc_1", "death"]],
  ["coverage list --law gdpr_art_22", ["credit_model", "objection", "missing"]],
])("prooftrail %s", async (command, shown) => {
  const { code, out, err } = await cli(...command.split(" "), ...seen());
  expect([code, err]).toEqual([0, ""]);
  for (const text of shown) expect(out).toContain(text);
  const json = await cli(...command.split(" "), ...seen(), "--json");
  expect(JSON.parse(json.out).data).toHaveLength(out.trimEnd().split("\n").length - 1);
});

test("a decision and a system are shown with their tables, and as the API's own answer", async () => {
  const { out, code } = await cli("decisions", "get", "dec_1", ...seen());
  expect(code).toBe(0);
  for (const text of [
    "outcome",
    "denied",
    "Timeline",
    "evt_objected",
    "Obligations",
    "GDPR-12-3",
    "Objections",
    "obj_1",
  ])
    expect(out).toContain(text);
  const json = await cli("decisions", "get", "dec_1", "--json");
  expect(JSON.parse(json.out).data.decision_id).toBe("dec_1");
  const asset = await cli("assets", "get", "credit_model", ...seen());
  expect(asset.out).toContain("Coverage");
  expect((await cli("decisions", "get", "nobody")).code).not.toBe(0);
});

test("holds and retention", async () => {
  const holds = await cli("holds", "list", "--tenant", "default");
  expect([holds.code, holds.err]).toEqual([0, ""]);
  expect(holds.out).toMatch(/[0-9a-f-]{36} +default +chat_bot +Complaint 7/);
  const set = { tenant: "default", maximum_days: 400 };
  expect((await service.call("/v1/retention", { method: "PUT", body: set })).status).toBe(200);
  const retention = await cli("retention");
  expect(retention.out).toMatch(/TIER +LAW +DAYS +WHY/);
  expect(retention.out).toContain("Enforcement Decree art. 27(2)");
  expect(JSON.parse((await cli("retention", "--json")).out).data.tenant).toBe("default");
});

test("a list without rows says so, one with more rows says how to get them", async () => {
  const none = await cli("incidents", "list", "--state", "mitigated");
  expect([none.code, none.out, none.err]).toEqual([0, "", "No incident matches.\n"]);
  const some = await cli("decisions", "list", "--limit", "1", ...seen());
  expect(some.err).toBe("There are more: --limit, or --all.\n");
});

describe("the command line and the API have the same filters", () => {
  const specs: readonly RegisterSpec[] = Object.values(REGISTERS);
  test.each(specs.map((spec) => [spec.name, spec] as const))("%s", async (_, { path, filters }) => {
    const { json } = await service.call("/docs/json");
    const others = ["order", "limit", "cursor", "count", "format", "min_sequence"];
    const documented: readonly { readonly name: string }[] = json.paths[path].get.parameters;
    const names = documented.map(({ name }) => name).filter((name) => !others.includes(name));
    expect(filters.map(({ flag }) => flag.slice(2).replaceAll("-", "_")).sort()).toEqual(names.sort());
  });
});
