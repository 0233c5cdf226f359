/** Of several projectors, one lets events expire: a row says which, and changes together with each of its steps. */

import type { RowChanges } from "../cases/expiry.ts";
import { eventsProjection } from "../events/evolve.ts";
import { EXPIRY_RUNS } from "../events/tables.ts";
import type { Row } from "../store/tables.ts";
import type { ViewDefinition, ViewStore } from "../store/view-store.ts";
import { EXPIRY_LEASE_MS, EXPIRY_TRIES_MAX } from "./limits.ts";

export interface LeaseDependencies {
  readonly views: Pick<ViewStore, "revise">;
  /** The view of cases, made with the same rules. */
  readonly cases: ViewDefinition;
  readonly clock: () => Date;
  /** The name of this process among all projectors. */
  readonly holder: string;
}

export interface LeaseBegin {
  /** The row of EXPIRY_RUNS as it was read. */
  readonly row: Row | undefined;
  readonly finishedAt: number;
}

export const EXPIRY_RUN_KEY = { name: "expiry" };

/** The state on which a step was based has changed. */
export class OutdatedError extends Error {
  override readonly name = "OutdatedError";
}

export const NOTHING: RowChanges = { expected: [], writes: [] };

export type Lease = ReturnType<typeof createLease>;

export const createLease = ({ views, cases, clock, holder }: LeaseDependencies, begin: LeaseBegin) => {
  let standing = begin.row;
  let heldUntil = 0;
  const revise = async ({ expected, writes }: RowChanges, next: Row): Promise<boolean> => {
    const row = { ...EXPIRY_RUN_KEY, ...next };
    const { kind } = await views.revise({
      views: [eventsProjection, cases],
      expected: [{ table: EXPIRY_RUNS, key: EXPIRY_RUN_KEY, row: standing }, ...expected],
      writes: [{ kind: "upsert", table: EXPIRY_RUNS, row }, ...writes],
    });
    if (kind === "outdated") return false;
    standing = row;
    return true;
  };
  /**
   * Throws OutdatedError if another process has taken over, or if the rows have changed each time that the changes were computed: the projector may
   * add an event to a case meanwhile.
   */
  const renew = async (build: (isLastTry: boolean) => Promise<RowChanges>): Promise<void> => {
    for (let tries = 1; tries <= EXPIRY_TRIES_MAX; tries++) {
      const changes = await build(tries === EXPIRY_TRIES_MAX);
      heldUntil = clock().getTime() + EXPIRY_LEASE_MS;
      if (await revise(changes, { holder, held_until: heldUntil, finished_at: begin.finishedAt })) return;
    }
    throw new OutdatedError("somebody else changed the rows");
  };
  return {
    renew,
    /** Called while there is nothing to write for long: otherwise another process would start over, and neither would ever finish. */
    keep: async (): Promise<void> => {
      if (heldUntil - clock().getTime() < EXPIRY_LEASE_MS / 2) await renew(async () => NOTHING);
    },
    release: async (finishedAt: number): Promise<void> => {
      const isReleased = await revise(NOTHING, { holder: "", held_until: 0, finished_at: finishedAt });
      if (!isReleased) throw new OutdatedError("somebody else has begun");
    },
  };
};
