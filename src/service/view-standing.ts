/** Where the views stand, and whether they are of this log. */
import type { LogReader } from "../log/event-log.ts";
import type { Sequence } from "../log/outcome.ts";
import type { Projection } from "../views/kit/projection.ts";
import { isSameLog, seenBeyond } from "../views/kit/view-end.ts";
import type { ViewReadiness } from "../views/kit/view-readiness.ts";
import { rowInteger, rowText } from "../views/store/tables.ts";
import { ViewsMissingError } from "../views/store/unavailable.ts";
import { VIEWS, type ViewStore } from "../views/store/view-store.ts";

interface Standing {
  readonly positions: readonly { readonly name: string; readonly position: Sequence }[];
  readonly missing: readonly string[];
  /** Another version has rebuilt them since this process opened them: their rows must not be read. */
  readonly others: readonly string[];
}

export const standing = async (
  views: Pick<ViewStore, "load">,
  projections: readonly Projection[],
  older: ViewReadiness["older"],
): Promise<Standing> => {
  const rows = await views.load(
    VIEWS,
    projections.map(({ name }) => ({ name })),
  );
  const byName = new Map(rows.map((row) => [rowText(row, "name"), row]));
  const positions: { name: string; position: Sequence }[] = [];
  const [missing, others]: [string[], string[]] = [[], []];
  for (const { name, version } of projections) {
    const row = byName.get(name);
    if (!row) missing.push(name);
    else if (![version, older.get(name)].includes(rowInteger(row, "version"))) others.push(name);
    else positions.push({ name, position: rowInteger(row, "position") });
  }
  return { positions, missing, others };
};

/** With wrong settings the views may belong to another installation, and making them again would destroy them. */
export const OF_ONE_LOG =
  "See that DATA_DIR, NATS_URL and DATABASE_URL are of one installation. Then bring the log back, or make these views again where it is to go on as it is.";

export const beyondLog = (names: readonly string[], position: Sequence, end: Sequence): string =>
  `${names.length === 1 ? "The view" : "The views"} ${names.join(", ")} ${names.length === 1 ? "has" : "have"} ${seenBeyond(position, end)}`;

/** Views that have seen what the log does not hold. `last`: read after the positions. */
export const notOfThisLog = async (
  parts: { readonly views: Pick<ViewStore, "load">; readonly log: Pick<LogReader, "read"> },
  positions: Standing["positions"],
  last: Sequence,
): Promise<readonly string[]> => {
  const reasons: string[] = [];
  for (const [position, there] of Map.groupBy(positions, ({ position }) => position)) {
    const names = there.map(({ name }) => name);
    if (position > last) reasons.push(`${beyondLog(names, position, last)}. ${OF_ONE_LOG}`);
    else if (!(await isSameLog(parts, names, position)))
      reasons.push(
        `${names.join(", ")}: the record ${position} that was seen is not the one in the log. ${OF_ONE_LOG}`,
      );
  }
  return reasons;
};

/** Rejects if log or views do not answer. */
export const viewsNotOfLog = async (
  parts: { readonly views: Pick<ViewStore, "load">; readonly log: Pick<LogReader, "read" | "lastSequence"> },
  projections: readonly Projection[],
): Promise<readonly string[]> => {
  try {
    const { positions } = await standing(parts.views, projections, new Map());
    return await notOfThisLog(parts, positions, await parts.log.lastSequence());
  } catch (error) {
    // They will be made from this log.
    if (error instanceof ViewsMissingError) return [];
    throw error;
  }
};
