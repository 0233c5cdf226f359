/** What ingestion costs, single and in batches, beside ceilings and peers; see README.md here. Linux, for the CPU times in /proc. */
import { mkdtemp, rm } from "node:fs/promises";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import type { CeilingResult } from "./ceiling.ts";
import type { LoadOrder, LoadResult } from "./load.ts";
import { DURABILITIES, obtainPeers, startPeer } from "./peers.ts";
import { ceiling, type Loader, startHttpCeiling, startLoader } from "./programs.ts";
import { cpuMicroseconds, type Subject, startSubject } from "./subject.ts";
import { measureInTurns, type PairResult, TURNS } from "./turns.ts";

const SECONDS = Number(process.env.BENCH_SECONDS ?? 5);
/** By default only the front end runs, so its CPU time is for taking events only; ROLES=api,projector,sealer shows the default service. */
const ROLES = process.env.ROLES ?? "api";
const CASES = [
  { connections: 1, batchEvents: 0 },
  { connections: 64, batchEvents: 0 },
  { connections: 256, batchEvents: 0 },
  { connections: 1, batchEvents: 1 },
  { connections: 1, batchEvents: 100 },
  { connections: 1, batchEvents: 1000 },
  { connections: 4, batchEvents: 1000 },
] as const;

interface Measured extends LoadResult {
  readonly eventsPerSecond: number;
  /** CPU time per event of the process that answers, and of the one that stores. */
  readonly serverMicroseconds: number;
  readonly storeMicroseconds: number;
}

interface Target extends Pick<LoadOrder, "port" | "key" | "speaks"> {
  readonly serverPid: number;
  readonly storePid: number;
}

const measure = async (loader: Loader, target: Target, index: number): Promise<Measured> => {
  const [server, store] = [target.serverPid, target.storePid];
  const order = { ...target, connections: 1, batchEvents: 0, ...CASES[index], seconds: SECONDS };
  await loader.load({ ...order, seconds: 1, run: `w${index}` });
  const before = [cpuMicroseconds(server), cpuMicroseconds(store)] as const;
  const result = await loader.load({ ...order, run: `r${index}` });
  return {
    ...result,
    eventsPerSecond: result.events / result.seconds,
    serverMicroseconds: (cpuMicroseconds(server) - before[0]) / result.events,
    storeMicroseconds: (cpuMicroseconds(store) - before[1]) / result.events,
  };
};

const measureAll = async (loader: Loader, target: Target): Promise<readonly Measured[]> => {
  const results: Measured[] = [];
  for (const index of CASES.keys()) results.push(await measure(loader, target, index));
  return results;
};

const benchService = async (subject: Subject, loader: Loader): Promise<readonly Measured[]> => {
  const { servicePid: serverPid, brokerPid: storePid } = subject;
  const ceilings = {
    atomic: await ceiling(subject, "atomic", SECONDS),
    one: await ceiling(subject, "one", SECONDS),
    many: await ceiling(subject, "many", SECONDS),
  };
  const results = await measureAll(loader, { ...subject, speaks: "prooftrail", serverPid, storePid });
  const http = await startHttpCeiling();
  const unstored = await measureAll(loader, {
    ...subject,
    ...http,
    speaks: "prooftrail",
    storePid: http.serverPid,
  });
  http.stop();
  const rows = results.map((result, index) => {
    const raw = CASES[index]?.batchEvents === 0 ? ceilings.many : ceilings.atomic;
    return [
      ...describe(result, index),
      String(result.refused),
      result.cpuMicroseconds.toFixed(1),
      ratio(result.eventsPerSecond, raw.eventsPerSecond),
      ratio(result.eventsPerSecond, unstored[index]?.eventsPerSecond),
    ];
  });
  print([...HEADINGS, "refused", "load µs/event", "of raw JetStream", "of answering without storing"], rows);
  print(
    ["raw JetStream, same broker", "events/s", "p50 ms", "client µs/event"],
    [
      ceilingRow("atomic batches of 1000, 2 in flight", ceilings.atomic),
      ceilingRow("one by one, 1 in flight", ceilings.one),
      ceilingRow("one by one, 256 in flight", ceilings.many),
    ],
  );
  print(
    [...HEADINGS.slice(0, 7), "load µs/event"],
    unstored.map((result, index) => [
      ...describe(result, index).slice(0, 7),
      result.cpuMicroseconds.toFixed(1),
    ]),
  );
  print(
    [
      `in turns with raw JetStream, ${TURNS}`,
      "connections",
      "of",
      "ours",
      "raw",
      "ratio",
      "least",
      "most",
      "server µs/event",
    ],
    (await measureInTurns(subject, loader)).map(turnsRow),
  );
  return results;
};

const turnsRow = ({
  name,
  connections,
  figure,
  ours,
  raws,
  ratios,
  serviceMicroseconds,
}: PairResult): string[] => {
  const { least, median, most } = ratios;
  const text = (value: number): string => (figure === "p50" ? `${value.toFixed(2)} ms` : count(value));
  return [
    name,
    String(connections),
    figure,
    text(ours),
    text(raws),
    times(median),
    times(least),
    times(most),
    serviceMicroseconds.toFixed(1),
  ];
};

const benchPeers = async (folder: string, loader: Loader, ours: readonly Measured[]): Promise<void> => {
  const programs = await obtainPeers();
  const rows: string[][] = [];
  for (const durability of DURABILITIES) {
    const directory = await mkdtemp(join(folder, "peer-"));
    await using peer = await startPeer(programs, durability, directory);
    const results = await measureAll(loader, { ...peer, key: "none", speaks: "webdis" });
    for (const [index, result] of results.entries()) {
      rows.push([
        durability,
        ...describe(result, index),
        ratio(ours[index]?.eventsPerSecond ?? 0, result.eventsPerSecond),
      ]);
    }
    await rm(directory, { recursive: true, force: true });
  }
  print(["webdis and Redis, appendfsync", ...HEADINGS, "Prooftrail takes"], rows);
};

const HEADINGS = [
  "requests",
  "connections",
  "events/s",
  "p50 ms",
  "p99 ms",
  "p99.9 ms",
  "server µs/event",
  "store µs/event",
];

const describe = (result: Measured, index: number): string[] => {
  const { batchEvents = 0, connections = 0 } = CASES[index] ?? {};
  return [
    batchEvents === 0 ? "single" : `batch of ${batchEvents}`,
    String(connections),
    count(result.eventsPerSecond),
    result.p50.toFixed(2),
    result.p99.toFixed(1),
    result.p999.toFixed(1),
    result.serverMicroseconds.toFixed(1),
    result.storeMicroseconds.toFixed(1),
  ];
};

const ceilingRow = (
  name: string,
  { eventsPerSecond, p50, cpuMicroseconds: cpu }: CeilingResult,
): string[] => [name, count(eventsPerSecond), p50.toFixed(2), cpu.toFixed(1)];

const count = (value: number): string => Math.round(value).toLocaleString("en");
const ratio = (value: number, other = Number.NaN): string => times(value / other);
const times = (value: number): string => `${value.toFixed(2)} ×`;

const print = (headings: readonly string[], rows: readonly (readonly string[])[]): void => {
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |\n`;
  process.stdout.write(`${line(headings)}${line(headings.map(() => "---"))}${rows.map(line).join("")}\n`);
};

const folder = await mkdtemp(join(tmpdir(), "prooftrail-bench-"));
try {
  process.stdout.write(
    `${cpus().length} cores (${cpus()[0]?.model ?? "unknown"}), Bun ${process.versions.bun}, ${SECONDS} s per case after 1 s of warming up, roles ${ROLES}.\n\n`,
  );
  await using loader = startLoader();
  const measureService = async (): Promise<readonly Measured[]> => {
    await using subject = await startSubject(join(folder, "data"), ROLES);
    return await benchService(subject, loader);
  };
  await benchPeers(folder, loader, await measureService());
} finally {
  await rm(folder, { recursive: true, force: true });
}
