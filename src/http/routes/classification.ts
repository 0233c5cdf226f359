import { Elysia } from "elysia";
import { classify } from "../../classification/classify.ts";
import { ClassificationRequest } from "../../classification/request.ts";
import { createRequestCheck } from "../../request/check.ts";
import { ANYBODY } from "../access.ts";
import type { BodyReader } from "../body.ts";
import type { Call } from "../call.ts";
import type { Guard } from "../guard.ts";
import { readJson } from "../json-body.ts";
import { describe, EXAMPLE_REQUEST_ID, type Operation } from "../openapi.ts";
import { problem } from "../problem.ts";
import { ClassifiedWithKey } from "../schemas.ts";
import { success } from "../success.ts";
import { refusedQuery } from "../without-query.ts";

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
