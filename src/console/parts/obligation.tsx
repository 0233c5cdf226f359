/** One obligation, in the words of a person. */
import { addressOf } from "../address.ts";
import type { Obligation } from "../answers.ts";
import { labelOf, zoneOfRule } from "../labels.ts";
import { dateOf, dayOf, fromNow, zoneOf } from "../language.ts";
import { answersTo } from "../record-forms.ts";
import { may } from "../session.ts";
import { say } from "../words.ts";
import { Id } from "./said.tsx";

/** Where the facts are: the decision, or the incident, or the event that started it. */
export const addressOfCase = ({ decision_id, incident_id, started_by }: Obligation): string => {
  if (decision_id !== null) return addressOf("decision", { id: decision_id });
  if (incident_id !== null) return addressOf("incident", { id: incident_id });
  return addressOf("event", { id: started_by });
};

export const ObligationName = ({ obligation }: { readonly obligation: Obligation }) => {
  const { rule, duty, decision_id, objection_id, incident_id } = obligation;
  const id = objection_id ?? decision_id ?? incident_id;
  return (
    <a href={addressOfCase(obligation)} title={`${rule}: ${duty}`}>
      {labelOf("rules", rule)} {id !== null && <Id id={id} />}
    </a>
  );
};

/** In the days of the place where the clock runs: starting event, extension, waiver, and a fact that was recorded only after it was due. */
export const ObligationWhy = ({ obligation }: { readonly obligation: Obligation }) => {
  const { started_at, stopped_at, stopped_recorded_at, extensions } = obligation;
  const zone = zoneOfRule(obligation.rule);
  const said = [
    stopped_at === null
      ? say("clock_started", { t: dayOf(started_at, zone) })
      : say("clock_stopped", { a: dayOf(started_at, zone), b: dayOf(stopped_at, zone) }),
    ...(extensions > 0 ? [say("extended_n", { n: extensions })] : []),
  ];
  return (
    <small>
      {said.join("; ")}
      {obligation.recorded_late && stopped_recorded_at !== null && (
        <span class="note">
          {" "}
          {say("recorded_late")}, {dateOf(stopped_recorded_at, zone)}
        </span>
      )}
      {obligation.waived_reason !== null && (
        <span class="note">
          {" "}
          {say("waived_because", { w: obligation.waived_by ?? "", r: obligation.waived_reason })}
        </span>
      )}
    </small>
  );
};

/** The day where the clock runs, because the same moment is another day elsewhere. */
export const DueDay = ({ obligation: { due_at, rule, stopped_at } }: { readonly obligation: Obligation }) => {
  const zone = zoneOfRule(rule);
  return (
    <>
      <time dateTime={due_at} title={`${due_at}, ${zone}`}>
        {dateOf(due_at, zone)}
      </time>
      <small>{stopped_at === null ? fromNow(due_at) : zoneOf(zone)}</small>
    </>
  );
};

/** Lead to the forms, filled in. */
export const AnswerLinks = ({ obligation }: { readonly obligation: Obligation }) => {
  const answers = may("events:write") ? answersTo(obligation) : [];
  return (
    <>
      {answers.map(({ type, address }) => (
        <div key={type} class="answer">
          <a href={address}>{say("record_answer", { e: labelOf("event_types", type) })}</a>
        </div>
      ))}
    </>
  );
};
