import { Type } from "@sinclair/typebox";
import { type Awareness, awarenessesOf, type Incident } from "../../../law/cases/case.ts";
import { type Fact, INCIDENT_DETECTED, saysWord } from "../../../law/cases/fact.ts";
import { classOfIncident } from "../../../law/obligations/incident-class.ts";
import type { Obligation } from "../../../law/obligations/obligation.ts";
import type { List } from "../../kit/list.ts";
import { columnsOf } from "../../kit/read-model.ts";
import { CASES_VIEW } from "../tables.ts";
import { registerOf } from "./register.ts";

export const INCIDENT_STATES = ["detected", "reported", "mitigated", "orphan"] as const;
export type IncidentState = (typeof INCIDENT_STATES)[number];

interface Entry extends Incident {
  readonly first: Fact;
  readonly aware: Awareness | undefined;
  readonly obligations: readonly Obligation[];
}

const { integer, optional, text, times } = columnsOf<Entry>();

const stateOf = ({ detected, reports, mitigated }: Incident): IncidentState => {
  if (!detected) return "orphan";
  if (mitigated) return "mitigated";
  return reports.length > 0 ? "reported" : "detected";
};

/** The last statement counts, because knowledge of an incident grows. */
const said = (name: "severity" | "authority" | "root_cause" | "affected_count") =>
  optional(({ facts }) => facts.findLast(({ says }) => says[name] !== undefined)?.says[name]);

export const incidentsRegister = registerOf<Entry>({
  name: "incidents",
  thingsIn: ({ is: { incidents }, obligations }) => {
    if (incidents.length === 0) return [];
    const byIncident = Map.groupBy(obligations, ({ incidentId }) => incidentId);
    return incidents.flatMap((incident) => {
      const first = incident.detected ?? incident.facts[0];
      const aware = awarenessesOf(incident).at(-1);
      return first ? [{ ...incident, first, aware, obligations: byIncident.get(incident.id) ?? [] }] : [];
    });
  },
  columns: {
    incident_id: text(({ id }) => id),
    asset_id: text(({ first }) => first.asset),
    incident_class: optional(classOfIncident),
    severity: said("severity"),
    at: text(({ first }) => first.at),
    state: text(stateOf),
    ...times("detected", ({ detected }) => detected),
    detected_again: integer(
      ({ facts, detected }) =>
        facts.filter((fact) => fact.type === INCIDENT_DETECTED && fact !== detected).length,
    ),
    aware_at: optional(({ aware }) => aware?.at),
    aware_recorded_at: optional(({ aware }) => aware?.by.recorded),
    authority: said("authority"),
    report_due_at: optional(({ obligations }) => obligations.find(({ rule }) => rule !== "EU26-5")?.dueAt),
    ...times("initial_report", ({ reports }) => reports[0]),
    // A report that was not called initial is complete (EU AI Act art. 73(5)).
    ...times("complete_report", ({ reports }) =>
      reports.find((report) => saysWord(report, "report_type") !== "initial"),
    ),
    ...times("mitigated", ({ mitigated }) => mitigated),
    root_cause: said("root_cause"),
    affected_count: said("affected_count"),
  },
  primaryKey: ["tenant", "incident_id"],
  indexes: [
    ["tenant", "at", "incident_id"],
    ["tenant", "state", "at", "incident_id"],
    ["tenant", "asset_id", "at", "incident_id", "state"],
  ],
});

const numberOrText = (name: string) =>
  Type.Union([Type.Number(), Type.String()], {
    description: `\`metadata.${name}\` as the event says it: a number, or a text.`,
  });

export const incidentList: List = {
  view: CASES_VIEW,
  table: incidentsRegister.table,
  orderBy: ["at", "incident_id"],
  time: "when it was detected; of one that was never detected, when it was first referred to",
  filters: ["asset_id", "state"],
  checked: ["incident_class", "severity"],
  values: { state: INCIDENT_STATES },
  hidden: ["at"],
  json: { severity: numberOrText("severity"), affected_count: numberOrText("affected_count") },
  about: {
    incident_id:
      "As the events name it, or the `event_id` of the one that opened it. `event:` and an `event_id` where its name, or a more specific one, occurs beside more than 64 others, and so identifies nothing.",
    detected_again:
      "How many other events the case keeps that say it was detected, such as those of another system that uses the same ids. The first counts, with its system and its time.",
  },
};
