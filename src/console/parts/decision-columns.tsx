/** The register of decisions, as columns and filters. */

import { addressOf } from "../address.ts";
import type { DecisionEntry } from "../answers.ts";
import type { Filter } from "./filters.tsx";
import type { Column } from "./list.tsx";
import { Id, Label, Person, System, Time } from "./said.tsx";

const STEPS = ["notice", "explanation", "objection_resolution", "human_review"] as const;

export const DECISION_FILTERS: readonly Filter[] = [
  { name: "subject_hash", title: "person", kind: "person" },
  { name: "asset_id", title: "system", kind: "system" },
  { name: "outcome", title: "outcome", kind: "text" },
  { name: "missing", title: "missing", kind: "labels", labels: "steps", only: STEPS },
  { name: "late", title: "late", kind: "flag", on: "late_only" },
  { name: "from", title: "from", kind: "day" },
  { name: "to", title: "to", kind: "day" },
];

const Steps = ({ names }: { readonly names: readonly string[] }) =>
  names.map((name) => (
    <div key={name}>
      <Label kind="steps" name={name} />
    </div>
  ));

export const DECISION_COLUMNS: readonly Column<DecisionEntry>[] = [
  { id: "time", title: "time", cell: ({ made_at, notice_at }) => <Time at={made_at ?? notice_at} /> },
  {
    id: "decision",
    title: "decision",
    cell: ({ decision_id }) => (
      <a href={addressOf("decision", { id: decision_id })}>
        <Id id={decision_id} />
      </a>
    ),
  },
  { id: "outcome", title: "outcome", cell: ({ outcome }) => outcome },
  { id: "system", title: "system", isWide: true, cell: ({ asset_id }) => <System id={asset_id} /> },
  { id: "person", title: "person", isWide: true, cell: ({ subject_hash }) => <Person hash={subject_hash} /> },
  {
    id: "missing",
    title: "missing",
    cell: ({ missing }) => missing.length > 0 && <span class="alarm">{Steps({ names: missing })}</span>,
  },
  { id: "pending", title: "pending", isWide: true, cell: ({ pending }) => <Steps names={pending} /> },
  {
    id: "open",
    title: "obligations",
    isWide: true,
    cell: ({ obligations_open }) => (obligations_open === 0 ? null : obligations_open),
  },
  { id: "notice", title: "notice", isExtra: true, cell: ({ notice_at }) => <Time at={notice_at} /> },
  {
    id: "explanation",
    title: "explanation",
    isExtra: true,
    cell: ({ explanation_at }) => <Time at={explanation_at} />,
  },
  {
    id: "review",
    title: "review",
    isExtra: true,
    cell: ({ review_completed_at }) => <Time at={review_completed_at} />,
  },
  { id: "reversed", title: "reversed", isExtra: true, cell: ({ reversed_at }) => <Time at={reversed_at} /> },
  {
    id: "risk",
    title: "risk",
    isExtra: true,
    cell: ({ risk_tier }) => risk_tier && <Label kind="risk_tiers" name={risk_tier} />,
  },
];
