import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import type { Registry } from "prom-client";
import { describe, EXAMPLE_REQUEST_ID, type Operation } from "../http/openapi.ts";
import { problem } from "../http/problem.ts";
import { readQuery } from "../http/query.ts";
import { parameter } from "../http/reading.ts";
import { contextOf } from "../http/request-context.ts";
import { HealthLive, HealthReady } from "../http/schemas.ts";
import { success } from "../http/success.ts";

/** What is wrong with this instance or its installation. */
interface HealthReason {
  readonly id: string;
  /** A sentence or several for the operator, with what to do. */
  readonly detail: string;
  /** Whether the instance cannot serve because of it. */
  readonly isBlocking: boolean;
}

export interface Readiness {
  reasons(): Promise<readonly HealthReason[]>;
  /**
   * The same for what needs no views, such as taking events: the views may be away or far behind. A log that is not the views' own is still
   * a reason, because it must not be written.
   */
  reasonsWithoutViews(): Promise<readonly HealthReason[]>;
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
        const blocking = reasons.filter(({ isBlocking }) => isBlocking);
        if (blocking.length > 0) {
          const details = blocking.map(({ detail }) => detail);
          const reasonIds = blocking.map(({ id }) => id);
          return problem(context, "not_ready", { reasons: details, reasonIds, detail: details.join(" ") });
        }
        const warnings = reasons.map(({ id, detail }) => ({ id, detail }));
        return success({ requestId: context.requestId, data: { status: "ready", warnings } });
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
    "The broker is connected, the streams have the right settings, the keys are fresh, and the views are there and not far behind. `without=views` leaves out the views: events are taken, and keys and holds changed, also while the views are away. It answers within a second; a log that has not answered by then is a reason. `warnings` names what does not keep this instance from serving, and needs attention all the same.",
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
    example: { data: { status: "ready", warnings: [] }, request_id: EXAMPLE_REQUEST_ID },
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
