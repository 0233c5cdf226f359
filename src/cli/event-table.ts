/** Events as rows for people. */
import type { Writer } from "./context.ts";
import { asRecord, type JsonRecord, shown } from "./json.ts";
import { tableColumns } from "./output.ts";
import { createTable, type TableWriter } from "./table.ts";

const member =
  (name: string) =>
  ({ event }: JsonRecord): string =>
    shown(asRecord(event)?.[name]);

export const createEventTable = (out: Writer): TableWriter<JsonRecord> =>
  createTable<JsonRecord>(
    [
      { title: "SEQ", value: ({ sequence }) => shown(sequence), isRight: true, widthExpected: 6 },
      { title: "TIMESTAMP", value: member("timestamp"), widthExpected: 20 },
      { title: "TYPE", value: member("event_type"), widthExpected: 32 },
      { title: "ASSET", value: member("asset_id") },
      { title: "EVENT_ID", value: member("event_id"), isId: true },
    ],
    tableColumns(out),
  );
