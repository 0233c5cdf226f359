/** Obligations: when they fall due, and waiving one. */

import { Type } from "@sinclair/typebox";
import type { WaiverAction } from "../../access/administration/system-events.ts";
import { timeKey, WHOLE_SECONDS } from "../../event/formats.ts";
import { reasonText } from "../../event/request/reason.ts";
import { DEADLINES, deadlineOf } from "../../law/obligations/deadline-table.ts";
import {
  OBLIGATION_STATES,
  OBLIGATION_UNWAIVED,
  OBLIGATION_WAIVED,
  type ObligationState,
  type ObligationStatus,
  soonAfter,
} from "../../law/obligations/obligation.ts";
import { WAIVE_REASON_CHARACTERS_MAX } from "../../limits.ts";
import { caseNameOf, findObligation } from "../../views/cases/queries.ts";
import { obligationEntry, obligationList } from "../../views/cases/registers/obligations.ts";
import { CASES_VIEW } from "../../views/cases/tables.ts";
import { EVENTS_VIEW } from "../../views/events/tables.ts";
import { entryMembers, YES_OR_NO } from "../../views/kit/list.ts";
import type { Condition } from "../../views/store/conditions.ts";
import { REGISTER, WAIVING } from "../http/access.ts";
import { type Answer, give, notFound, refuse } from "../http/answers.ts";
import { actorOf, type Call } from "../http/call.ts";
import type { Dependencies } from "../http/dependencies.ts";
import { timedFilter } from "../http/list-filter.ts";
import { listRoute, tableSource } from "../http/lists.ts";
import { allOf, choiceOrNone, combinations, oneOf, several } from "../http/parameters.ts";
import { bodyOf, type Route } from "../http/route.ts";
import { nullable, str, wordsOf } from "../http/schemas.ts";
import { haveSeenInTime, sequenceWait } from "../http/wait-for-view.ts";

export const obligationRoutes = (dependencies: Dependencies): readonly Route[] => [
  listRoute(dependencies, obligationSource(dependencies), {
    on: "GET /v1/obligations",
    access: REGISTER,
    id: "listObligations",
    tag: "Registers",
    summary: "Obligations and when they fall due",
    description:
      "In order of due time. Computed from the events by their own times. Each names the events that started and met it, and when the log received them. Not legal advice: check `clause`.",
  }),
  ...WAIVERS.map(({ type, reason, ...described }) =>
    dependencies.route({
      ...described,
      tag: "Registers",
      access: WAIVING,
      body: bodyOf(WaiverRequest, { reason }),
      gives: obligationSchema,
      problems: ["obligation_state_conflict", "view_behind"],
      answer: (call) => answerWaiver(dependencies, type, call),
    }),
  ),
];

const WAIVERS = [
  {
    on: "POST /v1/obligations/:obligation_id/waive",
    type: OBLIGATION_WAIVED,
    reason: "The tool was on trial, and the candidate was hired.",
    id: "waiveObligation",
    summary: "Waive an obligation",
    description:
      "Records why an unmet obligation will not be met. Its state becomes `waived`, with who waived it, why and when; it stays in every list and in evidence, and coverage counts it separately. If events meet it after all, they count. The waiver stays with the objection, decision, incident or review even if an earlier event starts the obligation and changes its id. Of concurrent waivers the first in the log stands; the others get 409. The waiver is the event `system.obligation_waived` in the system log, so a rebuild keeps it.",
  },
  {
    on: "POST /v1/obligations/:obligation_id/unwaive",
    type: OBLIGATION_UNWAIVED,
    reason: "Waived by mistake.",
    id: "unwaiveObligation",
    summary: "Withdraw an obligation's waiver",
    description:
      "The obligation returns to the state that its events give it. The event `system.obligation_unwaived` in the system log says who withdrew the waiver, and why.",
  },
] as const;

export const obligationSource = ({ rules, ...dependencies }: Pick<Dependencies, "views" | "now" | "rules">) =>
  tableSource(dependencies, {
    name: "obligations",
    list: obligationList,
    members: obligationSchema.properties,
    // In whole seconds: an obligation is in time until the end of its last second.
    entry: (row, at) => obligationEntry(row, rules, at.slice(0, WHOLE_SECONDS)),
    filter,
  });

const { documented, read } = allOf({
  states: several("state", "At the time of the question.", oneOf(OBLIGATION_STATES)),
  late: choiceOrNone("recorded_late", "Only those recorded late, or only the others.", YES_OR_NO),
  others: timedFilter(obligationList),
});

const filter: NonNullable<Parameters<typeof tableSource>[1]["filter"]> = {
  documented,
  read: (query, now) => {
    const { states, late, others } = read(query);
    const at = now.slice(0, WHOLE_SECONDS);
    const alternatives = states?.filter(isState).flatMap((state) => conditionsOf(state, at)) ?? [[]];
    const isLate: Condition = { kind: "equals", column: "recorded_late", value: late === "true" ? 1 : 0 };
    return {
      ...others,
      range: late === undefined ? others.range : [...others.range, isLate],
      anyOf: combinations(query, [
        { name: "state", values: alternatives },
        { name: "rule", values: others.anyOf.flatMap(withLaw) },
      ]).map((conditions) => conditions.flat()),
      asked: [...others.asked, ["state", states ?? []]],
    };
  },
};

const isState = (name: string): name is ObligationState => OBLIGATION_STATES.some((state) => state === name);

/** Adds the law of the requested rule, because the index begins with the law. If another law was requested, nothing can match. */
const withLaw = (conditions: readonly Condition[]): readonly (readonly Condition[])[] => {
  const asked = new Map(
    conditions.map((each) => (each.kind === "equals" ? [each.column, each.value] : ["", ""])),
  );
  const law = deadlineOf(DEADLINES, String(asked.get("rule") ?? ""))?.law;
  if (law === undefined || asked.get("law") === law) return [conditions];
  return asked.has("law") ? [] : [[...conditions, { kind: "equals", column: "law", value: law }]];
};

/** The alternatives for this state at a time. The state itself is not stored, because it changes without an event. */
const conditionsOf = (state: ObligationState, now: string): readonly (readonly Condition[])[] => {
  const due = (from: string | undefined, to: string | undefined): Condition => ({
    kind: "range",
    column: "due_at",
    from,
    to,
  });
  const status = (value: ObligationStatus): Condition => ({ kind: "equals", column: "status", value });
  const open = status("open");
  const soon = soonAfter(now);
  switch (state) {
    case "breached":
    case "met":
    case "met_late":
    case "waived":
      return [[status(state)]];
    case "overdue":
      return [[open, due(undefined, now)]];
    case "due_soon":
      return [[open, due(now, soon)]];
    case "extended":
      return [[open, due(soon, undefined), { kind: "range", column: "extensions", from: 1 }]];
    case "open":
      return [
        [open, due(soon, undefined), { kind: "equals", column: "extensions", value: 0 }],
        [status("waiting")],
      ];
  }
};

export const obligationSchema = Type.Object({
  ...entryMembers(obligationList),
  duty: nullable(str("What must be done.")),
  clause: nullable(str("Where the law says so.")),
  ruleset_version: str(
    "The rules that computed it: the date of the rule table; after a plus, what identifies an operator's own rules (OBLIGATION_RULES_FILE, LATE_RECORD_GRACE).",
  ),
  state: wordsOf(OBLIGATION_STATES, {
    description:
      "At the time of the answer. `open`: not met, and due in more than a week, or not before a decision is made. `extended`: the same, with an extended deadline. `due_soon`: not met, and due within a week. `overdue`: not met, and `due_at` has passed; it can still be met, late. `breached`: it can no longer be met, because what had to precede the decision did not happen. `met`, `met_late`: met in time, or late. `waived`: not met, and someone recorded why it will not be; `waived_by`, `waived_reason` and `waived_at` say who, why and when.",
  }),
});

const WaiverRequest = Type.Object(
  { reason: reasonText({ maxLength: WAIVE_REASON_CHARACTERS_MAX, description: "For people: why." }) },
  { additionalProperties: false },
);

const answerWaiver = async (
  { views, rules, recorder, now }: Dependencies,
  type: WaiverAction["type"],
  call: Call & { readonly body: { readonly reason: string } },
): Promise<Answer> => {
  const conflict = (detail: string): Answer => refuse("obligation_state_conflict", detail);
  const { tenant } = call.principal;
  await call.viewReadiness.check([CASES_VIEW, EVENTS_VIEW]);
  const id = call.params.obligation_id ?? "";
  const found = await findObligation(views, tenant, id);
  if (!found) return notFound("obligation");
  const isWaiving = type === OBLIGATION_WAIVED;
  if (isWaiving && (found.status === "met" || found.status === "met_late")) return conflict(MET);
  if (isWaiving !== (found.waived_at === null)) return conflict(isWaiving ? WAIVED : NOT_WAIVED);
  const caseName = await caseNameOf(views, tenant, found);
  if (caseName === undefined) return conflict(STARTED_BY_EXPIRED);
  const details = { obligation_id: id, reason: call.body.reason, case_name: caseName };
  let sequence: number | undefined;
  const recorded = await recorder.carryOut({
    by: actorOf(call),
    action: { type, tenant, details },
    // The event is the waiver: the view of cases takes it from the log.
    work: async (at) => {
      sequence = at;
      return { kind: "written" };
    },
  });
  if (recorded.kind !== "written") return refuse("log_unavailable", NOT_RECORDED);
  const isSeen = await haveSeenInTime(views, [CASES_VIEW], sequenceWait(sequence));
  const row = isSeen ? await findObligation(views, tenant, id) : undefined;
  if (!row) return refuse("view_behind", RECORDED_AND_UNSEEN);
  // Of several at once, the first in the log stands.
  const standing = Number(row.waived_sequence ?? Number.POSITIVE_INFINITY);
  if (isWaiving && sequence !== undefined && standing < sequence) return conflict(WAIVED_MEANWHILE);
  return give(obligationEntry(row, rules, timeKey(now().toISOString())));
};

const MET = "The obligation is met: there is nothing to waive. Nothing was done.";
const WAIVED = "The obligation is already waived. Nothing was done.";
const NOT_WAIVED = "The obligation is not waived. Nothing was done.";
const WAIVED_MEANWHILE =
  "Another waiver of the obligation came first, and stands. This one is in the log and has no effect.";
const STARTED_BY_EXPIRED =
  "The event that started the obligation has expired, and the obligation expires with its case. Nothing was done.";
const NOT_RECORDED = "The log did not accept its record. Nothing was done. Retry.";
const RECORDED_AND_UNSEEN =
  "It is in the log, but the view of cases has not caught up. Read the obligation in a moment.";
