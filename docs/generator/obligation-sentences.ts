/** What starts and what meets each rule, in words (src/obligations/clocks.ts decides it). */
import type { DeadlineId } from "../../src/obligations/deadlines.ts";

interface RuleEvents {
  readonly startedBy: string;
  readonly metBy: string;
}

const objection = (type: string): string => `\`objection.received\` with \`objection_type\` \`${type}\``;

export const RULE_EVENTS: Readonly<Record<DeadlineId, RuleEvents>> = {
  "PIPA-EXPL": {
    startedBy: objection("explanation_request"),
    metBy:
      "`decision.explanation_provided`, or `objection.resolved` with the resolution `denied` and a `reason`",
  },
  "PIPA-REFUSE": {
    startedBy: objection("automated_decision_refusal"),
    metBy:
      "`decision.decision_reversed` or `decision.human_review_completed`, and then `objection.resolved`; or a denial with its `reason`",
  },
  "PIPA-REVIEW": {
    startedBy: "`objection.received` with `objection_type` `appeal`, or without a type",
    metBy: "`objection.resolved`",
  },
  "PIPA-DENY": {
    startedBy: "`objection.resolved` with the resolution `denied`",
    metBy: "a `reason` in the same event or in a later one of the objection",
  },
  "CIA-EXPL": {
    startedBy: "`objection.received`",
    metBy: "`decision.explanation_provided` or `objection.resolved`",
  },
  "GDPR-12-3": { startedBy: "`objection.received`", metBy: "`objection.resolved`" },
  "CO-ADVERSE": {
    startedBy:
      "`decision.automated_decision_made` with the outcome `denied`, `rejected`, `declined` or `adverse`",
    metBy: "`decision.explanation_provided`",
  },
  "LL144-NOTICE": {
    startedBy: "`transparency.notice_shown`",
    metBy:
      "`decision.automated_decision_made` not earlier than 10 business days after the notice. A decision that comes earlier, or without a notice, leaves it `breached`",
  },
  "EU73-GEN": {
    startedBy: "`incident.detected` of any other class; the limit counts from `aware_at` if that is given",
    metBy: "`incident.reported_to_authority`, also with `report_type` `initial`",
  },
  "EU73-DEATH": {
    startedBy: "`incident.detected` with `incident_class` `death`",
    metBy: "`incident.reported_to_authority`, also with `report_type` `initial`",
  },
  "EU73-CRIT": {
    startedBy:
      "`incident.detected` with `incident_class` `critical_infrastructure` or `widespread_infringement`",
    metBy: "`incident.reported_to_authority`, also with `report_type` `initial`",
  },
  "EU26-5": {
    startedBy: "`incident.detected` with `role` `deployer`",
    metBy: "any event of the incident with `notified` `provider`",
  },
  "HR-CLOSE": {
    startedBy: "`decision.human_review_triggered`",
    metBy: "`decision.human_review_completed`",
  },
  "OBJ-ACK": {
    startedBy: "`objection.received`",
    metBy: "`objection.acknowledged` or `objection.resolved`",
  },
};

export const STATE_MEANINGS: Readonly<Record<string, string>> = {
  open: "not met, due in more than a week",
  extended: "the same, after the limit was extended",
  due_soon: "not met, due within a week",
  overdue: "not met, `due_at` has passed; it can still be met, late",
  breached: "it can never be met any more: a notice that had to come before the decision",
  met: "met in time",
  met_late: "met after `due_at`",
  waived: "an operator waived it: `waived_by`, `waived_at` and the reason are shown",
};
