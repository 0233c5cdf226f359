/** What `prooftrail doctor` reports about the views: whether they exist, how far they are, and their dead letters. */
import { isThere } from "../files/durable-file.ts";
import type { BrokerConnection } from "../jetstream/connection.ts";
import { createLogReader } from "../jetstream/reader.ts";
import { VIEW_LAG_RECORDS_MAX } from "../limits.ts";
import { type Check, unchecked } from "./check.ts";
import type { Config } from "./config.ts";
import { adviceAbout, openViewStore, statusOf, type ViewStatus } from "./view-care.ts";
import { viewsFile } from "./view-place.ts";
import { beyondLog, OF_ONE_LOG } from "./view-standing.ts";

export async function* viewChecks(config: Config, connection: BrokerConnection): AsyncGenerator<Check> {
  if (config.databaseUrl === undefined && !(await isThere(viewsFile(config)))) {
    yield unchecked(
      "views",
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
      yield {
        name: "views",
        state: "failed",
        detail: `they can be reached, but do not hold ${missing.join(", ")}: no service has made them there yet, or the database was emptied, or restored empty`,
        advice: "Start the service, or restart it if it runs: it makes them from the log.",
      };
      return;
    }
    const log = await createLogReader(connection);
    const { last_sequence: end, views } = await statusOf({ log, ...store });
    yield* lagChecks(end, views);
    yield* letterChecks(views);
    // Views at the end of the log may still be read-only. A SQLite file was already opened for writing.
    if (config.databaseUrl !== undefined) await store.views.revise({ views: [], expected: [], writes: [] });
  } catch (error) {
    yield {
      name: "views",
      state: "failed",
      detail: error instanceof Error ? error.message : String(error),
      advice: adviceAbout(error),
    };
  }
}

function* lagChecks(end: number, views: readonly ViewStatus[]): Generator<Check> {
  const name = "views";
  const ahead = views.filter(({ position }) => position > end);
  for (const [position, there] of Map.groupBy(ahead, (view) => view.position)) {
    const names = there.map((view) => view.name);
    yield { name, state: "failed", detail: beyondLog(names, position, end), advice: OF_ONE_LOG };
  }
  const [furthest] = [...views].sort((a, b) => b.behind - a.behind);
  if (ahead.length > 0 || !furthest) return;
  if (furthest.behind === 0)
    yield { name, state: "ok", detail: `all ${views.length} stand at the log's end, ${end}` };
  else if (furthest.behind <= VIEW_LAG_RECORDS_MAX)
    yield {
      name,
      state: "ok",
      detail: `${furthest.name} is furthest behind, by ${furthest.behind} of ${end} records`,
    };
  else
    yield {
      name,
      state: "failed",
      detail: `${furthest.name} is ${furthest.behind} records behind the log's end, ${end}`,
      advice:
        "See that a process with the role projector runs; prooftrail views status shows whether it moves.",
    };
}

function* letterChecks(views: readonly ViewStatus[]): Generator<Check> {
  const name = "dead letters";
  const some = views.filter(({ dead_letters }) => dead_letters > 0);
  if (some.length === 0) yield { name, state: "ok", detail: "none" };
  else
    yield {
      name,
      state: "warning",
      detail: some.map((view) => `${view.name}: ${view.dead_letters}`).join(", "),
      advice: "prooftrail views dead-letter list says why; replay tries them once more.",
    };
}
