/**
 * What projecting costs and how fast views answer: `bun bench/projecting.ts [events] [live|imported] [database]`. Histories of AI systems go through
 * all projections into a new database, as in a rebuild, without a broker; then every kind of question is asked (questions.ts). `live` or `imported`
 * is the order of their events in the log (history-records.ts). `database` is the URL of a PostgreSQL database, or a file of SQLite, which is kept,
 * and only queried if it exists already.
 */
import { existsSync } from "node:fs";
import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import type { StoredMessage } from "../src/log/event-log.ts";
import { missingAs } from "../src/runtime/durable-file.ts";
import { eventsProjection } from "../src/views/events/evolve.ts";
import { type Advancing, advance } from "../src/views/kit/advance.ts";
import { PROJECTIONS } from "../src/views/registry.ts";
import { createPostgresViews } from "../src/views/store/postgres.ts";
import { createSqliteViews } from "../src/views/store/sqlite.ts";
import type { ViewStore } from "../src/views/store/view-store.ts";
import { type Chance, createChance } from "../test/support/histories/chance.ts";
import { ASSETS, EVENTS_PER_HISTORY, HISTORY_ORDERS, readHistoryRecords, TENANT } from "./history-records.ts";
import { writeHistoryRecords } from "./programs.ts";
import { activityQuestions, eventQuestions, listQuestions, type Question } from "./questions.ts";

/** A line is printed after this many events, to show whether more events make it slower. */
const EVENTS_PER_LINE = 500_000;
/** A projector runs for months, so its compilation is not part of the cost of an event (8 µs of each of the first 300,000, measured). */
const WARM_UP_EVENTS = 300_000;
/** Number of questions of each kind. */
const QUESTIONS = 60;
/** Kinds of each family that are printed: the slowest. */
const KINDS_SHOWN = 8;

const project = async (views: ViewStore, records: string): Promise<void> => {
  print("| events | bytes each | events/s | CPU µs/event | s |\n|---|---|---|---|---|");
  const all: Spent = { events: 0, bytes: 0, ms: 0, cpuMicroseconds: 0 };
  await moveAll(views, (messagesMax) => countedIn(all, readHistoryRecords(records, messagesMax)));
  print(lineOf(`**${all.events}**`, all));
};

/** Into separate views, which are removed with the folder. */
const warmUp = async (records: string, folder: string): Promise<void> => {
  await using views = createSqliteViews({ path: join(folder, "warm-up.sqlite") });
  await moveAll(views, (messagesMax) => readHistoryRecords(records, messagesMax), WARM_UP_EVENTS);
};

const moveAll = async (
  views: ViewStore,
  follow: (messagesMax: number) => AsyncIterable<readonly StoredMessage[]>,
  to = Number.POSITIVE_INFINITY,
): Promise<void> => {
  for (const projection of PROJECTIONS) await views.open(projection);
  const advancing: Advancing = {
    views,
    log: { follow: ({ messagesMax }) => follow(messagesMax) },
    clock: () => new Date(),
    onProgress: ({ deadLetters: [letter] }) => {
      if (letter) throw new Error(`${letter.projection}: ${letter.detail}`);
    },
  };
  const { signal } = new AbortController();
  const bounds = { to, msMax: Number.POSITIVE_INFINITY, signal };
  const stopped = await advance(advancing, { projections: PROJECTIONS, position: 0 }, bounds);
  if (stopped.kind !== "reached") throw new Error(stopped.kind);
};

/** Passes messages on, and measures what is spent until the next ones are requested: reading is not counted. */
async function* countedIn(
  all: Spent,
  records: AsyncIterable<readonly StoredMessage[]>,
): AsyncGenerator<readonly StoredMessage[]> {
  let before = { ...all };
  for await (const messages of records) {
    const [start, cpu] = [performance.now(), process.cpuUsage()];
    yield messages;
    const used = process.cpuUsage(cpu);
    all.ms += performance.now() - start;
    all.cpuMicroseconds += used.user + used.system;
    all.events += messages.length;
    for (const { payload } of messages) all.bytes += payload.length;
    if (all.events - before.events < EVENTS_PER_LINE) continue;
    print(lineOf(`to ${all.events}`, spentSince(before, all)));
    before = { ...all };
  }
}

interface Spent {
  events: number;
  bytes: number;
  ms: number;
  cpuMicroseconds: number;
}

const spentSince = (before: Spent, now: Spent): Spent => ({
  events: now.events - before.events,
  bytes: now.bytes - before.bytes,
  ms: now.ms - before.ms,
  cpuMicroseconds: now.cpuMicroseconds - before.cpuMicroseconds,
});

const lineOf = (name: string, { events, bytes, ms, cpuMicroseconds }: Spent): string =>
  `| ${name} | ${Math.round(bytes / events)} | ${Math.round((events / ms) * 1000)} | ${(cpuMicroseconds / events).toFixed(1)} | ${(ms / 1000).toFixed(0)} |`;

const print = (line: string): void => void process.stdout.write(`${line}\n`);

const ask = async (views: ViewStore, events: number): Promise<void> => {
  const chance = createChance(1);
  const asked = { views, tenant: TENANT, events };
  const histories = Math.ceil(events / EVENTS_PER_HISTORY);
  const assets = Array.from(
    { length: 50 },
    () => `asset_${1 + chance.below(histories)}_${chance.below(ASSETS)}`,
  );
  const questions = [
    ...(await eventQuestions(asked, chance)),
    ...(await listQuestions(asked, chance)),
    ...activityQuestions(asked, assets),
  ];
  print("| question | kinds | p50 ms | p99 ms | slowest ms |\n|---|---|---|---|---|");
  for (const [family, some] of Map.groupBy(questions, (question) => question.family)) {
    const kinds: { readonly kind: string; readonly times: readonly number[] }[] = [];
    for (const { kind, ask: question } of some) kinds.push({ kind, times: await timesOf(question, chance) });
    print(`| **${family}** | ${kinds.length} | ${figures(kinds.flatMap(({ times }) => times))} |`);
    const slowest = kinds.toSorted((one, other) => at(other.times, 0.99) - at(one.times, 0.99));
    for (const { kind, times } of slowest.slice(0, KINDS_SHOWN)) print(`| ${kind} | | ${figures(times)} |`);
  }
};

const timesOf = async (ask: Question["ask"], chance: Chance): Promise<readonly number[]> => {
  const times: number[] = [];
  for (let asked = 0; asked < QUESTIONS; asked++) {
    const start = performance.now();
    await ask(chance);
    times.push(performance.now() - start);
  }
  return times;
};

const at = (times: readonly number[], share: number): number =>
  times.toSorted((one, other) => one - other)[Math.floor(share * times.length)] ?? 0;

const figures = (times: readonly number[]): string =>
  [at(times, 0.5), at(times, 0.99), Math.max(...times)].map((ms) => ms.toFixed(1)).join(" | ");

/** Rounded up; 0 if there is no such file. */
const megabytes = async (path: string): Promise<number> =>
  Math.ceil((await stat(path).catch(missingAs({ size: 0 }))).size / 2 ** 20);

const count = Number(process.argv[2] ?? 1_000_000);
const [, , , named, database] = process.argv;
const order = HISTORY_ORDERS.find((each) => each === (named ?? "live"));
if (order === undefined) throw new Error(`events stand in the log as ${HISTORY_ORDERS.join(" or ")}`);
const folder = await mkdtemp(join(tmpdir(), "prooftrail-projecting-"));
try {
  const isUrl = database?.includes("://") === true;
  const path = isUrl ? undefined : (database ?? join(folder, "views.sqlite"));
  const isThere = path !== undefined && existsSync(path);
  await using views =
    path === undefined ? createPostgresViews({ url: String(database) }) : createSqliteViews({ path });
  if (!isThere) {
    const records = join(folder, "records");
    await writeHistoryRecords(records, count, order);
    await warmUp(records, folder);
    await project(views, records);
    await rm(records);
  }
  if (path !== undefined)
    print(`\n${await megabytes(path)} MB, and ${await megabytes(`${path}-wal`)} MB in the WAL\n`);
  await ask(views, await views.position(eventsProjection.name));
} finally {
  await rm(folder, { recursive: true, force: true });
}
