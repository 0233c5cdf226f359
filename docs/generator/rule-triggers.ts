/** The events that start and meet each rule. src/law/obligations decides it; test/rule-triggers.test.ts plays the examples of this table there. */
import type { DeadlineId } from "../../src/law/obligations/deadline-table.ts";

/** One kind of event. */
export interface Trigger {
  /** `incident.*` stands for any event of an incident. */
  readonly type: string;
  /** What else it has to say, in words. Absent: nothing. */
  readonly where?: string;
  /** The same in an example, as `metadata`. */
  readonly says?: Readonly<Record<string, string>>;
  /** The type of an event that has to come before it. */
  readonly after?: string;
}

interface Triggers {
  readonly startedBy: readonly Trigger[];
  /** Any one of these. */
  readonly metBy: readonly Trigger[];
}

const RECEIVED = "objection.received";
const RESOLVED: Trigger = { type: "objection.resolved" };
const EXPLAINED: Trigger = { type: "decision.explanation_provided" };
const WITHDRAWN: Trigger = {
  ...RESOLVED,
  where: "`resolution` `withdrawn`",
  says: { resolution: "withdrawn" },
};
const DENIED = { resolution: "denied" };
const REASONED = { ...DENIED, reason: "because" };
const DENIED_WITH_REASON: Trigger = {
  ...RESOLVED,
  where: "`resolution` `denied` and a `reason`",
  says: REASONED,
};

const asking = (type: string): readonly Trigger[] => [
  { type: RECEIVED, where: `\`objection_type\` \`${type}\``, says: { objection_type: type } },
];
const detected = (incident_class: string, where: string): Triggers => ({
  startedBy: [{ type: "incident.detected", where, says: { incident_class } }],
  metBy: [{ type: "incident.reported_to_authority" }],
});

export const TRIGGERS: Readonly<Record<DeadlineId, Triggers>> = {
  "PIPA-EXPL": {
    startedBy: asking("explanation_request"),
    metBy: [EXPLAINED, DENIED_WITH_REASON, WITHDRAWN],
  },
  "PIPA-REFUSE": {
    startedBy: asking("automated_decision_refusal"),
    metBy: [
      {
        ...RESOLVED,
        where: "after `decision.human_review_completed` or `decision.decision_reversed`",
        says: { resolution: "upheld" },
        after: "decision.decision_reversed",
      },
      DENIED_WITH_REASON,
      WITHDRAWN,
    ],
  },
  "PIPA-REVIEW": {
    startedBy: [
      { type: RECEIVED, where: "any other `objection_type`, or none", says: { objection_type: "appeal" } },
    ],
    metBy: [RESOLVED],
  },
  "PIPA-DENY": {
    startedBy: [{ ...RESOLVED, where: "`resolution` `denied`", says: DENIED }],
    metBy: [
      { ...RESOLVED, where: "a `reason`, in the same event or a later one", says: REASONED },
      WITHDRAWN,
    ],
  },
  "CIA-EXPL": { startedBy: [{ type: RECEIVED }], metBy: [EXPLAINED, RESOLVED] },
  "GDPR-12-3": { startedBy: [{ type: RECEIVED }], metBy: [RESOLVED] },
  "CO-ADVERSE": {
    startedBy: [
      {
        type: "decision.automated_decision_made",
        where: "`outcome` `denied`, `rejected`, `adverse` or `declined`",
        says: { outcome: "denied" },
      },
    ],
    metBy: [EXPLAINED],
  },
  "LL144-NOTICE": {
    startedBy: [{ type: "transparency.notice_shown" }, { type: "disclosure_shown" }],
    metBy: [{ type: "decision.automated_decision_made", where: "not before `earliest_decision_at`" }],
  },
  "EU73-GEN": detected("property", "any other `incident_class`, or none"),
  "EU73-DEATH": detected("death", "`incident_class` `death`"),
  "EU73-CRIT": detected(
    "critical_infrastructure",
    "`incident_class` `critical_infrastructure` or `widespread_infringement`",
  ),
  "EU26-5": {
    startedBy: [{ type: "incident.detected", where: "`role` `deployer`", says: { role: "deployer" } }],
    metBy: [{ type: "incident.*", where: "`notified` `provider`", says: { notified: "provider" } }],
  },
  "HR-CLOSE": {
    startedBy: [{ type: "decision.human_review_triggered" }],
    metBy: [{ type: "decision.human_review_completed" }],
  },
  "OBJ-ACK": {
    startedBy: [{ type: RECEIVED }],
    metBy: [{ type: "objection.acknowledged" }, RESOLVED],
  },
};
