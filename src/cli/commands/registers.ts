/** `prooftrail decisions`, `objections`, `obligations`, `assets`, `incidents`, `coverage`, `holds`: what auditors ask. */
import { PAGE_ROWS_DEFAULT } from "../../limits.ts";
import { idComplaint, integerComplaint } from "../argument-values.ts";
import type { CommandGroup, CommandSpec, Input, OptionSpec } from "../command.ts";
import type { Context } from "../context.ts";
import { MIN_SEQUENCE_OPTION } from "../event-filters.ts";
import { EXIT } from "../exit-codes.ts";
import { failure } from "../failure.ts";
import { asRecord, asRecords, type JsonRecord, shown } from "../json.ts";
import { printAnswer, tableColumns } from "../output.ts";
import { pages, printPagesAsJson } from "../pages.ts";
import { queryFrom } from "../query.ts";
import { REGISTERS, type RegisterSpec, TIMELINE_COLUMNS } from "../registers.ts";
import { openApi } from "../service-command.ts";
import { jsonOption, SERVICE_OPTIONS } from "../shared-options.ts";
import { type Column, createTable, detailLines } from "../table.ts";

const ORDER: OptionSpec = {
  flag: "--order",
  value: "order",
  description: "from the newest, which is the default, or from the oldest",
  choices: ["desc", "asc"],
};

const PAGE: readonly OptionSpec[] = [
  {
    flag: "--limit",
    value: "number",
    description: `at most so many rows; ${PAGE_ROWS_DEFAULT} by default`,
    complaint: integerComplaint({ min: 1 }),
  },
  { flag: "--all", description: "all that match" },
];

/** Holds are no view of the log, and have one order. */
const ofViews = ({ name }: RegisterSpec): readonly OptionSpec[] =>
  name === "holds" ? [] : [ORDER, MIN_SEQUENCE_OPTION];

const listOf = (register: RegisterSpec): CommandSpec => {
  const { path, filters, columns, row, example } = register;
  const parameters = [...filters, ...ofViews(register)];
  return {
    name: "list",
    summary: register.summary,
    options: [
      ...parameters,
      ...PAGE,
      ...SERVICE_OPTIONS,
      jsonOption("one JSON document instead of text, in the API's form; errors too"),
    ],
    examples: [example],
    run: async (input, context) => {
      if (input.isSet("--all") && input.text("--limit") !== undefined)
        throw failure("wrong_use", "Give --limit or --all, not both.");
      const api = await openApi(input, context);
      const { out, err } = context;
      const rowsMax = input.isSet("--all") ? undefined : (input.integer("--limit") ?? PAGE_ROWS_DEFAULT);
      const query = queryFrom(input, parameters);
      const read = pages({ api, out }, { path, query, ...(rowsMax !== undefined && { rowsMax }) });
      if (input.isSet("--json")) {
        await printPagesAsJson(out, read);
        return EXIT.ok;
      }
      const table = createTable<JsonRecord>(columns, tableColumns(out));
      let count = 0;
      let hasMore = false;
      for await (const { rows, nextCursor } of read) {
        count += rows.length;
        hasMore = nextCursor !== undefined;
        if (rows.length > 0) await out.write(table.lines(rows));
      }
      if (count === 0) await err.write(`No ${row} matches.\n`);
      else if (hasMore && out.isHeard()) await err.write("There are more: --limit, or --all.\n");
      return EXIT.ok;
    },
  };
};

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
  run: async (input: Input, context: Context) => {
    const api = await openApi(input, context);
    const path = `${register.path}/${encodeURIComponent(input.argument(argument) ?? "")}`;
    const answer = await api.ask({ path, query: queryFrom(input, [MIN_SEQUENCE_OPTION]) });
    const data = asRecord(asRecord(answer.value)?.data) ?? {};
    await printAnswer(context, input, { json: answer.text, text: () => thingText(context, data, parts) });
    return EXIT.ok;
  },
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
