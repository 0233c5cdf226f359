/** What ingestion costs, single and in batches; see README.md here. Linux, for the CPU times in /proc. */
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { cpus, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { CeilingResult } from "./ceiling.ts";
import type { LoadOrder, LoadResult } from "./load.ts";

const root = resolve(import.meta.dir, "..");
const SECONDS = Number(process.env.BENCH_SECONDS ?? 5);
/** The front end alone is what its CPU time speaks of; ROLES=api,projector shows the default. */
const ROLES = process.env.ROLES ?? "api";
const CASES = [
  { connections: 1, batchEvents: 0 },
  { connections: 64, batchEvents: 0 },
  { connections: 256, batchEvents: 0 },
  { connections: 1, batchEvents: 1 },
  { connections: 1, batchEvents: 100 },
  { connections: 1, batchEvents: 1000 },
  { connections: 4, batchEvents: 1000 },
];

interface Subject {
  readonly port: number;
  readonly key: string;
  readonly natsUrl: string;
  readonly servicePid: number;
  readonly brokerPid: number;
}

const bench = async (subject: Subject): Promise<void> => {
  const http = await startHttpCeiling();
  const atomic = await ceiling(subject, "atomic");
  const one = await ceiling(subject, "one");
  const many = await ceiling(subject, "many");
  const rows: string[][] = [];
  for (const [index, { connections, batchEvents }] of CASES.entries()) {
    const order = { ...subject, connections, batchEvents, seconds: SECONDS, run: `r${index}` };
    const unstored = await load({ ...order, port: http.port });
    await load({ ...order, seconds: 1, run: `w${index}` });
    const before = [cpuMicroseconds(subject.servicePid), cpuMicroseconds(subject.brokerPid)] as const;
    const result = await load(order);
    const perEvent = (pid: number, earlier: number) =>
      ((cpuMicroseconds(pid) - earlier) / result.events).toFixed(1);
    const rate = result.events / result.seconds;
    const raw = batchEvents === 0 ? many.eventsPerSecond : atomic.eventsPerSecond;
    rows.push([
      batchEvents === 0 ? "single" : `batch of ${batchEvents}`,
      String(connections),
      count(rate),
      result.p50.toFixed(1),
      result.p99.toFixed(1),
      result.p999.toFixed(1),
      perEvent(subject.servicePid, before[0]),
      perEvent(subject.brokerPid, before[1]),
      String(result.refused),
      (rate / raw).toFixed(2),
      (rate / (unstored.events / unstored.seconds)).toFixed(2),
    ]);
  }
  http.stop();
  print(rows, [
    [
      "atomic batches of 1000, 2 in flight",
      count(atomic.eventsPerSecond),
      atomic.p50.toFixed(1),
      atomic.cpuMicroseconds.toFixed(1),
    ],
    [
      "one by one, 1 in flight",
      count(one.eventsPerSecond),
      one.p50.toFixed(2),
      one.cpuMicroseconds.toFixed(1),
    ],
    [
      "one by one, 256 in flight",
      count(many.eventsPerSecond),
      many.p50.toFixed(1),
      many.cpuMicroseconds.toFixed(1),
    ],
  ]);
};

const count = (value: number): string => Math.round(value).toLocaleString("en");

const HEADINGS = [
  "requests",
  "connections",
  "events/s",
  "p50 ms",
  "p99 ms",
  "p99.9 ms",
  "service µs/event",
  "broker µs/event",
  "refused",
  "of raw JetStream",
  "of answering without storing",
];
const CEILING_HEADINGS = ["raw JetStream, same broker", "events/s", "p50 ms", "client µs/event"];

const print = (rows: readonly string[][], ceilings: readonly string[][]): void => {
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |\n`;
  const table = (headings: readonly string[], body: readonly string[][]): string =>
    line(headings) + line(headings.map(() => "---")) + body.map(line).join("");
  const machine = `${cpus().length} cores (${cpus()[0]?.model ?? "unknown"}), Bun ${process.versions.bun}, ${SECONDS} s per case, one run, roles ${ROLES}`;
  process.stdout.write(
    `\n${machine}; load generator: bench/load.ts in its own process. Raw JetStream is one by one with 256 in flight for single events, atomic batches for batches.\n\n`,
  );
  process.stdout.write(`${table(HEADINGS, rows)}\n${table(CEILING_HEADINGS, ceilings)}`);
};

const ceiling = async ({ natsUrl }: Subject, kind: "atomic" | "one" | "many"): Promise<CeilingResult> =>
  JSON.parse(await run(["bench/ceiling.ts", natsUrl, kind, String(SECONDS)]));

const startHttpCeiling = async (): Promise<{ port: number; stop: () => void }> => {
  const child = spawn(process.execPath, [join(root, "bench/ceiling.ts"), "-", "http"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const { promise, resolve: done } = Promise.withResolvers<number>();
  child.stdout.setEncoding("utf8").on("data", (text) => done(JSON.parse(text).port));
  return { port: await promise, stop: () => void child.kill() };
};

const load = async (order: LoadOrder): Promise<LoadResult> =>
  JSON.parse(await run(["bench/load.ts", JSON.stringify(order)]));

const run = ([script = "", ...args]: readonly string[]): Promise<string> => {
  const { promise, resolve: done, reject } = Promise.withResolvers<string>();
  const child = spawn(process.execPath, [join(root, script), ...args], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text) => {
    output += text;
  });
  child.on("close", (code) =>
    code === 0 ? done(output) : reject(new Error(`${script} ended with ${code}`)),
  );
  return promise;
};

/** User and system time of a process so far. Fields 14 and 15 of proc(5) stat, in ticks of 10 ms. */
const cpuMicroseconds = (pid: number): number => {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
    .replace(/^.*\) /, "")
    .split(" ");
  return (Number(fields[11]) + Number(fields[12])) * 10_000;
};

const start = async (dataDir: string): Promise<{ subject: Subject; stop: () => Promise<void> }> => {
  const child = spawn(process.execPath, [join(root, "src/service/main.ts")], {
    env: { ...process.env, DATA_DIR: dataDir, PORT: "0", LOG_LEVEL: "warn", ROLES },
    stdio: ["ignore", "inherit", "pipe"],
  });
  const ready = Promise.withResolvers<number>();
  let banner = "";
  child.stderr.setEncoding("utf8").on("data", (text) => {
    banner += text;
    const port = /listens at\s+http:\/\/127\.0\.0\.1:(\d+)/.exec(banner)?.[1];
    if (port !== undefined) ready.resolve(Number(port));
  });
  const ended = new Promise<void>((resolveEnded) => child.on("close", () => resolveEnded()));
  void ended.then(() => ready.reject(new Error(banner)));
  const port = await ready.promise;
  const key = (await readFile(join(dataDir, "admin.key"), "utf8")).trim();
  const brokerPid = Number(await readFile(join(dataDir, "broker/run/nats-server.pid"), "utf8"));
  const { service: password }: { service: string } = JSON.parse(
    await readFile(join(dataDir, "broker/credentials.json"), "utf8"),
  );
  const natsPort = (await readFile(join(dataDir, "broker/port"), "utf8")).trim();
  const natsUrl = `nats://service:${password}@127.0.0.1:${natsPort}`;
  const stop = async (): Promise<void> => {
    child.kill("SIGTERM");
    await ended;
  };
  return { subject: { port, key, natsUrl, servicePid: child.pid ?? 0, brokerPid }, stop };
};

const dataDir = await mkdtemp(join(tmpdir(), "prooftrail-bench-"));
try {
  const { subject, stop } = await start(dataDir);
  try {
    await bench(subject);
  } finally {
    await stop();
  }
} finally {
  await rm(dataDir, { recursive: true, force: true });
}
