/**
 * A projector that a test kills: `bun test/chaos/projector.ts <views.sqlite> <seed> <cases> <rebuilt view or ->`. It exits when all views
 * have reached the end of the log.
 */
import { rebuildView } from "../../src/views/kit/rebuild.ts";
import { createRunner } from "../../src/views/kit/runner.ts";
import { PROJECTIONS } from "../../src/views/registry.ts";
import { createSqliteViews } from "../../src/views/store/sqlite.ts";
import { createArrayLog } from "../projections/array-log.ts";
import { silentLogger } from "../support/broker.ts";
import { until } from "../support/until.ts";
import { messagesOf } from "./projector-log.ts";

const [path = "", seed = "1", cases = "", rebuilt = "-"] = process.argv.slice(2);
const messages = messagesOf({ seed: Number(seed), cases: Number(cases) });
const log = createArrayLog(messages);
const clock = (): Date => new Date("2026-11-20T12:00:00Z");
await using views = createSqliteViews({ path });
const stop = new AbortController();
const metrics = { progressed: () => {}, alarmed: () => {} };
const runner = createRunner({ projections: PROJECTIONS, log, views, logger: silentLogger, metrics, clock });
const running = runner.run(stop.signal);
process.stdout.write("running\n");
const projection = PROJECTIONS.find(({ name }) => name === rebuilt);
if (projection) {
  await until("there is something to rebuild", async () => (await views.position("events")) > 0);
  const onProgress = (): void => {};
  await rebuildView({ log, views, clock, onProgress }, projection, stop.signal);
}
await until("all views stand at the end", async () => {
  const positions = await Promise.all(PROJECTIONS.map(({ name }) => views.position(name)));
  return positions.every((position) => position === messages.length);
});
stop.abort();
await running;
