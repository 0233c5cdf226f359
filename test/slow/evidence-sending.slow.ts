/** An evidence bundle that nobody takes, which is larger than what connections hold. What bundles hold: test/proof/evidence.test.ts. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { EXPORTS_PER_KEY_MAX } from "../../src/limits.ts";
import { event, startTestService, type TestService } from "../support/service.ts";
import { LAST_CHUNK, openUntaken } from "../support/untaken-answer.ts";
import { until } from "../support/until.ts";

let service: TestService;
let key: string;
let keyId: string;
beforeAll(async () => {
  service = await startTestService({ CHECKPOINT_INTERVAL: "50ms" });
  const made = await service.call("/v1/keys", {
    body: { tenant: "large", scopes: ["events:write", "events:read"] },
  });
  ({ api_key: key, id: keyId } = made.json.data);
  const noise = (): string => Buffer.from(crypto.getRandomValues(new Uint8Array(48_000))).toString("base64");
  for (let from = 0; from < 300; from += 100) {
    const events = Array.from({ length: 100 }, (_, index) =>
      event({ event_id: `evt_${from + index}`, metadata: { noise: noise() } }),
    );
    const { json } = await service.call("/v1/events/batch", { key, body: { events } });
    expect(json.data.accepted).toBe(events.length);
  }
});
afterAll(() => service[Symbol.asyncDispose]());

const headers = () => ({ authorization: `Bearer ${key}` });

test("a bundle takes one of the places for exports, and frees it at the end", async () => {
  const open = await Promise.all(
    Array.from({ length: EXPORTS_PER_KEY_MAX }, () =>
      openUntaken(`${service.url}/v1/evidence?wait=30`, headers()),
    ),
  );
  expect((await service.call("/v1/evidence", { key })).json.code).toBe("overloaded");
  for (const answer of open) answer.disconnect();
  await until("the places are free", async () => {
    const { body, status } = await fetch(`${service.url}/v1/evidence`, { headers: headers() });
    await body?.cancel();
    return status === 200;
  });
});

test("if its key is revoked, a bundle is cut off and is not a valid ZIP", async () => {
  const answer = await openUntaken(`${service.url}/v1/evidence?wait=30`, headers());
  await service.call(`/v1/keys/${keyId}`, { method: "DELETE" });
  const text = await answer.text();
  expect(text).toStartWith("HTTP/1.1 200");
  expect(text).not.toEndWith(LAST_CHUNK);
  expect(text).not.toContain("PK\x05\x06");
  await until("a line says so", () =>
    service.lines.some(({ message }) => message === "an evidence bundle was aborted"),
  );
});
