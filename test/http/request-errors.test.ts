/** Each error of an administrative body names the field, the reason and what to send instead, and never repeats what was sent. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { ClassificationRequest } from "../../src/law/classification/request.ts";
import { CLASSIFICATION_TEXT_CHARACTERS_MAX } from "../../src/limits.ts";
import { startTestService, type TestService } from "../support/service.ts";

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service[Symbol.asyncDispose]());

const SCOPES =
  "events:write, events:read, keys:manage, obligations:waive, obligations:calendar, events:embed";
const SCOPES_EXPECTED = `an array of 1 to 6 different entries, each one of ${SCOPES}`;
const KEY_EXPECTED =
  "an object with any of tenant, scopes, role, person, covers, name, expires_at, rate_limit";
const TENANT_EXPECTED = "1 to 63 lower-case letters, digits and hyphens, not starting with a hyphen";
const EXPIRY_EXPECTED = "a time in the future, as RFC 3339 in UTC, for example 2027-01-01T00:00:00Z";
const DAYS_EXPECTED = "a whole number from 1 to 36525";
const scopes = ["events:read"];
const asset_id = "a";
const reason = "r";

const errorsOf = async (method: string, path: string, body: unknown) => {
  const answer = await service.call(path, { method, body: JSON.stringify(body) });
  expect([answer.status, answer.json.code]).toEqual([400, "invalid_request"]);
  return answer.json.errors.map(
    ({ path: place, code, message }: Record<string, string>) => `${place} ${code} ${message}`,
  );
};

describe.each([
  [
    "POST",
    "/v1/keys",
    [
      [7, ` invalid_type The body is not valid: send ${KEY_EXPECTED}.`],
      [{}, /^\/scopes required scopes is required: send what the key may do, or send role instead/],
      [{ scopes: ["hunter2"] }, `/scopes/0 invalid_value scopes/0 is not valid: send one of ${SCOPES}.`],
      [
        { scopes: ["event:read"] },
        `/scopes/0 invalid_value scopes/0 is not valid: did you mean events:read? Send one of ${SCOPES}.`,
      ],
      [{ scopes: [] }, `/scopes invalid_value scopes is not valid: send ${SCOPES_EXPECTED}.`],
      [{ scopes: "events:read" }, `/scopes invalid_type scopes is not valid: send ${SCOPES_EXPECTED}.`],
      [{ scopes, tenant: "HUNTER2" }, `/tenant invalid_value tenant is not valid: send ${TENANT_EXPECTED}.`],
      [
        { scopes, name: "😀".repeat(129) },
        "/name invalid_value name is not valid: send a text of 1 to 128 characters without control characters.",
      ],
      [
        { scopes, name: "a\u009b" },
        "/name invalid_value name is not valid: send a text of 1 to 128 characters without control characters.",
      ],
      [
        { scopes, tennant: "hunter2" },
        "/tennant unknown_field There is no such member: did you mean tenant?",
      ],
      [
        { scopes, colour: "hunter2" },
        "/colour unknown_field There is no such member. Known: tenant, scopes, role, person, covers, name, expires_at, rate_limit.",
      ],
      ...["hunter2", "2020-01-01T00:00:00Z", "2027-02-30T00:00:00Z", "2027-01-01T00:00:00+01:00"].map(
        (expires_at) =>
          [
            { scopes, expires_at },
            `/expires_at invalid_value expires_at is not valid: send ${EXPIRY_EXPECTED}.`,
          ] as const,
      ),
      [
        { scopes, rate_limit: { requests_per_second: 0 } },
        "/rate_limit/requests_per_second invalid_value rate_limit/requests_per_second is not valid: send a whole number from 1 to 1000000.",
      ],
      [
        { scopes, rate_limit: 7 },
        "/rate_limit invalid_type rate_limit is not valid: send an object with any of requests_per_second, events_per_second.",
      ],
    ],
  ],
  [
    "POST",
    "/v1/keys/k3Yb0Qz81mNd/rotate",
    [
      [
        { grace_seconds: "hunter2" },
        "/grace_seconds invalid_type grace_seconds is not valid: send a whole number from 0 to 604800.",
      ],
      [{ grace: 5 }, "/grace unknown_field There is no such member. Known: grace_seconds."],
    ],
  ],
  [
    "PUT",
    "/v1/retention",
    [
      [
        { maximum_days: 400.5 },
        `/maximum_days invalid_type maximum_days is not valid: send ${DAYS_EXPECTED}.`,
      ],
      ...[0, 36_526].map(
        (maximum_days) =>
          [
            { maximum_days },
            `/maximum_days invalid_value maximum_days is not valid: send ${DAYS_EXPECTED}.`,
          ] as const,
      ),
      [
        { maximum_day: 400 },
        "/maximum_day unknown_field There is no such member: did you mean maximum_days?",
      ],
      [
        { tiers: { lo: {} } },
        "/tiers/lo unknown_field There is no such member. Known: low, limited, high, prohibited, unknown.",
      ],
      [
        { tiers: { low: { maximum_days: null } } },
        `/tiers/low/maximum_days invalid_type tiers/low/maximum_days is not valid: send ${DAYS_EXPECTED}.`,
      ],
      [
        { maximum_days: 400, minimum_days: 500 },
        "/maximum_days invalid_value maximum_days is below minimum_days: send at least 500, or a lower minimum_days.",
      ],
      [
        { maximum_days: 300, tiers: { high: { minimum_days: 301 } } },
        /^\/tiers\/high\/maximum_days invalid_value /,
      ],
    ],
  ],
  [
    "POST",
    "/v1/holds",
    [
      [
        { asset_id },
        "/reason required reason is required: send a text of 1 to 1000 characters, at least one of them visible, with no control characters but line breaks, and none that change the direction of writing.",
      ],
      [{ reason }, " invalid_value Send either asset_id or correlation_id."],
      // No event has it: a URL is UTF-8, which cannot contain half of a surrogate pair.
      [{ reason, asset_id: "a\ud800" }, /^\/asset_id invalid_value /],
      [{ reason, correlation_id: "x".repeat(257) }, /^\/correlation_id invalid_value /],
      [{ asset_id, reason: "" }, /^\/reason invalid_value /],
      [
        { reason, asset_id: "x".repeat(257) },
        "/asset_id invalid_value asset_id is not valid: send a text of 1 to 256 Unicode characters.",
      ],
      [{ reason, asset_id, ["/~".repeat(500)]: 1 }, /^\/(~1~0){32} unknown_field There is no such member\. /],
    ],
  ],
  [
    "POST",
    "/v1/sandbox/classify",
    [
      [{}, "/domain required domain is required: send a text of 1 to 256 characters."],
      [
        { domain: "hiring", processes_personal_data: "yes" },
        "/processes_personal_data invalid_type processes_personal_data is not valid: send true or false.",
      ],
      [
        { domain: "hiring", additional_context: [] },
        "/additional_context invalid_value additional_context is not valid: send a text or an object.",
      ],
      [
        { domain: "hiring", jurisdictions: ["KR2"] },
        /^\/jurisdictions\/0 invalid_value jurisdictions\/0 is not valid: .*one of /i,
      ],
      [
        { domain: "hiring", training_compute_flops: -1 },
        "/training_compute_flops invalid_value training_compute_flops is not valid: send a number of at least 0.",
      ],
    ],
  ],
] as const)("%s %s", (method, path, cases) => {
  test.each(cases.map(([body, expected]) => ({ body, expected })))("%p", async ({ body, expected }) => {
    const errors = await errorsOf(method, path, body);
    expect(errors).toEqual([typeof expected === "string" ? expected : expect.stringMatching(expected)]);
    expect(errors.join()).not.toContain("hunter2");
  });
});

test("characters are counted as people count them: 128 outside the basic plane are a valid name, and 1000 a valid reason", async () => {
  const named = await service.call("/v1/keys", { body: { scopes, name: "😀".repeat(128) } });
  expect([named.status, named.json.data?.name]).toEqual([201, "😀".repeat(128)]);
  // An event may have half of a surrogate pair in its correlation_id.
  for (const body of [
    { asset_id, reason: "😀".repeat(1000) },
    { asset_id: "😀".repeat(256), reason },
    { correlation_id: "c\ud800", reason },
  ])
    expect((await service.call("/v1/holds", { body })).status).toBe(201);
});

test.each([
  ["POST", "/v1/keys", { scopes }],
  ["PUT", "/v1/retention", { maximum_days: 400 }],
  ["POST", "/v1/sandbox/classify", { domain: "hiring" }],
])("%s %s reports a body that is too large, whatever it contains", async (method, path, body) => {
  const answer = await service.call(path, { method, body: JSON.stringify(body).padEnd(262_145) });
  expect([answer.status, answer.json.detail]).toEqual([413, "The body is larger than 262144 bytes."]);
});

test("every known member of a classification is refused with every other JSON type", async () => {
  const values: Readonly<Record<string, unknown>> = {
    string: "hunter2",
    number: 5,
    boolean: true,
    array: [5],
    object: {},
    null: null,
  };
  for (const [member, schema] of Object.entries(ClassificationRequest.properties)) {
    const types: readonly unknown[] = member === "additional_context" ? ["string", "object"] : [schema.type];
    for (const [kind, value] of Object.entries(values)) {
      // Not every value of the right type is valid: a text may be none of the known ones.
      if (kind === schema.type) continue;
      const path = "/v1/sandbox/classify";
      const { status } = await service.call(path, {
        body: JSON.stringify({ domain: "hiring", [member]: value }),
      });
      expect([member, kind, status]).toEqual([member, kind, types.includes(kind) ? 200 : 400]);
    }
  }
});

test("a body that is nested too deep to be checked is refused, so no duplicate member hides in it", async () => {
  const nested = (depth: number) => `${"[".repeat(depth)}${"]".repeat(depth)}`;
  const classify = (body: string) => service.call("/v1/sandbox/classify", { body });
  const hiring = '{"domain":"hiring","domain":"general_chatbot"';
  for (const [body, path, code] of [
    [`${hiring},"extra":${nested(63)}}`, "/domain", "duplicate_member"],
    [`${hiring},"extra":${nested(64)}}`, "", "too_deep"],
  ] as const)
    expect((await classify(body)).json.errors).toMatchObject([{ path, code }]);
  const answer = await service.call("/v1/keys", { body: `{"scopes":${nested(40_000)}}` });
  expect([answer.status, answer.json.code]).toEqual([400, "invalid_request"]);
  expect(answer.json.errors).toEqual([
    { path: "", code: "too_deep", message: "The body is nested 40001 levels deep: send at most 64." },
  ]);
});

test("the description of a system is counted in characters of any Unicode plane, as the document says", async () => {
  for (const member of ["domain", "ai_type", "decision_autonomy", "user_impact"])
    for (const [text, status] of [
      ["😀".repeat(CLASSIFICATION_TEXT_CHARACTERS_MAX), 200],
      ["😀".repeat(CLASSIFICATION_TEXT_CHARACTERS_MAX + 1), 400],
      ["", 400],
    ] as const) {
      const answer = await service.call("/v1/sandbox/classify", {
        body: { domain: "hiring", [member]: text },
      });
      expect([member, text.length, answer.status]).toEqual([member, text.length, status]);
      if (status === 400)
        expect(answer.json.errors).toEqual([
          {
            path: `/${member}`,
            code: "invalid_value",
            message: `${member} is not valid: send a text of 1 to ${CLASSIFICATION_TEXT_CHARACTERS_MAX} characters.`,
          },
        ]);
    }
});
