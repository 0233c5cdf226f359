/** Events as rows for people. */

import type { Writer } from "./context.ts";
import { asRecord, type JsonRecord, shown } from "./json.ts";
import { tableColumns } from "./output.ts";
import type { TableWriter } from "./table.ts";
import { createTable } from "./table.ts";

const eventOf = (stored: JsonRecord): JsonRecord => asRecord(stored.event) ?? {};

export const createEventTable = (out: Writer): TableWriter<JsonRecord> =>
  createTable<JsonRecord>(
    [
      { title: "SEQ", value: ({ sequence }) => shown(sequence), isRight: true, widthExpected: 6 },
      { title: "TIMESTAMP", value: (stored) => shown(eventOf(stored).timestamp), widthExpected: 20 },
      {
        title: "TYPE",
        value: (stored) => shown(eventOf(stored).event_type),
        widthMin: 12,
        widthExpected: 32,
      },
      { title: "ASSET", value: (stored) => shown(eventOf(stored).asset_id), widthMin: 8 },
      {
        title: "EVENT_ID",
        value: (stored) => shown(eventOf(stored).event_id),
        widthMin: 12,
        isCutLast: true,
      },
    ],
    tableColumns(out),
  );
