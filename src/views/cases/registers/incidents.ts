import { Type } from "@sinclair/typebox";
import { awarenessesOf, type Incident } from "../../../law/cases/case.ts";
import { INCIDENT_DETECTED, saysWord } from "../../../law/cases/fact.ts";
import { classOfIncident } from "../../../law/obligations/incident-class.ts";
import type { Obligation } from "../../../law/obligations/obligation.ts";
import type { List } from "../../kit/list.ts";
import { INTEGER, NULLABLE_TEXT, type RowOf, type Table, TEXT } from "../../store/tables.ts";
import { CASES_VIEW } from "../tables.ts";
import { type Register, rowsOfEach } from "./register.ts";

const INCIDENTS = {
  name: "incidents",
  columns: {
    tenant: TEXT,
    incident_id: TEXT,
    asset_id: TEXT,
    incident_class: NULLABLE_TEXT,
    /** JSON: a number or a text, as the event says it. */
    severity: NULLABLE_TEXT,
    at: TEXT,
    /** `detected`, `reported`, `mitigated`, or `orphan` if it was never detected. */
    state: TEXT,
    detected_at: NULLABLE_TEXT,
    detected_recorded_at: NULLABLE_TEXT,
    /** How many other events say that it was detected. */
    detected_again: INTEGER,
    aware_at: NULLABLE_TEXT,
    aware_recorded_at: NULLABLE_TEXT,
    authority: NULLABLE_TEXT,
    report_due_at: NULLABLE_TEXT,
    initial_report_at: NULLABLE_TEXT,
    initial_report_recorded_at: NULLABLE_TEXT,
    /** A report that was not called initial is complete (EU AI Act art. 73(5)). */
    complete_report_at: NULLABLE_TEXT,
    complete_report_recorded_at: NULLABLE_TEXT,
    mitigated_at: NULLABLE_TEXT,
    mitigated_recorded_at: NULLABLE_TEXT,
    root_cause: NULLABLE_TEXT,
    /** JSON: a number or a text, as the event says it. */
    affected_count: NULLABLE_TEXT,
  },
  primaryKey: ["tenant", "incident_id"],
  indexes: [
    ["tenant", "at", "incident_id"],
    ["tenant", "state", "at", "incident_id"],
    ["tenant", "asset_id", "at", "incident_id", "state"],
  ],
} as const satisfies Table;

export const INCIDENT_STATES = ["detected", "reported", "mitigated", "orphan"] as const;
export type IncidentState = (typeof INCIDENT_STATES)[number];

const stateOf = ({ detected, reports, mitigated }: Incident): IncidentState => {
  if (!detected) return "orphan";
  if (mitigated) return "mitigated";
  return reports.length > 0 ? "reported" : "detected";
};

const rowOf = (
  tenant: string,
  incident: Incident,
  obligations: readonly Obligation[],
): RowOf<typeof INCIDENTS> | undefined => {
  const { id, detected, reports, mitigated, facts } = incident;
  const first = detected ?? facts[0];
  if (!first) return undefined;
  /** The last statement counts, because knowledge of an incident grows. */
  const said = (name: "severity" | "authority" | "root_cause" | "affected_count") =>
    facts.findLast(({ says }) => says[name] !== undefined)?.says[name] ?? null;
  const [initial] = reports;
  const aware = awarenessesOf(incident).at(-1);
  const complete = reports.find((report) => saysWord(report, "report_type") !== "initial");
  return {
    tenant,
    incident_id: id,
    asset_id: first.asset,
    incident_class: classOfIncident(incident) ?? null,
    severity: said("severity"),
    at: first.at,
    state: stateOf(incident),
    detected_at: detected?.at ?? null,
    detected_recorded_at: detected?.recorded ?? null,
    detected_again: facts.filter((fact) => fact.type === INCIDENT_DETECTED && fact !== detected).length,
    aware_at: aware?.at ?? null,
    aware_recorded_at: aware?.by.recorded ?? null,
    authority: said("authority"),
    report_due_at: obligations.find(({ rule }) => rule !== "EU26-5")?.dueAt ?? null,
    initial_report_at: initial?.at ?? null,
    initial_report_recorded_at: initial?.recorded ?? null,
    complete_report_at: complete?.at ?? null,
    complete_report_recorded_at: complete?.recorded ?? null,
    mitigated_at: mitigated?.at ?? null,
    mitigated_recorded_at: mitigated?.recorded ?? null,
    root_cause: said("root_cause"),
    affected_count: said("affected_count"),
  };
};

const NONE: readonly never[] = [];

export const incidentsRegister: Register = {
  table: INCIDENTS,
  kind: "rows",
  rowsOf: (view) => {
    const { incidents } = view.is;
    if (incidents.length === 0) return NONE;
    const byIncident = Map.groupBy(view.obligations, ({ incidentId }) => incidentId);
    return rowsOfEach(view, incidents, ({ tenant }, incident) =>
      rowOf(tenant, incident, byIncident.get(incident.id) ?? NONE),
    );
  },
};

const numberOrText = (name: string) =>
  Type.Union([Type.Number(), Type.String()], {
    description: `\`metadata.${name}\` as the event says it: a number, or a text.`,
  });

export const incidentList: List = {
  view: CASES_VIEW,
  table: INCIDENTS,
  orderBy: ["at", "incident_id"],
  time: "when it was detected; of one that was never detected, when it was first referred to",
  filters: ["asset_id", "state"],
  checked: ["incident_class", "severity"],
  values: { state: INCIDENT_STATES },
  hidden: ["at"],
  json: { severity: numberOrText("severity"), affected_count: numberOrText("affected_count") },
  about: {
    incident_id:
      "As the events name it, or the `event_id` of the one that opened it. `event:` and an `event_id` where its name, or another one that says more of its place, stands beside more than 64 others, which makes it say nothing.",
    detected_again:
      "How many other events say that it was detected, of those that the case keeps, such as those of another system that uses the same ids. The first counts, with its system and its time.",
  },
};
