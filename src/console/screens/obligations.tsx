import type { Obligation } from "../answers.ts";
import type { Filter } from "../parts/filters.tsx";
import { type Column, ListScreen, type ListSpec } from "../parts/list.tsx";
import { DueDay, ObligationName, ObligationWhy } from "../parts/obligation.tsx";
import { Label, Person, State, System, Time } from "../parts/said.tsx";
import { addressOf } from "../place.ts";

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
        <small title={ruleset_version}>{clause}</small>
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
  filledBy: ["objection.received", "decision.human_review_triggered", "incident.detected"],
};

export const ObligationsScreen = () => <ListScreen spec={SPEC} />;
