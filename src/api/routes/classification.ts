import { Elysia } from "elysia";
import { createRequestCheck } from "../../event/request/check.ts";
import { classify } from "../../law/classification/classify.ts";
import { ClassificationRequest } from "../../law/classification/request.ts";
import { ANYBODY } from "../http/access.ts";
import type { BodyReader } from "../http/body.ts";
import type { Call } from "../http/call.ts";
import type { Guard } from "../http/guard.ts";
import { readJson } from "../http/json-body.ts";
import { describe, EXAMPLE_REQUEST_ID, type Operation } from "../http/openapi.ts";
import { problem } from "../http/problem.ts";
import { ClassifiedWithKey } from "../http/schemas.ts";
import { success } from "../http/success.ts";
import { refusedQuery } from "../http/without-query.ts";

export const classificationRoutes = ({
  guard,
  bodies,
}: {
  readonly guard: Guard;
  readonly bodies: BodyReader;
}) =>
  new Elysia({ prefix: "/v1" }).post(
    "/classify",
    guard(ANYBODY, (call) => answerClassification(bodies, call), { whileBehind: true }),
    { parse: "none", detail: describe(CLASSIFY) },
  );

const checkRequest = createRequestCheck(ClassificationRequest);

/** The sandbox gives the same answer, with its watermark. */
export const answerClassification = async (
  bodies: BodyReader,
  call: Pick<Call, "request" | "context" | "isStillAllowed">,
): Promise<Response> => {
  const { context } = call;
  const refusal = refusedQuery(call);
  if (refusal) return refusal;
  const read = await readJson(bodies, call);
  if (read instanceof Response) return read;
  const checked = checkRequest(read.value);
  if (checked.kind === "invalid") return problem(context, "invalid_request", { errors: checked.problems });
  return success({ requestId: context.requestId, data: classify(checked.request) });
};

export const CLASSIFICATION_DESCRIPTION =
  "From a description of the system to its tier, the laws behind it and what they require. It uses rules, not a model; it is a heuristic and not legal advice. Unknown values are treated with caution and named under `warnings`.";

const EXAMPLE: ClassificationRequest = {
  ai_type: "llm",
  domain: "finance_credit_evaluation",
  decision_autonomy: "full_auto",
  user_impact: "high",
  processes_personal_data: true,
};

const CLASSIFY: Operation = {
  id: "classifySystem",
  tag: "Classification",
  summary: "Which risk tier does a system have?",
  description: CLASSIFICATION_DESCRIPTION,
  access: ANYBODY,
  body: { schema: ClassificationRequest, example: EXAMPLE },
  answer: {
    status: 200,
    description: "The classification.",
    schema: ClassifiedWithKey,
    example: { data: classify(EXAMPLE), request_id: EXAMPLE_REQUEST_ID },
  },
  problems: [],
};
