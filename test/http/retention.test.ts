/** Policies and holds over HTTP: who may change them, what is refused, and how requests are answered. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { settingsFor, startTestBroker } from "../support/broker.ts";
import { allPages } from "../support/pages.ts";
import { type CallOptions, event, startTestService, type TestService } from "../support/service.ts";

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service[Symbol.asyncDispose]());

const put = (body: object, options: CallOptions = {}) =>
  service.call("/v1/retention", { method: "PUT", body, ...options });

interface ShownAge {
  readonly risk_tier: string;
  readonly legal_basis: string | null;
  readonly days: number | null;
  readonly reason: { readonly code: string; readonly clause: string | null };
}

const ageIn = (ages: readonly ShownAge[], tier: string, basis: string | null = null) => {
  const age = ages.find(({ risk_tier, legal_basis }) => risk_tier === tier && legal_basis === basis);
  return [age?.days, age?.reason.code];
};

test("without a policy nothing expires, and the answer gives the minimum for any policy", async () => {
  const key = await service.makeKey("new", ["keys:manage"]);
  const { status, json } = await service.call("/v1/retention", { key });
  expect([status, json.data.tenant, json.data.policy, json.data.updated_at]).toEqual([200, "new", {}, null]);
  expect(json.data.ages.every(({ days }: ShownAge) => days === null)).toBe(true);
  expect(json.data.floors).toContainEqual({
    legal_basis: "ai_basic_law_kr",
    minimum_days: 1827,
    clause: expect.stringContaining("27(2)"),
  });
  expect(json.data.floors[0]).toMatchObject({ legal_basis: null, minimum_days: 184 });
});

test("a policy is answered with the ages that follow from it, and is kept", async () => {
  const key = await service.makeKey("acme", ["keys:manage"]);
  const policy = { maximum_days: 400, minimum_days: 200, tiers: { low: { maximum_days: 250 } } };
  const set = await put(policy, { key });
  expect(set.status).toBe(200);
  expect(set.json.data).toMatchObject({ tenant: "acme", policy, updated_at: expect.any(String) });
  const { ages } = set.json.data;
  expect(ageIn(ages, "low")).toEqual([250, "policy_maximum"]);
  expect(ageIn(ages, "limited")).toEqual([1096, "tier_default"]);
  expect(ageIn(ages, "limited", "feha_ads_us_ca")).toEqual([1461, "law"]);
  expect(ageIn(ages, "prohibited", "ai_basic_law_kr")).toEqual([null, "tier_default"]);
  const read = await service.call("/v1/retention", { key });
  expect(read.json.data).toEqual(set.json.data);
  expect((await put({}, { key })).json.data.policy).toEqual({});
});

test("a maximum below the minimum is refused, with the minimum and its article", async () => {
  for (const [body, path] of [
    [{ maximum_days: 183 }, "/maximum_days"],
    [{ maximum_days: 400, tiers: { low: { maximum_days: 30 } } }, "/tiers/low/maximum_days"],
  ] as const) {
    const { status, json } = await put(body);
    expect([status, json.errors[0].path, json.errors[0].code]).toEqual([400, path, "below_floor"]);
    expect(json.errors[0].message).toContain("184 days");
    expect(json.errors[0].message).toContain("art. 19(1) and 26(6)");
  }
  expect((await put({ maximum_days: 184 })).status).toBe(200);
  await put({});
});

test("the admin key sets the policy of every tenant, and any other key only that of its own", async () => {
  const key = await service.makeKey("own", ["keys:manage"]);
  expect((await put({ tenant: "own", maximum_days: 500 })).json.data.tenant).toBe("own");
  expect((await service.call("/v1/retention", { key })).json.data.policy).toEqual({ maximum_days: 500 });
  expect((await service.call("/v1/retention?tenant=own")).json.data.policy).toEqual({ maximum_days: 500 });
});

test("only the admin key reaches other tenants: any other key that names one is refused, and the answer says where", async () => {
  const key = await service.makeKey("within", ["keys:manage"]);
  const tenant = "other";
  for (const [path, options, place] of [
    ["/v1/retention", { method: "PUT", body: { tenant, maximum_days: 500 } }, "/tenant"],
    ["/v1/holds", { body: { tenant, asset_id: "a", reason: "r" } }, "/tenant"],
    ["/v1/keys", { body: { tenant, scopes: ["keys:manage"] } }, "/tenant"],
    ["/v1/retention?tenant=other", {}, "query:tenant"],
    ["/v1/holds?tenant=other", {}, "query:tenant"],
    ["/v1/keys?tenant=other", {}, "query:tenant"],
  ] as const) {
    const { status, json, headers } = await service.call(path, { key, ...options });
    expect([path, status, json.code, json.errors]).toEqual([
      path,
      403,
      "insufficient_scope",
      [{ path: place, code: "exceeds_own", message: expect.stringContaining("use the admin key") }],
    ]);
    expect(json.detail).toContain("only the admin key reaches others");
    expect(headers.get("www-authenticate")).toBe('Bearer error="insufficient_scope"');
    expect((await service.call(path, options)).status).toBeWithin(200, 202);
  }
});

test("holds are placed, listed page by page, and stay listed after their release", async () => {
  const key = await service.makeKey("holds", ["keys:manage"]);
  const stranger = await service.makeKey("strangers", ["keys:manage"]);
  const ids: string[] = [];
  for (let index = 0; index < 5; index++) {
    const named = index % 2 === 0 ? { asset_id: `a ${index} 😀` } : { correlation_id: `case-${index}` };
    const { status, json } = await service.call("/v1/holds", {
      key,
      body: { ...named, reason: "a complaint" },
    });
    expect([status, json.data.tenant]).toEqual([201, "holds"]);
    expect(json.data).toMatchObject({ ...named, reason: "a complaint", created_at: expect.any(String) });
    ids.push(json.data.id);
  }
  const [first = "", second = ""] = ids;
  expect((await service.call(`/v1/holds/${first}`, { method: "DELETE", key: stranger })).status).toBe(404);
  const released = await service.call(`/v1/holds/${first}`, { method: "DELETE", key });
  expect(released.json.data).toMatchObject({ id: first, released_at: expect.any(String) });
  expect(released.json.data.released_by).toBe(released.json.data.created_by);
  const again = await service.call(`/v1/holds/${first}`, { method: "DELETE", key });
  expect(again.json.data).toEqual(released.json.data);
  const byAdmin = await service.call(`/v1/holds/${second}`, { method: "DELETE" });
  expect(byAdmin.json.data.released_by).toBe("admin");

  const pages = await allPages(async (cursor) => {
    const page = await service.call(`/v1/holds?limit=2${cursor}`, { key });
    expect(page.json.data.length).toBeLessThanOrEqual(2);
    return page;
  });
  const listed = pages.map(({ id }) => id);
  expect(listed).toEqual(ids);
  expect(
    (await service.call("/v1/holds?tenant=holds")).json.data.map(({ id }: { id: string }) => id),
  ).toEqual(ids);
  expect((await service.call("/v1/holds", { key: stranger })).json.data).toEqual([]);
  expect((await service.call("/v1/holds?tenant=holds", { key: stranger })).status).toBe(403);
  expect((await service.call("/v1/holds?cursor=nonsense", { key })).status).toBe(400);
});

test("a hold is released with a reason, which stays with it", async () => {
  const { json } = await service.call("/v1/holds", { body: { tenant: "over", asset_id: "a", reason: "r" } });
  const path = `/v1/holds/${json.data.id}/release`;
  for (const body of [{}, { reason: " " }, { reason: "r", why: "r" }])
    expect([body, (await service.call(path, { body })).status]).toEqual([body, 400]);
  const released = await service.call(path, { body: { reason: "The court has decided." } });
  const { data } = released.json;
  expect([released.status, data.released_reason, data.released_by]).toEqual([
    200,
    "The court has decided.",
    "admin",
  ]);
  const again = await service.call(path, { body: { reason: "Another one." } });
  expect(again.json.data).toEqual(data);
});

test("what expires next is listed over all classes in the order of expiry, with what a hold keeps", async () => {
  const scopes = ["keys:manage", "events:read", "events:write"];
  const key = await service.makeKey("expiring", scopes);
  const events = ["high", "low", "prohibited", "limited", "low"].map((risk_tier, index) =>
    event({ event_id: `evt_${index}`, risk_tier, asset_id: `a${index}`, correlation_id: `c${index}` }),
  );
  const sent = await service.call("/v1/events/batch", { key, body: { events } });
  const last = sent.json.data.sequence;
  const list = async (query: string) =>
    service.call(`/v1/retention/expiring?order=asc&min_sequence=${last}&${query}`, { key });
  expect((await list("count=true")).json).toMatchObject({ data: [], count: { value: 0, exact: true } });

  await put({ maximum_days: 200, tiers: { low: { maximum_days: 184 } } }, { key });
  for (const held of [{ asset_id: "a0" }, { correlation_id: "c4" }])
    await service.call("/v1/holds", { key, body: { ...held, reason: "r" } });
  const seen: object[] = await allPages(async (cursor) => {
    const page = await list(`limit=1&count=true${cursor}`);
    expect(page.json.count).toEqual({ value: 4, exact: true });
    return page;
  });
  expect(seen).toMatchObject([
    { event_id: "evt_1", risk_tier: "low", legal_basis: null, on_hold: false },
    { event_id: "evt_4", risk_tier: "low", on_hold: true },
    { event_id: "evt_3", risk_tier: "limited", on_hold: false },
    { event_id: "evt_0", risk_tier: "high", on_hold: true },
  ]);
  const backwards = await service.call("/v1/retention/expiring", { key });
  expect(backwards.json.data).toEqual(seen.toReversed());
  const { expires_at, counted_from } = seen[0] as Record<"expires_at" | "counted_from", string>;
  expect(Date.parse(expires_at) - Date.parse(counted_from)).toBe(184 * 86_400_000);
  expect(
    (await list(`from=${expires_at}&to=${(seen[2] as { expires_at: string }).expires_at}`)).json.data,
  ).toEqual(seen.slice(0, 2));
  const file = await list("format=ndjson");
  expect(
    file.text
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line)),
  ).toEqual(seen);

  const tried = async (policy: unknown) =>
    (
      await list(
        `count=true&policy=${encodeURIComponent(typeof policy === "string" ? policy : JSON.stringify(policy))}`,
      )
    ).json;
  expect((await tried({})).count.value).toBe(0);
  const longer = await tried({ maximum_days: 4000 });
  expect([longer.count.value, longer.data[0].expires_at > expires_at]).toEqual([4, true]);
  expect((await service.call("/v1/retention", { key })).json.data.policy.maximum_days).toBe(200);
  for (const [policy, path] of [
    ["{", "query:policy"],
    [[], "query:policy"],
    [{ maximum_days: 100 }, "query:policy/maximum_days"],
    [{ tiers: { low: { maximum_days: 1 } } }, "query:policy/tiers/low/maximum_days"],
    [{ tenant: "expiring" }, "query:policy/tenant"],
    [{ colour: 1 }, "query:policy/colour"],
  ] as const) {
    const { code, errors } = await tried(policy);
    expect([code, errors[0].path]).toEqual(["invalid_request", path]);
  }

  const forKeys = await service.makeKey("expiring", ["keys:manage"]);
  const refused = await service.call("/v1/retention/expiring", { key: forKeys });
  expect([refused.status, refused.json.detail]).toEqual([403, expect.stringContaining("events:read")]);
});

test("all processes share policies and holds, and without the broker none of them guesses", async () => {
  await using broker = await startTestBroker();
  const environment = settingsFor(broker);
  await using one = await startTestService(environment);
  await using other = await startTestService(environment);
  await one.call("/v1/retention", { method: "PUT", body: { maximum_days: 700 } });
  const placed = await one.call("/v1/holds", { body: { asset_id: "a", reason: "r" } });
  expect((await other.call("/v1/retention")).json.data.policy).toEqual({ maximum_days: 700 });
  expect((await other.call("/v1/holds")).json.data).toEqual([placed.json.data]);
  await other.call(`/v1/holds/${placed.json.data.id}`, { method: "DELETE" });
  expect((await one.call("/v1/holds")).json.data[0].released_by).toBe("admin");

  await broker.stop();
  const away = await one.call("/v1/retention");
  expect([away.status, away.json.code]).toEqual([503, "log_unavailable"]);
});
