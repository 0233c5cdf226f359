import { expect, test } from "bun:test";
import { createInMemoryView } from "../../../test/projections/in-memory-view.ts";
import { messageOf } from "../../../test/projections/records.ts";
import { eventsProjection } from "../events/evolve.ts";
import { modelsProjection } from "./evolve.ts";
import { MODEL_VERSIONS, MODELS } from "./tables.ts";

/** An event at an hour, about a model if one is named. */
type Said = readonly [hour: string, type: string, name?: string];

const modelsAfter = async (...said: readonly Said[]) => {
  const view = createInMemoryView(eventsProjection, modelsProjection);
  for (const [index, [hour, type, model_name]] of said.entries())
    await view.take([
      messageOf(index + 1, {
        event: {
          event_id: `evt_${hour}_${type}`,
          event_type: `model.${type}`,
          timestamp: `2026-11-20T${hour}:00:00Z`,
          asset_id: "a",
          asset_version: "1.0",
          metadata: { model_name },
        },
      }),
    ]);
  return { models: view.rows(MODELS), versions: view.rows(MODEL_VERSIONS) };
};

/** All orders of arrival. */
const orders = (said: readonly Said[]): readonly (readonly Said[])[] =>
  said.length < 2
    ? [said]
    : said.flatMap((first, place) => orders(said.toSpliced(place, 1)).map((others) => [first, ...others]));

test.each([
  [
    "the only model",
    [
      ["08", "model_retired", "m"],
      ["09", "model_deployed"],
      ["10", "performance_degraded", "m"],
      ["11", "performance_degraded"],
    ],
    [{ name: "m", state: "deployed", degradations: 2, at: "2026-11-20T08:00:00" }],
  ],
  [
    "the only model, even if its name comes later",
    [
      ["07", "performance_degraded"],
      ["08", "model_deployed", "m"],
      ["09", "model_deployed"],
      ["10", "model_deployed", "m"],
    ],
    [{ name: "m", deployed_at: "2026-11-20T10:00:00", degradations: 1, at: "2026-11-20T07:00:00" }],
  ],
  [
    "none of several",
    [
      ["08", "model_deployed", "m"],
      ["09", "model_deployed", "n"],
      ["10", "model_retired", "m"],
      ["11", "performance_degraded"],
    ],
    [
      { name: "", state: "seen", degradations: 1 },
      { name: "m", state: "retired", degradations: 0 },
      { name: "n", state: "deployed", degradations: 0 },
    ],
  ],
] as const)("an event that names no model is about %s, in any order", async (_, said, expected) => {
  const { versions } = await modelsAfter(...said);
  for (const order of orders(said))
    expect(await modelsAfter(...order)).toMatchObject({ models: [...expected], versions });
});
