/** A register: rows that follow from a case alone. One file each; a new one is one line in registers.ts. */
import type { Row, Table } from "../../../views/tables.ts";
import type { CaseView } from "../case-view.ts";

export interface Register {
  readonly table: Table;
  /** `rows`: each belongs to one case. `counts`: cases add up in them, and each gives only integers beside the key. */
  readonly kind: "rows" | "counts";
  rowsOf(view: CaseView): readonly Row[];
}
