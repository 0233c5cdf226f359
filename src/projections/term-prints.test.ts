import { expect, test } from "bun:test";
import fc from "fast-check";
import { createTermPrints } from "./term-prints.ts";

const terms = fc.array(fc.string({ maxLength: 8 }), { maxLength: 12 });

test("terms added one by one, in any order, give the print of the whole set", () => {
  const shuffled = terms.chain((some) =>
    fc.tuple(fc.constant(some), fc.shuffledSubarray([...new Set(some)], { minLength: new Set(some).size })),
  );
  fc.assert(
    fc.property(fc.nat(5000), shuffled, (sequence, [some, inOrder]) => {
      const [whole, one] = [createTermPrints(), createTermPrints()];
      whole.set(sequence, ["of before"]);
      whole.set(sequence, some);
      for (const term of inOrder) one.add(sequence, term);
      expect(one.at(sequence)).toBe(whole.at(sequence));
      expect(one.last()).toBe(some.length === 0 ? 0 : sequence);
    }),
  );
});

test("one term more, less or different gives another print", () => {
  fc.assert(
    fc.property(terms, fc.string(), (some, other) => {
      fc.pre(!some.includes(other));
      const prints = createTermPrints();
      prints.set(1, some);
      prints.set(2, [...some, other]);
      prints.set(3, [...some.slice(1), other]);
      expect(new Set([prints.at(1), prints.at(2)]).size).toBe(2);
      if (some.length > 0) expect(prints.at(3)).not.toBe(prints.at(1));
      expect(prints.at(4)).toBe(0);
    }),
  );
});
