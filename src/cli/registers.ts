/** What auditors ask for: the lists of the API that have a command, as data with their filters and columns, and the commands. */
import { answering } from "./api.ts";
import { type CommandGroup, type CommandSpec, type Example, type OptionSpec, option } from "./command.ts";
import { asRecord, asRecords, shown } from "./json.ts";
import { listCommand } from "./lists.ts";
import {
  filterUnder,
  idComplaint,
  jsonOption,
  MIN_SEQUENCE_OPTION,
  queryFrom,
  SERVICE_OPTIONS,
} from "./options.ts";
import { recordText } from "./output.ts";

export interface RegisterSpec {
  /** The command, and the path of the API. */
  readonly name: string;
  readonly path: string;
  readonly summary: string;
  readonly row: string;
  readonly filters: readonly OptionSpec[];
  readonly columns: readonly string[];
  readonly example: Example;
}

const filter = filterUnder("Filters (all must hold; several values are separated by commas):");
const yesOrNo = (parameter: string, description: string): OptionSpec => ({
  ...filter(parameter, "yes", description),
  choices: ["true", "false"],
});

const ASSET = filter("asset_id", "ids", "these AI systems");
const SUBJECT = filter("subject_hash", "hashes", "the person concerned, as sha256:…");
const DECISION = filter("decision_id", "ids", "about these decisions");
const TIER = filter("risk_tier", "tiers", "low, limited, high, prohibited");
const LAW = filter("law", "laws", "such as gdpr_art_22");

const times = (counted: string): readonly OptionSpec[] => [
  filter("from", "time", `at or after this time, such as 2026-11-20T10:00:00Z: ${counted}`),
  filter("to", "time", "before this time"),
];

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
      yesOrNo("late", "an obligation of it is late, or none is"),
      TIER,
      ...times("when it was made"),
    ],
    columns: ["decision_id", "made_at", "asset_id", "outcome", "missing", "late"],
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
      yesOrNo("late", "a limit for the answer was missed, or none was"),
      filter("objection_type", "types", "such as explanation_request"),
      ...times("when it was received"),
    ],
    columns: [
      "objection_id",
      "decision_id",
      "asset_id",
      "objection_type",
      "state",
      "received_at",
      "due_at",
      "late",
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
      yesOrNo("recorded_late", "recorded late, or not"),
      filter("rule", "rules", "such as GDPR-12-3"),
      LAW,
      ASSET,
      DECISION,
      SUBJECT,
      filter("objection_id", "ids", "of these objections"),
      filter("incident_id", "ids", "of these incidents"),
      ...times("when it falls due"),
    ],
    columns: ["obligation_id", "state", "due_at", "duty", "clause", "asset_id"],
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
      TIER,
      filter("status", "statuses", "seen, active, retired, archived"),
      ...times("the time of its newest event"),
    ],
    columns: ["asset_id", "name", "owner", "risk_tier", "status", "events", "last_at"],
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
      "incident_id",
      "asset_id",
      "incident_class",
      "state",
      "detected_at",
      "report_due_at",
      "initial_report_at",
    ],
    example: ["incidents without a report", "prooftrail incidents list --state detected"],
  },
  coverage: {
    name: "coverage",
    path: "/v1/coverage",
    summary: "Which obligations have evidence, per AI system and law",
    row: "obligation",
    filters: [ASSET, LAW, filter("duty", "names", "such as notice or explanation")],
    columns: ["asset_id", "law", "duty", "state", "due", "in_time", "late", "unmet", "pending"],
    example: ["of one system", "prooftrail coverage list --asset-id credit_model"],
  },
  holds: {
    name: "holds",
    path: "/v1/holds",
    summary: "Holds, which keep events from expiring",
    row: "hold",
    filters: [filter("tenant", "name", "only of this tenant"), ...times("when it was placed")],
    columns: ["id", "tenant", "asset_id", "correlation_id", "reason", "created_at", "released_at"],
    example: ["of one tenant", "prooftrail holds list --tenant acme"],
  },
} as const satisfies Readonly<Record<string, RegisterSpec>>;

const ORDER = option("--order", "order", "from the newest, which is the default, or from the oldest", {
  choices: ["desc", "asc"],
});

/** A list, and with `more` other commands about its rows. Holds are no view of the log, and have one order. */
const group = (register: RegisterSpec, ...more: readonly CommandSpec[]): CommandGroup => {
  const { name, summary, filters, example } = register;
  const parameters = [...filters, ...(name === "holds" ? [] : [ORDER, MIN_SEQUENCE_OPTION])];
  return {
    name,
    summary,
    commands: [listCommand({ ...register, parameters, examples: [example] }), ...more],
  };
};

const getOf = (
  { name, path, row }: RegisterSpec,
  argument: string,
  summary: string,
  tables: Readonly<Record<string, readonly string[]>>,
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
    (data, { context }) => recordText(context, data, tables),
  ),
});

const { decisions, objections, obligations, assets, incidents, coverage, holds } = REGISTERS;

export const REGISTER_COMMANDS: readonly CommandGroup[] = [
  group(
    decisions,
    getOf(decisions, "decision_id", "Show one decision: its timeline, its obligations, what is missing", {
      timeline: ["at", "received_at", "event_type", "event_id", "linked_by"],
      obligations: obligations.columns,
      objections: objections.columns,
    }),
  ),
  group(objections),
  group(obligations),
  group(
    assets,
    getOf(assets, "asset_id", "Show one AI system, and which of its obligations have evidence", {
      coverage: coverage.columns,
    }),
  ),
  group(incidents),
  group(coverage),
  group(holds),
];

const OF_TENANT = option("--tenant", "name", "of this tenant");

export const RETENTION: CommandSpec = {
  name: "retention",
  summary: "How long events are shown, by tier and law, and why",
  options: [OF_TENANT, ...SERVICE_OPTIONS, jsonOption()],
  examples: [["of one tenant", "prooftrail retention --tenant acme"]],
  run: answering(
    (input) => ({ path: "/v1/retention", query: queryFrom(input, [OF_TENANT]) }),
    (data, { context }) => {
      const ages = asRecords(data.ages).map(({ risk_tier, legal_basis, days, reason }) => {
        const { text, clause } = asRecord(reason) ?? {};
        const why = clause === null || clause === undefined ? text : `${shown(text)} (${shown(clause)})`;
        return { tier: risk_tier, law: legal_basis ?? "any", days: days ?? "kept", why };
      });
      return recordText(context, { ...data, ages }, { ages: ["tier", "law", "days", "why"] });
    },
  ),
};
