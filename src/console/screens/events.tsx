import { useEffect, useState } from "preact/hooks";
import type { Activity, StoredEvent } from "../answers.ts";
import { type List, useAnswer } from "../api.ts";
import { EventChart } from "../parts/event-chart.tsx";
import { apiFilters, type Filter, filtersAsked } from "../parts/filters.tsx";
import { type Column, ListScreen, type ListSpec, Table } from "../parts/list.tsx";
import { EventLink, Id, Label, Person, System, Time } from "../parts/said.tsx";
import { addressHere, addressOf, apiAddress, type Parameters, place } from "../place.ts";
import { say } from "../words.ts";

const FILTERS: readonly Filter[] = [
  { name: "q", title: "words", kind: "text" },
  { name: "event_type", title: "type", kind: "labels", labels: "event_types" },
  { name: "asset_id", title: "system", kind: "system" },
  { name: "risk_tier", title: "risk", kind: "labels", labels: "risk_tiers" },
  { name: "legal_basis", title: "law", kind: "labels", labels: "laws" },
  { name: "correlation_id", title: "case", kind: "text" },
  { name: "from", title: "from", kind: "day" },
  { name: "to", title: "to", kind: "day" },
  { name: "subject_hash", title: "person", kind: "person" },
];

/** What a live stream can filter by. */
const LIVE_FILTERS: readonly string[] = ["event_type", "asset_id", "risk_tier"];

const COLUMNS: readonly Column<StoredEvent>[] = [
  { id: "time", title: "time", cell: ({ event }) => <Time at={event.timestamp} /> },
  { id: "what", title: "what", cell: ({ event }) => <EventLink event={event} /> },
  { id: "system", title: "system", cell: ({ event }) => <System id={event.asset_id} /> },
  { id: "person", title: "person", isWide: true, cell: ({ event }) => <Person hash={event.subject_hash} /> },
  {
    id: "case",
    title: "case",
    isWide: true,
    cell: ({ event: { correlation_id } }) =>
      correlation_id ? (
        <a href={addressOf("events", { correlation_id })}>
          <Id id={correlation_id} />
        </a>
      ) : null,
  },
  {
    id: "risk",
    title: "risk",
    isExtra: true,
    cell: ({ event: { risk_tier } }) => risk_tier && <Label kind="risk_tiers" name={risk_tier} />,
  },
  {
    id: "law",
    title: "law",
    isExtra: true,
    cell: ({ event: { legal_bases = [] } }) =>
      legal_bases.map((law) => (
        <div key={law}>
          <Label kind="laws" name={law} />
        </div>
      )),
  },
  { id: "received", title: "received", isWide: true, cell: ({ received_at }) => <Time at={received_at} /> },
  { id: "sequence", title: "sequence", isExtra: true, cell: ({ sequence }) => sequence },
];

const SPEC: ListSpec<StoredEvent> = {
  path: "v1/events",
  exportPath: "v1/export",
  title: "events",
  filters: FILTERS,
  columns: COLUMNS,
  rowId: ({ sequence }) => String(sequence),
  filledBy: ["decision.automated_decision_made", "transparency.notice_shown"],
  above: () => (
    <>
      <CaseEvidence />
      <Live />
      <Histogram />
    </>
  ),
};

export const EventsScreen = () => <ListScreen spec={SPEC} />;

/** Filters that the counts by day have as well. With another one the chart would show other events than the list. */
const COUNTED: readonly string[] = ["event_type", "asset_id", "from", "to"];

const Histogram = () => {
  const asked = apiFilters(FILTERS);
  const isCounted = Object.keys(asked).every((name) => COUNTED.includes(name));
  const { event_type, asset_id, to } = asked;
  const activity = useAnswer<List<Activity>>("v1/activity", {
    ...{ event_type, asset_id, to },
    group_by: "start,event_group",
  });
  if (!isCounted || activity.answer.kind !== "answered") return null;
  return <EventChart rows={activity.answer.body.data} to={to} filters={{ event_type, asset_id }} />;
};

const CaseEvidence = () => {
  const correlation_id = place.value.parameters.get("correlation_id") ?? undefined;
  return correlation_id === undefined ? null : (
    <p>
      <a href={addressOf("evidence", { correlation_id })}>{say("evidence_of_case")}</a>
    </p>
  );
};

const Live = () => {
  const asked = filtersAsked(FILTERS);
  const isPossible = Object.keys(asked).every((name) => LIVE_FILTERS.includes(name));
  const isLive = place.value.parameters.get("live") === "true";
  if (!isPossible) return <p class="quiet">{say("live_filters")}</p>;
  return (
    <>
      <p>
        <a class="button plain" href={addressHere({ live: isLive ? undefined : "true" })}>
          {say(isLive ? "live_stop" : "live")}
        </a>
      </p>
      {isLive && <LiveEvents parameters={apiFilters(FILTERS)} />}
    </>
  );
};

const LIVE_ROWS_MAX = 50;

const LiveEvents = ({ parameters }: { readonly parameters: Parameters }) => {
  const [rows, setRows] = useState<readonly StoredEvent[]>([]);
  const [isBroken, setBroken] = useState(false);
  const address = apiAddress("v1/events/stream", parameters);
  useEffect(() => {
    setRows([]);
    const stream = new EventSource(address);
    stream.addEventListener("open", () => setBroken(false));
    stream.addEventListener("error", () => setBroken(true));
    stream.addEventListener("audit", ({ data }) => {
      const stored: StoredEvent = JSON.parse(data);
      setRows((shown) => [stored, ...shown].slice(0, LIVE_ROWS_MAX));
    });
    return () => stream.close();
  }, [address]);
  return (
    <div class="live">
      <p role="status" class={isBroken ? "note" : "quiet"}>
        {say(isBroken ? "live_gap" : "live_on")}
      </p>
      {rows.length > 0 && <Table title="live" columns={COLUMNS} rows={rows} rowId={SPEC.rowId} />}
    </div>
  );
};
