/** `bun run chaos [--minutes M] [--seed S]`: rounds of faults until the time is over; ends with 1 at the first broken promise. */
import { parseArgs } from "node:util";
import { FAULTS } from "./schedule.ts";
import { runSingle } from "./single.ts";

const { values } = parseArgs({
  options: { minutes: { type: "string", default: "5" }, seed: { type: "string" } },
});
const minutes = Number(values.minutes);
const firstSeed = Number(values.seed ?? Math.floor(Math.random() * 1_000_000));
const say = (text: string): void =>
  void process.stdout.write(`${new Date().toISOString().slice(11, 19)}  ${text}\n`);

const deadline = performance.now() + minutes * 60_000;
const totals = { rounds: 0, sent: 0, acknowledged: 0, stored: 0 };
const recovery = new Map<string, number[]>();

for (let seed = firstSeed; performance.now() < deadline; seed++) {
  say(`round with seed ${seed} (again: bun run chaos --seed ${seed})`);
  // Pauses reach beyond the ack deadline of 8 s.
  const report = await runSingle({ seed, faults: 8, calmMsMax: 3_000, pauseMsMax: 10_000, say });
  totals.rounds++;
  for (const name of ["sent", "acknowledged", "stored"] as const) totals[name] += report[name];
  for (const { fault, ms } of report.recoveryMs) recovery.set(fault, [...(recovery.get(fault) ?? []), ms]);
  say(
    `sent ${report.sent}, acknowledged ${report.acknowledged}, stored ${report.stored}, violations ${report.violations.length}`,
  );
  if (report.violations.length > 0) {
    for (const violation of report.violations) say(`BROKEN: ${violation}`);
    process.exit(1);
  }
}

say(
  `rounds ${totals.rounds}, sent ${totals.sent}, acknowledged ${totals.acknowledged}, stored ${totals.stored}, lost 0, twice 0, holes 0`,
);
for (const fault of FAULTS) {
  const times = (recovery.get(fault) ?? []).sort((a, b) => a - b);
  const [median, max] = [times[times.length >> 1], times.at(-1)];
  if (times.length > 0)
    say(
      `${fault}: ${times.length} times, acknowledging again after ${median} ms (median), ${max} ms (longest)`,
    );
}
