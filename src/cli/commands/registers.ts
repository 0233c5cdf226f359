/** `prooftrail decisions`, `objections`, `obligations`, `assets`, `incidents`, `coverage`, `holds`: what auditors ask. */

import { answering } from "../api.ts";
import { idComplaint } from "../argument-values.ts";
import type { CommandGroup, CommandSpec, OptionSpec } from "../command.ts";
import type { Context } from "../context.ts";
import { MIN_SEQUENCE_OPTION } from "../event-filters.ts";
import { asRecord, asRecords, type JsonRecord, shown } from "../json.ts";
import { listCommand } from "../lists.ts";
import { tableColumns } from "../output.ts";
import { queryFrom } from "../query.ts";
import { REGISTERS, type RegisterSpec, TIMELINE_COLUMNS } from "../registers.ts";
import { jsonOption, SERVICE_OPTIONS } from "../shared-options.ts";
import { type Column, createTable, detailLines } from "../table.ts";

const ORDER: OptionSpec = {
  flag: "--order",
  value: "order",
  description: "from the newest, which is the default, or from the oldest",
  choices: ["desc", "asc"],
};

/** Holds are no view of the log, and have one order. */
const ofViews = ({ name }: Pick<RegisterSpec, "name">): readonly OptionSpec[] =>
  name === "holds" ? [] : [ORDER, MIN_SEQUENCE_OPTION];

const listOf = ({ filters, example, ...register }: RegisterSpec): CommandSpec =>
  listCommand({ ...register, parameters: [...filters, ...ofViews(register)], examples: [example] });

interface Part {
  readonly member: string;
  readonly title: string;
  readonly columns: readonly Column<JsonRecord>[];
}

/** One thing: its members, and its lists as tables. */
const getOf = (
  register: RegisterSpec,
  {
    argument,
    summary,
    parts,
  }: { readonly argument: string; readonly summary: string; readonly parts: readonly Part[] },
): CommandSpec => ({
  name: "get",
  summary,
  arguments: [{ name: argument, description: `of the ${register.row}`, complaint: idComplaint }],
  options: [MIN_SEQUENCE_OPTION, ...SERVICE_OPTIONS, jsonOption()],
  examples: [
    { says: "for people", command: `prooftrail ${register.name} get an_id` },
    { says: "for programs", command: `prooftrail ${register.name} get an_id --json | jq .data` },
  ],
  run: answering(
    (input) => ({
      path: `${register.path}/${encodeURIComponent(input.argument(argument) ?? "")}`,
      query: queryFrom(input, [MIN_SEQUENCE_OPTION]),
    }),
    (data, context) => thingText(context, data, parts),
  ),
});

const thingText = ({ out }: Context, data: JsonRecord, parts: readonly Part[]): string => {
  const width = tableColumns(out);
  const details = Object.entries(data).flatMap(([name, value]) => {
    if (value === null || asRecords(value).length > 0) return [];
    const text = Array.isArray(value) ? value.join(", ") : shown(value);
    return text === "" ? [] : [[name, text] as const];
  });
  const tables = parts.flatMap(({ member, title, columns }) => {
    const rows = asRecords(data[member]).map((row) => ({ ...asRecord(row.event), ...row }));
    return rows.length === 0 ? [] : [`\n${title}\n${createTable<JsonRecord>(columns, width).lines(rows)}`];
  });
  return [detailLines(details, width), ...tables].join("");
};

const group = ({ name, summary }: RegisterSpec, commands: readonly CommandSpec[]): CommandGroup => ({
  name,
  summary,
  commands,
});

const { decisions, objections, obligations, assets, incidents, coverage, holds } = REGISTERS;

const OBLIGATIONS: Part = { member: "obligations", title: "Obligations", columns: obligations.columns };

export const REGISTER_COMMANDS: readonly CommandGroup[] = [
  group(decisions, [
    listOf(decisions),
    getOf(decisions, {
      argument: "decision_id",
      summary: "Show one decision: its timeline, its obligations, what is missing",
      parts: [
        { member: "timeline", title: "Timeline", columns: TIMELINE_COLUMNS },
        OBLIGATIONS,
        { member: "objections", title: "Objections", columns: objections.columns },
      ],
    }),
  ]),
  group(objections, [listOf(objections)]),
  group(obligations, [listOf(obligations)]),
  group(assets, [
    listOf(assets),
    getOf(assets, {
      argument: "asset_id",
      summary: "Show one AI system, and which of its obligations have evidence",
      parts: [{ member: "coverage", title: "Coverage", columns: coverage.columns }],
    }),
  ]),
  group(incidents, [listOf(incidents)]),
  group(coverage, [listOf(coverage)]),
  group(holds, [listOf(holds)]),
];
