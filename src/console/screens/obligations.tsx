import { addressHere, addressOf, place } from "../address.ts";
import type { Obligation } from "../answers.ts";
import { lawText } from "../labels.ts";
import { CalendarFeed } from "../parts/calendar-feed.tsx";
import { apiFilters, type Filter } from "../parts/filters.tsx";
import { type Column, ListScreen, type ListSpec } from "../parts/list.tsx";
import { Month } from "../parts/month.tsx";
import { DueDay, ObligationName, ObligationWhy } from "../parts/obligation.tsx";
import { Label, Person, State, System, Time } from "../parts/said.tsx";
import { seesWholeTenant } from "../session.ts";
import { say } from "../words.ts";

const FILTERS: readonly Filter[] = [
  { name: "state", title: "state", kind: "labels", labels: "obligation_states" },
  { name: "asset_id", title: "system", kind: "system" },
  { name: "law", title: "law", kind: "labels", labels: "laws" },
  { name: "rule", title: "rule", kind: "labels", labels: "rules" },
  { name: "from", title: "from", kind: "day" },
  { name: "to", title: "to", kind: "day" },
];

const COLUMNS: readonly Column<Obligation>[] = [
  { id: "state", title: "state", cell: ({ state }) => <State kind="obligation_states" name={state} /> },
  {
    id: "what",
    title: "what",
    cell: (row) => (
      <>
        <ObligationName obligation={row} />
        <ObligationWhy obligation={row} />
      </>
    ),
  },
  { id: "system", title: "system", isWide: true, cell: ({ asset_id }) => <System id={asset_id} /> },
  { id: "due", title: "due", cell: (row) => <DueDay obligation={row} /> },
  {
    id: "law",
    title: "law",
    isWide: true,
    cell: ({ law, clause, ruleset_version }) => (
      <>
        <Label kind="laws" name={law} />
        <small title={ruleset_version}>{lawText(clause)}</small>
      </>
    ),
  },
  {
    id: "person",
    title: "person",
    isExtra: true,
    cell: ({ subject_hash }) => <Person hash={subject_hash} />,
  },
  {
    id: "started",
    title: "started",
    isExtra: true,
    cell: ({ started_at, started_by }) => (
      <a href={addressOf("event", { id: started_by })}>
        <Time at={started_at} />
      </a>
    ),
  },
];

const SPEC: ListSpec<Obligation> = {
  path: "v1/obligations",
  title: "obligations",
  filters: FILTERS,
  columns: COLUMNS,
  rowId: ({ obligation_id }) => obligation_id,
  above: () => <Views />,
  filledBy: ["objection.received", "decision.human_review_triggered", "incident.detected"],
};

/** What a month and a feed are limited to: all filters but the days. */
const LASTING = FILTERS.filter(({ kind }) => kind !== "day");

const Views = () => {
  const isMonth = place.value.parameters.get("view") === "month";
  const day = { from: undefined, to: undefined };
  return (
    <>
      <nav class="actions" aria-label={say("obligations")}>
        <a
          href={addressHere({ view: undefined, month: undefined })}
          aria-current={isMonth ? undefined : "page"}
        >
          {say("as_list")}
        </a>
        <a href={addressHere({ ...day, view: "month" })} aria-current={isMonth ? "page" : undefined}>
          {say("as_month")}
        </a>
      </nav>
      {seesWholeTenant() && <CalendarFeed filter={apiFilters(LASTING)} />}
    </>
  );
};

export const ObligationsScreen = () => {
  if (place.value.parameters.get("view") !== "month") return <ListScreen spec={SPEC} />;
  return (
    <>
      <h1>{say("obligations")}</h1>
      <Month filters={LASTING} above={<Views />} />
    </>
  );
};
