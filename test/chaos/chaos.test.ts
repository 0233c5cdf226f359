import { expect, test } from "bun:test";
import { schedule } from "./schedule.ts";
import { runSingle } from "./single.ts";

/** The short form; `bun run chaos` is the long one. */
test("killed, paused and killed again under load: every acknowledged event is stored and shown once, none is stored twice", async () => {
  const seed = Math.floor(Math.random() * 1_000_000);
  const said: string[] = [];
  const report = await runSingle({
    seed,
    faults: 4,
    calmMsMax: 600,
    pauseMsMax: 1_500,
    say: (text) => said.push(text),
  });
  expect({ seed, violations: report.violations, said: said.length }).toEqual({
    seed,
    violations: [],
    said: 4,
  });
  expect(report.acknowledged).toBeGreaterThan(100);
}, 60_000);

test("a seed replays its schedule, and each kind of fault comes before any comes again", () => {
  const options = { seed: 7, faults: 12, calmMsMax: 1000, pauseMsMax: 1000 };
  expect(schedule(options)).toEqual(schedule(options));
  expect(schedule({ ...options, seed: 8 })).not.toEqual(schedule(options));
  expect(
    new Set(
      schedule(options)
        .slice(0, 4)
        .map(({ kind }) => kind),
    ).size,
  ).toBe(4);
});
