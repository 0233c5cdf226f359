/** The table of the documentation, held against what the rules do. */
import { expect, test } from "bun:test";
import { fact, type Metadata } from "../../test/support/facts.ts";
import { caseOf } from "../cases/case.ts";
import type { Fact } from "../cases/fact.ts";
import { obligationsOf } from "./clocks.ts";
import { DEADLINE_IDS, DEADLINES, type DeadlineId } from "./deadlines.ts";
import { rulesByBasis, TRIGGERS } from "./legal-bases.ts";
import { STANDARD_RULES } from "./overrides.ts";

type Example = readonly [type: string, metadata?: Metadata];

const RECEIVED = "objection.received";
const RESOLVED = "objection.resolved";
const EXPLAINED: Example = ["decision.explanation_provided"];
const MADE: Example = ["decision.automated_decision_made", { outcome: "denied" }];
const WITHDRAWN: Example = [RESOLVED, { resolution: "withdrawn" }];
const REFUSED: Example = [RESOLVED, { resolution: "denied", reason: "because" }];
const REPORTED: Example = ["incident.reported_to_authority"];
const asked = (objection_type: string): Example => [RECEIVED, { objection_type }];
const detected = (incident_class: string): Example => ["incident.detected", { incident_class }];

/** For each rule what starts it, and for each event that meets it what leads to that. */
const EXAMPLES: Readonly<
  Record<DeadlineId, { readonly started: readonly Example[]; readonly met: readonly (readonly Example[])[] }>
> = {
  "PIPA-EXPL": { started: [asked("explanation_request")], met: [[EXPLAINED], [REFUSED], [WITHDRAWN]] },
  "PIPA-REFUSE": {
    started: [asked("automated_decision_refusal")],
    met: [[["decision.decision_reversed"], [RESOLVED, { resolution: "upheld" }]], [REFUSED], [WITHDRAWN]],
  },
  "PIPA-REVIEW": { started: [asked("appeal")], met: [[[RESOLVED]]] },
  "PIPA-DENY": { started: [[RESOLVED, { resolution: "denied" }]], met: [[REFUSED], [WITHDRAWN]] },
  "CIA-EXPL": { started: [[RECEIVED]], met: [[EXPLAINED], [[RESOLVED]]] },
  "GDPR-12-3": { started: [[RECEIVED]], met: [[[RESOLVED]]] },
  "CO-ADVERSE": { started: [MADE], met: [[EXPLAINED]] },
  "LL144-NOTICE": { started: [["transparency.notice_shown"], ["disclosure_shown"]], met: [[MADE]] },
  "EU73-GEN": { started: [detected("property")], met: [[REPORTED]] },
  "EU73-DEATH": { started: [detected("death")], met: [[REPORTED]] },
  "EU73-CRIT": { started: [detected("critical_infrastructure")], met: [[REPORTED]] },
  "EU26-5": {
    started: [["incident.detected", { role: "deployer" }]],
    met: [[["incident.mitigated", { notified: "provider" }]]],
  },
  "HR-CLOSE": {
    started: [["decision.human_review_triggered"]],
    met: [[["decision.human_review_completed"]]],
  },
  "OBJ-ACK": { started: [[RECEIVED]], met: [[["objection.acknowledged"]], [[RESOLVED]]] },
};

/** An hour apart where the limit ends with the day, otherwise a month, as late as every law of the table applies. */
const factsOf = (rule: DeadlineId, examples: readonly Example[]): readonly Fact[] =>
  examples.map(([type, said], index) => {
    const at = rule === "LL144-NOTICE" ? `2028-0${index + 1}-01T12:00:00Z` : `2028-01-03T1${index}:00:00Z`;
    const names = type.startsWith("incident.")
      ? { incident_id: "i" }
      : { decision_id: "d", objection_id: "o" };
    const { bases } = DEADLINES.find(({ id }) => id === rule) ?? { bases: [] };
    const legal_bases = bases.map((basis) => basis.replace("*", "art_73"));
    return fact(`e${index} ${type} ${at}`, { ...names, ...said }, { legal_bases });
  });

test.each([...DEADLINE_IDS])("%s is started and met by the events that the table names", (rule) => {
  const { started, met } = EXAMPLES[rule];
  const found = (examples: readonly Example[]) =>
    obligationsOf(caseOf(factsOf(rule, examples)), STANDARD_RULES).find((each) => each.rule === rule);
  expect(started.map(([type]) => type)).toEqual(TRIGGERS[rule].startedBy.map(({ type }) => type));
  for (const start of started) {
    expect(found([start])).toMatchObject({ startedBy: { id: "e0" }, stoppedBy: undefined });
    for (const then of met) expect(found([start, ...then])?.status).toBe("met");
  }
  const last = met.map((then) => then.at(-1)?.[0] ?? "");
  const named = TRIGGERS[rule].metBy.map(({ type }) => type);
  expect(last.map((type, index) => (named[index] === "incident.*" ? "incident.*" : type))).toEqual(named);
});

test("each rule stands under the bases that put it into force, and a basis without rules has none", () => {
  const all = rulesByBasis();
  expect(new Set(all.flatMap(({ rules }) => rules.map(({ id }) => id)))).toEqual(new Set(DEADLINE_IDS));
  const asked = rulesByBasis(["gdpr_art_22", "eu_ai_act_art_73", "unheard_of"]);
  expect(asked.map(({ basis, rules }) => [basis, rules.map(({ id }) => id)])).toEqual([
    ["gdpr_art_22", ["GDPR-12-3"]],
    ["eu_ai_act_art_73", ["EU73-GEN", "EU73-DEATH", "EU73-CRIT", "EU26-5"]],
    ["unheard_of", []],
    [undefined, ["HR-CLOSE", "OBJ-ACK"]],
  ]);
  expect(asked[0]?.rules[0]).toMatchObject({
    clause: "GDPR art. 12(3)",
    limit: { count: 1, unit: "months" },
    startedBy: [{ type: "objection.received" }],
    metBy: [{ type: "objection.resolved" }],
  });
});
