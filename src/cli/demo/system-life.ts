/** What happens to the systems themselves: registered, deployed, assessed, reclassified, in trouble; and the senders that count their events. */
import { AML, ASSISTANT, CREDIT_EU, CREDIT_KR, FRAUD, HIRING, SYSTEMS } from "./bank.ts";
import { customer, DAY_MS, HISTORY_DAYS, HOUR_MS, type Journal, MINUTE_MS, sha256 } from "./journal.ts";

export const liveSystems = (journal: Journal): void => {
  register(journal);
  changeModels(journal);
  assess(journal);
  reclassify(journal);
  haveIncidents(journal);
  answerCustomers(journal);
  beat(journal);
};

const register = ({ say, daysAgo }: Journal): void => {
  for (const [index, system] of SYSTEMS.entries()) {
    const at = daysAgo(HISTORY_DAYS) + 8 * HOUR_MS + index * 10 * MINUTE_MS;
    const { name, owner, domain, version, riskTier, oversight } = system;
    say("asset.created", system, at, {
      asset_version: version,
      risk_tier: riskTier,
      legal_bases: [...system.legalBases],
      metadata: {
        name,
        owner,
        domain,
        role: "deployer",
        decision_autonomy: system.autonomy,
        processes_personal_data: true,
      },
    });
    // Nobody has named who oversees the assistant.
    if (system !== ASSISTANT)
      say("asset.updated", system, at + DAY_MS, { metadata: { oversight_person: oversight, owner } });
    say("model.model_deployed", system, at + MINUTE_MS, {
      asset_version: version,
      metadata: { model: system.model, model_version: version },
    });
  }
};

const changeModels = ({ say, daysAgo }: Journal): void => {
  const degraded = {
    metadata: { model: FRAUD.model, model_version: "11.0.3", reason: "Recall fell from 0.94 to 0.81" },
  };
  say("model.performance_degraded", FRAUD, daysAgo(48), degraded);
  say("model.model_deployed", FRAUD, daysAgo(44), {
    asset_version: "11.1.0",
    metadata: { model: FRAUD.model, model_version: "11.1.0" },
  });
  say("model.model_retired", FRAUD, daysAgo(43), {
    metadata: { model: FRAUD.model, model_version: "11.0.3" },
  });
  say("model.model_deployed", CREDIT_KR, daysAgo(33), {
    metadata: { model: "income-estimator", model_version: "0.8.0" },
  });
  say("transparency.policy_disclosed", ASSISTANT, daysAgo(75), { metadata: { policy_version: "2026-06" } });
};

const assess = ({ say, daysAgo }: Journal): void => {
  const scope = { scope: true, measures: true, residual_risk: true };
  const assessments = [
    { system: CREDIT_EU, id: "fria-credit-eu", type: "fria", started: 80, completed: 62, checklist: scope },
    {
      system: CREDIT_KR,
      id: "impact-credit-kr",
      type: "impact_assessment",
      started: 71,
      completed: 55,
      checklist: scope,
    },
    { system: FRAUD, id: "dpia-fraud", type: "dpia", started: 38, completed: 20, checklist: scope },
    {
      system: AML,
      id: "dpia-aml",
      type: "dpia",
      started: 24,
      checklist: { scope: true, measures: "drafted" },
    },
    { system: HIRING, id: "bias-audit-2026", type: "bias_audit", started: 130, completed: 110 },
  ];
  for (const { system, id, type, started, completed, checklist } of assessments) {
    const metadata = { assessment_id: id, assessment_type: type };
    say("assessment.impact_assessment_started", system, daysAgo(started), { metadata });
    if (checklist)
      say("assessment.impact_assessment_updated", system, daysAgo(started - 5), {
        metadata: { ...metadata, checklist },
      });
    if (completed !== undefined)
      say("assessment.impact_assessment_completed", system, daysAgo(completed), {
        metadata: { ...metadata, ...(checklist && { checklist }) },
      });
  }
};

const reclassify = ({ say, daysAgo }: Journal): void => {
  for (const { system, days, from, to, reason } of [
    { system: AML, days: 68, from: "limited", to: "high", reason: "Its flags now freeze accounts" },
    {
      system: FRAUD,
      days: 58,
      from: "high",
      to: "limited",
      reason: "Blocked payments are released by a person within an hour",
    },
    {
      system: CREDIT_KR,
      days: 52,
      from: "limited",
      to: "high",
      reason: "No person takes part in the final decision any more",
    },
  ])
    say("assessment.risk_classification_changed", system, daysAgo(days), {
      metadata: { from, to, reason, actor: "Model Risk Committee" },
    });
};

const haveIncidents = ({ say, daysAgo }: Journal): void => {
  const incidents = [
    {
      id: "inc-wrong-limits",
      system: CREDIT_EU,
      detected: 72,
      severity: "high",
      reported: [60, 47],
      mitigated: 70,
    },
    // Two days: the report came on the fourth.
    {
      id: "inc-bulk-denials",
      system: CREDIT_KR,
      detected: 41,
      class: "widespread_infringement",
      severity: "critical",
      reported: [37],
      mitigated: 40,
    },
    // Fifteen days: four are left.
    { id: "inc-blocked-salaries", system: FRAUD, detected: 11, severity: "high", reported: [], mitigated: 9 },
    { id: "inc-leaked-context", system: ASSISTANT, detected: 2, severity: "medium", reported: [] },
  ];
  for (const incident of incidents) {
    const { id, system, detected, severity, reported, mitigated } = incident;
    const of = { incident_id: id, severity };
    const legal_bases = ["eu_ai_act_art_73"];
    const incidentClass = incident.class === undefined ? {} : { incident_class: incident.class };
    say("incident.detected", system, daysAgo(detected), {
      legal_bases,
      metadata: { ...of, ...incidentClass, affected_count: detected * 7 },
    });
    for (const [index, days] of reported.entries())
      say("incident.reported_to_authority", system, daysAgo(days), {
        legal_bases,
        metadata: {
          ...of,
          authority: "Finanstilsynet",
          report_type: index === 0 && reported.length > 1 ? "initial" : "complete",
        },
      });
    if (mitigated !== undefined)
      say("incident.mitigated", system, daysAgo(mitigated), {
        legal_bases,
        metadata: { ...of, root_cause: "A faulty import of reference data" },
      });
  }
};

const ANSWERS = 130;

const answerCustomers = ({ say, daysAgo, chance }: Journal): void => {
  for (let number = 1; number <= ANSWERS; number++) {
    const at = daysAgo(1 + ((ANSWERS - number) / ANSWERS) * (HISTORY_DAYS - 2)) + chance.below(12) * HOUR_MS;
    const outcome_hash = sha256(`answer ${number}`);
    const of = {
      correlation_id: `chat-${number}`,
      subject_hash: sha256(customer(100 + chance.below(260))),
      outcome_hash,
    };
    const metadata = {
      model: ASSISTANT.model,
      tokens_in: 200 + chance.below(900),
      tokens_out: 40 + chance.below(400),
    };
    say("ai_inference", ASSISTANT, at, { ...of, legal_bases: [...ASSISTANT.legalBases], metadata });
    const isLabeled = chance.is(0.93);
    if (isLabeled)
      say("transparency.result_labeled", ASSISTANT, at + 200, { ...of, metadata: { label_type: "visible" } });
  }
};

const HEARTBEAT = "sdk.heartbeat";

/** Daily, of the senders that number their events (numberSources). One has been silent for nine days. */
const beat = ({ say, daysAgo }: Journal): void => {
  for (const { system, last, depth } of [
    { system: CREDIT_EU, last: 1, depth: 0 },
    { system: FRAUD, last: 1, depth: 3 },
    { system: AML, last: 9, depth: 120 },
  ])
    for (let days = HISTORY_DAYS; days >= last; days--)
      say(HEARTBEAT, system, daysAgo(days) + 6 * HOUR_MS, {
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
