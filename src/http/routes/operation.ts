import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import type { Registry } from "prom-client";
import { describe, EXAMPLE_REQUEST_ID, type Operation } from "../openapi.ts";
import { problem } from "../problem.ts";
import { readQuery } from "../query.ts";
import { parameter } from "../reading.ts";
import { contextOf } from "../request-context.ts";
import { HealthLive, HealthReady } from "../schemas.ts";
import { success } from "../success.ts";

/** Why this instance cannot serve now; empty when it can. */
export interface Readiness {
  reasons(): Promise<readonly string[]>;
  /**
   * The same for what needs no views, such as taking events: the views may be away or far behind. A log that is not the views' own is still
   * a reason, because it must not be written.
   */
  reasonsWithoutViews(): Promise<readonly string[]>;
}

export const operationRoutes = (dependencies: {
  readonly readiness: Readiness;
  readonly registry: Registry;
}) => {
  const { readiness, registry } = dependencies;
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
        const query = readQuery(request.url);
        const without = query.oneOf("without", ["views"]);
        const errors = query.errors();
        if (errors.length > 0) return problem(context, "invalid_request", { errors });
        const reasons = await (without === undefined ? readiness.reasons() : readiness.reasonsWithoutViews());
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
    "The broker is connected, the streams have the right settings, the keys are fresh, and the views are there and not far behind. `without=views` leaves out the views: events are taken, and keys and holds changed, also while the views are away. It answers within a second; a log that has not answered by then is a reason.",
  parameters: [
    parameter("without", "Leaves out whether the views are there and how far they are.", {
      type: "string",
      enum: ["views"],
    }),
  ],
  answer: {
    status: 200,
    description: "It can.",
    schema: HealthReady,
    example: { data: { status: "ready" }, request_id: EXAMPLE_REQUEST_ID },
  },
  problems: ["invalid_request", "not_ready"],
};

const METRICS: Operation = {
  id: "readMetrics",
  tag: "Operation",
  summary: "Metrics",
  description:
    "In the Prometheus text format. Names tenants with their numbers of events: keep it inside your network.",
  answer: {
    status: 200,
    description: "All metrics.",
    schema: Type.String(),
    example: 'prooftrail_append_outcomes_total{outcome="appended"} 1',
    mediaType: "text/plain",
  },
  problems: [],
};
