import { addressOf, place } from "../address.ts";
import type { StoredEvent } from "../answers.ts";
import { joined } from "../comma-list.ts";
import { eventsCommand } from "../command-lines.ts";
import { EVENT_FILTERS } from "../event-filters.ts";
import { Histogram } from "../parts/histogram.tsx";
import { type Column, ListScreen, type ListSpec } from "../parts/list.tsx";
import { Live } from "../parts/live-tail.tsx";
import { QueryLine } from "../parts/query-line.tsx";
import { EventLink, Id, Label, Person, System, Time } from "../parts/said.tsx";
import { ViewTools } from "../parts/saved-views.tsx";
import { RowValues } from "../parts/value-filter.tsx";
import { say } from "../words.ts";

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
        <a href={addressOf("events", { correlation_id: joined([correlation_id]) })}>
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
  { id: "filter", title: "filter_by", cell: (stored) => <RowValues stored={stored} /> },
];

const SPEC: ListSpec<StoredEvent> = {
  path: "v1/events",
  exportPath: "v1/export",
  title: "events",
  filters: EVENT_FILTERS,
  columns: COLUMNS,
  rowId: ({ sequence }) => String(sequence),
  filledBy: ["decision.automated_decision_made", "transparency.notice_shown"],
  above: () => (
    <>
      <CaseEvidence />
      <Live columns={COLUMNS.filter(({ isExtra }) => !isExtra)} />
      <QueryLine />
      <Histogram />
    </>
  ),
  command: eventsCommand,
  beneath: () => <ViewTools />,
};

export const EventsScreen = () => <ListScreen spec={SPEC} />;

const CaseEvidence = () => {
  const correlation_id = place.value.parameters.get("correlation_id") ?? undefined;
  return correlation_id === undefined ? null : (
    <p>
      <a href={addressOf("evidence", { correlation_id })}>{say("evidence_of_case")}</a>
    </p>
  );
};
