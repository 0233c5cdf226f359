/** Waiving an obligation, and taking that back. */
import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import type { ActionRecorder } from "../../access/action.ts";
import type { WaiverAction } from "../../access/administration/system-events.ts";
import { timeKey } from "../../event/formats.ts";
import { createRequestCheck } from "../../event/request/check.ts";
import { reasonText } from "../../event/request/text.ts";
import type { Rules } from "../../law/obligations/obligation.ts";
import { OBLIGATION_UNWAIVED, OBLIGATION_WAIVED } from "../../law/obligations/waivers.ts";
import { WAIVE_REASON_CHARACTERS_MAX } from "../../limits.ts";
import { obligationEntry } from "../../views/cases/registers/obligations.ts";
import { CASES_VIEW } from "../../views/cases/tables.ts";
import { caseNameOf, findObligation } from "../../views/cases/waivable.ts";
import type { Row } from "../../views/store/tables.ts";
import { WAIVING } from "../http/access.ts";
import type { BodyReader } from "../http/body.ts";
import { actorOf, type Call } from "../http/call.ts";
import { type Guard, invalidKey } from "../http/guard.ts";
import { readJson } from "../http/json-body.ts";
import { describe, EXAMPLE_REQUEST_ID, type Operation } from "../http/openapi.ts";
import { problem } from "../http/problem.ts";
import {
  haveSeenInTime,
  notFound,
  pathParameter,
  type ReadDependencies,
  sequenceWait,
} from "../http/reading.ts";
import { dataOf } from "../http/schemas.ts";
import { success } from "../http/success.ts";
import { withoutQuery } from "../http/without-query.ts";
import { obligationSchema } from "./obligations.ts";
import { OBLIGATION_EXAMPLE } from "./register-examples.ts";

interface Dependencies extends ReadDependencies {
  readonly rules: Rules;
  readonly bodies: BodyReader;
  readonly recorder: ActionRecorder<WaiverAction>;
}

export const waiverRoutes = ({ guard, ...dependencies }: Dependencies & { readonly guard: Guard }) => {
  const route = (type: WaiverAction["type"]) =>
    guard(
      WAIVING,
      withoutQuery((call) => sayOf(dependencies, type, call)),
    );
  return new Elysia({ prefix: "/v1" })
    .post("/obligations/:obligation_id/waive", route(OBLIGATION_WAIVED), {
      parse: "none",
      detail: describe(WAIVE),
    })
    .post("/obligations/:obligation_id/unwaive", route(OBLIGATION_UNWAIVED), {
      parse: "none",
      detail: describe(UNWAIVE),
    });
};

const WaiverRequest = Type.Object(
  {
    reason: reasonText({ maxLength: WAIVE_REASON_CHARACTERS_MAX, description: "For people: why." }),
  },
  { additionalProperties: false },
);

const checkRequest = createRequestCheck(WaiverRequest);

const sayOf = async (
  { views, rules, bodies, recorder, now }: Dependencies,
  type: WaiverAction["type"],
  call: Call,
): Promise<Response> => {
  const { context, principal, params } = call;
  const { tenant } = principal;
  const body = await readJson(bodies, call);
  if (body instanceof Response) return body;
  const checked = checkRequest(body.value);
  if (checked.kind === "invalid") return problem(context, "invalid_request", { errors: checked.problems });
  await call.madeViews.check([CASES_VIEW]);
  const obligationId = params.obligation_id ?? "";
  const found = await findObligation(views, tenant, obligationId);
  if (!found) return notFound(call, "obligation");
  const refusal = refusalOf(found, type);
  if (refusal !== undefined) return problem(context, "obligation_state_conflict", { detail: refusal });
  const caseName = await caseNameOf(views, tenant, found);
  if (caseName === undefined)
    return problem(context, "obligation_state_conflict", { detail: STARTED_BY_EXPIRED });
  if (!call.isStillAllowed()) return invalidKey(context);
  let sequence: number | undefined;
  const details = {
    obligation_id: obligationId,
    reason: checked.request.reason,
    case_name: caseName,
  };
  const recorded = await recorder.carryOut({
    by: actorOf(call),
    action: { type, tenant, details },
    // The event is the waiver: the view of cases takes it from the log.
    work: async (at) => {
      sequence = at;
      return { kind: "written" };
    },
  });
  if (recorded.kind !== "written") return problem(context, "log_unavailable", { detail: NOT_RECORDED });
  const isSeen = await haveSeenInTime(views, [CASES_VIEW], sequenceWait(sequence));
  const row = isSeen ? await findObligation(views, tenant, obligationId) : undefined;
  if (!row) return problem(context, "view_behind", { detail: RECORDED_AND_UNSEEN });
  // Of several that are said at once the first in the log stands.
  if (type === OBLIGATION_WAIVED && isWaivedBefore(row, sequence))
    return problem(context, "obligation_state_conflict", { detail: WAIVED_MEANWHILE });
  return success({
    requestId: context.requestId,
    data: obligationEntry(row, rules, timeKey(now().toISOString())),
  });
};

/** Why nothing is to be said of the obligation as it stands. */
const refusalOf = (row: Row, type: WaiverAction["type"]): string | undefined => {
  if (type === OBLIGATION_UNWAIVED)
    return row.waived_at === null ? "The obligation is not waived. Nothing was done." : undefined;
  if (row.status === "met" || row.status === "met_late")
    return "The obligation is met: there is nothing to waive. Nothing was done.";
  return row.waived_at === null ? undefined : "The obligation is waived already. Nothing was done.";
};

const isWaivedBefore = ({ waived_sequence: standing }: Row, sequence: number | undefined): boolean =>
  sequence !== undefined && typeof standing === "number" && standing < sequence;

const WAIVED_MEANWHILE =
  "Another waiver of the obligation came first, and stands. This one is in the log and has no effect.";
const STARTED_BY_EXPIRED =
  "The event that started the obligation has expired, and the obligation expires with its case. Nothing was done.";
const NOT_RECORDED = "The log did not take the record of it. Nothing was done. Ask again.";
const RECORDED_AND_UNSEEN =
  "It is in the log, and the view of cases has not caught up yet. Read the obligation in a moment.";

const OBLIGATION_ID = pathParameter("obligation_id", OBLIGATION_EXAMPLE.obligation_id);
const problems = ["not_found", "obligation_state_conflict", "log_unavailable", "view_behind"] as const;
const MET = { stopped_at: null, stopped_recorded_at: null, stopped_by: null, stopped_sequence: null };

const WAIVE: Operation = {
  id: "waiveObligation",
  tag: "Registers",
  summary: "Waive an obligation",
  description:
    "Says why an obligation that is not met will not be. Its state is then `waived`, with who said so, why and when; it stays in every list and in evidence, and coverage counts it apart. If events meet it after all, they count. The waiver stays with the objection, decision, incident or review also where an earlier event starts the obligation and so changes its id. Of several waivers at once the first in the log stands, and the others get 409. An event `system.obligation_waived` in the log of the system is the waiver, so a rebuilt view knows it.",
  access: WAIVING,
  parameters: [OBLIGATION_ID],
  body: { schema: WaiverRequest, example: { reason: "The tool was on trial, and the candidate was hired." } },
  answer: {
    status: 200,
    description: "The obligation, waived.",
    schema: dataOf(obligationSchema),
    example: {
      data: {
        ...OBLIGATION_EXAMPLE,
        ...MET,
        state: "waived",
        waived_at: "2027-01-04T09:00:00Z",
        waived_by: "admin",
        waived_reason: "The tool was on trial, and the candidate was hired.",
      },
      request_id: EXAMPLE_REQUEST_ID,
    },
  },
  problems,
};

const UNWAIVE: Operation = {
  id: "unwaiveObligation",
  tag: "Registers",
  summary: "Take back the waiver of an obligation",
  description:
    "The obligation is again in the state that its events give it. An event `system.obligation_unwaived` in the log of the system says who took the waiver back, and why.",
  access: WAIVING,
  parameters: [OBLIGATION_ID],
  body: { schema: WaiverRequest, example: { reason: "Waived by mistake." } },
  answer: {
    status: 200,
    description: "The obligation, no longer waived.",
    schema: dataOf(obligationSchema),
    example: { data: { ...OBLIGATION_EXAMPLE, ...MET, state: "open" }, request_id: EXAMPLE_REQUEST_ID },
  },
  problems,
};
