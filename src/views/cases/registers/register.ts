/** A register: rows that follow from a case alone. One file each; a new one is one line in registers.ts. */
import type { Row, Table } from "../../store/tables.ts";
import type { CaseView } from "../case-view.ts";

export interface Register {
  readonly table: Table;
  /** `rows`: each belongs to one case. `counts`: cases add to them, and each contributes only integers outside the key. */
  readonly kind: "rows" | "counts";
  rowsOf(view: CaseView): readonly Row[];
}

const NONE: readonly Row[] = [];

/** Most cases have none of most things. */
export const rowsOfEach = <Thing>(
  view: CaseView,
  things: readonly Thing[],
  rowOf: (view: CaseView, thing: Thing) => Row | undefined,
): readonly Row[] => {
  if (things.length === 0) return NONE;
  const rows: Row[] = [];
  for (const thing of things) {
    const row = rowOf(view, thing);
    if (row) rows.push(row);
  }
  return rows;
};

/** What a member that names the rule of a link says. */
export const LINKED_BY_RULE =
  "The rule that links it: the member by which an event names the other thing, `correlation_id` where exactly one stands under it, or `subject` for a notice without either, shown before the decision about the same person by the same asset. Null where no rule does.";
