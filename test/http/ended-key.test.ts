/** A key is revoked while one of its requests is running: nothing more is done for it, and it gets no more data. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Operation, operationsOf } from "../support/operations.ts";
import { event, startTestService, type TestService } from "../support/service.ts";
import { beginRequest } from "../support/slow-request.ts";
import { until } from "../support/until.ts";

let service: TestService;
let unsealed: TestService;
let operations: readonly Operation[] = [];

beforeAll(async () => {
  [service, unsealed] = await Promise.all([
    startTestService({ CHECKPOINT_INTERVAL: "300ms" }),
    startTestService({ ROLES: "api,projector" }),
  ]);
  operations = await operationsOf(service);
});
afterAll(async () => {
  await Promise.all([service[Symbol.asyncDispose](), unsealed[Symbol.asyncDispose]()]);
});

const makeKey = async (at: TestService, tenant: string) => {
  const { json } = await at.call("/v1/keys", { body: { tenant, role: "admin" } });
  const { id, api_key: key } = json.data;
  const revoke = async (): Promise<void> => {
    expect((await at.call(`/v1/keys/${id}`, { method: "DELETE" })).status).toBe(200);
    await until("the key is refused", async () => (await at.call("/v1/events", { key })).status === 401);
  };
  return { id: String(id), key: String(key), revoke };
};

/** The answer to any unknown key, except for the id of the request. */
const refusal = async () => {
  const { json } = await service.call("/v1/events", { key: "unknown" });
  return { ...json, request_id: expect.any(String) };
};

const systemEvents = async (at: TestService, sequence: number): Promise<readonly string[]> => {
  const key = await at.makeKey("prooftrail-system", ["events:read"]);
  const { json } = await at.call(`/v1/events?limit=100&min_sequence=${sequence}`, { key });
  return json.data.map(
    (stored: { readonly event: { readonly event_type: string } }) => stored.event.event_type,
  );
};

test("a request is not carried out if the rest of its body arrives after its key was revoked", async () => {
  const { key, revoke } = await makeKey(service, "acme");
  const other = await makeKey(service, "acme");
  const withBody = operations
    .filter(({ needsKey, takesBody }) => needsKey && takesBody)
    .map(({ method, name, path, example }) => ({
      method,
      path: name.includes("{id}") ? path.replace("unknown", other.id) : path,
      key,
      body: JSON.stringify(example),
    }));
  expect(withBody.map(({ path }) => path)).toContain("/v1/events/batch");
  expect(withBody.length).toBeGreaterThanOrEqual(6);
  const ends = await Promise.all(withBody.map((request) => beginRequest(service.url, request)));
  await revoke();
  const told = { status: 401, challenge: "Bearer", json: await refusal() };
  for (const [index, end] of ends.entries()) {
    const { method, path } = withBody[index] ?? {};
    expect({ method, path, ...(await end()) }).toEqual({ method, path, ...told });
  }
  // This event is stored after all of them, so that a view that has it has the others.
  const { json } = await service.call("/v1/events", {
    key: other.key,
    body: event({ event_id: "evt_after" }),
  });
  const { sequence } = json.data;
  const stored = await service.call(`/v1/events?min_sequence=${sequence}`, { key: other.key });
  expect(stored.json.data).toHaveLength(1);
  const done = await systemEvents(service, sequence);
  expect(new Set(done)).toEqual(new Set(["system.key_created", "system.key_revoked"]));
  expect((await service.call("/v1/holds", { key: other.key })).json.data).toEqual([]);
});

test("a request that waits with min_sequence gets no data if its key is revoked meanwhile, and no export is recorded", async () => {
  const { key, revoke } = await makeKey(service, "waiting");
  const reads = operations.flatMap(({ method, path, parameters }) =>
    method === "GET" && path !== "/v1/log/key" && parameters.includes("min_sequence") ? path : [],
  );
  expect(reads.length).toBeGreaterThanOrEqual(20);
  const writer = await service.makeKey("waiting");
  const write = async (id: string): Promise<number> => {
    const body = event({ event_id: id, correlation_id: "case-1", metadata: { decision_id: "dec_1" } });
    return (await service.call("/v1/events", { key: writer, body })).json.data.sequence;
  };
  // The next one is the record of the revocation.
  const awaited = (await write("evt_1")) + 2;
  const answers = reads.map(async (path) => {
    const asked = `${path}${path.includes("?") ? "&" : "?"}min_sequence=${awaited}`;
    const { status, json } = await service.call(asked, { key });
    return { path, status, json };
  });
  await revoke();
  expect(await write("evt_2")).toBeGreaterThanOrEqual(awaited);
  const json = await refusal();
  expect(await Promise.all(answers)).toEqual(reads.map((path) => ({ path, status: 401, json })));
  expect(await systemEvents(service, await write("evt_3"))).not.toContain("system.export_taken");
});

test("a request that waits for a proof or a bundle gets neither if its key is revoked meanwhile", async () => {
  const { key, revoke } = await makeKey(unsealed, "acme");
  await unsealed.call("/v1/events", { key, body: event() });
  const asked = ["/v1/events/evt_1/proof?wait=2", "/v1/evidence?wait=2"].map((path) =>
    unsealed.call(path, { key }),
  );
  await revoke();
  const json = await refusal();
  for (const answer of await Promise.all(asked))
    expect({ status: answer.status, json: answer.json }).toEqual({ status: 401, json });
});

test("changes that wait for others of the same key or policy are not made if their key is revoked meanwhile", async () => {
  const { key, id } = await makeKey(service, "in-turn");
  const body = { tenant: "in-turn", scopes: ["events:read"] };
  const rotated = (await service.call("/v1/keys", { body })).json.data.id;
  const waiting = Array.from({ length: 30 }, () => [
    service.call(`/v1/keys/${rotated}/rotate`, { key, body: {} }),
    service.call("/v1/retention", { method: "PUT", key, body: { maximum_days: 4000 } }),
  ]).flat();
  await Promise.race(waiting);
  expect((await service.call(`/v1/keys/${id}`, { method: "DELETE" })).status).toBe(200);
  const at = new Date().toISOString();
  const answers = await Promise.all(waiting);
  const refused = answers.filter(({ status }) => status === 401);
  expect(refused.length).toBeGreaterThan(0);
  for (const { json } of refused) expect(json).toEqual(await refusal());
  const { json } = await service.call("/v1/keys?tenant=in-turn&limit=200");
  // The one whose turn it was.
  const later = json.data.filter((each: { created_at: string }) => each.created_at > at);
  expect(later.length).toBeLessThanOrEqual(1);
  expect(json.data.length).toBe(2 + answers.filter((each) => each.status === 201).length);
});
