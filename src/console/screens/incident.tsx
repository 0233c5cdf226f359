import type { ComponentChildren } from "preact";
import { addressOf, place } from "../address.ts";
import type { Obligation, Row, StoredEvent } from "../answers.ts";
import { type Asked, type List, useAnswer } from "../api.ts";
import { joined } from "../comma-list.ts";
import { labelOf } from "../labels.ts";
import { Clock } from "../parts/clock.tsx";
import { IncidentHold } from "../parts/incident-hold.tsx";
import { Answered, Failed } from "../parts/page-states.tsx";
import { Id, State, System, Time } from "../parts/said.tsx";
import { may } from "../session.ts";
import { say, type Word } from "../words.ts";

/** No route reads one incident; a tenant has few. */
const ROWS_MAX = "200";

export const IncidentScreen = () => (
  <IncidentOf>{(row) => <Incident id={textOf(row, "incident_id") ?? ""} row={row} />}</IncidentOf>
);

/** The incident of the address. */
export const IncidentOf = ({ children }: { readonly children: (row: Row) => ComponentChildren }) => {
  const id = place.value.parameters.get("id") ?? "";
  const list = useAnswer<List<Row>>("v1/registers/incidents", { limit: ROWS_MAX });
  return (
    <Answered asked={list}>
      {({ data }) => {
        const row = data.find(({ incident_id }) => incident_id === id);
        if (row === undefined) return <Failed failure={{ kind: "failed", code: "not_found", detail: id }} />;
        return <>{children(row)}</>;
      }}
    </Answered>
  );
};

/** Its own events, oldest first. */
export const useIncidentEvents = (id: string): Asked<List<StoredEvent>> =>
  useAnswer<List<StoredEvent>>("v1/events", {
    q: id,
    event_type: "incident.*",
    order: "asc",
    limit: ROWS_MAX,
  });

export const useObligations = (assetId: string | undefined): Asked<List<Obligation>> =>
  useAnswer<List<Obligation>>("v1/obligations", { asset_id: assetId, limit: ROWS_MAX });

export const clocksOf = (row: Row, obligations: readonly Obligation[]): readonly Obligation[] =>
  obligations.filter(({ incident_id }) => incident_id === row.incident_id);

export const textOf = (row: Row, name: string): string | undefined => {
  const value = row[name];
  return value === null || value === undefined ? undefined : String(value);
};

const Incident = ({ id, row }: { readonly id: string; readonly row: Row }) => {
  const assetId = textOf(row, "asset_id");
  const incidentClass = textOf(row, "incident_class");
  const events = useIncidentEvents(id);
  return (
    <>
      <h1>{incidentClass === undefined ? say("incident") : labelOf("incident_classes", incidentClass)}</h1>
      <p class="lede">
        <Id id={id} /> · <System id={assetId} /> ·{" "}
        <State kind="incident_states" name={textOf(row, "state") ?? ""} />
      </p>
      <div class="cols">
        <div>
          <Reports row={row} />
          <p class="actions">
            <a class="button plain" href={addressOf("first-report", { id })}>
              {say("first_report")}
            </a>
            <a class="button plain" href={addressOf("events", { q: id })}>
              {say("events")}
            </a>
            {assetId !== undefined && (
              <a
                class="button plain"
                href={addressOf("evidence", {
                  asset_id: joined([assetId]),
                  from: textOf(row, "aware_at") ?? textOf(row, "detected_at"),
                })}
              >
                {say("evidence")}
              </a>
            )}
          </p>
          {may("keys:manage") && assetId !== undefined && (
            <Answered asked={events}>
              {({ data }) => <IncidentHold events={data} assetId={assetId} />}
            </Answered>
          )}
        </div>
        <Clocks row={row} assetId={assetId} />
      </div>
    </>
  );
};

const TIMES: readonly (readonly [name: string, title: Word])[] = [
  ["detected_at", "detected"],
  ["aware_at", "aware"],
  ["report_due_at", "report_due"],
  ["initial_report_at", "initial_report"],
  ["complete_report_at", "complete_report"],
  ["mitigated_at", "mitigated"],
];
/** What is still expected where it is absent. */
const STEPS: readonly string[] = ["initial_report_at", "complete_report_at", "mitigated_at"];
const TEXTS: readonly (readonly [name: string, title: Word])[] = [
  ["severity", "severity"],
  ["authority", "authority"],
  ["affected_count", "affected"],
  ["root_cause", "cause"],
];

const Reports = ({ row }: { readonly row: Row }) => (
  <section>
    <h2>{say("happened")}</h2>
    <dl class="facts">
      {TIMES.filter(([name]) => STEPS.includes(name) || textOf(row, name) !== undefined).map(
        ([name, title]) => (
          <div key={name}>
            <dt>{say(title)}</dt>
            <dd>{textOf(row, name) === undefined ? say("not_yet") : <Time at={textOf(row, name)} />}</dd>
          </div>
        ),
      )}
      {TEXTS.map(([name, title]) => {
        const value = textOf(row, name);
        return value === undefined ? null : (
          <div key={name}>
            <dt>{say(title)}</dt>
            <dd dir="auto">{value}</dd>
          </div>
        );
      })}
    </dl>
  </section>
);

const Clocks = ({ row, assetId }: { readonly row: Row; readonly assetId: string | undefined }) => {
  const list = useObligations(assetId);
  return (
    <section>
      <h2>{say("clocks")}</h2>
      <Answered asked={list}>
        {({ data }) => {
          const clocks = clocksOf(row, data);
          if (clocks.length === 0) return <p class="quiet">{say("no_obligations")}</p>;
          return clocks.map((obligation) => (
            <Clock key={obligation.obligation_id} obligation={obligation} onChange={list.again} />
          ));
        }}
      </Answered>
    </section>
  );
};
