/**
 * Duties that change behind the announcer's position, where it does not look: because a dead letter was replayed, or because a rebuilt view has taken
 * one.
 */
import { timeKey } from "../../event/formats.ts";
import { DUTY_CHANGES, ownedDuty, ownedKey } from "../cases/duty-changes.ts";
import type { ViewDefinition, ViewStore, Write } from "../store/view-store.ts";
import {
  ANNOUNCEMENT_NOTES,
  ANNOUNCEMENTS,
  BOUNDARIES,
  TOLD_BY_NO_VERSION,
  TOLD_VERSION,
  TOLD_VERSION_KEY,
} from "./tables.ts";

/** Writes to make with the changes: each of these duties is looked at like one that falls due now. None if there was no announcer yet. */
export const toldNext = async (
  views: Pick<ViewStore, "names">,
  changes: readonly Write[],
  now: Date,
): Promise<readonly Write[]> => {
  const duties = changes.flatMap((write) =>
    (write.kind === "upsert" || write.kind === "insert") && write.table === DUTY_CHANGES
      ? [ownedDuty(write.row)]
      : [],
  );
  if (duties.length === 0 || !(await views.names()).includes(ANNOUNCEMENTS.name)) return [];
  const at = timeKey(now.toISOString());
  return duties.map((id) => ({ kind: "upsert", table: BOUNDARIES, row: { ...ownedKey(id), at } }));
};

/**
 * Writes to make when this view replaces the live one: the announcements of its duties are compared with it once more, as if another version of the
 * program had made it. None before an announcer has begun: the version would say that one has, and everything that happened before would be
 * announced.
 */
export const toldAnew = async (
  views: Pick<ViewStore, "names" | "load">,
  { tables }: ViewDefinition,
): Promise<Pick<Parameters<ViewStore["replace"]>[0], "writes" | "beside">> =>
  tables.includes(DUTY_CHANGES) &&
  (await views.names()).includes(ANNOUNCEMENT_NOTES.name) &&
  (await views.load(TOLD_VERSION, [TOLD_VERSION_KEY])).length > 0
    ? {
        writes: [{ kind: "upsert", table: TOLD_VERSION, row: TOLD_BY_NO_VERSION }],
        beside: [ANNOUNCEMENTS.name],
      }
    : {};
