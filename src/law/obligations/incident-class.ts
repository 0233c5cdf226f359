/** The class of an incident, and the deadline of its report, which follows from the class. */
import type { Incident } from "../cases/case.ts";
import type { DeadlineId } from "./deadline-table.ts";

/** Classes that leave less time for the report than any other (Regulation (EU) 2024/1689, art. 73(3), (4)). */
export const INCIDENT_DEADLINES: ReadonlyMap<string, DeadlineId> = new Map([
  ["death", "EU73-DEATH"],
  ["critical_infrastructure", "EU73-CRIT"],
  ["widespread_infringement", "EU73-CRIT"],
]);

const SHORTER: readonly DeadlineId[] = ["EU73-CRIT", "EU73-DEATH"];

const shorterDeadline = (incidentClass: string | undefined): DeadlineId | undefined =>
  INCIDENT_DEADLINES.get(incidentClass?.toLowerCase() ?? "");

export const reportDeadline = (incidentClass: string | undefined): DeadlineId =>
  shorterDeadline(incidentClass) ?? "EU73-GEN";

/**
 * As `incident.detected` says, or else the last event that gives one; but a class that leaves less time for the report counts whichever event says it.
 * `until`: what later events say of such a class does not count, because a report that was in time stays in time.
 */
export const classOfIncident = ({ detected, facts }: Incident, until?: string): string | undefined => {
  for (const deadline of SHORTER) {
    const urgent = facts.find(
      ({ at, says }) =>
        (until === undefined || at <= until) && reportDeadline(says.incident_class) === deadline,
    );
    if (urgent) return urgent.says.incident_class;
  }
  return (
    detected?.says.incident_class ??
    facts.findLast(
      ({ says: { incident_class } }) => incident_class !== undefined && !shorterDeadline(incident_class),
    )?.says.incident_class
  );
};
