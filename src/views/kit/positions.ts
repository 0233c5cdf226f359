import type { Sequence } from "../../log/outcome.ts";
import { rowInteger, rowText } from "../store/tables.ts";
import { VIEWS, type ViewStore } from "../store/view-store.ts";

/**
 * The positions of views, in the order of their names here and as of one commit: read one by one, they could be from before and after it. 0 for a
 * view that does not exist.
 */
export const positionsOf = async (
  views: Pick<ViewStore, "load">,
  names: readonly string[],
): Promise<ReadonlyMap<string, Sequence>> => {
  const rows = await views.load(
    VIEWS,
    names.map((name) => ({ name })),
  );
  const standing = new Map(rows.map((row) => [rowText(row, "name"), rowInteger(row, "position")]));
  return new Map(names.map((name) => [name, standing.get(name) ?? 0]));
};
