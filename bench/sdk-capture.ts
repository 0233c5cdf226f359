/**
 * One measurement of bench/sdk.ts, in a separate process on any runtime: what a call of `capture()` costs the calling program, beside the least that
 * recording an event could cost (its JSON, written to a file). Prints one JSON object.
 */
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { setImmediate as turn } from "node:timers/promises";
import { type ClientOptions, createClient } from "prooftrail-sdk";

const [kind = "interval", url = "", apiKey = "none", eventsText = "50000", workText = "0"] =
  process.argv.slice(2);
const events = Number(eventsText);
/** Events in one turn of the event loop, like a request of a busy program. */
const PER_TURN = 10;
const WARM_UP = 2000;

const directory = mkdtempSync(join(tmpdir(), "prooftrail-bench-"));
const outboxes: Readonly<Record<string, ClientOptions["outbox"]>> = {
  memory: { memory: true, bytesMax: 512 * 1024 * 1024 },
  never: { directory, sync: "never" },
  interval: { directory, sync: "interval" },
  always: { directory, sync: "always" },
};

const eventOf = (number: number) =>
  ({
    asset_id: "credit_model",
    event_type: "decision.automated_decision_made",
    risk_tier: "high",
    legal_bases: ["ai_basic_law_kr"],
    correlation_id: `case_${number}`,
    tags: { team: "credit", canary: false },
    metadata: {
      decision_id: `dec_${number}`,
      outcome: "approved",
      model: "scorer-7",
      duration_ms: 41,
      tokens_in: 812,
      tokens_out: 96,
    },
  }) as const;

interface Taking {
  readonly take: (number: number) => void;
  readonly end: () => Promise<void>;
}

const capturing = (): Taking => {
  const outbox = outboxes[kind];
  if (!outbox) throw new Error(`no such outbox: ${kind}`);
  const client = createClient({ url, apiKey, outbox, onProblem: () => {} });
  return {
    take: (number) => void client.capture(eventOf(number)),
    end: async () => {
      const { dropped } = client.stats;
      if (Object.keys(dropped).length > 0) throw new Error(`events were dropped: ${JSON.stringify(dropped)}`);
      await client.close({ timeoutMs: apiKey === "none" ? 1 : 120_000 });
    },
  };
};

/** The minimum work for anything that must survive the death of the process. */
const writing = (): Taking => {
  const fd = openSync(join(directory, "floor"), "a");
  return {
    take: (number) => void writeSync(fd, `${JSON.stringify(eventOf(number))}\n`),
    end: async () => closeSync(fd),
  };
};

/** The program's own work between two events. */
const work = (): void => {
  const endMs = performance.now() + Number(workText);
  while (performance.now() < endMs);
};

const { take, end } = kind === "floor" ? writing() : capturing();
const memoryBefore = process.memoryUsage().rss;
const micros = new Float64Array(events);
const startedMs = performance.now();
let inCalls = 0;
let memoryMax = memoryBefore;
for (let number = 0; number < events; number++) {
  const before = performance.now();
  take(number);
  const after = performance.now();
  micros[number] = (after - before) * 1000;
  inCalls += after - before;
  work();
  if (number % PER_TURN === 0) await turn();
  if (number % 5000 === 0) memoryMax = Math.max(memoryMax, process.memoryUsage().rss);
}
const seconds = (performance.now() - startedMs) / 1000;
await end();
rmSync(directory, { recursive: true, force: true });
const sorted = micros.slice(WARM_UP).sort();
const at = (share: number): number => sorted[Math.floor(sorted.length * share)] ?? 0;
process.stdout.write(
  `${JSON.stringify({
    mean: (inCalls * 1000) / events,
    p50: at(0.5),
    p99: at(0.99),
    p999: at(0.999),
    perSecond: events / seconds,
    memoryMb: (memoryMax - memoryBefore) / 1024 / 1024,
  })}\n`,
);
process.exit(0);
