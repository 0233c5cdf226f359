/** The plugin for Elysia in an app that listens. On Bun alone: on Node, listening is a matter of the package @elysiajs/node, and on Deno of Deno.serve. */
import { expect, test } from "bun:test";
import { Elysia } from "elysia";
import { createClient } from "prooftrail/sdk";
import { audit, type ElysiaAuditOptions } from "prooftrail/sdk/elysia";
import { until } from "../support/until.ts";
import { type ScriptedService, takeAll, withScriptedService } from "./suite/scripted-service.ts";

const stoppedApp = async (service: ScriptedService, options?: ElysiaAuditOptions) => {
  const client = createClient({
    url: service.url,
    apiKey: "ptk_1",
    outbox: { memory: true },
    onProblem: () => {},
  });
  const app = new Elysia({ serve: { reusePort: false } })
    .use(audit(client, options))
    .get("/", () => "answer", { audit: () => ({ asset_id: "credit_model", event_type: "ai_inference" }) })
    .listen({ port: 0, hostname: "127.0.0.1" });
  const response = await fetch(`http://127.0.0.1:${app.server?.port}`, {
    headers: { "x-request-id": "req-7" },
  });
  expect(await response.text()).toBe("answer");
  await app.stop();
  return client;
};

const late = { asset_id: "credit_model", event_type: "ai_inference" } as const;

test("an app that stops delivers what it has recorded, and closes its client", () =>
  withScriptedService(takeAll, async (service) => {
    const client = await stoppedApp(service);
    const { events } = await until("the event has been delivered", () => service.asked[0]);
    expect(events).toMatchObject([{ ...late, correlation_id: "req-7" }]);
    // It is closed when all is delivered; what is captured before is kept.
    const refused = await until("the client is closed", () => {
      const captured = client.capture(late);
      return captured.kind === "dropped" && captured;
    });
    expect(refused.reason).toBe("closed");
  }));

test("a client that others use as well can be left open", () =>
  withScriptedService(takeAll, async (service) => {
    const client = await stoppedApp(service, { closeOnStop: false });
    await until("the request is recorded, after its answer", () => client.stats.pending.events === 1);
    await new Promise((turn) => setImmediate(turn));
    expect(client.capture(late).kind).toBe("kept");
    await client.close();
    expect(service.eventIds).toHaveLength(2);
  }));
