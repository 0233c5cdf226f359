/** What happens to the systems themselves: registered, deployed, assessed, reclassified, in trouble; and the senders that count their events. */
import { AML, ASSISTANT, CREDIT_EU, CREDIT_KR, FRAUD, HIRING, SYSTEMS, type System } from "./bank.ts";
import {
  customer,
  HISTORY_DAYS,
  HOUR_MS,
  type Journal,
  type Members,
  type Metadata,
  MINUTE_MS,
  sha256,
} from "./journal.ts";

type Fact = readonly [days: number, system: System, type: string, members: Members];

export const tellSystems = (journal: Journal): void => {
  const facts = [...registrations(), ...CHANGES, ...assessments(), ...reclassifications(), ...incidents()];
  for (const [days, system, type, members] of facts)
    journal.say(type, system, journal.daysAgo(days), members);
  answerCustomers(journal);
  beat(journal);
};

const fact = (days: number, system: System, type: string, metadata: NonNullable<Metadata>): Fact => [
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
      // Nobody has named who oversees the assistant.
      ...(system === ASSISTANT ? [] : [updated]),
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
  fact(75, ASSISTANT, "transparency.policy_disclosed", { policy_version: "2026-06" }),
  fact(48, FRAUD, "model.performance_degraded", { ...OLD_FRAUD, reason: "Recall fell from 0.94 to 0.81" }),
  deployment(44, FRAUD, FRAUD.model, "11.1.0"),
  fact(43, FRAUD, "model.model_retired", OLD_FRAUD),
  deployment(33, CREDIT_KR, "income-estimator", "0.8.0"),
];

const WHOLE = { scope: true, measures: true, residual_risk: true };

const assessments = (): readonly Fact[] =>
  (
    [
      [CREDIT_EU, "fria-credit-eu", "fria", WHOLE, 80, 62],
      [CREDIT_KR, "impact-credit-kr", "impact_assessment", WHOLE, 71, 55],
      [FRAUD, "dpia-fraud", "dpia", WHOLE, 38, 20],
      [AML, "dpia-aml", "dpia", { scope: true, measures: "drafted" }, 24, undefined],
      [HIRING, "bias-audit-2026", "bias_audit", undefined, 130, 110],
    ] as const
  ).flatMap(([system, assessment_id, assessment_type, checklist, started, completed]) => {
    const of = { assessment_id, assessment_type };
    const checked = { ...of, ...(checklist && { checklist }) };
    const tell = (days: number, step: string, metadata: NonNullable<Metadata>): Fact =>
      fact(days, system, `assessment.impact_assessment_${step}`, metadata);
    return [
      tell(started, "started", of),
      ...(checklist ? [tell(started - 5, "updated", checked)] : []),
      ...(completed === undefined ? [] : [tell(completed, "completed", checked)]),
    ];
  });

const reclassifications = (): readonly Fact[] =>
  (
    [
      [68, AML, "limited", "high", "Its flags now freeze accounts"],
      [58, FRAUD, "high", "limited", "Blocked payments are released by a person within an hour"],
      [52, CREDIT_KR, "limited", "high", "No person takes part in the final decision any more"],
    ] as const
  ).map(([days, system, from, to, reason]) =>
    fact(days, system, "assessment.risk_classification_changed", {
      from,
      to,
      reason,
      actor: "Model Risk Committee",
    }),
  );

const incidents = (): readonly Fact[] =>
  (
    [
      ["inc-wrong-limits", CREDIT_EU, "high", { detected: 72, reported: [60, 47], mitigated: 70 }],
      // Two days: the report came on the fourth.
      ["inc-bulk-denials", CREDIT_KR, "critical", { detected: 41, reported: [37], mitigated: 40 }],
      // Fifteen days: four are left.
      ["inc-blocked-salaries", FRAUD, "high", { detected: 11, reported: [], mitigated: 9 }],
      ["inc-leaked-context", ASSISTANT, "medium", { detected: 2, reported: [], mitigated: undefined }],
    ] as const
  ).flatMap(([incident_id, system, severity, { detected, reported, mitigated }]) => {
    const tell = (days: number, step: string, more: Metadata): Fact => [
      days,
      system,
      `incident.${step}`,
      { legal_bases: ["eu_ai_act_art_73"], metadata: { incident_id, severity, ...more } },
    ];
    const isWide = severity === "critical";
    return [
      tell(detected, "detected", {
        ...(isWide && { incident_class: "widespread_infringement" }),
        affected_count: detected * 7,
      }),
      ...reported.map((days, index) =>
        tell(days, "reported_to_authority", {
          authority: "Finanstilsynet",
          report_type: index + 1 < reported.length ? "initial" : "complete",
        }),
      ),
      ...(mitigated === undefined
        ? []
        : [tell(mitigated, "mitigated", { root_cause: "A faulty import of reference data" })]),
    ];
  });

const ANSWERS = 130;

const answerCustomers = ({ say, daysAgo, chance }: Journal): void => {
  for (let number = 1; number <= ANSWERS; number++) {
    const at = daysAgo(1 + ((ANSWERS - number) / ANSWERS) * (HISTORY_DAYS - 2)) + chance.below(12) * HOUR_MS;
    const of = {
      correlation_id: `chat-${number}`,
      subject_hash: sha256(customer(100 + chance.below(260))),
      outcome_hash: sha256(`answer ${number}`),
    };
    const tokens = { tokens_in: 200 + chance.below(900), tokens_out: 40 + chance.below(400) };
    const metadata = { model: ASSISTANT.model, ...tokens };
    say("ai_inference", ASSISTANT, at, { ...of, legal_bases: [...ASSISTANT.legalBases], metadata });
    if (chance.is(0.93))
      say("transparency.result_labeled", ASSISTANT, at + 200, { ...of, metadata: { label_type: "visible" } });
  }
};

/** Daily, of the senders that number their events. One has been silent for nine days. */
const beat = ({ say, daysAgo }: Journal): void => {
  for (const [system, last, depth] of [
    [CREDIT_EU, 1, 0],
    [FRAUD, 1, 3],
    [AML, 9, 120],
  ] as const)
    for (let days = HISTORY_DAYS; days >= last; days--)
      say("sdk.heartbeat", system, daysAgo(days) + 6 * HOUR_MS + MINUTE_MS, {
        metadata: {
          queue_depth: depth,
          outbox_depth: days === last ? depth : 0,
          circuit_state: "closed",
          sdk_version: "0.1.0",
          sdk_language: "typescript",
          environment: "production",
        },
      });
};
