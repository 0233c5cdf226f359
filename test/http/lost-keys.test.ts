/** A broker that lost its keys: no client with a valid key is told that the key is wrong. */
import { expect, test } from "bun:test";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { hashSecret } from "../../src/access/api-key.ts";
import { KEYS_BUCKET } from "../../streams/subjects.ts";
import { settingsFor, startTestBroker } from "../support/broker.ts";
import { connectAs } from "../support/log.ts";
import { event, startTestService, type TestService } from "../support/service.ts";
import { beginRequest } from "../support/slow-request.ts";
import { until } from "../support/until.ts";

/** Begins to send an event; the function sends the rest, and returns the status. */
const beginEvent = async (service: TestService, key: string): Promise<() => Promise<number>> => {
  const body = JSON.stringify(event({ event_id: "evt_1" }));
  const end = await beginRequest(service.url, { method: "POST", path: "/v1/events", key, body });
  return async () => (await end()).status;
};

test.concurrent("after the broker lost its keys, a formerly valid key gets 503 and a wrong key 401, in a running request and in every request after another process made an admin key there", async () => {
  await using broker = await startTestBroker();
  await using service = await startTestService({
    ...settingsFor(broker),
  });
  const key = await service.makeKey("acme");
  const revoked = (await service.call("/v1/keys", { body: { tenant: "acme", scopes: ["events:read"] } })).json
    .data;
  await service.call(`/v1/keys/${revoked.id}`, { method: "DELETE" });
  const [endFirst, endSecond] = [await beginEvent(service, key), await beginEvent(service, key)];

  await rm(join(broker.directory, "store"), { recursive: true });
  process.kill(broker.pid, "SIGKILL");
  await until("the loss is known", () =>
    service.lines.some(({ message }) => message.includes("no longer has the admin key")),
  );
  expect(await endFirst()).toBe(503);

  const connection = await connectAs(broker, "service");
  const bucket = await connection.jetstream().views.kv(KEYS_BUCKET, { bindOnly: true });
  const made = {
    secret_hash: hashSecret("another-admin-key-is-here"),
    created_at: "2026-11-24T22:00:00.000Z",
  };
  await bucket.create("admin", JSON.stringify(made));
  await connection.close();
  const statusOf = async (sent: string) => (await service.call("/v1/events", { key: sent })).status;
  await until(
    "the new admin key is known",
    async () => (await statusOf("another-admin-key-is-here")) !== 503,
  );
  expect(await endSecond()).toBe(503);
  expect(await Promise.all([key, service.adminKey, revoked.api_key, "unknown"].map(statusOf))).toEqual([
    503, 503, 401, 401,
  ]);
});

test.concurrent("a start that finds no admin key beside a log with records says that the keys are lost; a first start does not", async () => {
  await using broker = await startTestBroker();
  const isTold = async (): Promise<boolean> => {
    await using service = await startTestService({ ...settingsFor(broker), ROLES: "api" });
    expect((await service.call("/v1/events", { body: event() })).status).toBe(202);
    return service.lines.some(
      ({ level, message }) =>
        level === "error" && message.includes("the log has records but there was no admin key"),
    );
  };
  expect([await isTold(), await isTold()]).toEqual([false, false]);
  const connection = await connectAs(broker, "service");
  const bucket = await connection.jetstream().views.kv(KEYS_BUCKET, { bindOnly: true });
  await bucket.delete("admin");
  await connection.close();
  expect([await isTold(), await isTold()]).toEqual([true, false]);
});
