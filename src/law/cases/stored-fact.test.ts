import { expect, test } from "bun:test";
import fc from "fast-check";
import type { Fact } from "./fact.ts";
import { factFrom, type StoredFact, storedFact } from "./stored-fact.ts";

const anyText = fc.string({ unit: "binary" });

const anyFact: fc.Arbitrary<Fact> = fc.record(
  {
    at: anyText,
    id: anyText,
    sequence: fc.maxSafeNat(),
    recorded: anyText,
    type: anyText,
    asset: anyText,
    version: anyText,
    subject: anyText,
    tier: anyText,
    bases: fc.array(anyText, { minLength: 1 }),
    links: fc.record(
      { correlation: anyText, decision: anyText, objection: anyText, incident: anyText },
      { requiredKeys: [] },
    ),
    byOriginal: fc.constant<true>(true),
    awaitsDecision: fc.constant<true>(true),
    says: fc.record({ outcome: anyText, reason: anyText, role: anyText }, { requiredKeys: [] }),
  },
  { requiredKeys: ["at", "id", "sequence", "recorded", "type", "asset", "links", "says"] },
);

test("a fact is read back as it was stored, and is stored as the same text again", () => {
  fc.assert(
    fc.property(anyFact, (fact) => {
      const text = JSON.stringify(storedFact(fact));
      const stored: StoredFact = JSON.parse(text);
      const found = factFrom(stored);
      expect(found).toEqual(fact);
      expect(JSON.stringify(storedFact(found))).toBe(text);
    }),
  );
});
