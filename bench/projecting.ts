/**
 * What projecting costs and how fast views answer: `bun bench/projecting.ts [events] [database]`. Histories of AI systems at work go through all
 * projections into a new database, as a rebuild does it, without a broker; then every kind of question is asked (questions.ts). `database` is the URL
 * of a PostgreSQL database, or a file of SQLite, which stays and is only asked when it is there already.
 */
import { existsSync } from "node:fs";
import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { PROJECTION_RECORDS_PER_COMMIT_MAX } from "../src/limits.ts";
import type { StoredMessage } from "../src/log/event-log.ts";
import { encodeRecord } from "../src/log/record.ts";
import { eventsProjection } from "../src/projections/events/evolve.ts";
import { evolveGroup } from "../src/projections/evolve-group.ts";
import { PROJECTIONS } from "../src/projections/registry.ts";
import { createPostgresViews } from "../src/views/postgres.ts";
import { createSqliteViews } from "../src/views/sqlite.ts";
import type { ViewStore } from "../src/views/view-store.ts";
import { CALM, type Chance, createChance, makeHistory } from "../test/support/histories.ts";
import { activityQuestions, eventQuestions, listQuestions, type Question } from "./questions.ts";

const TENANT = "acme";
const SUBJECT = `audit.${TENANT}.system.decision.automated_decision_made`;
const EVENTS_PER_HISTORY = 50_000;
const ASSETS = 20;
/** A CALM case has about so many events. */
const EVENTS_PER_CASE = 1.9;
/** Of each kind. */
const QUESTIONS = 60;
/** Kinds of each family that are printed: those that take longest. */
const KINDS_SHOWN = 8;

const encoder = new TextEncoder();

async function* messages(count: number): AsyncGenerator<StoredMessage[]> {
  let sequence = 0;
  for (let seed = 1; sequence < count; seed++) {
    const cases = Math.ceil(EVENTS_PER_HISTORY / ASSETS / EVENTS_PER_CASE);
    const { events } = makeHistory({ seed, assets: ASSETS, cases, shares: CALM });
    for (
      let start = 0;
      start < events.length && sequence < count;
      start += PROJECTION_RECORDS_PER_COMMIT_MAX
    ) {
      const some = events.slice(
        start,
        Math.min(start + PROJECTION_RECORDS_PER_COMMIT_MAX, start + count - sequence),
      );
      yield some.map((event) => ({ sequence: ++sequence, subject: SUBJECT, payload: payloadOf(event) }));
    }
  }
}

const payloadOf = (event: object): Uint8Array =>
  encoder.encode(
    encodeRecord({
      tenant: TENANT,
      receivedAt: "2026-11-20T10:00:00.000Z",
      requestId: "0198c0de-0000-7000-8000-000000000000",
      eventText: JSON.stringify({ ...event, tags: { team: "credit", canary: false } }),
    }),
  );

const project = async (views: ViewStore, count: number): Promise<void> => {
  for (const projection of PROJECTIONS) await views.open(projection);
  let position = 0;
  let [ms, cpuMicroseconds, bytes] = [0, 0, 0];
  for await (const group of messages(count)) {
    for (const { payload } of group) bytes += payload.length;
    const [start, cpu] = [performance.now(), process.cpuUsage()];
    const outcome = await evolveGroup({
      projections: PROJECTIONS,
      messages: group,
      load: views.load,
      now: "",
    });
    const to = position + group.length;
    const result = await views.commit({ views: PROJECTIONS, from: position, to, ...outcome });
    if (result.kind !== "committed" || outcome.deadLetters.length > 0) throw new Error(result.kind);
    const used = process.cpuUsage(cpu);
    ms += performance.now() - start;
    cpuMicroseconds += used.user + used.system;
    position = to;
  }
  print(
    `| ${position} | ${Math.round(bytes / position)} | ${Math.round((position / ms) * 1000)} | ${(cpuMicroseconds / position).toFixed(1)} | ${(ms / 1000).toFixed(0)} |`,
  );
};

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

const count = Number(process.argv[2] ?? 1_000_000);
const [, , , database] = process.argv;
const folder = await mkdtemp(join(tmpdir(), "prooftrail-projecting-"));
try {
  const isUrl = database?.includes("://") === true;
  const path = isUrl ? undefined : (database ?? join(folder, "views.sqlite"));
  const isThere = path !== undefined && existsSync(path);
  await using views =
    path === undefined ? createPostgresViews({ url: String(database) }) : createSqliteViews({ path });
  if (!isThere) {
    print("| events | bytes each | events/s | CPU µs/event | s |\n|---|---|---|---|---|");
    await project(views, count);
  }
  if (path !== undefined) print(`\n${Math.round((await stat(path)).size / 2 ** 20)} MB\n`);
  await ask(views, await views.position(eventsProjection.name));
} finally {
  await rm(folder, { recursive: true, force: true });
}
