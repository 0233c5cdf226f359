/** What auditors ask for, as data: the lists of the API that have a command, with their filters and columns. */
import type { OptionSpec } from "./command.ts";
import { type JsonRecord, shown } from "./json.ts";
import { filterUnder } from "./query.ts";
import type { Column } from "./table.ts";

export interface RegisterSpec {
  /** The command, and the path of the API under /v1. */
  readonly name: string;
  readonly path: string;
  readonly summary: string;
  /** What a row is. */
  readonly row: string;
  readonly filters: readonly OptionSpec[];
  readonly columns: readonly Column<JsonRecord>[];
  readonly example: { readonly says: string; readonly command: string };
}

const filter = filterUnder("Filters (all must hold; several values are separated by commas):");

const YES_OR_NO = ["true", "false"] as const;

const ASSET = filter("asset_id", "ids", "these AI systems");
const SUBJECT = filter("subject_hash", "hashes", "the person concerned, as sha256:…");
const DECISION = filter("decision_id", "ids", "about these decisions");

const times = (counted: string): readonly OptionSpec[] => [
  filter("from", "time", `at or after this time, such as 2026-11-20T10:00:00Z: ${counted}`),
  filter("to", "time", "before this time"),
];

const column = (title: string, member: string): Column<JsonRecord> => ({
  title,
  value: (row) => shown(row[member]),
});
const id = (title: string, member: string): Column<JsonRecord> => ({
  ...column(title, member),
  isId: true,
});
/** To the second, and with a space at which it wraps; --json has it as it is. */
const time = (title: string, member: string): Column<JsonRecord> => ({
  title,
  value: (row) => shown(row[member]).replace(/T([0-9:]{8})(?:\.[0-9]+)?Z$/, " $1Z"),
});
const number = (title: string, member: string): Column<JsonRecord> => ({
  ...column(title, member),
  isRight: true,
});
const list = (title: string, member: string): Column<JsonRecord> => ({
  title,
  value: (row) => {
    const { [member]: value } = row;
    return Array.isArray(value) ? value.join(", ") : shown(value);
  },
});
const flag = (title: string, member: string): Column<JsonRecord> => ({
  title,
  value: (row) => (row[member] === true ? "yes" : row[member] === false ? "no" : ""),
});

export const REGISTERS = {
  decisions: {
    name: "decisions",
    path: "/v1/decisions",
    summary: "Automated decisions: what is missing, and what was late",
    row: "decision",
    filters: [
      ASSET,
      SUBJECT,
      filter("outcome", "texts", "exactly these outcomes"),
      filter(
        "missing",
        "steps",
        "a step is missing: notice, explanation, objection_resolution, human_review, …",
      ),
      { ...filter("late", "yes", "an obligation of it is late, or none is"), choices: YES_OR_NO },
      filter("risk_tier", "tiers", "low, limited, high, prohibited"),
      ...times("when it was made"),
    ],
    columns: [
      id("DECISION", "decision_id"),
      time("MADE", "made_at"),
      id("SYSTEM", "asset_id"),
      column("OUTCOME", "outcome"),
      list("MISSING", "missing"),
      flag("LATE", "late"),
    ],
    example: {
      says: "decisions that were not announced, or not explained",
      command: "prooftrail decisions list --missing notice,explanation",
    },
  },
  objections: {
    name: "objections",
    path: "/v1/registers/objections",
    summary: "Objections, and whether they were answered in time",
    row: "objection",
    filters: [
      ASSET,
      SUBJECT,
      DECISION,
      filter("state", "states", "received, acknowledged, escalated, resolved, orphan"),
      { ...filter("late", "yes", "a limit for the answer was missed, or none was"), choices: YES_OR_NO },
      filter("objection_type", "types", "such as explanation_request"),
      ...times("when it was received"),
    ],
    columns: [
      id("OBJECTION", "objection_id"),
      id("DECISION", "decision_id"),
      id("SYSTEM", "asset_id"),
      column("TYPE", "objection_type"),
      column("STATE", "state"),
      time("RECEIVED", "received_at"),
      time("DUE", "due_at"),
      flag("LATE", "late"),
    ],
    example: {
      says: "objections that were answered late, or not yet",
      command: "prooftrail objections list --late true",
    },
  },
  obligations: {
    name: "obligations",
    path: "/v1/obligations",
    summary: "Obligations and when they fall due",
    row: "obligation",
    filters: [
      filter("state", "states", "open, extended, due_soon, overdue, breached, met, met_late, waived"),
      { ...filter("recorded_late", "yes", "recorded late, or not"), choices: YES_OR_NO },
      filter("rule", "rules", "such as GDPR-12-3"),
      filter("law", "laws", "such as gdpr_art_22"),
      ASSET,
      DECISION,
      SUBJECT,
      filter("objection_id", "ids", "of these objections"),
      filter("incident_id", "ids", "of these incidents"),
      ...times("when it falls due"),
    ],
    columns: [
      id("OBLIGATION", "obligation_id"),
      column("STATE", "state"),
      time("DUE", "due_at"),
      column("WHAT", "duty"),
      column("WHERE THE LAW SAYS SO", "clause"),
      id("SYSTEM", "asset_id"),
    ],
    example: {
      says: "what is overdue or due within a week, the most urgent first",
      command: "prooftrail obligations list --state overdue,due_soon --order asc",
    },
  },
  assets: {
    name: "assets",
    path: "/v1/assets",
    summary: "AI systems: owner, risk tier, status",
    row: "AI system",
    filters: [
      ASSET,
      filter("risk_tier", "tiers", "low, limited, high, prohibited"),
      filter("status", "statuses", "seen, active, retired, archived"),
      ...times("the time of its newest event"),
    ],
    columns: [
      id("SYSTEM", "asset_id"),
      column("NAME", "name"),
      column("OWNER", "owner"),
      column("TIER", "risk_tier"),
      column("STATUS", "status"),
      number("EVENTS", "events"),
      time("LAST EVENT", "last_at"),
    ],
    example: {
      says: "systems of high risk that are in use",
      command: "prooftrail assets list --risk-tier high --status active",
    },
  },
  incidents: {
    name: "incidents",
    path: "/v1/registers/incidents",
    summary: "Incidents, and when their reports are due",
    row: "incident",
    filters: [
      ASSET,
      filter("state", "states", "detected, reported, mitigated, orphan"),
      filter("incident_class", "classes", "such as critical_infrastructure"),
      filter("severity", "texts", "exactly these severities"),
      ...times("when it was detected"),
    ],
    columns: [
      id("INCIDENT", "incident_id"),
      id("SYSTEM", "asset_id"),
      column("CLASS", "incident_class"),
      column("STATE", "state"),
      time("DETECTED", "detected_at"),
      time("REPORT DUE", "report_due_at"),
      time("FIRST REPORT", "initial_report_at"),
    ],
    example: { says: "incidents without a report", command: "prooftrail incidents list --state detected" },
  },
  coverage: {
    name: "coverage",
    path: "/v1/coverage",
    summary: "Which obligations have evidence, per AI system and law",
    row: "obligation",
    filters: [
      ASSET,
      filter("law", "laws", "such as gdpr_art_22"),
      filter("duty", "names", "such as notice or explanation"),
    ],
    columns: [
      id("SYSTEM", "asset_id"),
      column("LAW", "law"),
      column("OBLIGATION", "duty"),
      column("STATE", "state"),
      number("DUE", "due"),
      number("IN TIME", "in_time"),
      number("LATE", "late"),
      number("UNMET", "unmet"),
      number("PENDING", "pending"),
    ],
    example: { says: "of one system", command: "prooftrail coverage list --asset-id credit_model" },
  },
  holds: {
    name: "holds",
    path: "/v1/holds",
    summary: "Holds, which keep events from expiring",
    row: "hold",
    filters: [filter("tenant", "name", "only of this tenant"), ...times("when it was placed")],
    columns: [
      id("HOLD", "id"),
      column("TENANT", "tenant"),
      { title: "ON", value: (row) => shown(row.asset_id ?? row.correlation_id) },
      column("REASON", "reason"),
      time("PLACED", "created_at"),
      time("RELEASED", "released_at"),
    ],
    example: { says: "of one tenant", command: "prooftrail holds list --tenant acme" },
  },
} as const satisfies Readonly<Record<string, RegisterSpec>>;

export const TIMELINE_COLUMNS: readonly Column<JsonRecord>[] = [
  time("AT", "at"),
  time("RECEIVED", "received_at"),
  column("EVENT", "event_type"),
  id("EVENT_ID", "event_id"),
  column("LINKED BY", "linked_by"),
];
