/** The table of the documentation, held against what the rules do. */
import { expect, test } from "bun:test";
import { TRIGGERS } from "../docs/generator/rule-triggers.ts";
import { caseOf } from "../src/law/cases/case.ts";
import type { Fact } from "../src/law/cases/fact.ts";
import { obligationsOf } from "../src/law/obligations/clocks.ts";
import { DEADLINE_IDS, DEADLINES, type DeadlineId } from "../src/law/obligations/deadline-table.ts";
import { STANDARD_RULES } from "../src/law/obligations/overrides.ts";
import { fact, type Metadata } from "./support/facts.ts";

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
