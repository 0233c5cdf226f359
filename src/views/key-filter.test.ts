import { expect, test } from "bun:test";
import fc from "fast-check";
import { createKeyFilter } from "./key-filter.ts";

test("it never says of a key that was added that it was not", () => {
  const row = fc.record({ tenant: fc.constantFrom("acme", "other"), node: fc.string({ unit: "binary" }) });
  fc.assert(
    fc.property(fc.array(row), fc.array(row), (added, others) => {
      const filter = createKeyFilter({ primaryKey: ["tenant", "node"] });
      for (const each of added) filter.add({ ...each, facts: "[]" });
      for (const each of added) expect(filter.mayHave(each)).toBe(true);
      if (added.length === 0) for (const each of others) expect(filter.mayHave(each)).toBe(false);
    }),
    { numRuns: 30 },
  );
});

test("of similar keys that were never added it says of 99 in 100 that they were not", () => {
  const filter = createKeyFilter({ primaryKey: ["node"] });
  const names = (from: number) =>
    Array.from({ length: 20_000 }, (_, index) => ({ node: `decision:dec_${from + index}` }));
  for (const each of names(0)) filter.add(each);
  expect(names(20_000).filter(filter.mayHave).length).toBeLessThan(200);
});
