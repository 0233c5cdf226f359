/** A form for what happened outside the software. It makes an ordinary event. */
import { useEffect, useState } from "preact/hooks";
import { addressOf, go, place } from "../address.ts";
import type { Obligation } from "../answers.ts";
import { type Answer, ask, type Failure, type List, type One, send, useAnswer } from "../api.ts";
import { labelOf } from "../labels.ts";
import { AnswerLinks, DueDay, ObligationName } from "../parts/obligation.tsx";
import { Answered, Failed, Loading } from "../parts/page-states.tsx";
import { PERSON, RecordInput } from "../parts/record-input.tsx";
import { Id, State, Time } from "../parts/said.tsx";
import { eventText, fieldOf, fieldsOf, RECORD_FORMS, type RecordField } from "../record-forms.ts";
import { maySee, session } from "../session.ts";
import { subjectHash } from "../subject-hash.ts";
import { systemsAreRead } from "../systems.ts";
import { say } from "../words.ts";

export const RecordScreen = () => {
  const what = place.value.parameters.get("what") ?? "";
  return (
    <>
      <h1>{say("record")}</h1>
      <p class="lede">{say("record_lede")}</p>
      <WhatHappened what={what} />
      {/* Another address is another form: nothing of the one before stays. */}
      {fieldsOf(what) ? (
        systemsAreRead() ? (
          <RecordForm key={place.value.parameters.toString()} type={what} />
        ) : (
          <Loading />
        )
      ) : (
        maySee("obligations") && <OpenObligations />
      )}
    </>
  );
};

const WhatHappened = ({ what }: { readonly what: string }) => (
  <p class="record-field">
    <label for="record-what">{say("record_what")}</label>
    <select
      id="record-what"
      onChange={({ currentTarget }) => {
        const kept = Object.fromEntries(place.value.parameters);
        go(addressOf("record", { ...kept, what: currentTarget.value }));
      }}
    >
      <option value="">{say("record_choose")}</option>
      {Object.keys(RECORD_FORMS).map((type) => (
        <option key={type} value={type} selected={type === what}>
          {labelOf("event_types", type)}
        </option>
      ))}
    </select>
  </p>
);

const ROWS = "20";
const OPEN = "overdue,due_soon,open,extended";

const OpenObligations = () => {
  const list = useAnswer<List<Obligation>>("v1/obligations", { state: OPEN, limit: ROWS, order: "asc" });
  return (
    <section>
      <h2>{say("record_open")}</h2>
      <Answered asked={list}>
        {({ data }) =>
          data.length === 0 ? (
            <p class="quiet">{say("record_none_open")}</p>
          ) : (
            <table>
              <tbody>
                {data.map((obligation) => (
                  <tr key={obligation.obligation_id}>
                    <td class="wide">
                      <State kind="obligation_states" name={obligation.state} />
                    </td>
                    <td>
                      <ObligationName obligation={obligation} />
                    </td>
                    <td class="wide">
                      <DueDay obligation={obligation} />
                    </td>
                    <td>
                      <AnswerLinks obligation={obligation} />
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          )
        }
      </Answered>
    </section>
  );
};

interface Receipt {
  readonly event_id: string;
  readonly sequence: number;
  readonly received_at: string;
  readonly duplicate: boolean;
  readonly leaf_hash: string;
  readonly warnings?: readonly { readonly path: string; readonly message: string }[];
}

const localNow = (): string => {
  const now = new Date();
  return new Date(now.getTime() - now.getTimezoneOffset() * 60_000)
    .toISOString()
    .slice(0, "2026-11-29T10:00".length);
};

const recorder = (): string => {
  const who = session.value;
  return who instanceof Object ? (who.person ?? who.key_name ?? who.key_id) : "";
};

/** What was typed, by the names of the fields; the person's text stays in its field. */
type Typed = Readonly<Record<string, string>>;

const typedAtFirst = (): Typed => ({
  timestamp: localNow(),
  ...Object.fromEntries([...place.value.parameters].filter(([name]) => name !== "what")),
});

/** Undefined while it is computed: an event without the person must not go out then. */
const useHash = (person: string, secret: string): string | undefined => {
  const [made, setMade] = useState({ person: "", secret, hash: "" });
  useEffect(() => {
    let isCurrent = true;
    const hashed = person === "" ? Promise.resolve("") : subjectHash(person, secret);
    hashed.then((hash) => {
      if (isCurrent) setMade({ person, secret, hash });
    });
    return () => {
      isCurrent = false;
    };
  }, [person, secret]);
  return made.person === person && made.secret === secret ? made.hash : undefined;
};

const RecordForm = ({ type }: { readonly type: string }) => {
  const [typed, setTyped] = useState<Typed>(typedAtFirst);
  // One id for all attempts: what is sent twice is one event.
  const [eventId] = useState(() => `evt_${crypto.randomUUID()}`);
  const [isSending, setSending] = useState(false);
  const [answer, setAnswer] = useState<Answer<One<Receipt>>>();
  const hash = useHash(typed.subject_hash?.trim() ?? "", typed.hash_secret ?? "");
  const text = eventText({
    ...{ eventId, type, by: recorder(), subjectHash: hash ?? "", values: typed },
    assetId: typed.asset_id ?? "",
    when: typed.timestamp ?? "",
  });
  const record = async (): Promise<void> => {
    setSending(true);
    const sent = await send<One<Receipt>>("v1/events", text, { headers: { "idempotency-key": eventId } });
    // The pages that it links to show the event only when the views have it.
    if (sent.kind === "answered")
      await ask("v1/obligations", { limit: "1", min_sequence: String(sent.body.data.sequence) });
    setAnswer(sent);
    setSending(false);
  };
  if (answer?.kind === "answered") return <Recorded receipt={answer.body.data} typed={typed} />;
  const canSend = !isSending && hash !== undefined;
  const errors = answer?.errors ?? [];
  const fields = [...COMMON, ...(fieldsOf(type) ?? []), PERSON];
  const isShown = ({ path }: { readonly path: string }) => fields.some(({ name }) => name === fieldOf(path));
  const others = errors.filter((error) => !isShown(error));
  return (
    <div class="cols">
      <form
        class="record"
        onInput={({ target }) => {
          if (target instanceof HTMLInputElement || target instanceof HTMLSelectElement)
            setTyped({ ...typed, [target.name]: target.value });
        }}
        onSubmit={(submit) => {
          submit.preventDefault();
          if (canSend) record();
        }}
      >
        {fields.map((field) => (
          <RecordInput
            key={field.name}
            field={field}
            value={typed[field.name] ?? ""}
            error={errors.find(({ path }) => fieldOf(path) === field.name)?.message}
          />
        ))}
        <details>
          <summary>HMAC</summary>
          <label for="record-hash_secret">{say("hash_key")}</label>
          <input id="record-hash_secret" name="hash_secret" type="password" autocomplete="off" />
        </details>
        {answer && <Refusal failure={answer} others={others} hasFields={errors.length > others.length} />}
        <button type="submit" disabled={!canSend}>
          {say("record_send")}
        </button>
      </form>
      <section>
        <h2>{say("record_json")}</h2>
        <pre class="bytes" tabindex={0}>
          {text}
        </pre>
      </section>
    </div>
  );
};

const COMMON: readonly RecordField[] = [
  { name: "asset_id", title: "system", kind: "text", isRequired: true },
  { name: "timestamp", title: "record_when", kind: "time", isRequired: true },
];

const Refusal = (props: {
  readonly failure: Failure;
  readonly others: readonly { readonly path: string; readonly message: string }[];
  readonly hasFields: boolean;
}) => {
  const { failure, others, hasFields } = props;
  if (!hasFields) return <Failed failure={failure} />;
  return (
    <div class="refusal" role="alert">
      <p>{say("record_fields")}</p>
      {others.map(({ path, message }) => (
        <p key={path}>
          <code>{path}</code> {message}
        </p>
      ))}
    </div>
  );
};

const Recorded = ({ receipt, typed }: { readonly receipt: Receipt; readonly typed: Typed }) => {
  const { event_id, sequence, received_at, leaf_hash, duplicate, warnings = [] } = receipt;
  const { decision_id, incident_id } = typed;
  return (
    <>
      <section role="status">
        <h2>{say("record_done")}</h2>
        {duplicate && <p>{say("record_again")}</p>}
        {warnings.map(({ path, message }) => (
          <p key={path} class="note">
            <code>{path}</code> {message}
          </p>
        ))}
        <h3>{say("record_changed")}</h3>
        <ul class="plain-list">
          {decision_id && (
            <li>
              <a href={addressOf("decision", { id: decision_id })}>
                {say("to_decision")} <Id id={decision_id} />
              </a>
            </li>
          )}
          {incident_id && (
            <li>
              <a href={addressOf("incident", { id: incident_id })}>
                {say("incident")} <Id id={incident_id} />
              </a>
            </li>
          )}
          <li>
            <a href={addressOf("event", { id: event_id })}>
              {say("record_event")} <Id id={event_id} />
            </a>
          </li>
          <li>
            <a href={addressOf("obligations")}>{say("all_obligations")}</a>
          </li>
        </ul>
      </section>
      <section>
        <h2>{say("record_receipt")}</h2>
        <dl class="facts">
          <dt>{say("sequence")}</dt>
          <dd>{sequence}</dd>
          <dt>{say("received")}</dt>
          <dd>
            <Time at={received_at} />
          </dd>
          <dt>{say("leaf_hash")}</dt>
          <dd>
            <code>{leaf_hash}</code>
          </dd>
        </dl>
      </section>
      <p>
        <a class="button plain" href={addressOf("record")}>
          {say("record_another")}
        </a>
      </p>
    </>
  );
};
