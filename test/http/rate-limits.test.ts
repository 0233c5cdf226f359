/** Limits that several keys share, over the real counters. */
import { expect, test } from "bun:test";
import { type Answer, startTestService, type TestService } from "../support/service.ts";
import { until } from "../support/until.ts";

const PER_SECOND = 2;

/** Sends again until the limit lets it through. */
const whenAllowed = async (ask: () => Promise<Answer>): Promise<Answer> => {
  let answer = await ask();
  await until("the limit lets it through", async () => {
    if (answer.status === 429) answer = await ask();
    return answer.status !== 429;
  });
  return answer;
};

/** Asks with all keys at once until two seconds' worth got through. `atMost`: the limit in each second that was touched. */
const throughWith = async (service: TestService, keys: readonly string[]) => {
  const beganAt = Date.now();
  let through = 0;
  let refused: Answer | undefined;
  await until("enough got through", async () => {
    const answers = await Promise.all(keys.map((key) => service.call("/v1/events?limit=1", { key })));
    through += answers.filter(({ status }) => status === 200).length;
    refused = answers.find(({ status }) => status === 429) ?? refused;
    return through >= 2 * PER_SECOND;
  });
  const seconds = Math.floor(Date.now() / 1000) - Math.floor(beganAt / 1000) + 1;
  return { through, atMost: PER_SECOND * seconds, refused };
};

test.concurrent("a key of 2 requests per second gets no more through with the keys that it makes and its successors", async () => {
  await using service = await startTestService();
  const scopes = ["events:read", "keys:manage"];
  const limited = { tenant: "acme", scopes, rate_limit: { requests_per_second: PER_SECOND } };
  const made = await service.call("/v1/keys", { body: limited });
  const { id, api_key: key } = made.json.data;
  const keys = [key];
  for (let child = 0; child < 6; child++) {
    const answer = await whenAllowed(() => service.call("/v1/keys", { key, body: { scopes } }));
    expect(answer.status).toBe(201);
    keys.push(answer.json.data.api_key);
  }
  const rotated = await service.call(`/v1/keys/${id}/rotate`, { method: "POST" });
  expect(rotated.status).toBe(201);
  keys.push(rotated.json.data.api_key);

  const { through, atMost, refused } = await throughWith(service, keys);
  expect(through).toBeLessThanOrEqual(atMost);
  expect(refused?.headers.get("ratelimit-policy")).toBe('"requests";q=2;w=1');
});

test.concurrent("the keys of a tenant share TENANT_RATE_LIMIT, whoever made them, and other tenants have their own", async () => {
  await using service = await startTestService({ TENANT_RATE_LIMIT: String(PER_SECOND) });
  const keys = await Promise.all(Array.from({ length: 6 }, () => service.makeKey("acme")));
  const other = await service.makeKey("other");
  const { through, atMost, refused } = await throughWith(service, keys);
  expect(through).toBeLessThanOrEqual(atMost);
  expect(refused?.json).toMatchObject({
    code: "rate_limited",
    detail: "The keys of the tenant may together send 2 requests per second. Nothing was stored.",
  });
  expect((await service.call("/v1/events", { key: other })).status).toBe(200);
  for (let asked = 0; asked < 20; asked++) expect((await service.call("/v1/events")).status).toBe(200);
});
