/** What `prooftrail doctor` reports about the views: whether they exist, how far they are, and their dead letters. */

import { VIEW_LAG_RECORDS_MAX } from "../limits.ts";
import type { BrokerConnection } from "../nats/connection.ts";
import { createLogReader } from "../nats/reader.ts";
import { isThere } from "../runtime/durable-file.ts";
import { type Check, failed, ok, unchecked, warned } from "./check.ts";
import type { Config } from "./config.ts";
import { HEALTH_REASONS } from "./health-reasons.ts";
import { adviceAbout, openViewStore, statusOf, type ViewStatus } from "./view-care.ts";
import { viewsFile } from "./view-database.ts";
import { beyondLog, OF_ONE_LOG } from "./view-standing.ts";

const NAME = "views";

export async function* viewChecks(config: Config, connection: BrokerConnection): AsyncGenerator<Check> {
  if (config.databaseUrl === undefined && !(await isThere(viewsFile(config)))) {
    yield unchecked(
      NAME,
      `there is no views.sqlite in ${config.dataDir}`,
      "The service makes it at its start.",
    );
    return;
  }
  await using stack = new AsyncDisposableStack();
  try {
    const store = await openViewStore(config, stack);
    const there = new Set(await store.views.names());
    const missing = store.projections.filter(({ name }) => !there.has(name)).map(({ name }) => name);
    if (missing.length > 0) {
      yield failed(
        NAME,
        `they can be reached, but do not hold ${missing.join(", ")}: no service has made them there yet, or the database was emptied, or restored empty`,
        "Start the service, or restart it if it runs: it makes them from the log.",
      );
      return;
    }
    const log = await createLogReader(connection);
    const { last_sequence: end, views } = await statusOf({ log, ...store });
    yield* lagChecks(end, views);
    const letters = views.filter(({ dead_letters }) => dead_letters > 0);
    yield letters.length === 0
      ? ok("dead letters", "none")
      : warned(
          "dead letters",
          letters.map((view) => `${view.name}: ${view.dead_letters}`).join(", "),
          "prooftrail views dead-letter list says why; replay tries them once more.",
        );
    // Views at the end of the log may still be read-only. A SQLite file was already opened for writing.
    if (config.databaseUrl !== undefined) await store.views.revise({ views: [], expected: [], writes: [] });
  } catch (error) {
    yield failed(NAME, error instanceof Error ? error.message : String(error), adviceAbout(error));
  }
}

function* lagChecks(end: number, views: readonly ViewStatus[]): Generator<Check> {
  const ahead = views.filter(({ position }) => position > end);
  for (const [position, there] of Map.groupBy(ahead, (view) => view.position)) {
    const names = there.map(({ name }) => name);
    yield failed(NAME, beyondLog(names, position, end), OF_ONE_LOG);
  }
  const [furthest] = [...views].sort((a, b) => b.behind - a.behind);
  if (ahead.length > 0 || !furthest) return;
  const { name, behind } = furthest;
  if (behind === 0) yield ok(NAME, `all ${views.length} stand at the log's end, ${end}`);
  else if (behind <= VIEW_LAG_RECORDS_MAX)
    yield ok(NAME, `${name} is furthest behind, by ${behind} of ${end} records`);
  else
    yield failed(
      NAME,
      `${name} is ${behind} records behind the log's end, ${end}`,
      HEALTH_REASONS.views_behind.advice,
    );
}
