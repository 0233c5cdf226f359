/** The plugin for Elysia in a listening app. On Bun only: on Node, listening needs the package @elysiajs/node, and on Deno it needs Deno.serve. */
import { expect, test } from "bun:test";
import { Elysia } from "elysia";
import { createClient } from "prooftrail-sdk";
import { audit, type ElysiaAuditOptions } from "prooftrail-sdk/elysia";
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

test("an app that stops delivers its recorded events, and closes its client", () =>
  withScriptedService(takeAll, async (service) => {
    const client = await stoppedApp(service);
    const { events } = await until("the event has been delivered", () => service.asked[0]);
    expect(events).toMatchObject([{ ...late, correlation_id: "req-7" }]);
    // It is closed when everything is delivered; events captured before are kept.
    const refused = await until("the client is closed", () => {
      const captured = client.capture(late);
      return captured.kind === "dropped" && captured;
    });
    expect(refused.reason).toBe("closed");
  }));

test("a client that other code also uses can be left open", () =>
  withScriptedService(takeAll, async (service) => {
    const client = await stoppedApp(service, { closeOnStop: false });
    await until("the request is recorded, after its answer", () => client.stats.pending.events === 1);
    await new Promise((turn) => setImmediate(turn));
    expect(client.capture(late).kind).toBe("kept");
    await client.close();
    expect(service.eventIds).toHaveLength(2);
  }));
