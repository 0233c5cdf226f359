/** Lists of the API, page after page. */
import { memberTexts } from "../intake/json/slice.ts";
import { PAGE_ROWS_MAX } from "../limits.ts";
import type { Api } from "./api.ts";
import type { Writer } from "./context.ts";
import { asRecord, asRecords, asText, type JsonRecord, shown } from "./json.ts";

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
