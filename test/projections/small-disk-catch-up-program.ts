/** Makes all views from a log that is there already, in this folder. Prints how many MiB the WAL still has when they are closed. */
import { randomUUID } from "node:crypto";
import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { createSqliteViews } from "../../src/views/sqlite.ts";
import { createArrayLog } from "./array-log.ts";
import { messageOf, simpleEvent } from "./records.ts";
import { allStandAt, run } from "./running.ts";

const RECORDS = 10_000;
const MIB = 1024 * 1024;

const path = join(process.argv[2] ?? "", "views.sqlite");
const log = createArrayLog(
  Array.from({ length: RECORDS }, (_, index) => {
    const named = {
      correlation_id: randomUUID(),
      metadata: { decision_id: randomUUID(), outcome: "approved" },
    };
    return messageOf(index + 1, { event: simpleEvent(randomUUID(), named) });
  }),
);
const views = createSqliteViews({ path });
const running = run(log, views);
await allStandAt(views, RECORDS);
await running.end();
await views.close();
const wal = `${path}-wal`;
process.stdout.write(`${existsSync(wal) ? Math.round(statSync(wal).size / MIB) : 0}\n`);
