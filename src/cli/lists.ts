/** Lists of the API as commands, page after page. */
import { memberTexts } from "../api/intake/json/slice.ts";
import { PAGE_ROWS_DEFAULT, PAGE_ROWS_MAX } from "../limits.ts";
import { type Api, openApi } from "./api.ts";
import { integerComplaint } from "./argument-values.ts";
import { type CommandSpec, type OptionSpec, option, toggle } from "./command.ts";
import type { Writer } from "./context.ts";
import { EXIT } from "./exit-codes.ts";
import { failure } from "./failure.ts";
import { asRecord, asRecords, asText, type JsonRecord, shown } from "./json.ts";
import { tableColumns } from "./output.ts";
import { queryFrom } from "./query.ts";
import { jsonOption, SERVICE_OPTIONS } from "./shared-options.ts";
import { type Column, createTable } from "./table.ts";

export interface ListSpec {
  readonly path: string;
  readonly summary: string;
  readonly row: string;
  readonly parameters: readonly OptionSpec[];
  readonly columns: readonly Column<JsonRecord>[];
  readonly examples: CommandSpec["examples"];
}

const PAGE_OPTIONS: readonly OptionSpec[] = [
  option("--limit", "number", `at most so many rows; ${PAGE_ROWS_DEFAULT} by default`, {
    complaint: integerComplaint({ min: 1 }),
  }),
  toggle("--all", "all that match"),
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
    const limit = input.integer("--limit") ?? PAGE_ROWS_DEFAULT;
    const rowsMax = input.isSet("--all") ? Number.POSITIVE_INFINITY : limit;
    const query = queryFrom(input, parameters);
    const read = pages(api, { path, query, rowsMax, isHeard: out.isHeard });
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
  readonly rowsText: string;
  readonly rows: readonly JsonRecord[];
  readonly nextCursor: string | undefined;
  readonly requestId: string;
}

/** Ends with the list, after `rowsMax` rows, or when nobody reads the output any more. */
export async function* pages(
  api: Api,
  {
    path,
    query = new URLSearchParams(),
    rowsMax = Number.POSITIVE_INFINITY,
    isHeard = () => true,
  }: {
    readonly path: string;
    readonly query?: URLSearchParams;
    readonly rowsMax?: number;
    readonly isHeard?: () => boolean;
  },
): AsyncGenerator<Page> {
  const asked = new URLSearchParams(query);
  let left = rowsMax;
  while (left > 0 && isHeard()) {
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

export const printPagesAsJson = async (out: Writer, read: AsyncIterable<Page>): Promise<void> => {
  let end = "";
  for await (const { rowsText, nextCursor, requestId } of read) {
    await out.write(`${end === "" ? '{"data":[' : rowsText === "" ? "" : ","}${rowsText}`);
    end = `],"next_cursor":${JSON.stringify(nextCursor ?? null)},"request_id":${JSON.stringify(requestId)}}\n`;
  }
  await out.write(end);
};

/** The record of a key, on whatever page of the list it is; undefined if it is not in the list, as the admin key. */
export const findKeyRecord = async (api: Api, id: string): Promise<JsonRecord | undefined> => {
  for await (const { rows } of pages(api, { path: "/v1/keys" })) {
    const found = rows.find((each) => each.id === id);
    if (found) return found;
  }
  return undefined;
};
