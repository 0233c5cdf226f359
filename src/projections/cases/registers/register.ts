/** A register: rows that follow from a case alone. One file each; a new one is one line in registers.ts. */
import type { Row, Table } from "../../../views/tables.ts";
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
