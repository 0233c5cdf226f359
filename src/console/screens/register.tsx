/** The registers: lists that differ only in their columns and filters, so they are data. */

import { addressOf } from "../address.ts";
import type { Row } from "../answers.ts";
import type { LabelKind } from "../labels.ts";
import type { Filter } from "../parts/filters.tsx";
import { type Column, ListScreen, type ListSpec } from "../parts/list.tsx";
import { Id, Label, Person, State, System, Time } from "../parts/said.tsx";
import type { Screen } from "../screen-names.ts";
import { say, type Word } from "../words.ts";

const text = (row: Row, name: string): string | undefined => {
  const value = row[name];
  return typeof value === "string" ? value : typeof value === "number" ? String(value) : undefined;
};

type More = Pick<Column<Row>, "isExtra" | "isWide">;
const WIDE: More = { isWide: true };
const EXTRA: More = { isExtra: true };

const plain = (id: string, title: Word, more: More = {}): Column<Row> => ({
  ...more,
  ...{ id, title, cell: (row) => <span dir="auto">{text(row, id)}</span> },
});
const time = (id: string, title: Word, more: More = {}): Column<Row> => ({
  ...more,
  ...{ id, title, cell: (row) => <Time at={text(row, id)} /> },
});
const flag = (id: string, title: Word, more: More = {}): Column<Row> => ({
  ...more,
  id,
  title,
  cell: (row) => (typeof row[id] === "boolean" ? say(row[id] ? "yes" : "no") : null),
});
const named = (id: string, title: Word, kind: LabelKind, more: More = {}): Column<Row> => ({
  ...more,
  id,
  title,
  cell: (row) => {
    const name = text(row, id);
    return name === undefined ? null : <Label kind={kind} name={name} />;
  },
});
const state = (kind: LabelKind, id = "state"): Column<Row> => ({
  id,
  title: "state",
  cell: (row) => <State kind={kind} name={text(row, id) ?? ""} />,
});
const thing = (id: string, title: Word, screen: Screen, more: More = {}): Column<Row> => ({
  ...more,
  id,
  title,
  cell: (row) => {
    const value = text(row, id);
    return value === undefined ? null : (
      <a href={addressOf(screen, { id: value })}>
        <Id id={value} />
      </a>
    );
  },
});

const SYSTEM: Column<Row> = {
  id: "asset_id",
  title: "system",
  cell: (row) => <System id={text(row, "asset_id")} />,
};
const PERSON: Column<Row> = {
  id: "subject_hash",
  title: "person",
  isWide: true,
  cell: (row) => <Person hash={text(row, "subject_hash")} />,
};

/** Leads to the decision that it is about, or to its events where no decision is known. */
const OBJECTION: Column<Row> = {
  id: "objection_id",
  title: "objection",
  cell: (row) => {
    const [id = "", decision] = [text(row, "objection_id"), text(row, "decision_id")];
    const address =
      decision === undefined ? addressOf("events", { q: id }) : addressOf("decision", { id: decision });
    return (
      <a href={address}>
        <Id id={id} />
      </a>
    );
  },
};

const BY_SYSTEM: Filter = { name: "asset_id", title: "system", kind: "system" };
const BY_PERSON: Filter = { name: "subject_hash", title: "person", kind: "person" };
const BY_TIME: readonly Filter[] = [
  { name: "from", title: "from", kind: "day" },
  { name: "to", title: "to", kind: "day" },
];
const byState = (labels: LabelKind, name = "state"): Filter => ({
  name,
  title: "state",
  kind: "labels",
  labels,
});

/** The first column that is present, for a row without an id of its own. */
const idOf = (row: Row): string => JSON.stringify(Object.values(row).slice(0, 4));

const register = (spec: Omit<ListSpec<Row>, "rowId">): ListSpec<Row> => ({ ...spec, rowId: idOf });

export const REGISTERS = {
  systems: register({
    path: "v1/assets",
    title: "systems",
    filters: [{ name: "risk_tier", title: "risk", kind: "labels", labels: "risk_tiers" }],
    columns: [
      SYSTEM,
      state("asset_statuses", "status"),
      named("risk_tier", "risk", "risk_tiers"),
      plain("owner", "owner", WIDE),
      plain("version", "version", WIDE),
      plain("oversight_person", "oversight", WIDE),
      plain("domain", "domain", EXTRA),
      plain("role", "role", EXTRA),
      plain("events", "event_count", WIDE),
      time("last_at", "last_event"),
    ],
    filledBy: ["asset.created", "decision.automated_decision_made"],
  }),
  models: register({
    path: "v1/registers/models",
    title: "models",
    filters: [BY_SYSTEM],
    columns: [
      plain("model", "model"),
      plain("version", "version"),
      SYSTEM,
      state("model_states"),
      time("deployed_at", "deployed", WIDE),
      time("retired_at", "retired", WIDE),
    ],
    filledBy: ["model.model_deployed"],
  }),
  notices: register({
    path: "v1/registers/transparency",
    title: "notices",
    filters: [BY_SYSTEM, byState("notice_states"), BY_PERSON, ...BY_TIME],
    columns: [
      time("shown_at", "shown"),
      thing("notice_id", "notice", "event"),
      SYSTEM,
      state("notice_states"),
      PERSON,
      thing("decision_id", "decision", "decision", WIDE),
      plain("channel", "channel", WIDE),
      plain("locale", "locale", EXTRA),
    ],
    filledBy: ["transparency.notice_shown"],
  }),
  objections: register({
    path: "v1/registers/objections",
    title: "objections",
    filters: [
      BY_SYSTEM,
      byState("objection_states"),
      { name: "late", title: "late", kind: "flag", on: "late_only" },
      BY_PERSON,
      ...BY_TIME,
    ],
    columns: [
      time("received_at", "received"),
      OBJECTION,
      state("objection_states"),
      named("objection_type", "type", "objection_types", WIDE),
      SYSTEM,
      PERSON,
      thing("decision_id", "decision", "decision", WIDE),
      time("due_at", "due", WIDE),
      time("resolved_at", "resolved", WIDE),
      flag("late", "late"),
      time("acknowledged_at", "acknowledged", EXTRA),
      plain("resolution", "resolution", EXTRA),
      plain("reason", "reason", EXTRA),
    ],
    filledBy: ["objection.received"],
  }),
  reviews: register({
    path: "v1/registers/human-reviews",
    title: "reviews",
    filters: [BY_SYSTEM, byState("human_review_states"), BY_PERSON, ...BY_TIME],
    columns: [
      time("triggered_at", "triggered"),
      thing("review_id", "review", "event"),
      state("human_review_states"),
      SYSTEM,
      thing("decision_id", "decision", "decision"),
      time("completed_at", "completed", WIDE),
      plain("final_outcome", "outcome", WIDE),
      flag("changed", "changed", WIDE),
      plain("reviewer_id", "reviewer", EXTRA),
      PERSON,
    ],
    filledBy: ["decision.human_review_triggered", "decision.human_review_completed"],
  }),
  incidents: register({
    path: "v1/registers/incidents",
    title: "incidents",
    filters: [BY_SYSTEM, byState("incident_states"), ...BY_TIME],
    columns: [
      time("detected_at", "detected"),
      thing("incident_id", "incident", "incident"),
      state("incident_states"),
      named("incident_class", "incident_class", "incident_classes"),
      SYSTEM,
      plain("severity", "severity", WIDE),
      time("report_due_at", "report_due"),
      time("initial_report_at", "reported", WIDE),
      plain("affected_count", "affected", EXTRA),
    ],
    filledBy: ["incident.detected"],
  }),
  assessments: register({
    path: "v1/registers/assessments",
    title: "assessments",
    filters: [BY_SYSTEM, byState("assessment_states"), ...BY_TIME],
    columns: [
      plain("assessment_id", "assessment"),
      plain("assessment_type", "type"),
      state("assessment_states"),
      SYSTEM,
      time("started_at", "started", WIDE),
      time("completed_at", "completed", WIDE),
      plain("valid_until", "valid_until"),
    ],
    filledBy: ["assessment.impact_assessment_started"],
  }),
  "risk-changes": register({
    path: "v1/registers/risk-changes",
    title: "risk_changes",
    filters: [BY_SYSTEM, ...BY_TIME],
    columns: [
      time("at", "time"),
      thing("event_id", "event", "event"),
      SYSTEM,
      named("from_tier", "from_tier", "risk_tiers"),
      named("to_tier", "to_tier", "risk_tiers"),
      plain("reason", "reason", WIDE),
      plain("actor", "actor", WIDE),
    ],
    filledBy: ["assessment.risk_classification_changed"],
  }),
} as const satisfies Readonly<Partial<Record<Screen, ListSpec<Row>>>>;

export type RegisterName = keyof typeof REGISTERS;

export const isRegister = (screen: Screen): screen is RegisterName => Object.hasOwn(REGISTERS, screen);

/** The key makes each register a screen of its own, so that nothing of the one before stays. */
export const RegisterScreen = ({ name }: { readonly name: RegisterName }) => (
  <ListScreen key={name} spec={REGISTERS[name]} />
);
