/** Lists of the API as commands, page after page. */
import { memberTexts } from "../api/intake/json/slice.ts";
import { PAGE_ROWS_DEFAULT, PAGE_ROWS_MAX } from "../limits.ts";
import { type Api, openApi } from "./api.ts";
import { type CommandSpec, type OptionSpec, option, toggle } from "./command.ts";
import type { Writer } from "./context.ts";
import { EXIT, failure } from "./failure.ts";
import { asRecord, asRecords, asText, type JsonRecord, shown } from "./json.ts";
import { integerComplaint, jsonOption, queryFrom, SERVICE_OPTIONS } from "./options.ts";
import { tableColumns } from "./output.ts";
import { createTable } from "./table.ts";

export interface ListSpec {
  readonly path: string;
  readonly summary: string;
  /** What one row is, for messages. */
  readonly row: string;
  readonly parameters: readonly OptionSpec[];
  readonly columns: readonly string[];
  readonly widthsExpected?: Partial<Record<string, number>>;
  readonly rowOf?: (row: JsonRecord) => JsonRecord;
  readonly examples: CommandSpec["examples"];
}

/** `list`: the rows that match as a table, or as one answer of the API. */
export const listCommand = (list: ListSpec): CommandSpec => ({
  name: "list",
  summary: list.summary,
  options: [
    ...list.parameters,
    option("--limit", "number", `at most this many rows; ${PAGE_ROWS_DEFAULT} by default`, {
      complaint: integerComplaint({ min: 1 }),
    }),
    toggle("--all", "all that match"),
    ...SERVICE_OPTIONS,
    jsonOption("one JSON document instead of text, in the API's form; errors too"),
  ],
  examples: list.examples,
  run: async (input, context) => {
    const { path, parameters, row, columns, widthsExpected, rowOf = (given) => given } = list;
    if (input.isSet("--all") && input.text("--limit") !== undefined)
      throw failure("wrong_use", "Give --limit or --all, not both.");
    const api = await openApi(input, context);
    const { out, err } = context;
    const limit = input.integer("--limit") ?? PAGE_ROWS_DEFAULT;
    const rowsMax = input.isSet("--all") ? Number.POSITIVE_INFINITY : limit;
    const read = pages(api, out, { path, query: queryFrom(input, parameters), rowsMax });
    if (input.isSet("--json")) {
      await printPagesAsJson(out, read);
      return EXIT.ok;
    }
    const table = createTable<JsonRecord>(columns, tableColumns(out), widthsExpected);
    let count = 0;
    let hasMore = false;
    for await (const { rows, nextCursor } of read) {
      count += rows.length;
      hasMore = nextCursor !== undefined;
      if (rows.length > 0) await out.write(table(rows.map(rowOf)));
    }
    if (count === 0) await err.write(`No ${row} matches.\n`);
    else if (hasMore && out.isHeard()) await err.write("There are more: --limit, or --all.\n");
    return EXIT.ok;
  },
});

interface Page {
  readonly rowsText: string;
  readonly rows: readonly JsonRecord[];
  readonly nextCursor: string | undefined;
  readonly requestId: string;
}

/** Ends with the list, after `rowsMax` rows, or when nobody reads the output any more. */
export async function* pages(
  api: Api,
  { isHeard }: Pick<Writer, "isHeard">,
  asked: { readonly path: string; readonly query?: URLSearchParams; readonly rowsMax?: number },
): AsyncGenerator<Page> {
  const { path, rowsMax: left = Number.POSITIVE_INFINITY } = asked;
  const query = new URLSearchParams(asked.query);
  for (let rowsLeft = left; rowsLeft > 0 && isHeard(); ) {
    query.set("limit", String(Math.min(rowsLeft, PAGE_ROWS_MAX)));
    const { text, value } = await api.ask({ path, query });
    const body = asRecord(value) ?? {};
    const rows = asRecords(body.data);
    const nextCursor = asText(body.next_cursor);
    // Keeps the text instead of the value: an event reads back as it was sent, including numbers that no double can hold.
    const rowsText = memberTexts(text).get("data")?.trim().slice(1, -1) ?? "";
    yield { rowsText, rows, nextCursor, requestId: shown(body.request_id) };
    rowsLeft -= rows.length;
    if (nextCursor === undefined) return;
    query.set("cursor", nextCursor);
  }
}

export const printPagesAsJson = async (out: Writer, read: AsyncIterable<Page>): Promise<void> => {
  let end = "";
  for await (const { rowsText, nextCursor, requestId } of read) {
    await out.write(`${end === "" ? '{"data":[' : rowsText === "" ? "" : ","}${rowsText}`);
    end = `],"next_cursor":${JSON.stringify(nextCursor ?? null)},"request_id":${JSON.stringify(requestId)}}\n`;
  }
  await out.write(end);
};
