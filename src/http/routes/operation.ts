import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import type { Registry } from "prom-client";
import { describe, EXAMPLE_REQUEST_ID, type Operation } from "../openapi.ts";
import { problem } from "../problem.ts";
import { contextOf } from "../request-context.ts";
import { HealthLive, HealthReady } from "../schemas.ts";
import { success } from "../success.ts";

export const operationRoutes = (dependencies: {
  /** Why this instance cannot serve now; empty when it can. */
  readonly reasonsNotReady: () => Promise<readonly string[]>;
  readonly registry: Registry;
}) => {
  const { reasonsNotReady, registry } = dependencies;
  return new Elysia()
    .get(
      "/health/live",
      ({ request }) => success({ requestId: contextOf(request).requestId, data: { status: "live" } }),
      { detail: describe(LIVE) },
    )
    .get(
      "/health/ready",
      async ({ request }) => {
        const context = contextOf(request);
        const reasons = await reasonsNotReady();
        if (reasons.length > 0) return problem(context, "not_ready", { reasons, detail: reasons.join(" ") });
        return success({ requestId: context.requestId, data: { status: "ready" } });
      },
      { detail: describe(READY) },
    )
    .get(
      "/metrics",
      async ({ request }) =>
        new Response(await registry.metrics(), {
          headers: {
            "content-type": registry.contentType,
            "cache-control": "no-store",
            "x-request-id": contextOf(request).requestId,
          },
        }),
      { detail: describe(METRICS) },
    );
};

const LIVE: Operation = {
  id: "checkLive",
  tag: "Operation",
  summary: "Is the process up?",
  description: "Answers as long as the process can answer at all.",
  answer: {
    status: 200,
    description: "It is.",
    schema: HealthLive,
    example: { data: { status: "live" }, request_id: EXAMPLE_REQUEST_ID },
  },
  problems: [],
};

const READY: Operation = {
  id: "checkReady",
  tag: "Operation",
  summary: "Can it serve?",
  description:
    "The broker is connected, the streams are as they must be, the keys are fresh, and the views are not far behind.",
  answer: {
    status: 200,
    description: "It can.",
    schema: HealthReady,
    example: { data: { status: "ready" }, request_id: EXAMPLE_REQUEST_ID },
  },
  problems: ["not_ready"],
};

const METRICS: Operation = {
  id: "readMetrics",
  tag: "Operation",
  summary: "Metrics",
  description:
    "In the Prometheus text format. Asks for no key, and names tenants with their numbers of events: keep it inside your network.",
  answer: {
    status: 200,
    description: "All metrics.",
    schema: Type.String(),
    example: 'prooftrail_append_outcomes_total{outcome="appended"} 1',
    mediaType: "text/plain",
  },
  problems: [],
};
