/**
 * How far the views stand behind the log while events come in: `bun bench/lag.ts [events/s] [seconds] [together|apart|after]
 * [events per batch]`. Events of histories are sent in batches at a steady rate, after ten seconds at half of it; the log's last
 * sequence and the position of the views are looked at 20 times a second. `apart`: front end and projector are processes of their
 * own, sharing the broker and the file of the views. `after`: the projector starts when all has been sent, and makes the views
 * from the log. Linux, for /proc.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { setTimeout as delay } from "node:timers/promises";
import { connect } from "nats";
import { createSqliteViews } from "../src/views/store/sqlite.ts";
import { batchBodies } from "./history-records.ts";
import { cpuMicroseconds, type Subject, startProjector, startSubject } from "./subject.ts";

const LOOK_MS = 50;
/** A program that has just started compiles its busiest functions. A backlog from that time would last long at the full rate. */
const WARM_UP = { seconds: 10, rateShare: 0.5 };

const [rate, seconds, how, batchEvents] = [
  Number(process.argv[2] ?? 10_000),
  Number(process.argv[3] ?? 60),
  process.argv[4] ?? "apart",
  Number(process.argv[5] ?? 100),
];

/** Returns how many were refused, and the greatest delay behind its own schedule. */
const sendAll = async ({ port, key }: Subject, bodies: readonly string[], eventsPerSecond: number) => {
  const startedAt = performance.now();
  const answers: Promise<unknown>[] = [];
  let refused = 0;
  let lateMs = 0;
  for (const [index, body] of bodies.entries()) {
    const dueAt = startedAt + (index * batchEvents * 1000) / eventsPerSecond;
    const early = dueAt - performance.now();
    if (early > 1) await delay(early);
    lateMs = Math.max(lateMs, -early);
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    const sent = fetch(`http://127.0.0.1:${port}/v1/events/batch`, { method: "POST", headers, body });
    answers.push(
      sent.then(async (answer) => {
        if (answer.status !== 202) refused++;
        await answer.arrayBuffer();
      }),
    );
  }
  await Promise.all(answers);
  return { refused, lateMs, seconds: (performance.now() - startedAt) / 1000 };
};

/** The age of the first record that the views had not seen, at each look. The looks themselves show when the log first contained a sequence. */
const watchLag = async (subject: Subject, dataDir: string, lags: number[], stop: AbortSignal) => {
  await using views = createSqliteViews({ path: join(dataDir, "views.sqlite") });
  const { host, username, password } = new URL(subject.natsUrl);
  const connection = await connect({ servers: host, user: username, pass: password });
  const manager = await connection.jetstreamManager();
  const looks: { readonly at: number; readonly last: number }[] = [];
  while (!stop.aborted) {
    const { state } = await manager.streams.info("AUDIT");
    looks.push({ at: performance.now(), last: state.last_seq });
    const position = await views.position("cases");
    while ((looks[0]?.last ?? Number.POSITIVE_INFINITY) <= position) looks.shift();
    lags.push(looks[0] ? performance.now() - looks[0].at : 0);
    await delay(LOOK_MS);
  }
  await connection.close();
};

const cpuOf = (pids: readonly number[]): readonly number[] => pids.map(cpuMicroseconds);

/** Microseconds per event since `before`. */
const cpuSince = (pids: readonly number[], before: readonly number[], events: number): string =>
  cpuOf(pids)
    .map((used, index) => ((used - (before[index] ?? 0)) / events).toFixed(1))
    .join(", ");

const measureLag = async (dataDir: string, bodies: readonly string[]): Promise<string> => {
  await using subject = await startSubject(dataDir, how === "apart" ? "api" : "api,projector");
  await using projector = how === "apart" ? startProjector(dataDir, subject) : undefined;
  const pids = [subject.servicePid, subject.brokerPid, ...(projector ? [projector.pid] : [])];
  const stop = new AbortController();
  const lags: number[] = [];
  const watching = watchLag(subject, dataDir, lags, stop.signal);
  const warmUpRate = rate * WARM_UP.rateShare;
  const measured = bodies.slice((warmUpRate * WARM_UP.seconds) / batchEvents);
  await sendAll(subject, bodies.slice(0, -measured.length), warmUpRate);
  const longestBefore = Math.max(...lags.splice(0));
  const before = cpuOf(pids);
  const sent = await sendAll(subject, measured, rate);
  stop.abort();
  await watching;
  const sorted = lags.toSorted((one, other) => one - other);
  const at = (share: number): number => Math.round(sorted[Math.floor(share * (sorted.length - 1))] ?? 0);
  const events = measured.length * batchEvents;
  return `| events | per batch | events/s | refused | sender late ms | lag p50 ms | p99 ms | longest ms | longest in the ten seconds before | CPU µs/event: service, broker, projector |
|---|---|---|---|---|---|---|---|---|---|
| ${events} | ${batchEvents} | ${Math.round(events / sent.seconds)} | ${sent.refused} | ${Math.round(sent.lateMs)} | ${at(0.5)} | ${at(0.99)} | ${at(1)} | ${Math.round(longestBefore)} | ${cpuSince(pids, before, events)} |
`;
};

const measureMaking = async (dataDir: string, bodies: readonly string[]): Promise<string> => {
  await using subject = await startSubject(dataDir, "api");
  const { refused } = await sendAll(subject, bodies, rate);
  const events = bodies.length * batchEvents;
  const startedAt = performance.now();
  const brokerBefore = cpuOf([subject.brokerPid]);
  await using projector = startProjector(dataDir, subject);
  await using views = createSqliteViews({ path: join(dataDir, "views.sqlite") });
  while ((await views.position("cases")) < events - refused * batchEvents) {
    if (!projector.isRunning()) throw new Error("the projector ended before it had made the views");
    await delay(LOOK_MS);
  }
  const seconds = (performance.now() - startedAt) / 1000;
  return `| events | s | events/s | CPU µs/event: projector | broker |
|---|---|---|---|---|
| ${events} | ${seconds.toFixed(1)} | ${Math.round(events / seconds)} | ${cpuSince([projector.pid], [0], events)} | ${cpuSince([subject.brokerPid], brokerBefore, events)} |
`;
};

const warmUpSeconds = how === "after" ? 0 : WARM_UP.seconds * WARM_UP.rateShare;
/** Made before the clock runs. */
const batches = Math.ceil((rate * (seconds + warmUpSeconds)) / batchEvents);
const bodies = batchBodies(batches * batchEvents, batchEvents);
const folder = await mkdtemp(join(tmpdir(), "prooftrail-lag-"));
try {
  const measure = how === "after" ? measureMaking : measureLag;
  process.stdout.write(await measure(join(folder, "data"), bodies));
} finally {
  await rm(folder, { recursive: true, force: true });
}
