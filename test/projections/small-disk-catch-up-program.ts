/**
 * Makes all views from an existing log in this folder, then rebuilds one of them without enough room, and takes
 * the records that come after that. Prints the result of the rebuild, and how many MiB the WAL still has when the views are closed.
 */
import { randomUUID } from "node:crypto";
import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { rebuildView } from "../../src/views/kit/rebuild.ts";
import { PROJECTIONS } from "../../src/views/registry.ts";
import { createSqliteViews } from "../../src/views/store/sqlite.ts";
import { createArrayLog } from "./array-log.ts";
import { messageOf, simpleEvent } from "./records.ts";
import { allStandAt, now, run } from "./running.ts";

const RECORDS = 10_000;
const MORE = 200;
const MIB = 1024 * 1024;

const path = join(process.argv[2] ?? "", "views.sqlite");
const messages = Array.from({ length: RECORDS + MORE }, (_, index) => {
  const named = {
    correlation_id: randomUUID(),
    metadata: { decision_id: randomUUID(), outcome: "approved" },
  };
  return messageOf(index + 1, { event: simpleEvent(randomUUID(), named) });
});
const log = createArrayLog(messages.slice(0, RECORDS));
const views = createSqliteViews({ path });
const running = run(log, views);
await allStandAt(views, RECORDS);
const [leader] = PROJECTIONS;
const rebuilt = await rebuildView(
  { log, views, clock: now, onProgress: () => {} },
  leader,
  new AbortController().signal,
).then(
  ({ kind }) => kind,
  () => "failed",
);
log.append(...messages.slice(RECORDS));
await allStandAt(views, messages.length);
await running.end();
await views.close();
const wal = `${path}-wal`;
process.stdout.write(`${rebuilt} ${existsSync(wal) ? Math.round(statSync(wal).size / MIB) : 0}\n`);
