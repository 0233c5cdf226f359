/** A log that lost its end is accepted by the admin, or not at all. */
import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import type { Actor } from "../../access/action.ts";
import { createRequestCheck } from "../../event/request/check.ts";
import { reasonText } from "../../event/request/text.ts";
import { RESTORE_REASON_CHARACTERS_MAX } from "../../limits.ts";
import { MANAGING } from "../http/access.ts";
import type { BodyReader } from "../http/body.ts";
import { actorOf, type Call } from "../http/call.ts";
import { type Guard, insufficientScope } from "../http/guard.ts";
import { readJson } from "../http/json-body.ts";
import { describe, EXAMPLE_REQUEST_ID, type Operation } from "../http/openapi.ts";
import { problem } from "../http/problem.ts";
import { dataOf } from "../http/schemas.ts";
import { success } from "../http/success.ts";
import { withoutQuery } from "../http/without-query.ts";

export interface GivenUpHead {
  readonly tenant: string;
  readonly size: number;
  readonly root: string;
  readonly restored_size: number;
}

export type AcceptedRestore =
  | {
      readonly kind: "accepted";
      readonly known_sequence: number;
      readonly restored_sequence: number;
      readonly heads_given_up: number;
      readonly heads: readonly GivenUpHead[];
    }
  | { readonly kind: "not_behind" }
  | { readonly kind: "view_behind" }
  | { readonly kind: "unavailable"; readonly detail: string };

export type AcceptRestore = (asked: {
  readonly by: Actor;
  readonly reason: string;
}) => Promise<AcceptedRestore>;

interface Dependencies {
  readonly acceptRestore: AcceptRestore;
  readonly bodies: BodyReader;
  readonly guard: Guard;
}

export const restoreRoutes = ({ guard, ...dependencies }: Dependencies) =>
  new Elysia({ prefix: "/v1" }).post(
    "/restore/accept",
    guard(
      MANAGING,
      withoutQuery((call) => postAccept(dependencies, call)),
      { whileBehind: true },
    ),
    { parse: "none", detail: describe(ACCEPT) },
  );

const RestoreRequest = Type.Object(
  {
    reason: reasonText({
      maxLength: RESTORE_REASON_CHARACTERS_MAX,
      description: "Why the log was restored. It is kept in the log.",
    }),
  },
  { additionalProperties: false, "x-expects": "an object with `reason`" },
);

const checkRequest = createRequestCheck(RestoreRequest);

const postAccept = async (
  { acceptRestore, bodies }: Omit<Dependencies, "guard">,
  call: Call,
): Promise<Response> => {
  const { context, principal } = call;
  const body = await readJson(bodies, call);
  if (body instanceof Response) return body;
  const checked = checkRequest(body.value);
  if (checked.kind === "invalid") return problem(context, "invalid_request", { errors: checked.problems });
  if (!principal.isAdmin) return insufficientScope(context, "keys:manage", ADMIN_ALONE);
  const answer = await acceptRestore({ by: actorOf(call), reason: checked.request.reason });
  switch (answer.kind) {
    case "accepted": {
      const { known_sequence, restored_sequence, heads_given_up, heads } = answer;
      const data = { known_sequence, restored_sequence, heads_given_up, heads };
      return success({ requestId: context.requestId, data });
    }
    case "not_behind":
      return problem(context, "log_not_behind");
    case "view_behind":
      return problem(context, "view_behind", { detail: VIEWS_FIRST });
    case "unavailable":
      return problem(context, "log_unavailable", { detail: `Nothing was accepted: ${answer.detail}.` });
  }
};

const ADMIN_ALONE = "Only the admin key may accept a restored log: the scope keys:manage is not enough.";

const VIEWS_FIRST =
  "What the log still holds is told from the view `tree`, which is not level with the log. If it is ahead, rebuild the views first; if it is behind, ask again in a moment.";

const SequenceKnown = Type.Integer({ description: "The last record that heads in HEADS_COPY covered." });

const ACCEPT: Operation = {
  id: "acceptRestore",
  tag: "Operation",
  summary: "Accept a log that lost its end",
  description:
    "After an older copy of the log was put back, nothing is signed and nothing is taken (503 `log_behind`). This accepts that the rest is lost: it is recorded as `system.restored`, the heads that are lost are kept in HEADS_COPY, and every later head of their logs says so in a line of its own. Only the admin key may do that, and it cannot be undone.",
  access: MANAGING,
  body: { schema: RestoreRequest, example: { reason: "Disk failure on 28 November, copy of the night." } },
  answer: {
    status: 200,
    description: "The log is taken as it is.",
    schema: dataOf(
      Type.Object({
        known_sequence: SequenceKnown,
        restored_sequence: Type.Integer({ description: "The last record of the log as it was restored." }),
        heads_given_up: Type.Integer({
          description: "Tenants whose last known head the log does not extend.",
        }),
        heads: Type.Array(
          Type.Object({
            tenant: Type.String(),
            size: Type.Integer({ description: "Records that the lost head covered." }),
            root: Type.String({ description: "Its root, in base64." }),
            restored_size: Type.Integer({ description: "Records that the log of the tenant has now." }),
          }),
          { description: "The first of them." },
        ),
      }),
    ),
    example: {
      data: {
        known_sequence: 812,
        restored_sequence: 640,
        heads_given_up: 1,
        heads: [
          {
            tenant: "acme",
            size: 512,
            root: "CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=",
            restored_size: 400,
          },
        ],
      },
      request_id: EXAMPLE_REQUEST_ID,
    },
  },
  problems: ["log_not_behind", "view_behind", "log_unavailable"],
};
