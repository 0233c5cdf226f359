/** What ingestion costs, single and in batches; see README.md here. Linux, for the CPU times in /proc. */
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { cpus, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { LoadOrder, LoadResult } from "./load.ts";

const root = resolve(import.meta.dir, "..");
const SECONDS = Number(process.env.BENCH_SECONDS ?? 5);
const CASES = [
  { connections: 1, batchEvents: 0 },
  { connections: 64, batchEvents: 0 },
  { connections: 256, batchEvents: 0 },
  { connections: 1, batchEvents: 100 },
  { connections: 1, batchEvents: 1000 },
  { connections: 4, batchEvents: 1000 },
];

interface Subject {
  readonly port: number;
  readonly key: string;
  readonly servicePid: number;
  readonly brokerPid: number;
}

const bench = async (subject: Subject): Promise<void> => {
  const rows: string[][] = [];
  for (const [index, { connections, batchEvents }] of CASES.entries()) {
    const order = { ...subject, connections, batchEvents, seconds: SECONDS, run: `r${index}` };
    await load({ ...order, seconds: 1, run: `w${index}` });
    const before = [cpuMicroseconds(subject.servicePid), cpuMicroseconds(subject.brokerPid)] as const;
    const result = await load(order);
    const perEvent = (pid: number, earlier: number) =>
      ((cpuMicroseconds(pid) - earlier) / result.events).toFixed(1);
    rows.push([
      batchEvents === 0 ? "single" : `batch of ${batchEvents}`,
      String(connections),
      Math.round(result.events / result.seconds).toLocaleString("en"),
      result.p50.toFixed(1),
      result.p99.toFixed(1),
      result.p999.toFixed(1),
      perEvent(subject.servicePid, before[0]),
      perEvent(subject.brokerPid, before[1]),
      String(result.refused),
    ]);
  }
  print(rows);
};

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
];

const print = (rows: readonly string[][]): void => {
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |\n`;
  const machine = `${cpus().length} cores (${cpus()[0]?.model ?? "unknown"}), Bun ${process.versions.bun}, ${SECONDS} s per case`;
  process.stdout.write(`\n${machine}; load generator: bench/load.ts in its own process\n\n`);
  process.stdout.write(line(HEADINGS) + line(HEADINGS.map(() => "---")) + rows.map(line).join(""));
};

const load = (order: LoadOrder): Promise<LoadResult> => {
  const { promise, resolve: done, reject } = Promise.withResolvers<LoadResult>();
  const child = spawn(process.execPath, [join(root, "bench/load.ts"), JSON.stringify(order)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text) => {
    output += text;
  });
  child.on("close", (code) =>
    code === 0 ? done(JSON.parse(output)) : reject(new Error(`the load ended with ${code}`)),
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
    env: { ...process.env, DATA_DIR: dataDir, PORT: "0", LOG_LEVEL: "warn" },
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
  const stop = async (): Promise<void> => {
    child.kill("SIGTERM");
    await ended;
  };
  return { subject: { port, key, servicePid: child.pid ?? 0, brokerPid }, stop };
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
