/** Filters that cannot match anything are refused: the empty answer to a misspelt value would read as "there is none". */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { DEADLINE_IDS, DEADLINE_LAWS } from "../../src/law/obligations/deadline-table.ts";
import { OBLIGATION_STATES } from "../../src/law/obligations/obligation.ts";
import { TAGS_MAX } from "../../src/limits.ts";
import { event, startTestService, type TestService } from "../support/service.ts";

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
  await service.call("/v1/events", { body: event() });
});
afterAll(() => service[Symbol.asyncDispose]());

const TIERS = "low, limited, high, prohibited";
const CLOSED = [
  ["/v1/obligations", "rule", DEADLINE_IDS.join(", ")],
  ["/v1/obligations", "law", DEADLINE_LAWS.join(", ")],
  ["/v1/obligations", "state", OBLIGATION_STATES.join(", ")],
  ["/v1/obligations", "recorded_late", "true, false"],
  ["/v1/assets", "status", "seen, active, retired, archived"],
  ["/v1/assets", "risk_tier", TIERS],
  ["/v1/events", "risk_tier", TIERS],
  ["/v1/registers/objections", "state", "orphan, received, acknowledged, escalated, resolved"],
  ["/v1/registers/human-reviews", "state", "open, completed, orphan"],
  ["/v1/registers/incidents", "state", "detected, reported, mitigated, orphan"],
  ["/v1/registers/assessments", "state", "started, completed, orphan"],
  ["/v1/registers/models", "state", "seen, deployed, retired"],
  [
    "/v1/coverage",
    "duty",
    "explanation, objection, denial_reason, notice, incident_report, provider_informed, human_review, objection_acknowledgement, labeling, lifecycle, bias_audit, information_request, high_impact_confirmation, policy_disclosure, impact_assessment, risk_review",
  ],
] as const;

interface Documented {
  readonly name: string;
  readonly schema: Choice & { readonly items?: Choice };
}

interface Choice {
  readonly enum?: readonly string[];
  readonly pattern?: string;
}

/** Of a parameter that takes several values, those of each. */
const choicesOf = ({ schema }: Documented): readonly string[] | undefined =>
  schema.enum ?? schema.items?.enum;

const documented = async (path: string): Promise<readonly Documented[]> =>
  (await service.call("/docs/json")).json.paths[path].get.parameters;

const expectRefused = async (path: string, parameter: string, says: string): Promise<void> => {
  const { status, json } = await service.call(path);
  expect([path, status, json.code]).toEqual([path, 400, "invalid_request"]);
  expect([path, json.errors]).toEqual([
    path,
    [{ path: `query:${parameter}`, code: "invalid_value", message: expect.stringContaining(says) }],
  ]);
};

describe("a filter of a closed set", () => {
  test.each(CLOSED)(
    "%s?%s= accepts only its values, and the document lists them",
    async (path, name, values) => {
      for (const wrong of ["foo", "", values.split(", ")[0]?.slice(0, -1)])
        await expectRefused(`${path}?${name}=${wrong}`, name, `send one of ${values}`);
      const found = (await documented(path)).find((parameter) => parameter.name === name);
      expect(found && choicesOf(found)?.join(", ")).toBe(values);
      for (const value of values.split(", "))
        expect((await service.call(`${path}?${name}=${value}`)).status).toBe(200);
    },
  );
});

const TENANT = "send a tenant: 1 to 63 lower-case letters, digits and hyphens";

const HASH = 'send a hash written as "sha256:"';
const TYPE = "send a type such as decision.automated_decision_made, or a group such as decision.*";
const BASIS = "send a name in lower snake case";
const tooManyTags = Array.from({ length: TAGS_MAX + 1 }, (_, index) => `tag.k${index}=v`).join("&");

const MALFORMED = [
  ["/v1/events?event_type=", "event_type", TYPE],
  ["/v1/events?event_type=asset.cre*", "event_type", TYPE],
  ["/v1/activity?event_type=*", "event_type", TYPE],
  ["/v1/events?asset_id=", "asset_id", "asset_id is empty"],
  ["/v1/events?tag.=1", "tag.", "send tag.<key>=<value>"],
  [`/v1/events?${tooManyTags}`, "tag.", "17 tags were sent, and an event has at most 16"],
  ["/v1/events?legal_basis=X", "legal_basis", BASIS],
  ["/v1/registers/objections?subject_hash=abc", "subject_hash", HASH],
  ["/v1/decisions?outcome=", "outcome", "outcome is empty"],
  ["/v1/coverage?law=X", "law", BASIS],
  ["/v1/retention?tenant=BAD", "tenant", TENANT],
] as const;

describe("a filter that cannot match anything", () => {
  test.each(MALFORMED)("%s is refused, and the answer says what to send", expectRefused);

  test.each(["/v1/events", "/v1/export", "/v1/assets/credit_model/timeline"])(
    "%s: two values of one tag",
    async (path) => {
      for (const query of ["tag.a=1&tag.a=2", "tag.a=1&tag.b=1&tag.a=1"]) {
        const { status, json } = await service.call(`${path}?${query}`);
        const errors = [
          { path: "query:tag.a", code: "not_unique", message: "tag.a occurs 2 times: send it once." },
        ];
        expect([path, query, status, json?.errors]).toEqual([path, query, 400, errors]);
      }
    },
  );

  test.each([
    "/v1/events",
    "/v1/assets/credit_model/timeline",
    "/v1/export",
    "/v1/activity",
    "/v1/evidence",
    "/v1/reconciliation",
    "/v1/obligations",
  ])("%s: from after to", async (path) => {
    const range = (first: string, last: string) => `${path}?from=${first}&to=${last}`;
    const says = "from is after to: send the earlier time in from.";
    await expectRefused(range("2026-11-21T00:00:00Z", "2026-11-20T00:00:00Z"), "from", says);
    // They differ by a nanosecond, and one has a fraction and the other has none.
    await expectRefused(range("2026-11-20T00:00:00.000000001Z", "2026-11-20T00:00:00Z"), "from", says);
    const equal = await service.call(range("2026-11-20T00:00:00.000Z", "2026-11-20T00:00:00Z"));
    expect([
      path,
      equal.status === 200 || equal.json.code === "not_found" || equal.json.code === "not_sealed",
    ]).toEqual([path, true]);
  });
});

test("an unknown parameter is answered with all known ones, including the tags", async () => {
  const { json } = await service.call("/v1/events?colour=red&tag.team=credit");
  // The document has the tag parameters as members of one object.
  const names = (await documented("/v1/events")).map(({ name }) => (name === "tags" ? "tag.<key>" : name));
  const [{ message }] = json.errors;
  const named = message.replace(/^There is no such parameter\. Known: (.*)\.$/, "$1").split(", ");
  expect(named.sort()).toEqual(names.sort());
  expect(names).toContain("tag.<key>");
});

describe("a well-formed value is answered", () => {
  test.each([
    // The log may hold types that this version, or its settings, no longer accepts.
    "/v1/events?event_type=sdk.heartbeat",
    "/v1/events?event_type=objection",
    "/v1/events?event_type=legacy.*",
    "/v1/activity?event_type=older.type",
    "/v1/events?legal_basis=some_law_of_tomorrow",
    "/v1/events?tag.team=",
    "/v1/decisions?outcome=Denied%20for%20now",
    "/v1/coverage?law=any",
    "/v1/coverage?law=policy",
  ])("%s", async (path) => {
    expect((await service.call(path)).status).toBe(200);
  });

  test("upper and lower case of a hash find the same rows of a register", async () => {
    const hash = `sha256:${"aB".repeat(32)}`;
    const { json } = await service.call("/v1/events", {
      body: event({ event_id: "evt_hash", subject_hash: hash, metadata: { decision_id: "dec_hash" } }),
    });
    for (const asked of [hash, hash.toLowerCase()]) {
      const path = `/v1/decisions?subject_hash=${asked}&min_sequence=${json.data.sequence}`;
      expect((await service.call(path)).json.data).toMatchObject([{ decision_id: "dec_hash" }]);
    }
  });
});
