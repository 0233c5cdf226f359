/** Lists that show a table directly: the registers, and other lists of rows. */
import { Elysia } from "elysia";
import { assessmentList, riskChangeList } from "../../views/assessments/queries.ts";
import { decisionList } from "../../views/cases/registers/decisions.ts";
import { humanReviewList } from "../../views/cases/registers/human-reviews.ts";
import { incidentList } from "../../views/cases/registers/incidents.ts";
import { noticeList } from "../../views/cases/registers/notices.ts";
import { objectionList } from "../../views/cases/registers/objections.ts";
import { entryMembers, entryOf, entrySchema, type List } from "../../views/kit/list.ts";
import { modelList } from "../../views/models/queries.ts";
import { sourceGapList, sourceList } from "../../views/sources/queries.ts";
import { type Access, REGISTER, SOURCES } from "../http/access.ts";
import { fileForms } from "../http/entry-file.ts";
import type { Guard } from "../http/guard.ts";
import { LIST_PARAMETERS, LIST_PROBLEMS, type ListDependencies, listAnswer } from "../http/list-answer.ts";
import { timedFilterParameters } from "../http/list-filter.ts";
import { describe, EXAMPLE_REQUEST_ID, type Operation } from "../http/openapi.ts";
import { movesWithEvents } from "../http/reading.ts";
import { listOf } from "../http/schemas.ts";
import { tableSource } from "../http/table-source.ts";
import {
  ASSESSMENT_EXAMPLE,
  DECISION_EXAMPLE,
  HUMAN_REVIEW_EXAMPLE,
  INCIDENT_EXAMPLE,
  MODEL_EXAMPLE,
  NOTICE_EXAMPLE,
  OBJECTION_EXAMPLE,
  RISK_CHANGE_EXAMPLE,
  SOURCE_EXAMPLE,
  SOURCE_GAP_EXAMPLE,
} from "./register-examples.ts";

interface ListRoute {
  readonly path: string;
  readonly id: string;
  readonly list: List;
  /** One row. */
  readonly example: object;
  readonly summary: string;
  readonly description: string;
}

/** Exported so that a test can check examples and answers against the schemas. */
export const LISTS: readonly ListRoute[] = [
  {
    path: "/decisions",
    id: "listDecisions",
    list: decisionList,
    example: DECISION_EXAMPLE,
    summary: "The register of decisions",
    description:
      "Each automated decision with its notice, explanation, review, reversal and objections, and what the log does not hold. A decision that other events name, and that nobody sent, has no `made_at`.",
  },
  {
    path: "/registers/transparency",
    id: "listNotices",
    list: noticeList,
    example: NOTICE_EXAMPLE,
    summary: "The transparency register",
    description:
      "Each notice that was shown: where, in which language, by which version of the policy, and whether it was dismissed or acknowledged. What dismisses or acknowledges belongs to the only notice that names its decision, else to the only one under its correlation; where there are none or several, it is an `orphan`.",
  },
  {
    path: "/registers/objections",
    id: "listObjections",
    list: objectionList,
    example: OBJECTION_EXAMPLE,
    summary: "The register of objections",
    description:
      "Received, acknowledged, escalated, resolved, when the answer is due, how often and why that was extended, and whether it is late. An objection that events name, but that was never received, is an `orphan`.",
  },
  {
    path: "/registers/human-reviews",
    id: "listHumanReviews",
    list: humanReviewList,
    example: HUMAN_REVIEW_EXAMPLE,
    summary: "The register of human oversight",
    description:
      "Who looked at which decision, how long it took, and whether the outcome was changed. A review without an event that triggered it is an `orphan`.",
  },
  {
    path: "/registers/incidents",
    id: "listIncidents",
    list: incidentList,
    example: INCIDENT_EXAMPLE,
    summary: "The register of incidents",
    description:
      "From detection over the initial and the complete report to mitigation. `complete_report_at` is null as long as only an initial report is in the log.",
  },
  {
    path: "/registers/assessments",
    id: "listAssessments",
    list: assessmentList,
    example: ASSESSMENT_EXAMPLE,
    summary: "The register of impact assessments",
    description: "Impact assessments and bias audits, which items they cover, and until when they are valid.",
  },
  {
    path: "/registers/risk-changes",
    id: "listRiskChanges",
    list: riskChangeList,
    example: RISK_CHANGE_EXAMPLE,
    summary: "The history of risk classifications",
    description:
      "Every change of the risk tier of an asset: when, why, by whom, by which rules, from which input, under which articles.",
  },
  {
    path: "/registers/models",
    id: "listModels",
    list: modelList,
    example: MODEL_EXAMPLE,
    summary: "The register of models",
    description:
      "The models behind each asset, each version of each: deployed, degraded, retired. What names no model is about the only one of its version, and stands by itself where there are several. What names no version stands by itself as well: the version that it is about may still stand here as deployed.",
  },
  {
    path: "/sources",
    id: "listSources",
    list: sourceList,
    example: SOURCE_EXAMPLE,
    summary: "Senders that number their events",
    description: `A sender that puts \`source_id\` and a \`source_sequence\` from 1 into \`metadata\` shows which events are missing: \`missing\` counts them. With \`last_source_sequence\`, the highest number it has given out, its \`sdk.heartbeat\` shows it of the last ones too. The one with the newest event stands first. ${movesWithEvents("A sender")}`,
  },
  {
    path: "/sources/gaps",
    id: "listSourceGaps",
    list: sourceGapList,
    example: SOURCE_GAP_EXAMPLE,
    summary: "Numbers that are missing",
    description: "Each gap is listed until the events with its numbers arrive.",
  },
];

export const registerRoutes = ({ guard, ...dependencies }: ListDependencies & { readonly guard: Guard }) => {
  const app = new Elysia({ prefix: "/v1" });
  for (const route of LISTS) {
    const { list } = route;
    const source = tableSource(dependencies, {
      name: route.path.split("/").at(-1) ?? "",
      list,
      columns: Object.keys(entryMembers(list)),
      entry: (row, at) => entryOf(list, row, at),
    });
    app.get(route.path, guard(accessTo(route), listAnswer(dependencies, source)), {
      detail: describe(operation(route)),
    });
  }
  return app;
};

/** Senders are no part of a register: they send for any system. */
const accessTo = ({ path }: ListRoute): Access => (path.startsWith("/sources") ? SOURCES : REGISTER);

const operation = (route: ListRoute): Operation => {
  const { id, list, example, summary, description } = route;
  return {
    id,
    tag: "Registers",
    summary,
    description,
    access: accessTo(route),
    parameters: [...timedFilterParameters(list), ...LIST_PARAMETERS],
    answer: {
      status: 200,
      description: "One page.",
      schema: listOf(entrySchema(list)),
      example: { data: [example], next_cursor: null, request_id: EXAMPLE_REQUEST_ID },
      others: fileForms(Object.keys(entryMembers(list)), { ...example }),
    },
    problems: LIST_PROBLEMS,
  };
};
