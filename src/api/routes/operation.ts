/** For the people and machines that run Prooftrail. */
import { Type } from "@sinclair/typebox";
import { reasonText } from "../../event/request/reason.ts";
import { RESTORE_REASON_CHARACTERS_MAX } from "../../limits.ts";
import { MANAGING } from "../http/access.ts";
import { give, refuse, send } from "../http/answers.ts";
import { actorOf } from "../http/call.ts";
import type { Dependencies, HttpDependencies } from "../http/dependencies.ts";
import { insufficientScope } from "../http/guard.ts";
import { choiceOrNone } from "../http/parameters.ts";
import { bodyOf, createOpenRoute, type Route } from "../http/route.ts";
import { int, str } from "../http/schemas.ts";

export const operationRoutes = ({
  readiness,
  metrics: { registry },
}: Pick<HttpDependencies, "readiness" | "metrics">): readonly Route[] => {
  const route = createOpenRoute();
  const OPERATION = { tag: "Operation" } as const;
  return [
    route({
      ...OPERATION,
      on: "GET /health/live",
      takesAnyQuery: true,
      id: "checkLive",
      summary: "Is the process up?",
      description: "Answers as long as the process can answer at all.",
      gives: Type.Object({ status: Type.Literal("live") }),
      answer: () => give({ status: "live" }),
    }),
    route({
      ...OPERATION,
      on: "GET /health/ready",
      id: "checkReady",
      summary: "Can it serve?",
      description:
        "The broker is connected, the streams have the right settings, the keys are fresh, and the views are available and not far behind. `without=views` skips the views: events are accepted, and keys and holds changed, even while the views are down. It answers within a second; a log that has not answered by then is a reason. `warnings` lists what needs attention but does not stop this instance from serving.",
      query: {
        without: choiceOrNone("without", "Skips whether the views are available and up to date.", ["views"]),
      },
      gives: Type.Object({
        status: Type.Literal("ready"),
        warnings: Type.Array(Type.Object({ id: Type.String(), detail: Type.String() })),
      }),
      problems: ["invalid_request", "not_ready"],
      answer: async ({ asked: { without } }) => {
        const reasons = await (without === undefined ? readiness.reasons() : readiness.reasonsWithoutViews());
        const blocking = reasons.filter(({ isBlocking }) => isBlocking);
        if (blocking.length === 0)
          return give({ status: "ready", warnings: reasons.map(({ id, detail }) => ({ id, detail })) });
        const details = blocking.map(({ detail }) => detail);
        const reasonIds = blocking.map(({ id }) => id);
        return refuse("not_ready", { reasons: details, reasonIds, detail: details.join(" ") });
      },
    }),
    route({
      ...OPERATION,
      on: "GET /metrics",
      takesAnyQuery: true,
      id: "readMetrics",
      summary: "Metrics",
      description:
        "In the Prometheus text format. Shows tenants with their event counts: keep it inside your network.",
      gives: Type.String(),
      example: 'prooftrail_append_outcomes_total{outcome="appended"} 1',
      mediaType: "text/plain",
      answer: async () => send(registry.contentType, await registry.metrics()),
    }),
  ];
};

const RestoreRequest = Type.Object(
  {
    reason: reasonText({
      maxLength: RESTORE_REASON_CHARACTERS_MAX,
      description: "Why the log was restored. Kept in the log.",
    }),
  },
  { additionalProperties: false, "x-expects": "an object with `reason`" },
);

export const restoreRoutes = ({ route, acceptRestore }: Dependencies): readonly Route[] => [
  route({
    on: "POST /v1/restore/accept",
    access: MANAGING,
    whileBehind: true,
    id: "acceptRestore",
    tag: "Operation",
    summary: "Accept a log that lost its end",
    description:
      "After an older copy of the log was restored, nothing is signed or accepted (503 `log_behind`). This accepts the loss of the rest: it is recorded as `system.restored`, the lost heads are kept in HEADS_COPY, and every later head of their logs states it in a line of its own. Only the admin key may do this, and it cannot be undone.",
    body: bodyOf(RestoreRequest, { reason: "Disk failure on 28 November, copy of the night." }),
    gives: Type.Object({
      known_sequence: int("The last record that heads in HEADS_COPY covered."),
      restored_sequence: int("The last record of the log as it was restored."),
      heads_given_up: int("Tenants whose last known head the log does not extend."),
      heads: Type.Array(
        Type.Object({
          tenant: Type.String(),
          size: int("Records that the lost head covered."),
          root: str("Its root, in base64."),
          restored_size: int("Records that the log of the tenant has now."),
        }),
        { description: "The first of them." },
      ),
    }),
    problems: ["log_not_behind", "view_behind", "log_unavailable"],
    answer: async (call) => {
      if (!call.principal.isAdmin) return insufficientScope("keys:manage", ADMIN_ALONE);
      const accepted = await acceptRestore({ by: actorOf(call), reason: call.body.reason });
      switch (accepted.kind) {
        case "accepted": {
          const { kind: _, ...data } = accepted;
          return give(data);
        }
        case "not_behind":
          return refuse("log_not_behind");
        case "view_behind":
          return refuse("view_behind", VIEWS_FIRST);
        case "unavailable":
          return refuse("log_unavailable", `Nothing was accepted: ${accepted.detail}.`);
      }
    },
  }),
];

const ADMIN_ALONE = "Only the admin key may accept a restored log: the scope keys:manage is not enough.";

const VIEWS_FIRST =
  "What the log still holds is read from the view `tree`, which is not level with the log. If it is ahead, rebuild the views first; if behind, retry in a moment.";
