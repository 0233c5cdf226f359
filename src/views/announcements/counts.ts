/** How many obligations of all tenants are in which state, for a metric. Read in pages with rests between them, because there may be millions. */
import { timeKey } from "../../event/formats.ts";
import { OBLIGATION_STATES, type ObligationState } from "../../law/obligations/state.ts";
import { type DutyChange, dutyChangeOf, dutyChangesQuery } from "../cases/duty-changes.ts";
import { stateOfRow } from "../cases/registers/obligations.ts";
import { CASES_VIEW } from "../cases/tables.ts";
import { ANNOUNCE_DUTIES, COUNTED_DUTIES_SHARE } from "../kit/limits.ts";
import type { ViewStore } from "../store/view-store.ts";
import { findDuties } from "./known-duties.ts";

/** Rejects if the views do not answer. Undefined if the signal was aborted. */
export const countObligations = async (dependencies: {
  readonly views: Pick<ViewStore, "load" | "select" | "position">;
  readonly now: () => Date;
  readonly pause: (durationMs: number, signal: AbortSignal) => Promise<unknown>;
  readonly signal: AbortSignal;
}): Promise<ReadonlyMap<ObligationState, number> | undefined> => {
  const { views, now, pause, signal } = dependencies;
  const counts = new Map(OBLIGATION_STATES.map((state) => [state, 0]));
  const to = await views.position(CASES_VIEW);
  const nowKey = timeKey(now().toISOString());
  let after: DutyChange | undefined;
  do {
    const beganMs = performance.now();
    const query = dutyChangesQuery({ from: 0, to, after, rowsMax: ANNOUNCE_DUTIES });
    const changes = (await views.select(query)).map(dutyChangeOf);
    for (const { row } of await findDuties(views, changes)) {
      const state = stateOfRow(row, nowKey);
      counts.set(state, (counts.get(state) ?? 0) + 1);
    }
    after = changes.length < ANNOUNCE_DUTIES ? undefined : changes.at(-1);
    if (after !== undefined)
      await pause((performance.now() - beganMs) * (1 / COUNTED_DUTIES_SHARE - 1), signal);
  } while (after !== undefined && !signal.aborted);
  return signal.aborted ? undefined : counts;
};
