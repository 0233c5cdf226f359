/** What auditors ask for: the lists of the API that have a command, as data with their filters and columns, and the commands. */
import { answering } from "./api.ts";
import { idComplaint } from "./argument-values.ts";
import { type CommandGroup, type CommandSpec, type Example, type OptionSpec, option } from "./command.ts";
import type { Context } from "./context.ts";
import { MIN_SEQUENCE_OPTION } from "./event-filters.ts";
import { asRecord, asRecords, type JsonRecord, shown } from "./json.ts";
import { listCommand } from "./lists.ts";
import { tableColumns, tableText } from "./output.ts";
import { filterUnder, queryFrom } from "./query.ts";
import { jsonOption, SERVICE_OPTIONS } from "./shared-options.ts";
import { type Column, detailLines } from "./table.ts";

export interface RegisterSpec {
  /** The command, and the path of the API under /v1. */
  readonly name: string;
  readonly path: string;
  readonly summary: string;
  readonly row: string;
  readonly filters: readonly OptionSpec[];
  readonly columns: readonly Column<JsonRecord>[];
  readonly example: Example;
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

const column = (title: string, member: string, value = shown): Column<JsonRecord> => ({
  title,
  value: (row) => value(row[member]),
});
const id = (title: string, member: string): Column<JsonRecord> => ({ ...column(title, member), isId: true });
const number = (title: string, member: string): Column<JsonRecord> => ({
  ...column(title, member),
  isRight: true,
});
/** To the second, and with a space at which it wraps; --json has it as it is. */
const time = (title: string, member: string): Column<JsonRecord> =>
  column(title, member, (value) => shown(value).replace(/T([0-9:]{8})(?:\.[0-9]+)?Z$/, " $1Z"));
const list = (title: string, member: string): Column<JsonRecord> => column(title, member, listText);
const listText = (value: unknown): string => (Array.isArray(value) ? value.join(", ") : shown(value));
const flag = (title: string, member: string): Column<JsonRecord> =>
  column(title, member, (value) => (value === true ? "yes" : value === false ? "no" : ""));

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
    example: [
      "decisions that were not announced, or not explained",
      "prooftrail decisions list --missing notice,explanation",
    ],
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
    example: ["objections that were answered late, or not yet", "prooftrail objections list --late true"],
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
    example: [
      "what is overdue or due within a week, the most urgent first",
      "prooftrail obligations list --state overdue,due_soon --order asc",
    ],
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
    example: [
      "systems of high risk that are in use",
      "prooftrail assets list --risk-tier high --status active",
    ],
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
    example: ["incidents without a report", "prooftrail incidents list --state detected"],
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
    example: ["of one system", "prooftrail coverage list --asset-id credit_model"],
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
    example: ["of one tenant", "prooftrail holds list --tenant acme"],
  },
} as const satisfies Readonly<Record<string, RegisterSpec>>;

const TIMELINE_COLUMNS: readonly Column<JsonRecord>[] = [
  time("AT", "at"),
  time("RECEIVED", "received_at"),
  column("EVENT", "event_type"),
  id("EVENT_ID", "event_id"),
  column("LINKED BY", "linked_by"),
];

const ORDER = option("--order", "order", "from the newest, which is the default, or from the oldest", {
  choices: ["desc", "asc"],
});

/** A list, and with `more` other commands about its rows. Holds are no view of the log, and have one order. */
const group = (register: RegisterSpec, ...more: readonly CommandSpec[]): CommandGroup => {
  const { name, summary, filters, example, ...spec } = register;
  const ofViews = name === "holds" ? [] : [ORDER, MIN_SEQUENCE_OPTION];
  const parameters = [...filters, ...ofViews];
  return {
    name,
    summary,
    commands: [listCommand({ ...spec, summary, parameters, examples: [example] }), ...more],
  };
};

interface Part {
  readonly member: string;
  readonly title: string;
  readonly columns: readonly Column<JsonRecord>[];
}

const getOf = (
  { name, path, row }: RegisterSpec,
  argument: string,
  summary: string,
  parts: readonly Part[],
): CommandSpec => ({
  name: "get",
  summary,
  arguments: [{ name: argument, description: `of the ${row}`, complaint: idComplaint }],
  options: [MIN_SEQUENCE_OPTION, ...SERVICE_OPTIONS, jsonOption()],
  examples: [
    ["for people", `prooftrail ${name} get an_id`],
    ["for programs", `prooftrail ${name} get an_id --json | jq .data`],
  ],
  run: answering(
    (input) => ({
      path: `${path}/${encodeURIComponent(input.argument(argument) ?? "")}`,
      query: queryFrom(input, [MIN_SEQUENCE_OPTION]),
    }),
    (data, context) => thingText(context, data, parts),
  ),
});

const thingText = (context: Context, data: JsonRecord, parts: readonly Part[]): string => {
  const details = Object.entries(data).flatMap(([name, value]) => {
    const text = asRecords(value).length > 0 ? "" : listText(value);
    return text === "" ? [] : [[name, text] as const];
  });
  const tables = parts.flatMap(({ member, title, columns }) => {
    const rows = asRecords(data[member]).map((row) => ({ ...asRecord(row.event), ...row }));
    return rows.length === 0 ? [] : [`\n${title}\n${tableText(context, columns, rows)}`];
  });
  return [detailLines(details, tableColumns(context.out)), ...tables].join("");
};

const { decisions, objections, obligations, assets, incidents, coverage, holds } = REGISTERS;

export const REGISTER_COMMANDS: readonly CommandGroup[] = [
  group(
    decisions,
    getOf(decisions, "decision_id", "Show one decision: its timeline, its obligations, what is missing", [
      { member: "timeline", title: "Timeline", columns: TIMELINE_COLUMNS },
      { member: "obligations", title: "Obligations", columns: obligations.columns },
      { member: "objections", title: "Objections", columns: objections.columns },
    ]),
  ),
  group(objections),
  group(obligations),
  group(
    assets,
    getOf(assets, "asset_id", "Show one AI system, and which of its obligations have evidence", [
      { member: "coverage", title: "Coverage", columns: coverage.columns },
    ]),
  ),
  group(incidents),
  group(coverage),
  group(holds),
];

const OF_TENANT = option("--tenant", "name", "of this tenant");

const AGE_COLUMNS: readonly Column<JsonRecord>[] = [
  { title: "TIER", value: (row) => shown(row.risk_tier) },
  { title: "LAW", value: (row) => shown(row.legal_basis) || "any" },
  { title: "DAYS", value: (row) => shown(row.days) || "kept", isRight: true },
  { title: "WHY", value: (row) => reasonText(row.reason) },
];

const reasonText = (reason: unknown): string => {
  const { text, clause } = asRecord(reason) ?? {};
  return clause === null || clause === undefined ? shown(text) : `${shown(text)} (${shown(clause)})`;
};

export const RETENTION: CommandSpec = {
  name: "retention",
  summary: "How long events are shown, by tier and law, and why",
  options: [OF_TENANT, ...SERVICE_OPTIONS, jsonOption()],
  examples: [["of one tenant", "prooftrail retention --tenant acme"]],
  run: answering(
    (input) => ({ path: "/v1/retention", query: queryFrom(input, [OF_TENANT]) }),
    (data, context) => {
      const details = [
        ["tenant", shown(data.tenant)],
        ["policy", shown(data.policy)],
        ["set at", shown(data.updated_at) || undefined],
        ["set by", shown(data.updated_by) || undefined],
      ] as const;
      const table = tableText(context, AGE_COLUMNS, asRecords(data.ages));
      return `${detailLines(details, tableColumns(context.out))}\n${table}`;
    },
  ),
};
