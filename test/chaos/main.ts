/**
 * `bun run chaos [--minutes M] [--seed S] [--scenario single|cluster|disk]`: runs rounds of faults until the time is over, and exits with 1
 * at the first broken promise.
 */
import { parseArgs } from "node:util";
import { canMountDisk } from "../support/memory-disk.ts";
import { cluster } from "./cluster.ts";
import { disk, single } from "./own-broker.ts";
import { type ChaosOptions, type ChaosReport, runChaos } from "./run.ts";

const SCENARIOS = {
  single: (options: ChaosOptions) => runChaos(single, options),
  cluster: (options: ChaosOptions) => runChaos(cluster, options),
  disk: (options: ChaosOptions) => runChaos(disk, options),
};
type Name = keyof typeof SCENARIOS;
const isName = (name: string): name is Name => Object.hasOwn(SCENARIOS, name);

const say = (text: string): void =>
  void process.stdout.write(`${new Date().toISOString().slice(11, 19)}  ${text}\n`);

const refuse = (text: string): never => {
  process.stderr.write(`${text}\n`);
  process.exit(2);
};

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "5" },
    seed: { type: "string" },
    scenario: { type: "string" },
  },
});
const minutes = Number(values.minutes);
const firstSeed = Number(values.seed ?? Math.floor(Math.random() * 1_000_000));
if (!(minutes > 0)) refuse("--minutes must be a number above 0.");
if (!Number.isSafeInteger(firstSeed)) refuse("--seed must be a whole number.");

const chosen = async (): Promise<readonly Name[]> => {
  const { scenario } = values;
  if (scenario === undefined) {
    if (await canMountDisk()) return ["single", "cluster", "disk"];
    say("without the scenario disk: this machine lets nobody mount a memory disk of his own");
    return ["single", "cluster"];
  }
  return isName(scenario)
    ? [scenario]
    : refuse(`--scenario must be one of ${Object.keys(SCENARIOS).join(", ")}.`);
};

/** Most rounds take one to two minutes. */
const ROUND_MS_MAX = 10 * 60_000;

/** A report of a broken promise, or of a system that did not recover, includes the seed that repeats it. */
const round = async (name: Name, seed: number): Promise<ChaosReport> => {
  const again = `bun run chaos --scenario ${name} --seed ${seed}`;
  say(`${name}, seed ${seed} (again: ${again})`);
  // A fault with a duration lasts longer than the ack deadline of 8 s.
  const options = {
    seed,
    faults: 8,
    calmMsMax: 3_000,
    lastsMsMax: 10_000,
    acknowledgedMin: 10_000,
    msMax: ROUND_MS_MAX,
    say,
  };
  const report = await SCENARIOS[name](options).catch((error: unknown) => {
    say(`BROKEN: ${error instanceof Error ? error.message : String(error)}; again: ${again}`);
    process.exit(1);
  });
  say(
    `${name}: sent ${report.sent}, acknowledged ${report.acknowledged}, stored ${report.stored}, duties ${report.duties}, violations ${report.violations.length}`,
  );
  for (const violation of report.violations) say(`BROKEN: ${violation}`);
  if (report.violations.length > 0) {
    say(`again: ${again}`);
    process.exit(1);
  }
  return report;
};

const deadline = performance.now() + minutes * 60_000;
const names = await chosen();
const totals = { rounds: 0, sent: 0, acknowledged: 0, stored: 0, duties: 0 };
const recovery = new Map<string, number[]>();
for (let seed = firstSeed; performance.now() < deadline; seed++) {
  const name = names[totals.rounds % names.length] ?? "single";
  const report = await round(name, seed);
  totals.rounds++;
  for (const total of ["sent", "acknowledged", "stored", "duties"] as const) totals[total] += report[total];
  for (const { fault, ms } of report.recoveryMs) {
    const key = `${name}: ${fault}`;
    recovery.set(key, [...(recovery.get(key) ?? []), ms]);
  }
}

say(
  `rounds ${totals.rounds}, sent ${totals.sent}, acknowledged ${totals.acknowledged}, stored ${totals.stored}, lost 0, twice 0, holes 0; duties ${totals.duties}, each told once`,
);
for (const [fault, unsorted] of recovery) {
  const times = unsorted.toSorted((a, b) => a - b);
  const [median, max] = [times[times.length >> 1], times.at(-1)];
  say(
    `${fault}: ${times.length} times, acknowledging again after ${median} ms (median), ${max} ms (longest)`,
  );
}
