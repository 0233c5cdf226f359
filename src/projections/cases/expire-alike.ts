/** For comparing a live view of cases with one that was just made from the log, in which nothing has expired. */
import type { Rules } from "../../obligations/obligation.ts";
import { rowText } from "../../views/tables.ts";
import type { Snapshot, ViewDefinition, ViewStore } from "../../views/view-store.ts";
import { casesWith, withoutGone } from "./expiry.ts";
import { nodeFrom } from "./nodes.ts";
import { CASE_NODES } from "./tables.ts";

export const expireCasesAlike = async (
  live: Snapshot,
  made: Pick<ViewStore, "load" | "revise">,
  { view, rules }: { readonly view: ViewDefinition; readonly rules: Rules },
): Promise<void> => {
  for await (const page of live.rows(CASE_NODES)) {
    for (const row of page) {
      if (row.gone === "[]") continue;
      const [tenant, start] = [rowText(row, "tenant"), rowText(row, "node")];
      const { cases } = await casesWith(made, tenant, [start]);
      for (const members of cases) {
        const names = [...members.nodes.keys()];
        const rows = await live.load(
          CASE_NODES,
          names.map((node) => ({ tenant, node })),
        );
        const goneOf = new Map(
          rows.map((each) => [
            rowText(each, "node"),
            new Map(nodeFrom(each).gone.map((fact) => [fact.id, fact.with])),
          ]),
        );
        const writes = withoutGone({ tenant, members, rules }, (name, { id }) => goneOf.get(name)?.get(id));
        if (writes.length > 0) await made.revise({ views: [view], expected: [], writes });
      }
    }
  }
};
