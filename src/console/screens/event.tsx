import { addressOf, place } from "../address.ts";
import type { AuditEvent, Proof, StoredEvent } from "../answers.ts";
import { type Asked, type List, type One, useAnswer } from "../api.ts";
import { joined } from "../comma-list.ts";
import { type EventValue, valuesOfEvent } from "../event-filters.ts";
import { labelOf } from "../labels.ts";
import { titleOf } from "../parts/filters.tsx";
import { Answered } from "../parts/page-states.tsx";
import { ProofBox } from "../parts/proof-box.tsx";
import { EventLink, eventTitle, Id, Person, Said, System, Time } from "../parts/said.tsx";
import { OnlyOrNot } from "../parts/value-filter.tsx";
import { say, type Word } from "../words.ts";

export const EventScreen = () => {
  const id = place.value.parameters.get("id") ?? "";
  const path = `v1/events/${encodeURIComponent(id)}`;
  const event = useAnswer<One<StoredEvent>>(path, { warnings: "true" });
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
          <a href={addressOf("events", { correlation_id: joined([event.correlation_id]) })}>
            <Id id={event.correlation_id} />
          </a>
        }
      />
    )}
  </p>
);

const valueText = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));

const Facts = ({ stored }: { readonly stored: StoredEvent }) => {
  const { event, sequence, received_at } = stored;
  return (
    <section>
      <h2>{say("facts")}</h2>
      <dl class="facts">
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
        {valuesOfEvent(stored).map((of) => (
          <div key={`${of.filter.name} ${of.value}`}>
            <dt>{titleOf(of.filter)}</dt>
            <dd>
              <Value {...of} /> <OnlyOrNot {...of} />
            </dd>
          </div>
        ))}
        {Object.entries(event.metadata ?? {}).map(([name, value]) => (
          <Member key={name} name={name} value={valueText(value)} />
        ))}
      </dl>
    </section>
  );
};

/** The label, and the value as it stands in the log. */
const Value = ({ filter, value }: EventValue) =>
  filter.kind === "labels" ? (
    <>
      {labelOf(filter.labels, value)} <code>{value}</code>
    </>
  ) : (
    <Id id={value} />
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
        {correlation_id && <Case id={correlation_id} event={event} />}
      </ul>
    </section>
  );
};

const CASE_ROWS = "20";

/** From its beginning; a long one goes on in the list. */
const Case = ({ id, event }: { readonly id: string; readonly event: AuditEvent }) => {
  const correlation_id = joined([id]);
  const { answer } = useAnswer<List<StoredEvent>>("v1/events", {
    correlation_id,
    order: "asc",
    limit: CASE_ROWS,
  });
  const rows = answer.kind === "answered" ? answer.body.data : [];
  return (
    <>
      {rows.map((row) => (
        <li key={row.sequence}>
          <Time at={row.event.timestamp} /> <EventLink event={row.event} />
          {row.event.event_id === event.event_id && ` (${say("this_event")})`}
        </li>
      ))}
      <li>
        <a href={addressOf("events", { correlation_id })}>{say("all_of_case")}</a>
      </li>
    </>
  );
};

const Warnings = ({ stored: { warnings = [] } }: { readonly stored: StoredEvent }) =>
  warnings.length === 0 ? null : (
    <section>
      <h2>{say("warnings")}</h2>
      <p class="quiet">{say("warnings_lede")}</p>
      <ul class="plain-list">
        {warnings.map(({ path, code, message }) => (
          <li key={path + code}>
            {warningText(code) ?? message} <code dir="ltr">{path}</code>
            {warningText(code) && (
              <small lang="en" dir="ltr">
                {message}
              </small>
            )}
          </li>
        ))}
      </ul>
    </section>
  );

const WARNINGS: ReadonlyMap<string, Word> = new Map([
  ["unknown_field", "warning_unknown_field"],
  ["unknown_legal_basis", "warning_unknown_legal_basis"],
  ["unknown_metadata_key", "warning_unknown_metadata_key"],
  ["timestamp_in_future", "warning_timestamp_in_future"],
  ["timestamp_long_ago", "warning_timestamp_long_ago"],
  ["asset_id_not_normalised", "warning_asset_id_not_normalised"],
]);

const warningText = (code: string): string | undefined => {
  const word = WARNINGS.get(code);
  return word && say(word);
};
