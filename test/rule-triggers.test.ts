/** The table of the documentation, played against what the rules do. */
import { expect, test } from "bun:test";
import { TRIGGERS, type Trigger } from "../docs/generator/rule-triggers.ts";
import { caseOf } from "../src/law/cases/case.ts";
import type { Fact } from "../src/law/cases/fact.ts";
import { obligationsOf } from "../src/law/obligations/clocks.ts";
import { DEADLINE_IDS, DEADLINES, type DeadlineId } from "../src/law/obligations/deadline-table.ts";
import { STANDARD_RULES } from "../src/law/obligations/overrides.ts";
import { fact } from "./support/facts.ts";

/** An hour apart where the limit ends with the day, otherwise a month, as late as every law of the table applies. */
const factsOf = (rule: DeadlineId, triggers: readonly Trigger[]): readonly Fact[] =>
  triggers.map(({ type, says }, index) => {
    const at = rule === "LL144-NOTICE" ? `2028-0${index + 1}-01T12:00:00Z` : `2028-01-03T1${index}:00:00Z`;
    const names = type.startsWith("incident.")
      ? { incident_id: "i" }
      : { decision_id: "d", objection_id: "o" };
    const { bases } = DEADLINES.find(({ id }) => id === rule) ?? { bases: [] };
    const legal_bases = bases.map((basis) => basis.replace("*", "art_73"));
    const name = type === "incident.*" ? "incident.mitigated" : type;
    return fact(`e${index} ${name} ${at}`, { ...names, ...says }, { legal_bases });
  });

test.each([...DEADLINE_IDS])("%s is started and met by the events that the table names", (rule) => {
  const { startedBy, metBy } = TRIGGERS[rule];
  const found = (triggers: readonly Trigger[]) =>
    obligationsOf(caseOf(factsOf(rule, triggers)), STANDARD_RULES).find((each) => each.rule === rule);
  for (const start of startedBy) {
    expect(found([start])).toMatchObject({ startedBy: { id: "e0" }, stoppedBy: undefined });
    for (const meets of metBy) {
      const before = meets.after === undefined ? [] : [{ type: meets.after }];
      expect([meets, found([start, ...before, meets])?.status]).toEqual([meets, "met"]);
      if (before.length > 0) expect(found([start, meets])?.status).toBe("open");
    }
  }
});
