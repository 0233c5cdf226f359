/** Keys over HTTP: how they are listed. The rules for changes are tested in src/access/keys.test.ts. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { startTestService, type TestService } from "../support/service.ts";

let service: TestService;

beforeAll(async () => {
  service = await startTestService();
});

afterAll(async () => {
  await service[Symbol.asyncDispose]();
});

const makeKeys = async (tenant: string, count: number): Promise<void> => {
  const scopes = ["events:read"];
  await Promise.all(
    Array.from({ length: count }, () => service.call("/v1/keys", { body: { tenant, scopes } })),
  );
};

test("keys are listed page by page, oldest first and by id at the same time, each once, also while others are made", async () => {
  const key = await service.makeKey("pages", ["keys:manage"]);
  await makeKeys("pages", 6);
  const whole = (await service.call("/v1/keys", { key })).json;
  expect([whole.data.length, whole.next_cursor]).toEqual([7, null]);
  const places = whole.data.map(
    (each: { created_at: string; id: string }) => `${each.created_at} ${each.id}`,
  );
  expect(places).toEqual(places.toSorted());

  const listed: object[] = [];
  for (let cursor: string | null = ""; cursor !== null; ) {
    const query: string = cursor === "" ? "" : `&cursor=${encodeURIComponent(cursor)}`;
    const page = await service.call(`/v1/keys?limit=3${query}`, { key });
    expect(page.json.data.length).toBe(3);
    listed.push(...page.json.data);
    if (listed.length === 3) await makeKeys("pages", 2);
    cursor = page.json.next_cursor;
  }
  expect(listed.slice(0, 7)).toEqual(whole.data);
  expect(listed.length).toBe(9);
});

test("a list without a limit ends with a cursor if there are more keys than one page holds", async () => {
  await makeKeys("many", 51);
  const { json } = await service.call("/v1/keys?tenant=many");
  expect([json.data.length, typeof json.next_cursor]).toEqual([50, "string"]);
  const rest = await service.call(`/v1/keys?tenant=many&cursor=${json.next_cursor}`);
  expect([rest.json.data.length, rest.json.next_cursor]).toEqual([1, null]);
});

test("too many simultaneous rotations of one key are refused until some are done, and do not prevent its revocation", async () => {
  const made = await service.call("/v1/keys", { body: { tenant: "rotated", scopes: ["events:read"] } });
  const { id } = made.json.data;
  const rotate = () => service.call(`/v1/keys/${id}/rotate`, { method: "POST", body: {} });
  const rotations = Array.from({ length: 100 }, rotate);
  const first = await Promise.race(
    rotations.map(async (each) => {
      const answer = await each;
      return answer.status === 503 ? answer : new Promise<never>(() => {});
    }),
  );
  expect([first.json.code, first.headers.get("retry-after")]).toEqual(["overloaded", "1"]);
  const revoked = await service.call(`/v1/keys/${id}`, { method: "DELETE" });
  expect(revoked.status).toBe(200);
  const statuses = (await Promise.all(rotations)).map(({ status }) => status);
  const given = statuses.filter((status) => status === 201).length;
  const { json } = await service.call("/v1/keys?tenant=rotated&limit=200");
  expect(given).toBeGreaterThanOrEqual(32);
  expect(json.data.length).toBe(1 + given);
});

test("a cursor works with another key of the tenant: all keys that manage keys and holds see the same ones", async () => {
  const [first, second] = [
    await service.makeKey("handed", ["keys:manage"]),
    await service.makeKey("handed", ["keys:manage"]),
  ];
  for (const asset_id of ["one", "two"])
    await service.call("/v1/holds", { key: first, body: { asset_id, reason: "r" } });
  for (const path of ["/v1/keys", "/v1/holds"]) {
    const { json } = await service.call(`${path}?limit=1`, { key: first });
    const [other, own] = await Promise.all(
      [second, first].map((key) => service.call(`${path}?limit=1&cursor=${json.next_cursor}`, { key })),
    );
    expect([path, other?.status, other?.json.data]).toEqual([path, 200, own?.json.data]);
    const ofAdmin = await service.call(`${path}?limit=1&cursor=${json.next_cursor}`);
    expect([path, ofAdmin.status]).toEqual([path, 400]);
  }
});
