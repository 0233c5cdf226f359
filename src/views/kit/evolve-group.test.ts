import { expect, test } from "bun:test";
import { messageOf, simpleEvent } from "../../../test/projections/records.ts";
import { EVENT_BYTES_MAX } from "../../limits.ts";
import { evolveGroup } from "./evolve-group.ts";
import { EVOLVE_BYTES_PER_STEP, EVOLVE_RECORDS_PER_STEP } from "./limits.ts";
import type { RecordProjection } from "./projection.ts";

/** The sequences that a projection was given in each step. */
const stepsOf = async (texts: readonly string[]): Promise<readonly (readonly number[])[]> => {
  const steps: (readonly number[])[] = [];
  const projection: RecordProjection = {
    name: "steps",
    version: 1,
    tables: [],
    stateKeys: () => [],
    evolve: (_states, records) => {
      steps.push(records.map(({ sequence }) => sequence));
      return { writes: [] };
    },
  };
  const messages = texts.map((text, index) =>
    messageOf(index + 1, { event: simpleEvent(`evt_${index}`, { metadata: { text } }) }),
  );
  const now = "2026-11-20T10:00:00.000Z";
  await evolveGroup({ projections: [projection], messages, load: async () => [], now });
  return steps;
};

test("a projection reads few large events in a step, so that requests get a turn in between, and misses none", async () => {
  const large = "x".repeat(EVENT_BYTES_MAX / 2);
  const steps = await stepsOf(["", ...new Array<string>(40).fill(large), "", ""]);
  expect(steps.flat()).toEqual(Array.from({ length: 43 }, (_, index) => index + 1));
  for (const step of steps)
    expect(step.length).toBeLessThanOrEqual(EVOLVE_BYTES_PER_STEP / (EVENT_BYTES_MAX / 2) + 1);
  expect(steps.length).toBeLessThan(5);
});

test("a projection reads the full number of small events in a step", async () => {
  const steps = await stepsOf(new Array<string>(2 * EVOLVE_RECORDS_PER_STEP + 1).fill(""));
  expect(steps.map(({ length }) => length)).toEqual([EVOLVE_RECORDS_PER_STEP, EVOLVE_RECORDS_PER_STEP, 1]);
  expect(await stepsOf([])).toEqual([]);
});
