/** `bun run views …`: looks after the views of a service, also while it runs. */
import { randomUUID } from "node:crypto";
import { readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { connectToBroker } from "../jetstream/connection.ts";
import { createLogReader } from "../jetstream/reader.ts";
import { DEAD_LETTERS_LISTED_MAX } from "../limits.ts";
import type { LogReader } from "../log/event-log.ts";
import type { Projection } from "../projections/projection.ts";
import { rebuildView } from "../projections/rebuild.ts";
import { projectionsWith } from "../projections/registry.ts";
import { replayLetter } from "../projections/replay.ts";
import { verifyView } from "../projections/verify.ts";
import { createLogger } from "../telemetry/logger.ts";
import { createPostgresViews } from "../views/postgres.ts";
import { createSqliteViews } from "../views/sqlite.ts";
import { rowInteger, rowText } from "../views/tables.ts";
import type { ViewStore } from "../views/view-store.ts";
import { provideBroker } from "./broker-address.ts";
import { type Config, readConfig } from "./config.ts";
import { loadRules } from "./deadlines-file.ts";

const USAGE = `Usage: bun run views <command>

  status                     where each view stands, and how many dead letters it has
  rebuild <view>             makes the view again from the log, beside the live one, and swaps them
  verify [view]              holds the view, or each of them, against the log, row by row
  dead-letters [view]        records that a view could not take
  replay <view> [sequence]   takes the records of its dead letters once more

Settings are those of the service (DATA_DIR, NATS_URL, DATABASE_URL …). The service may run or not.
Exit codes: 0 all is well, 1 something differs, was refused or failed, 2 wrong use.`;

const EXIT = { ok: 0, failed: 1, usage: 2 } as const;

interface Tools {
  readonly config: Config;
  readonly log: LogReader;
  readonly views: ViewStore;
  readonly projections: readonly [Projection, ...Projection[]];
  readonly signal: AbortSignal;
}

type Command = (tools: Tools, args: readonly string[]) => Promise<number>;

const print = (line: string): void => void process.stdout.write(`${line}\n`);
const complain = (line: string): void => void process.stderr.write(`${line}\n`);
const now = (): Date => new Date();

/** False once the reader of our output has gone, as `head` goes. What was begun is finished in silence: its exit code still says how it went. */
let isHeard = true;
for (const output of [process.stdout, process.stderr]) {
  output.on("error", () => {
    isHeard = false;
  });
}

const chosen = ({ projections }: Tools, name: string | undefined): readonly Projection[] => {
  const found = name === undefined ? projections : projections.filter((each) => each.name === name);
  if (found.length === 0)
    complain(`There is no view ${name}. There are: ${projections.map((each) => each.name).join(", ")}.`);
  return found;
};

const status: Command = async ({ log, views, projections }) => {
  const end = await log.lastSequence();
  print(`log${" ".repeat(17)}${String(end).padStart(12)}`);
  for (const { name } of projections) {
    const position = await views.position(name);
    const letters = (await views.deadLetters(name, 0, DEAD_LETTERS_LISTED_MAX)).length;
    const many = letters === DEAD_LETTERS_LISTED_MAX ? " or more" : "";
    print(
      `${name.padEnd(20)}${String(position).padStart(12)}${end > position ? `  ${end - position} behind` : ""}${letters > 0 ? `  ${letters}${many} dead letters` : ""}`,
    );
  }
  return EXIT.ok;
};

const rebuild: Command = async (tools, [name]) => {
  if (name === undefined) return EXIT.usage;
  const [projection] = chosen(tools, name);
  if (!projection) return EXIT.usage;
  const { log, views, projections, signal } = tools;
  const onProgress = createProgress(`rebuilding ${name}`);
  const [leader] = projections;
  const rebuilt = await rebuildView(
    { log, views, clock: now, leader: leader.name, onProgress },
    projection,
    signal,
  );
  if (rebuilt.kind === "given_up") {
    complain(`The view is as it was: ${rebuilt.reason}.`);
    return EXIT.failed;
  }
  print(
    `${name} was made again up to ${rebuilt.position}, with ${rebuilt.deadLetters.length} dead letters, and took its place.`,
  );
  return EXIT.ok;
};

const verify: Command = async (tools, [name]) => {
  const projections = chosen(tools, name);
  if (projections.length === 0) return EXIT.usage;
  let code: number = EXIT.ok;
  for (const projection of projections) {
    const path = join(tmpdir(), `prooftrail-verify-${randomUUID()}.sqlite`);
    const scratch = createSqliteViews({ path });
    try {
      const onProgress = createProgress(`verifying ${projection.name}`);
      const { log, views: live, signal } = tools;
      const { position, rows, differences } = await verifyView(
        { log, live, scratch, clock: now, onProgress },
        projection,
        signal,
      );
      // Its tables tell all but that.
      const apart = projection.textIndexes ? "; the words of its full-text index are not compared" : "";
      if (differences.length === 0) print(`${projection.name}: equal at ${position}, ${rows} rows${apart}`);
      else {
        code = EXIT.failed;
        print(`${projection.name}: differs at ${position}; the first differences:`);
        for (const { table, key, kind } of differences) print(`  ${table} ${kind} ${key}`);
      }
    } finally {
      await scratch.close();
      for (const end of ["", "-wal", "-shm"]) await rm(path + end, { force: true });
    }
  }
  return code;
};

const deadLetters: Command = async (tools, [name]) => {
  for (const projection of chosen(tools, name)) {
    for await (const letter of lettersOf(tools.views, projection.name)) {
      if (!isHeard) return EXIT.ok;
      print(
        [
          projection.name,
          letter.sequence,
          letter.tenant ?? "-",
          letter.event_id ?? "-",
          letter.code,
          letter.detail,
          letter.recorded_at,
        ].join("\t"),
      );
    }
  }
  return EXIT.ok;
};

async function* lettersOf(views: ViewStore, name: string) {
  for (let after = 0; ; ) {
    const rows = await views.deadLetters(name, after, DEAD_LETTERS_LISTED_MAX);
    yield* rows;
    const last = rows.at(-1);
    if (!last || rows.length < DEAD_LETTERS_LISTED_MAX) return;
    after = rowInteger(last, "sequence");
  }
}

const replay: Command = async (tools, [name, only]) => {
  if (name === undefined || (only !== undefined && !/^\d{1,16}$/.test(only))) return EXIT.usage;
  if (chosen(tools, name).length === 0) return EXIT.usage;
  const { log, views, projections } = tools;
  let [taken, left] = [0, 0];
  for await (const letter of lettersOf(views, name)) {
    const sequence = rowInteger(letter, "sequence");
    if (only !== undefined && Number(only) !== sequence) continue;
    const replayed = await replayLetter({ log, views, now }, projections, { projection: name, sequence });
    if (replayed.kind === "taken") taken++;
    else {
      left++;
      const why = replayed.kind === "refused" ? `${replayed.code}: ${replayed.detail}` : replayed.reason;
      print(`${name} ${sequence} stays a dead letter: ${why} (was ${rowText(letter, "code")})`);
    }
  }
  print(`${taken} taken, ${left} left.`);
  return left === 0 ? EXIT.ok : EXIT.failed;
};

const COMMANDS: Readonly<Record<string, Command>> = {
  status,
  rebuild,
  verify,
  "dead-letters": deadLetters,
  replay,
};

const BAR_CHARACTERS = 30;

/** A bar for a person; a line every few seconds for a file. */
const createProgress = (what: string) => {
  const startedAt = performance.now();
  let saidAt = 0;
  let isDone = false;
  return ({ position, end }: { readonly position: number; readonly end: number }): void => {
    const share = end === 0 ? 1 : Math.min(1, position / end);
    if (share === 1 && isDone) return;
    isDone = share === 1;
    const seconds = (performance.now() - startedAt) / 1000;
    const rate = Math.round(position / Math.max(seconds, 0.001));
    const left = rate > 0 ? Math.ceil((end - position) / rate) : 0;
    const text = `${what} ${position} of ${end}, ${rate}/s, ${left} s left`;
    if (process.stderr.isTTY) {
      const full = Math.round(share * BAR_CHARACTERS);
      const bar = `${"█".repeat(full)}${"░".repeat(BAR_CHARACTERS - full)}`;
      process.stderr.write(`\r${bar} ${text}   ${share === 1 ? "\n" : ""}`);
    } else if (performance.now() - saidAt > 5000 || share === 1) {
      saidAt = performance.now();
      complain(text);
    }
  };
};

/** Our own broker runs as long as the service does: where it does not run, we run it meanwhile. */
const openBroker = async (config: Config, stack: AsyncDisposableStack): Promise<LogReader> => {
  const logger = createLogger({ level: "error", pretty: true });
  const connect = async (url: string) =>
    stack.use(await connectToBroker({ url, name: "prooftrail-views", logger }));
  if (config.natsUrl === undefined) {
    const running = await readFile(join(config.dataDir, "broker", "consumer.url"), "utf8").catch(() => "");
    const connection = running === "" ? undefined : await connect(running.trim()).catch(() => undefined);
    if (connection) return createLogReader(connection);
  }
  const broker = stack.use(await provideBroker({ config, logger }));
  return createLogReader(await connect(broker.serviceUrl));
};

const main = async (): Promise<number> => {
  const [name = "", ...args] = process.argv.slice(2);
  const command = COMMANDS[name];
  if (name === "--help" || name === "help") {
    print(USAGE);
    return EXIT.ok;
  }
  const read = readConfig(process.env);
  if (!command || read.kind === "invalid") {
    complain(read.kind === "invalid" ? read.errors.join("\n") : USAGE);
    return EXIT.usage;
  }
  const { config } = read;
  await using stack = new AsyncDisposableStack();
  const stopping = new AbortController();
  process.once("SIGINT", () => stopping.abort());
  const { rules, version } = await loadRules(config.deadlinesFile);
  const views = stack.use(
    config.databaseUrl === undefined
      ? createSqliteViews({ path: join(config.dataDir, "views.sqlite") })
      : createPostgresViews({ url: config.databaseUrl }),
  );
  const log = await openBroker(config, stack);
  const projections = projectionsWith(rules, version);
  const code = await command({ config, log, views, projections, signal: stopping.signal }, args);
  if (code === EXIT.usage) complain(USAGE);
  return code;
};

process.exitCode = await main().catch((error: unknown) => {
  complain(error instanceof Error ? error.message : String(error));
  return EXIT.failed;
});
