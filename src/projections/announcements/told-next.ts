/** Duties that change behind the announcer, where it does not look for what changed: by a dead letter that is replayed. */
import { timeKey } from "../../event/formats.ts";
import type { ViewStore, Write } from "../../views/view-store.ts";
import { DUTY_CHANGES, ownedDuty, ownedKey } from "../cases/duty-changes.ts";
import { ANNOUNCEMENTS, BOUNDARIES } from "./tables.ts";

/** What goes with the changes: each of these duties is looked at as one that falls due now. Nothing where there was no announcer yet. */
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
