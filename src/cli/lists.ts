/** Lists of the API as commands, page after page. */
import { memberTexts } from "../api/intake/json/slice.ts";
import { PAGE_ROWS_DEFAULT, PAGE_ROWS_MAX } from "../limits.ts";
import { type Api, openApi } from "./api.ts";
import { integerComplaint } from "./argument-values.ts";
import type { CommandSpec, OptionSpec } from "./command.ts";
import type { Writer } from "./context.ts";
import { EXIT } from "./exit-codes.ts";
import { failure } from "./failure.ts";
import { asRecord, asRecords, asText, type JsonRecord, shown } from "./json.ts";
import { tableColumns } from "./output.ts";
import { queryFrom } from "./query.ts";
import { jsonOption, SERVICE_OPTIONS } from "./shared-options.ts";
import { type Column, createTable } from "./table.ts";

export interface ListSpec {
  /** The path of the API. */
  readonly path: string;
  readonly summary: string;
  /** What a row is. */
  readonly row: string;
  /** Options that become parameters. */
  readonly parameters: readonly OptionSpec[];
  readonly columns: readonly Column<JsonRecord>[];
  readonly examples: CommandSpec["examples"];
}

const PAGE_OPTIONS: readonly OptionSpec[] = [
  {
    flag: "--limit",
    value: "number",
    description: `at most so many rows; ${PAGE_ROWS_DEFAULT} by default`,
    complaint: integerComplaint({ min: 1 }),
  },
  { flag: "--all", description: "all that match" },
];

/** `list`: the rows that match as a table, or as one answer of the API. */
export const listCommand = ({
  path,
  summary,
  row,
  parameters,
  columns,
  examples,
}: ListSpec): CommandSpec => ({
  name: "list",
  summary,
  options: [
    ...parameters,
    ...PAGE_OPTIONS,
    ...SERVICE_OPTIONS,
    jsonOption("one JSON document instead of text, in the API's form; errors too"),
  ],
  examples,
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
    const table = createTable(columns, tableColumns(out));
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
});

export interface Page {
  /** The rows as they were received. */
  readonly rowsText: string;
  readonly rows: readonly JsonRecord[];
  readonly nextCursor: string | undefined;
  readonly requestId: string;
}

/** Ends with the list, after `limit` rows, or when nobody reads the output any more. */
export async function* pages(
  { api, out }: { readonly api: Api; readonly out: Writer },
  {
    path,
    query,
    rowsMax = Number.POSITIVE_INFINITY,
  }: { readonly path: string; readonly query: URLSearchParams; readonly rowsMax?: number },
): AsyncGenerator<Page> {
  const asked = new URLSearchParams(query);
  let left = rowsMax;
  while (left > 0 && out.isHeard()) {
    asked.set("limit", String(Math.min(left, PAGE_ROWS_MAX)));
    const { text, value } = await api.ask({ path, query: asked });
    const body = asRecord(value) ?? {};
    const rows = asRecords(body.data);
    const nextCursor = asText(body.next_cursor);
    // Keeps the text instead of the value: an event reads back as it was sent, including numbers that no double can hold.
    const rowsText = memberTexts(text).get("data")?.trim().slice(1, -1) ?? "";
    yield { rowsText, rows, nextCursor, requestId: shown(body.request_id) };
    left -= rows.length;
    if (nextCursor === undefined) return;
    asked.set("cursor", nextCursor);
  }
}

/** All rows as one answer of the API. */
export const printPagesAsJson = async (out: Writer, read: AsyncIterable<Page>): Promise<void> => {
  let end = "";
  for await (const { rowsText, nextCursor, requestId } of read) {
    await out.write(`${end === "" ? '{"data":[' : rowsText === "" ? "" : ","}${rowsText}`);
    end = `],"next_cursor":${JSON.stringify(nextCursor ?? null)},"request_id":${JSON.stringify(requestId)}}\n`;
  }
  await out.write(end);
};
