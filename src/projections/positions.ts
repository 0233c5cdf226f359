import type { Sequence } from "../log/outcome.ts";
import { rowInteger, rowText } from "../views/tables.ts";
import { VIEWS, type ViewStore } from "../views/view-store.ts";

/** Where views stand, in the order of their names here and as of one commit: asked one by one they may stand before it and behind it. 0 for one that is not there. */
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
