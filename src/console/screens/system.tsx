import { addressOf, place } from "../address.ts";
import type { Row } from "../answers.ts";
import { type One, useAnswer } from "../api.ts";
import { joined } from "../comma-list.ts";
import { labelOf } from "../labels.ts";
import { Answered } from "../parts/page-states.tsx";
import { Id, State, Time } from "../parts/said.tsx";
import type { Screen } from "../screen-names.ts";
import { systemName } from "../systems.ts";
import { say, type Word } from "../words.ts";

export const SystemScreen = () => {
  const id = place.value.parameters.get("id") ?? "";
  const system = useAnswer<One<Row>>(`v1/assets/${encodeURIComponent(id)}`);
  return (
    <Answered asked={system}>
      {({ data }) => (
        <>
          <h1>{systemName(id)}</h1>
          <p class="lede">
            <Id id={id} /> <State kind="asset_statuses" name={String(data.status ?? "")} />
          </p>
          <p class="actions">
            <a class="button plain" href={addressOf("evidence", { asset_id: joined([id]) })}>
              {say("evidence")}
            </a>
          </p>
          <div class="cols">
            <Facts row={data} />
            <SeeAlso id={id} />
          </div>
        </>
      )}
    </Answered>
  );
};

const SHOWN: readonly (readonly [name: string, title: Word])[] = [
  ["owner", "owner"],
  ["role", "role"],
  ["domain", "domain"],
  ["version", "version"],
  ["oversight_person", "oversight"],
  ["events", "event_count"],
];
const TIMES: readonly (readonly [name: string, title: Word])[] = [
  ["created_at", "started"],
  ["deployed_at", "deployed"],
  ["assessed_at", "assessment"],
  ["last_at", "last_event"],
];

const Facts = ({ row }: { readonly row: Row }) => (
  <section>
    <h2>{say("about_system")}</h2>
    <dl class="facts">
      {typeof row.risk_tier === "string" && (
        <>
          <dt>{say("risk")}</dt>
          <dd>{labelOf("risk_tiers", row.risk_tier)}</dd>
        </>
      )}
      {SHOWN.map(([name, title]) => (
        <Fact key={name} title={title} value={row[name]} />
      ))}
      {Array.isArray(row.legal_bases) && (
        <>
          <dt>{say("law")}</dt>
          <dd>{row.legal_bases.map((law) => labelOf("laws", String(law))).join("; ")}</dd>
        </>
      )}
      {TIMES.map(([name, title]) =>
        typeof row[name] === "string" ? (
          <div key={name}>
            <dt>{say(title)}</dt>
            <dd>
              <Time at={row[name]} />
            </dd>
          </div>
        ) : null,
      )}
    </dl>
  </section>
);

const Fact = ({ title, value }: { readonly title: Word; readonly value: unknown }) =>
  value === null || value === undefined || value === "" ? null : (
    <div>
      <dt>{say(title)}</dt>
      <dd dir="auto">{String(value)}</dd>
    </div>
  );

const LISTS: readonly (readonly [screen: Screen, title: Word])[] = [
  ["events", "events"],
  ["decisions", "decisions"],
  ["obligations", "obligations"],
  ["coverage", "coverage"],
  ["models", "models"],
  ["objections", "objections"],
  ["reviews", "reviews"],
  ["incidents", "incidents"],
  ["assessments", "assessments"],
  ["risk-changes", "risk_changes"],
];

const SeeAlso = ({ id }: { readonly id: string }) => (
  <section>
    <h2>{say("see_also")}</h2>
    <ul class="plain-list">
      {LISTS.map(([screen, title]) => (
        <li key={screen}>
          <a href={addressOf(screen, { asset_id: id })}>{say(title)}</a>
        </li>
      ))}
    </ul>
  </section>
);
