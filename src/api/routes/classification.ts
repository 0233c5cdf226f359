import { classify } from "../../law/classification/classify.ts";
import { Classification, ClassificationRequest } from "../../law/classification/request.ts";
import { ANYBODY } from "../http/access.ts";
import { type Answer, give } from "../http/answers.ts";
import { bodyOf, type KeyedRoute, type Route } from "../http/route.ts";

const EXAMPLE: ClassificationRequest = {
  ai_type: "llm",
  domain: "finance_credit_evaluation",
  decision_autonomy: "full_auto",
  user_impact: "high",
  processes_personal_data: true,
};

/** The sandbox gives the same answer, with its watermark. */
export const CLASSIFYING = {
  summary: "Which risk tier does a system have?",
  description:
    "From a description of the system to its tier, the laws behind it and what they require. It uses rules, not a model; it is a heuristic and not legal advice. Unknown values are treated with caution and named under `warnings`.",
  body: bodyOf(ClassificationRequest, EXAMPLE),
  gives: Classification,
  example: classify(EXAMPLE),

  answer: ({ body }: { readonly body: ClassificationRequest }): Answer => give(classify(body)),
};

export const classificationRoutes = ({ route }: { readonly route: KeyedRoute }): readonly Route[] => [
  route({
    ...CLASSIFYING,
    on: "POST /v1/classify",
    access: ANYBODY,
    whileBehind: true,
    id: "classifySystem",
    tag: "Classification",
  }),
];
