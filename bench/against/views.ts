/** Views: building all of them from one log, on SQLite and on PostgreSQL, then what readers ask of them. */
import { setTimeout as delay } from "node:timers/promises";
import { startPostgres } from "../../test/support/postgres.ts";
import { batchBodies } from "../history-records.ts";
import { cpuMicroseconds, type Subject, startProjector } from "../subject.ts";
import { type Figure, median, quantile } from "./figures.ts";
import { ask, type Program, peakMegabytes, removeViews, startFrontEnd, untilProjected } from "./programs.ts";

const BATCH_EVENTS = 1000;
const ROUNDS = 2;

/** The same events into both logs. */
export const fillLogs = async (programs: readonly Program[], count: number): Promise<void> => {
  const bodies = batchBodies(count, BATCH_EVENTS);
  for (const program of programs) {
    await using subject = await startFrontEnd(program, "api");
    for (const body of bodies) {
      const answer = await ask(subject, "/v1/events/batch", { method: "POST", body });
      if (answer.status !== 202) throw new Error(`${answer.status} ${await answer.text()}`);
      await answer.arrayBuffer();
    }
  }
};

interface Projected {
  readonly rate: number;
  readonly cpu: number;
  readonly megabytes: number;
}

const project = async (
  program: Program,
  events: number,
  settings: Readonly<Record<string, string>> = {},
): Promise<Projected> => {
  await removeViews(program.dataDir);
  await using subject = await startFrontEnd(program, "api", settings);
  const startedAt = performance.now();
  await using projector = startProjector(program.dataDir, subject, { tree: program.tree, settings });
  await untilProjected(subject, events, projector.isRunning);
  return {
    rate: events / ((performance.now() - startedAt) / 1000),
    cpu: cpuMicroseconds(projector.pid) / events,
    megabytes: peakMegabytes(projector.pid),
  };
};

type Both<Value> = readonly [before: Value[], now: Value[]];
type Programs = readonly [before: Program, now: Program];

const inTurns = async <Value>(
  programs: Programs,
  rounds: number,
  measure: (program: Program) => Promise<Value>,
): Promise<Both<Value>> => {
  const results: Both<Value> = [[], []];
  for (let round = 0; round < rounds; round++)
    for (const index of round % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const))
      results[index].push(await measure(programs[index]));
  return results;
};

const compare = <Value>(
  name: string,
  [before, now]: Both<Value>,
  of: (value: Value) => number,
  floor: Figure["floor"],
): Figure => ({ name, before: median(before.map(of)), now: median(now.map(of)), floor });

export const measureProjecting = async (programs: Programs, events: number): Promise<readonly Figure[]> => {
  const sqlite = await inTurns(programs, ROUNDS, (program) => project(program, events));
  const postgres = await onPostgres(programs, events);
  const ours = {
    name: "PostgreSQL of SQLite, now, events/s",
    before: median(sqlite[1].map(({ rate }) => rate)),
    now: median(postgres[1].map(({ rate }) => rate)),
  };
  return [
    compare("projecting on SQLite, events/s", sqlite, ({ rate }) => rate, { atLeast: 0.6 }),
    compare("projecting on SQLite, CPU µs/event", sqlite, ({ cpu }) => cpu, { atMost: 1.67 }),
    compare("projector on SQLite, peak MB", sqlite, ({ megabytes }) => megabytes, { nowAtMost: 500 }),
    compare("projecting on PostgreSQL, events/s", postgres, ({ rate }) => rate, { atLeast: 3 }),
    { ...ours, floor: { atLeast: 0.5 } },
    compare("PostgreSQL, bytes per event", postgres, ({ bytes }) => bytes, { nowAtMost: 2500 }),
  ];
};

const onPostgres = async (
  programs: Programs,
  events: number,
): Promise<Both<Projected & { readonly bytes: number }>> => {
  await using server = await startPostgres();
  return await inTurns(programs, 1, async (program) => {
    await using database = await server.createDatabase();
    const projected = await project(program, events, { DATABASE_URL: database.url });
    const [row] = await database.run("SELECT pg_database_size(current_database()) AS bytes");
    return { ...projected, bytes: Number(row?.bytes) / events };
  });
};

const QUESTIONS_EACH = 200;
const QUESTIONS = {
  lists: [
    "/v1/events?limit=50",
    "/v1/events?event_type=decision.*&order=asc&limit=50",
    "/v1/events?asset_id=asset_1_3&limit=50",
    "/v1/events?risk_tier=high&legal_basis=gdpr_art22&limit=50",
    "/v1/assets?limit=50",
    "/v1/obligations?limit=50",
    "/v1/obligations?law=gdpr_art_22&limit=50",
    "/v1/registers/objections?limit=50",
    "/v1/registers/human-reviews?limit=50",
    "/v1/registers/incidents?limit=50",
  ],
  words: [
    "/v1/events?q=approved&limit=50",
    "/v1/events?q=denied%20income&limit=50",
    "/v1/events?q=manual&limit=50",
  ],
} as const;

/** With one program at a time; the views of each were built before. */
export const measureReading = async (programs: Programs, events: number): Promise<readonly Figure[]> => {
  const found = await inTurns(programs, 1, async (program) => {
    await using subject = await startFrontEnd(program, "api,projector,sealer");
    await untilProjected(subject, events, () => true);
    const lists = await timesOf(subject, QUESTIONS.lists);
    const words = await timesOf(subject, QUESTIONS.words);
    return { lists, words, evidence: await evidenceCost(subject) };
  });
  return [
    ...(["lists", "words"] as const).map((family) =>
      compare(`${family}, p99 ms`, found, (program) => quantile(program[family], 0.99), { atMost: 2 }),
    ),
    compare("evidence bundle, records per second of CPU", found, ({ evidence }) => 1e6 / evidence, {
      atLeast: 4,
    }),
  ];
};

const timesOf = async (subject: Subject, paths: readonly string[]): Promise<readonly number[]> => {
  const times: number[] = [];
  for (let round = 0; round < QUESTIONS_EACH; round++)
    for (const path of paths) {
      const startedAt = performance.now();
      const answer = await ask(subject, path);
      const text = await answer.text();
      if (!answer.ok) throw new Error(`${path}: ${answer.status} ${text}`);
      times.push(performance.now() - startedAt);
    }
  return times;
};

const EVIDENCE_ROUNDS = 5;

/** CPU of the service for each record of a bundle about one asset, in microseconds. The log is sealed before. */
const evidenceCost = async (subject: Subject): Promise<number> => {
  await untilIdle(subject);
  const costs: number[] = [];
  for (let round = 0; round < 2 * EVIDENCE_ROUNDS; round++) {
    const before = cpuMicroseconds(subject.servicePid);
    const answer = await ask(subject, "/v1/evidence?asset_id=asset_1_3&wait=30");
    const bytes = await answer.arrayBuffer();
    if (!answer.ok) throw new Error(`evidence: ${answer.status} ${new TextDecoder().decode(bytes)}`);
    // The first rounds wait for the sealer, whose work must not count, and compile the program.
    if (round >= EVIDENCE_ROUNDS)
      costs.push((cpuMicroseconds(subject.servicePid) - before) / (await recordsOfAsset(subject)));
  }
  return median(costs);
};

const IDLE_MICROSECONDS_MAX = 50_000;

/** The monitor reads the whole log after a start, with a fifth of a core, and must not count. */
const untilIdle = async ({ servicePid }: Subject): Promise<void> => {
  for (let used = Number.POSITIVE_INFINITY; used > IDLE_MICROSECONDS_MAX; ) {
    const before = cpuMicroseconds(servicePid);
    await delay(1000);
    used = cpuMicroseconds(servicePid) - before;
  }
};

const recordsOfAsset = async (subject: Subject): Promise<number> => {
  const whole = "from=2020-01-01T00:00:00Z&to=2031-01-01T00:00:00Z";
  const answer = await ask(subject, `/v1/activity?asset_id=asset_1_3&${whole}`);
  const rows: Readonly<Record<string, unknown>> = JSON.parse(await answer.text());
  const counts = Array.isArray(rows.data) ? rows.data.map(({ events }) => Number(events)) : [];
  return counts.reduce((sum, count) => sum + count, 0);
};
