/** How many obligations of all tenants are in which state, for a metric. Read in pages with rests between them, because there may be millions. */
import { timeKey } from "../../event/formats.ts";
import { OBLIGATION_STATES, type ObligationState } from "../../law/obligations/obligation.ts";
import { allDutiesQuery, OBLIGATIONS, stateOfRow } from "../cases/registers/obligations.ts";
import { COUNTED_DUTIES_SHARE, NOTIFIED_DUTIES } from "../kit/limits.ts";
import { type Row, rowText } from "../store/tables.ts";
import type { ViewStore } from "../store/view-store.ts";

/** Rejects if the views do not answer. Undefined if the signal was aborted. */
export const countObligations = async (dependencies: {
  readonly views: Pick<ViewStore, "load" | "select">;
  readonly now: () => Date;
  readonly pause: (durationMs: number, signal: AbortSignal) => Promise<unknown>;
  readonly signal: AbortSignal;
}): Promise<ReadonlyMap<ObligationState, number> | undefined> => {
  const { views, now, pause, signal } = dependencies;
  const counts = new Map(OBLIGATION_STATES.map((state) => [state, 0]));
  const nowKey = timeKey(now().toISOString());
  for (let after: Row | undefined; !signal.aborted; ) {
    const beganMs = performance.now();
    const page = await views.select(allDutiesQuery(after, NOTIFIED_DUTIES));
    const keys = page.map((row) => ({
      tenant: rowText(row, "owner"),
      obligation_id: rowText(row, "obligation_id"),
    }));
    for (const row of keys.length === 0 ? [] : await views.load(OBLIGATIONS, keys)) {
      const state = stateOfRow(row, nowKey);
      counts.set(state, (counts.get(state) ?? 0) + 1);
    }
    after = page.at(-1);
    if (after === undefined || page.length < NOTIFIED_DUTIES) return counts;
    await pause((performance.now() - beganMs) * (1 / COUNTED_DUTIES_SHARE - 1), signal);
  }
  return undefined;
};
