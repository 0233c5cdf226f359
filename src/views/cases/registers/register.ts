/** A register: rows that follow from a case alone. One file each; a new one is one line in registers.ts. */
import { type Case, caseOf } from "../../../law/cases/case.ts";
import type { Fact } from "../../../law/cases/fact.ts";
import { obligationsOf } from "../../../law/obligations/clocks.ts";
import { isWaiver, type Obligation, type Rules } from "../../../law/obligations/obligation.ts";
import { tableOf } from "../../kit/read-model.ts";
import type { Row, Table } from "../../store/tables.ts";

export interface CaseView {
  readonly tenant: string;
  readonly is: Case;
  readonly obligations: readonly Obligation[];
  readonly rules: Rules;
}

export const caseView = (tenant: string, all: readonly Fact[], rules: Rules): CaseView => {
  const waivers = all.filter(isWaiver);
  const is = caseOf(waivers.length === 0 ? all : all.filter((fact) => !isWaiver(fact)));
  return { tenant, is, obligations: obligationsOf(is, rules, waivers), rules };
};

export interface Register {
  readonly table: Table;
  /** `rows`: each belongs to one case. `counts`: cases add to them, and each contributes only integers outside the key. */
  readonly kind: "rows" | "counts";
  rowsOf(view: CaseView): readonly Row[];
}

export const registerOf = <Thing>({
  thingsIn,
  ...described
}: Parameters<typeof tableOf<Thing>>[0] & { thingsIn(view: CaseView): readonly Thing[] }): Register => {
  const { table, rowOf } = tableOf<Thing>(described);
  return {
    table,
    kind: "rows",
    rowsOf: (view) => thingsIn(view).map((thing) => rowOf(view.tenant, thing)),
  };
};

export const LINKED_BY_RULE =
  "The rule that links it: the member by which an event names the other thing, `correlation_id` where exactly one stands under it, or `subject` for a notice without either, shown before the decision about the same person by the same asset. Null where no rule does.";
