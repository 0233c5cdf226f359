import { type Case, caseOf } from "../../cases/case.ts";
import type { Fact } from "../../cases/fact.ts";
import { type Obligation, obligationsOf, type Rules } from "../../obligations/clocks.ts";
import type { Deadline } from "../../obligations/deadlines.ts";

/** The input of the registers. */
export interface CaseView {
  readonly tenant: string;
  readonly is: Case;
  readonly obligations: readonly Obligation[];
  readonly deadlines: readonly Deadline[];
}

export const caseView = (tenant: string, facts: readonly Fact[], rules: Rules): CaseView => {
  const is = caseOf(facts);
  return { tenant, is, obligations: obligationsOf(is, rules), deadlines: rules.deadlines };
};
