/** What keeps events from expiring: the policy and the holds of a tenant, read before each step, and the cases that holds cover. */

import { type Hold, isOnHold } from "../../access/retention/age.ts";
import type { HoldRecord, RetentionPolicy } from "../../access/retention/records.ts";
import type { RetentionStore, StoredRetention } from "../../access/retention/retention-store.ts";
import type { Fact } from "../../law/cases/fact.ts";
import type { LogReader } from "../../log/event-log.ts";
import type { Sequence } from "../../log/outcome.ts";
import { nodesOf } from "../cases/nodes.ts";
import { namesOfCase } from "../cases/queries.ts";
import { CASES_VIEW } from "../cases/tables.ts";
import { EVENTS_VIEW } from "../events/tables.ts";
import type { ViewStore } from "../store/view-store.ts";
import { type Lease, OutdatedError } from "./expiry-lease.ts";
import { EXPIRY_LEASE_MS, EXPIRY_PAUSE_MS } from "./limits.ts";
import { positionsOf } from "./positions.ts";

export interface HoldDependencies {
  readonly views: Pick<ViewStore, "load">;
  readonly log: Pick<LogReader, "lastSequence">;
  readonly retention: Pick<RetentionStore, "read">;
  readonly clock: () => Date;
  /** Ends early, without an error, when the signal is aborted. */
  readonly pause: (durationMs: number, signal: AbortSignal) => Promise<void>;
}

export const readStored = async (retention: HoldDependencies["retention"]): Promise<StoredRetention> => {
  const read = await retention.read();
  if (read.kind === "unavailable") throw new Error(`policies and holds: ${read.detail}`);
  return read.stored;
};

interface HoldParts {
  readonly tenant: string;
  readonly lease: Lease;
  readonly signal: AbortSignal;
}

/** What a tenant wants to be kept. */
interface Kept {
  readonly policy: RetentionPolicy;
  readonly holds: readonly HoldRecord[];
  /** Correlation ids of cases on hold. */
  readonly correlationIds: ReadonlySet<string>;
  /** What the views had seen when these holds were read; undefined if there are none. */
  readonly seen: Sequence | undefined;
}

/** Read again after each wait: a hold that was placed meanwhile counts too. */
export const readKept = async (
  dependencies: HoldDependencies,
  { tenant, lease, signal }: HoldParts,
): Promise<Kept> => {
  let awaited: ReadonlySet<string> = new Set();
  let seen: Sequence | undefined;
  for (;;) {
    const stored = await readStored(dependencies.retention);
    const holds = stored.holds.map(({ record }) => record).filter((hold) => hold.tenant === tenant);
    const correlationIds = new Set(
      holds.flatMap(({ correlation_id: id, released_at: released }) =>
        id === undefined || released !== undefined ? [] : [id],
      ),
    );
    if (correlationIds.isSubsetOf(awaited)) {
      const policy = stored.policies.find((record) => record.tenant === tenant)?.policy ?? {};
      return { policy, holds, correlationIds, seen };
    }
    seen = await untilEndSeen(dependencies, lease, signal);
    awaited = correlationIds;
  }
};

/** The correlation ids of the cases on hold to which an event belongs, by the event's names. */
export const casesOnHold = async (
  dependencies: HoldDependencies,
  tenant: string,
  { correlationIds, seen }: Kept,
): Promise<CasesOnHold> => {
  if (seen === undefined) return () => [];
  const cases: (readonly [string, ReadonlySet<string>])[] = [];
  for (const id of correlationIds) cases.push([id, await namesOfCase(dependencies.views, tenant, id)]);
  // A view of cases that is being rebuilt knows less than there is.
  if (!(await haveSeen(dependencies, seen))) throw new OutdatedError(MADE_AGAIN);
  return (names) => cases.filter(([, members]) => names.some((name) => members.has(name))).map(([id]) => id);
};

type CasesOnHold = (names: readonly string[]) => readonly string[];

export const factsOnHold =
  (holds: readonly Hold[], casesOf: CasesOnHold) =>
  (fact: Fact): boolean =>
    isOnHold({ assetId: fact.asset, correlationIds: casesOf(nodesOf(fact)) }, holds);

/**
 * Waits until the views have seen the current end of the log: an event that links another one to a case on hold may have come after the pass began.
 */
const untilEndSeen = async (
  dependencies: HoldDependencies,
  lease: Lease,
  signal: AbortSignal,
): Promise<Sequence> => {
  const { log, clock, pause } = dependencies;
  const end = await log.lastSequence();
  // Not longer than another process would wait for this one.
  const givesUpAt = clock().getTime() + EXPIRY_LEASE_MS;
  while (!(await haveSeen(dependencies, end))) {
    if (clock().getTime() >= givesUpAt || signal.aborted) throw new OutdatedError("the views are behind");
    await pause(EXPIRY_PAUSE_MS, signal);
    await lease.keep();
  }
  return end;
};

/** Whether the views that decide what may expire have come that far. */
export const haveSeen = async (
  { views }: Pick<HoldDependencies, "views">,
  target: Sequence,
): Promise<boolean> => {
  const positions = await positionsOf(views, VIEWS_NEEDED);
  return [...positions.values()].every((position) => position >= target);
};

/** The view of cases decides what belongs to a hold. */
const VIEWS_NEEDED = [EVENTS_VIEW, CASES_VIEW] as const;

export const MADE_AGAIN = "the view of cases is rebuilt";
