import type { AuditEvent, Proof, StoredEvent } from "../answers.ts";
import { type Asked, type One, useAnswer } from "../api.ts";
import { labelOf } from "../labels.ts";
import { Answered } from "../parts/page-states.tsx";
import { ProofBox } from "../parts/proof-box.tsx";
import { eventTitle, Id, Label, Person, Said, System, Time } from "../parts/said.tsx";
import { addressOf, place } from "../place.ts";
import { say } from "../words.ts";

export const EventScreen = () => {
  const id = place.value.parameters.get("id") ?? "";
  const path = `v1/events/${encodeURIComponent(id)}`;
  const event = useAnswer<One<StoredEvent>>(path);
  const proof = useAnswer<One<Proof>>(`${path}/proof`);
  return (
    <Answered asked={event}>
      {({ data }) => (
        <>
          <h1>{eventTitle(data.event)}</h1>
          <Lede event={data.event} />
          <div class="cols">
            <div>
              <Facts stored={data} />
              <ExactBytes proof={proof} />
            </div>
            <div>
              <ProofBox asked={proof} />
              <Neighbours event={data.event} />
              <Warnings stored={data} />
            </div>
          </div>
        </>
      )}
    </Answered>
  );
};

const Lede = ({ event }: { readonly event: AuditEvent }) => (
  <p class="lede">
    <Said
      word="event_lede"
      id={<Id id={event.event_id} />}
      system={<System id={event.asset_id} />}
      time={<Time at={event.timestamp} />}
    />{" "}
    {event.subject_hash && <Said word="about_person" p={<Person hash={event.subject_hash} />} />}{" "}
    {event.correlation_id && (
      <Said
        word="in_case"
        c={
          <a href={addressOf("events", { correlation_id: event.correlation_id })}>
            <Id id={event.correlation_id} />
          </a>
        }
      />
    )}
  </p>
);

const valueText = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));

const Facts = ({ stored: { event, sequence, received_at } }: { readonly stored: StoredEvent }) => (
  <section>
    <h2>{say("facts")}</h2>
    <dl class="facts">
      <dt>{say("type")}</dt>
      <dd>
        <Label kind="event_types" name={event.event_type} /> <code>{event.event_type}</code>
      </dd>
      <dt>{say("time")}</dt>
      <dd>
        <Time at={event.timestamp} />
      </dd>
      <dt>{say("received")}</dt>
      <dd>
        <Time at={received_at} />
      </dd>
      <dt>{say("sequence")}</dt>
      <dd>{sequence}</dd>
      {event.risk_tier && (
        <>
          <dt>{say("risk")}</dt>
          <dd>
            <Label kind="risk_tiers" name={event.risk_tier} />
          </dd>
        </>
      )}
      {event.legal_bases && (
        <>
          <dt>{say("law")}</dt>
          <dd>{event.legal_bases.map((law) => labelOf("laws", law)).join(", ")}</dd>
        </>
      )}
      {Object.entries(event.metadata ?? {}).map(([name, value]) => (
        <Member key={name} name={name} value={valueText(value)} />
      ))}
    </dl>
  </section>
);

const Member = ({ name, value }: { readonly name: string; readonly value: string }) => (
  <>
    <dt>
      <code>{name}</code>
    </dt>
    <dd class="breaks" dir="auto">
      {value}
    </dd>
  </>
);

const ExactBytes = ({ proof: { answer } }: { readonly proof: Asked<One<Proof>> }) => {
  if (answer.kind !== "answered") return null;
  const bytes = Uint8Array.from(atob(answer.body.data.leaf), (character) => character.charCodeAt(0));
  return (
    <section aria-label={say("exact_bytes")}>
      <h2>{say("exact_bytes")}</h2>
      <p class="quiet">{say("exact_lede")}</p>
      <pre class="bytes" tabindex={0}>
        {new TextDecoder().decode(bytes)}
      </pre>
    </section>
  );
};

const Neighbours = ({ event }: { readonly event: AuditEvent }) => {
  const { correlation_id, metadata } = event;
  const decision = metadata?.decision_id;
  if (!correlation_id && typeof decision !== "string") return null;
  return (
    <section>
      <h2>{say("neighbours")}</h2>
      <ul class="plain-list">
        {typeof decision === "string" && (
          <li>
            <a href={addressOf("decision", { id: decision })}>
              {say("to_decision")} <Id id={decision} />
            </a>
          </li>
        )}
        {correlation_id && (
          <li>
            <a href={addressOf("events", { correlation_id })}>{say("all_of_case")}</a>
          </li>
        )}
      </ul>
    </section>
  );
};

const Warnings = ({ stored: { warnings = [] } }: { readonly stored: StoredEvent }) =>
  warnings.length === 0 ? null : (
    <section>
      <h2>{say("warnings")}</h2>
      <ul class="plain-list">
        {warnings.map(({ path, message }) => (
          <li key={path}>
            <code>{path}</code> {message}
          </li>
        ))}
      </ul>
    </section>
  );
