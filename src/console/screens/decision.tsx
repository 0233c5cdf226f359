import { addressOf, place } from "../address.ts";
import type { Dossier, Obligation, TimelineEntry, Unlinked } from "../answers.ts";
import { type One, useAnswer } from "../api.ts";
import { labelOf, lawText, zoneOfRule } from "../labels.ts";
import { dateOf, zoneOf } from "../language.ts";
import { Clock } from "../parts/clock.tsx";
import { Answered } from "../parts/page-states.tsx";
import { EventLink, Id, Label, Person, Said, System, Time } from "../parts/said.tsx";
import { say } from "../words.ts";

export const DecisionScreen = () => {
  const id = place.value.parameters.get("id") ?? "";
  const dossier = useAnswer<One<Dossier>>(`v1/decisions/${encodeURIComponent(id)}`);
  return (
    <Answered asked={dossier}>
      {({ data }) => (
        <>
          <h1>{headOf(data)}</h1>
          <Lede dossier={data} />
          <p class="actions">
            <a class="button" href={addressOf("evidence", { decision_id: id })}>
              {say("evidence")}
            </a>
            <a class="button plain" href={addressOf("letter", { id })}>
              {say("letter")}
            </a>
            <button type="button" class="plain" onClick={() => print()}>
              {say("print")}
            </button>
          </p>
          <div class="cols">
            <div>
              <Timeline dossier={data} />
              <NotLinked entries={data.unlinked} />
            </div>
            <Obligations obligations={data.obligations} onChange={dossier.again} />
          </div>
        </>
      )}
    </Answered>
  );
};

const headOf = ({ made_at, outcome }: Dossier): string => {
  if (made_at === null) return say("decision_never");
  return outcome === null ? say("decision_unknown") : say("decision_head", { o: outcome });
};

const Lede = ({ dossier }: { readonly dossier: Dossier }) => {
  const { decision_id, asset_id, made_at, notice_at, subject_hash, correlation_id, risk_tier } = dossier;
  return (
    <p class="lede">
      <Said
        word="decision_lede"
        id={<Id id={decision_id} />}
        system={
          <>
            <System id={asset_id} />
            {risk_tier && (
              <>
                {" "}
                (<Label kind="risk_tiers" name={risk_tier} />)
              </>
            )}
          </>
        }
        time={<Time at={made_at ?? notice_at} />}
      />{" "}
      {subject_hash && <Said word="about_person" p={<Person hash={subject_hash} />} />}{" "}
      {correlation_id && (
        <Said
          word="in_case"
          c={
            <a href={addressOf("events", { correlation_id })}>
              <Id id={correlation_id} />
            </a>
          }
        />
      )}
    </p>
  );
};

/** What an obligation waits for, by the step that a decision lacks: the event that would close it, and the rules that ask for it. */
const CLOSERS: Readonly<Record<string, { readonly type: string; readonly rules: readonly string[] }>> = {
  decision: { type: "decision.automated_decision_made", rules: [] },
  notice: { type: "transparency.notice_shown", rules: ["LL144-NOTICE"] },
  explanation: {
    type: "decision.explanation_provided",
    rules: ["PIPA-EXPL", "PIPA-DENY", "CIA-EXPL", "CO-ADVERSE"],
  },
  objection: { type: "objection.received", rules: [] },
  objection_resolution: {
    type: "objection.resolved",
    rules: ["GDPR-12-3", "PIPA-REFUSE", "PIPA-REVIEW", "PIPA-EXPL", "CIA-EXPL"],
  },
  human_review: { type: "decision.human_review_completed", rules: ["HR-CLOSE"] },
  human_review_trigger: { type: "decision.human_review_triggered", rules: [] },
};

/** CASE_FACTS_MAX of the service: from here on there may be more events than the answer has. */
const KEPT_PER_NAME = 256;

const Timeline = ({ dossier }: { readonly dossier: Dossier }) => {
  const { timeline, missing, pending, obligations } = dossier;
  return (
    <section>
      <h2>{say("happened")}</h2>
      <ol class="line">
        {timeline.map((entry) => (
          <Entry key={entry.sequence} entry={entry} />
        ))}
        {timeline.length >= KEPT_PER_NAME && (
          <li>
            <a href={addressOf("events", { q: dossier.decision_id })}>{say("more_events")}</a>
          </li>
        )}
        {missing.map((step) => (
          <Step key={step} step={step} isDue={true} obligations={obligations} />
        ))}
        {pending.map((step) => (
          <Step key={step} step={step} isDue={false} obligations={obligations} />
        ))}
      </ol>
    </section>
  );
};

/** What an event says beside its type, in the order of importance. */
const SAID = [
  "reason",
  "objection_type",
  "channel",
  "delivery_method",
  "triggered_by",
  "reviewer_id",
  "model",
];

const Entry = ({
  entry: { at, received_at, linked_by, sequence, event },
}: {
  readonly entry: TimelineEntry;
}) => {
  const { metadata = {} } = event ?? {};
  const said = SAID.flatMap((name) => {
    const value = metadata[name];
    if (typeof value !== "string") return [];
    return [name === "objection_type" ? labelOf("objection_types", value) : value];
  });
  return (
    <li>
      <div class="when">
        <Time at={at} />
        <small>
          {say("received")} <Time at={received_at} />
        </small>
      </div>
      <strong>{event === null ? say("expired", { n: sequence }) : <EventLink event={event} />}</strong>
      <p dir="auto">{said.join(" · ")}</p>
      <small>{say("linked", { how: labelOf("linked_by", linked_by) })}</small>
    </li>
  );
};

const Step = ({
  step,
  isDue,
  obligations,
}: {
  readonly step: string;
  readonly isDue: boolean;
  readonly obligations: readonly Obligation[];
}) => {
  const closer = CLOSERS[step];
  const open = obligations.find(
    ({ rule, stopped_at }) => stopped_at === null && closer?.rules.includes(rule),
  );
  return (
    <li class={isDue ? "missing" : "pending"}>
      <strong>{say(isDue ? "missing_step" : "pending_step", { step: labelOf("steps", step) })}</strong>
      {open && (
        <p>
          {say(isDue ? "due_since" : "due_by", dueIn(open))} {lawText(open.clause)}
        </p>
      )}
      {closer && (
        <p>
          {say("closed_by")} <code>{closer.type}</code>
        </p>
      )}
    </li>
  );
};

const dueIn = ({ rule, due_at }: Obligation) => {
  const zone = zoneOfRule(rule);
  return { t: dateOf(due_at, zone), z: zoneOf(zone) };
};

const Obligations = ({
  obligations,
  onChange,
}: {
  readonly obligations: readonly Obligation[];
  readonly onChange: () => void;
}) => (
  <section>
    <h2>{say("obligations")}</h2>
    {obligations.length === 0 && <p class="quiet">{say("no_obligations")}</p>}
    {obligations.map((obligation) => (
      <Clock key={obligation.obligation_id} obligation={obligation} onChange={onChange} />
    ))}
  </section>
);

const NotLinked = ({ entries }: { readonly entries: readonly Unlinked[] }) =>
  entries.length === 0 ? null : (
    <section>
      <h2>{say("unlinked")}</h2>
      <p class="quiet">{say("unlinked_lede")}</p>
      <ul class="plain-list">
        {entries.map(({ event_id, event_type, at, candidates }) => (
          <li key={event_id}>
            <a href={addressOf("event", { id: event_id })}>{labelOf("event_types", event_type)}</a>{" "}
            <Time at={at} />
            <small>{say("candidates", { c: candidates.map(({ id }) => id).join(", ") })}</small>
          </li>
        ))}
      </ul>
    </section>
  );
