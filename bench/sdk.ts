/**
 * What `capture()` costs the calling program, and its memory: `bun bench/sdk.ts [events]`. On each runtime and for each kind of outbox, with and
 * without the service, beside the floor of the same run: the same event as JSON, written to a file.
 */
import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import process from "node:process";
import { promisify } from "node:util";
import { RUNTIMES } from "../test/support/process.ts";
import { startTestService } from "../test/support/service.ts";

const events = Number(process.argv[2] ?? 50_000);
const PROGRAM = resolve(import.meta.dir, "sdk-capture.ts");
const OUTBOXES = ["floor", "memory", "never", "interval", "always"] as const;
/** No server listens there. */
const AWAY = "http://127.0.0.1:9";

interface Measured {
  readonly mean: number;
  readonly p50: number;
  readonly p99: number;
  readonly p999: number;
  readonly perSecond: number;
  readonly memoryMb: number;
}

const folder = await mkdtemp(join(tmpdir(), "prooftrail-bench-"));
const bundled = await Bun.build({
  entrypoints: [PROGRAM],
  target: "node",
  outdir: folder,
  naming: "[name].mjs",
});
if (!bundled.success) throw new AggregateError(bundled.logs);
const [deno = ""] = RUNTIMES.Deno;
const runtimes: Readonly<Record<string, readonly string[]>> = {
  Bun: [process.execPath, PROGRAM],
  Node: ["node", join(folder, "sdk-capture.mjs")],
  Deno: [deno, "run", "-A", "--quiet", "--no-check", "--node-modules-dir=manual", PROGRAM],
};

/** Without blocking, because the service is in this process. */
const measure = async (command: readonly string[], args: readonly string[]): Promise<Measured> => {
  const [program = "", ...rest] = command;
  const { stdout } = await promisify(execFile)(program, [...rest, ...args]);
  return JSON.parse(stdout);
};

const say = (line: string): void => void process.stdout.write(`${line}\n`);
const round = (value: number): string => value.toFixed(value < 100 ? 1 : 0);

/** One after the other without a pause and without a service; and among other work, with the service on the same two cores. */
const ways = [
  { name: "alone", isThere: false, workMs: 0, events },
  { name: "at work", isThere: true, workMs: 0.2, events: events / 5 },
] as const;
/** The median of each figure is used, because other programs share the machine. */
const RUNS = 3;

const middle = (measured: readonly Measured[], name: keyof Measured): number =>
  measured.map((each) => each[name]).sort((a, b) => a - b)[Math.floor(RUNS / 2)] ?? 0;

say(
  "| runtime | way | outbox | mean µs | p50 | p99, 20 asked | p99.9 | of the floor's mean | events/s | MB more |",
);
say("|---|---|---|---|---|---|---|---|---|---|");
await using service = await startTestService();
const key = await service.makeKey("bench");
for (const [name, command] of Object.entries(runtimes)) {
  for (const way of ways) {
    let floor = 0;
    const place = way.isThere ? [service.url, key] : [AWAY, "none"];
    for (const outbox of OUTBOXES) {
      const measured: Measured[] = [];
      for (let run = 0; run < RUNS; run++)
        measured.push(await measure(command, [outbox, ...place, String(way.events), String(way.workMs)]));
      const of = (figure: keyof Measured): number => middle(measured, figure);
      if (outbox === "floor") floor = of("mean");
      const times = [round(of("mean")), round(of("p50")), `**${round(of("p99"))}**`, round(of("p999"))];
      const rest = [
        `${(of("mean") / floor).toFixed(1)} x`,
        Math.round(of("perSecond")),
        round(of("memoryMb")),
      ];
      say(`| ${[name, way.name, outbox, ...times, ...rest].join(" | ")} |`);
    }
  }
}
await rm(folder, { recursive: true, force: true });
process.exit(0);
