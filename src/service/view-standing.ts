/** Where the views stand, and whether they are of this log. */
import type { LogReader } from "../log/event-log.ts";
import type { Sequence } from "../log/outcome.ts";
import type { Projection } from "../views/kit/projection.ts";
import { isSameLog, seenBeyond } from "../views/kit/view-end.ts";
import type { ViewReadiness } from "../views/kit/view-readiness.ts";
import { rowInteger, rowText } from "../views/store/tables.ts";
import { ViewsMissingError } from "../views/store/unavailable.ts";
import { VIEWS, type ViewStore } from "../views/store/view-store.ts";

/** `others`: another version has rebuilt them since this process opened them, so their rows must not be read. */
export const standing = async (
  views: Pick<ViewStore, "load">,
  projections: readonly Projection[],
  older: ViewReadiness["older"],
) => {
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

/** With wrong settings the views may belong to another installation, and rebuilding them would destroy them. */
export const OF_ONE_LOG =
  "Check that DATA_DIR, NATS_URL and DATABASE_URL are of one installation. Then restore the log, or rebuild these views to continue with it as it is.";

export const beyondLog = (names: readonly string[], position: Sequence, end: Sequence): string =>
  `${names.length === 1 ? "The view" : "The views"} ${names.join(", ")} ${names.length === 1 ? "has" : "have"} ${seenBeyond(position, end)}`;

/** Why views have seen what the log does not hold. Rejects if log or views do not answer. */
export const viewsNotOfLog = async (parts: {
  readonly views: Pick<ViewStore, "load">;
  readonly log: Pick<LogReader, "read" | "lastSequence">;
  readonly projections: readonly Projection[];
  readonly older: ViewReadiness["older"];
}): Promise<readonly string[]> => {
  const { views, log, projections, older } = parts;
  const seen = await standing(views, projections, older).catch((error: unknown) => {
    // They will be built from this log.
    if (error instanceof ViewsMissingError) return { positions: [] };
    throw error;
  });
  // Asked after the views, so that everything they have seen is in the log by then.
  const last = await log.lastSequence();
  const reasons: string[] = [];
  for (const [position, there] of Map.groupBy(seen.positions, ({ position }) => position)) {
    const names = there.map(({ name }) => name);
    if (position > last) reasons.push(`${beyondLog(names, position, last)}. ${OF_ONE_LOG}`);
    else if (!(await isSameLog(parts, names, position)))
      reasons.push(
        `${names.join(", ")}: the record ${position} that was seen is not the one in the log. ${OF_ONE_LOG}`,
      );
  }
  return reasons;
};
