import { expect, test } from "bun:test";
import { isLegalBasis } from "../../event/formats.ts";
import { DEADLINES } from "../../law/obligations/deadline-table.ts";
import { isRegistered, LEGAL_BASES } from "./legal-bases.ts";

const clocksOf = (name: string): readonly string[] =>
  LEGAL_BASES.find((basis) => basis.name === name)?.clocks.map(({ id }) => id) ?? [];

test("every legal basis is one that an event can name, has a title of its own, and is known to coverage", () => {
  for (const { name, title } of LEGAL_BASES)
    expect([name, isLegalBasis(name), title === name, isRegistered(name)]).toEqual([name, true, false, true]);
  expect(["any", "policy", "unheard_of", "eu_ai_act_art_99"].map(isRegistered)).toEqual([
    true,
    true,
    false,
    false,
  ]);
});

test("each basis has the clocks that it starts, and each clock that needs a basis has one", () => {
  expect(clocksOf("gdpr_art_22")).toEqual(["GDPR-12-3"]);
  expect(clocksOf("pipa_37_2_kr")).toEqual(["PIPA-EXPL", "PIPA-REFUSE", "PIPA-REVIEW", "PIPA-DENY"]);
  expect(clocksOf("eu_ai_act_art_6")).toEqual(["EU73-GEN", "EU73-DEATH", "EU73-CRIT", "EU26-5"]);
  expect(clocksOf("ai_basic_law_kr")).toEqual([]);
  const started = new Set(LEGAL_BASES.flatMap(({ clocks }) => clocks.map(({ id }) => id)));
  for (const { id, bases } of DEADLINES) expect([id, started.has(id)]).toEqual([id, bases.length > 0]);
});
