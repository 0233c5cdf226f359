import { type Case, caseOf } from "../../law/cases/case.ts";
import type { Fact } from "../../law/cases/fact.ts";
import { obligationsOf } from "../../law/obligations/clocks.ts";
import type { Deadline } from "../../law/obligations/deadlines.ts";
import type { Obligation, Rules } from "../../law/obligations/obligation.ts";
import { isWaiver } from "../../law/obligations/waivers.ts";

/** The input of the registers. */
export interface CaseView {
  readonly tenant: string;
  readonly is: Case;
  readonly obligations: readonly Obligation[];
  readonly deadlines: readonly Deadline[];
}

const NONE: readonly Fact[] = [];

export const caseView = (tenant: string, facts: readonly Fact[], rules: Rules): CaseView => {
  const waiving = facts.some(isWaiver) ? facts.filter(isWaiver) : NONE;
  const is = caseOf(waiving.length === 0 ? facts : facts.filter((fact) => !isWaiver(fact)));
  return { tenant, is, obligations: obligationsOf(is, rules, waiving), deadlines: rules.deadlines };
};
