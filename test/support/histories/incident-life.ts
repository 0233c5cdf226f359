import { DAY_MS, dueAfter, HOUR_MS, text } from "./local-time.ts";
import { type Asset, duty, type Happened, say, type World } from "./world.ts";

/** The rule of each class, and its days. */
const CLASSES = {
  death: ["EU73-DEATH", 10],
  critical_infrastructure: ["EU73-CRIT", 2],
  property: ["EU73-GEN", 15],
} as const;

/** A serious incident, which may be reported, also late, and mitigated. */
export const liveIncident = (world: World, asset: Asset, begin: number): void => {
  const { chance } = world;
  const at = begin + (10 + chance.below(100)) * DAY_MS + chance.below(DAY_MS / 1000) * 1000;
  const kind = chance.one<keyof typeof CLASSES>(["death", "critical_infrastructure", "property"]);
  const [rule, days] = CLASSES[kind];
  const incidentId = `inc_${asset.id}`;
  const detected = say(world, asset, "incident.detected", at, {
    legal_bases: ["eu_ai_act_art_73"],
    metadata: { incident_id: incidentId, incident_class: kind, severity: "serious" },
  });
  const reportedAt = at + (1 + chance.below(20 * 24)) * HOUR_MS;
  const isInitial = chance.is(0.5);
  const report: Happened | undefined = chance.is(0.8)
    ? {
        at: reportedAt,
        id: say(world, asset, "incident.reported_to_authority", reportedAt, {
          metadata: {
            incident_id: incidentId,
            report_type: isInitial ? "initial" : "complete",
            authority: "Authority of record",
            severity: "grave",
          },
        }),
      }
    : undefined;
  const isMitigated = report !== undefined && chance.is(0.5);
  if (isMitigated)
    say(world, asset, "incident.mitigated", reportedAt + DAY_MS, {
      metadata: { incident_id: incidentId, root_cause: "A feature was missing", affected_count: 37 },
    });
  const due = dueAfter(at, days, "brussels");
  duty(world, asset, {
    rule,
    law: "eu_ai_act_art_73",
    duty: "incident_report",
    startedBy: detected,
    due,
    stop: report,
  });
  world.incidents.push({
    incident_id: incidentId,
    state: isMitigated ? "mitigated" : report ? "reported" : "detected",
    report_due_at: due,
    initial_report_at: report ? text(report.at) : null,
    complete_report_at: report && !isInitial ? text(report.at) : null,
    asset_id: asset.id,
    incident_class: kind,
    severity: report ? "grave" : "serious",
    detected_at: text(at),
    authority: report ? "Authority of record" : null,
    mitigated_at: isMitigated ? text(reportedAt + DAY_MS) : null,
    root_cause: isMitigated ? "A feature was missing" : null,
    affected_count: isMitigated ? 37 : null,
  });
};
