/** Whatever happens and whenever it expires: the views show the log without the expired events, and in the end no register has a row. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { REGISTERS } from "../../src/views/cases/registers/registers.ts";
import { anyHistory } from "../projections/any-history.ts";
import { createSqliteDatabase } from "../projections/sqlite-database.ts";
import { CASES, createScene, SHORT, YEAR_MS } from "../suites/expiry.ts";

/** Some events arrive, then some years pass and events that are due expire; and so on. */
const anySteps = fc.array(
  fc.record({ events: fc.integer({ min: 1, max: 9 }), years: fc.constantFrom(0, 0.6, 1, 4) }),
  { minLength: 1, maxLength: 5 },
);

test("cases that expire between any events leave the views equal to the log, and in the end none is left", async () => {
  const lastly = { events: Number.POSITIVE_INFINITY, years: 100 };
  await fc.assert(
    fc.asyncProperty(anyHistory, anySteps, async (history, steps) => {
      await using scene = await createScene(createSqliteDatabase(), []);
      for (const tenant of ["a", "b"]) scene.setPolicy(SHORT, tenant);
      let [taken, years] = [0, 0];
      for (const step of [...steps, lastly]) {
        const some = history.slice(taken, taken + step.events);
        taken += some.length;
        years += step.years;
        scene.log.append(...some);
        await scene.project();
        scene.setNow(years * YEAR_MS);
        // Each look has its own worker, for which no hour has passed.
        expect(await scene.worker().look(new AbortController().signal)).toMatchObject({ kind: "finished" });
        expect(await scene.differences()).toEqual([]);
      }
      const tables = REGISTERS.flatMap(({ kind, table }) => (kind === "rows" ? [table] : []));
      await scene.views.snapshot(CASES, async (snapshot) => {
        for (const table of tables) for await (const page of snapshot.rows(table)) expect(page).toEqual([]);
      });
    }),
    { numRuns: 25 },
  );
});
