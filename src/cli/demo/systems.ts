/** What happens to the systems themselves: registered, deployed, assessed, reclassified, in trouble; and the senders that count their events. */
import { AML, CREDIT_EU, CREDIT_KR, FRAUD, HIRING, SYSTEMS, type System } from "./bank.ts";
import { DAY_MS, HISTORY_DAYS, type Journal, type Members, type Metadata, MINUTE_MS } from "./journal.ts";

type Fact = readonly [days: number, system: System, type: string, members: Members];

export const tellSystems = (journal: Journal): void => {
  const facts = [...registrations(), ...CHANGES, ...ASSESSMENTS, ...RECLASSIFICATIONS, ...INCIDENTS];
  for (const [days, system, type, members] of facts)
    journal.say(type, system, journal.daysAgo(days), members);
  beat(journal);
};

const fact = (days: number, system: System, type: string, metadata: Metadata): Fact => [
  days,
  system,
  type,
  { metadata },
];

const registrations = (): readonly Fact[] =>
  SYSTEMS.flatMap((system, index): readonly Fact[] => {
    const { name, owner, domain, version, riskTier, legalBases, autonomy, model, oversight } = system;
    const days = HISTORY_DAYS - 0.3 - index / 100;
    const known = { name, owner, domain, role: "deployer", decision_autonomy: autonomy };
    const members = { asset_version: version, risk_tier: riskTier, legal_bases: [...legalBases] };
    const metadata = { ...known, processes_personal_data: true };
    const updated = fact(days - 1, system, "asset.updated", { oversight_person: oversight, owner });
    return [
      [days, system, "asset.created", { ...members, metadata }],
      ...(oversight === "" ? [] : [updated]),
      deployment(days - 0.001, system, model, version),
    ];
  });

const deployment = (days: number, system: System, model: string, version: string): Fact => [
  days,
  system,
  "model.model_deployed",
  { asset_version: version, metadata: { model, model_version: version } },
];

const OLD_FRAUD = { model: FRAUD.model, model_version: FRAUD.version };
const CHANGES: readonly Fact[] = [
  fact(75, CREDIT_EU, "transparency.policy_disclosed", { policy_version: "2026-06" }),
  fact(48, FRAUD, "model.performance_degraded", { ...OLD_FRAUD, reason: "Recall fell from 0.94 to 0.81" }),
  deployment(44, FRAUD, FRAUD.model, "11.1.0"),
  fact(43, FRAUD, "model.model_retired", OLD_FRAUD),
  deployment(33, CREDIT_KR, "income-estimator", "0.8.0"),
  deployment(21, CREDIT_EU, CREDIT_EU.model, "4.3.0"),
];

const assessment = (system: System, type: string, checklist: Metadata, ...days: readonly number[]) =>
  days.map((each, index) => {
    const step = ["started", "updated", "completed"][index] ?? "";
    const checked = index === 0 ? {} : { checklist };
    const metadata = { assessment_id: `${type}-${system.id}`, assessment_type: type, ...checked };
    return fact(each, system, `assessment.impact_assessment_${step}`, metadata);
  });

const WHOLE = { scope: true, measures: true, residual_risk: true };

const ASSESSMENTS: readonly Fact[] = [
  ...assessment(CREDIT_EU, "fria", WHOLE, 80, 75, 62),
  ...assessment(CREDIT_KR, "impact_assessment", WHOLE, 71, 66, 55),
  ...assessment(FRAUD, "dpia", WHOLE, 38, 33, 20),
  // Not completed yet.
  ...assessment(AML, "dpia", { scope: true, measures: "drafted" }, 24, 19),
  ...assessment(HIRING, "bias_audit", WHOLE, 130, 120, 110),
];

const reclassified = (days: number, system: System, from: string, to: string, reason: string): Fact =>
  fact(days, system, "assessment.risk_classification_changed", {
    from,
    to,
    reason,
    actor: "Model Risk Committee",
  });

const RECLASSIFICATIONS: readonly Fact[] = [
  reclassified(68, AML, "limited", "high", "Its flags now freeze accounts"),
  reclassified(58, FRAUD, "high", "limited", "Blocked payments are released by a person within an hour"),
  reclassified(52, CREDIT_KR, "limited", "high", "No person takes part in the final decision any more"),
];

/** `steps`: when it was detected, mitigated and reported. */
const incident = (
  incident_id: string,
  system: System,
  severity: string,
  steps: readonly (readonly [days: number, step: string, more?: Metadata])[],
): readonly Fact[] =>
  steps.map(([days, step, more]) => [
    days,
    system,
    `incident.${step}`,
    { legal_bases: ["eu_ai_act_art_73"], metadata: { incident_id, severity, ...more } },
  ]);

const INITIAL = { authority: "Finanstilsynet", report_type: "initial" };
const COMPLETE = { authority: "Finanstilsynet", report_type: "complete" };
const MITIGATED = { root_cause: "A faulty import of reference data" };

const INCIDENTS: readonly Fact[] = [
  ...incident("inc-wrong-limits", CREDIT_EU, "high", [
    [72, "detected", { affected_count: 504 }],
    [70, "mitigated", MITIGATED],
    [60, "reported_to_authority", INITIAL],
    [47, "reported_to_authority", COMPLETE],
  ]),
  // Two days: the report came on the fourth.
  ...incident("inc-bulk-denials", CREDIT_KR, "critical", [
    [41, "detected", { incident_class: "widespread_infringement", affected_count: 287 }],
    [40, "mitigated", MITIGATED],
    [37, "reported_to_authority", COMPLETE],
  ]),
  // Fifteen days: four are left.
  ...incident("inc-blocked-salaries", FRAUD, "high", [
    [11, "detected", { affected_count: 77 }],
    [9, "mitigated", MITIGATED],
  ]),
  ...incident("inc-leaked-context", AML, "medium", [[2, "detected", { affected_count: 14 }]]),
];

/** At the end of each day, so that the last day is never empty, of the senders that number their events. One is silent for nine days. */
const beat = ({ say, daysAgo }: Journal): void => {
  for (const [system, last, depth] of [
    [CREDIT_EU, 1, 0],
    [FRAUD, 1, 3],
    [AML, 9, 120],
  ] as const)
    for (let days = HISTORY_DAYS; days >= last; days--)
      say("sdk.heartbeat", system, daysAgo(days) + DAY_MS - MINUTE_MS, {
        metadata: {
          queue_depth: depth,
          outbox_depth: days === last ? depth : 0,
          circuit_state: "closed",
          sdk_version: "0.1.0",
          sdk_language: "typescript",
        },
      });
};
