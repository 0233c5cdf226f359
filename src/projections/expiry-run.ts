/** One pass over everything that is due, by one process: the rows of each transaction change together with the row that says who is at work. */

import { type Fact, factOf } from "../cases/fact.ts";
import type { LogReader } from "../log/event-log.ts";
import type { Sequence } from "../log/outcome.ts";
import type { Rules } from "../obligations/clocks.ts";
import {
  ageOf,
  dueBefore,
  expiresAt,
  type Hold,
  isOnHold,
  RETENTION_CLASSES,
  type RetentionClass,
} from "../retention/age.ts";
import type { HoldRecord, PolicyRecord, RetentionPolicy } from "../retention/records.ts";
import type { RetentionStore, StoredRetention } from "../retention/retention-store.ts";
import type { Logger } from "../telemetry/logger.ts";
import { type Row, rowText } from "../views/tables.ts";
import type { ViewDefinition, ViewStore } from "../views/view-store.ts";
import { casesExpiring, isWalkDue, noticeably, type RowChanges, walkQuery } from "./cases/expiry.ts";
import { nodesOf } from "./cases/nodes.ts";
import { namesOfCase } from "./cases/queries.ts";
import { eventsProjection } from "./events/evolve.ts";
import { dueQuery, expiryWrites, factsIn, keyOf } from "./events/expiry.ts";
import { EVENTS, EXPIRY_RUNS } from "./events/tables.ts";
import {
  EXPIRY_LEASE_MS,
  EXPIRY_PAUSE_MS,
  EXPIRY_ROWS_PER_COMMIT_MAX,
  EXPIRY_TRIES_MAX,
  EXPIRY_TURN_MS_MAX,
} from "./limits.ts";

export interface ExpiryDependencies {
  readonly views: Pick<ViewStore, "load" | "select" | "position" | "revise">;
  readonly log: Pick<LogReader, "lastSequence">;
  /** The view of cases, made with the same rules. */
  readonly cases: ViewDefinition;
  readonly rules: Rules;
  readonly retention: Pick<RetentionStore, "read">;
  readonly logger: Logger;
  readonly clock: () => Date;
  /** Ends early, without an error, when the signal is aborted. */
  readonly pause: (durationMs: number, signal: AbortSignal) => Promise<void>;
  /** Names this process among all projectors. */
  readonly holder: string;
  readonly onExpired: (events: number) => void;
}

export type ExpiryPass =
  | { readonly kind: "finished"; readonly expired: number }
  /** Another projector is at work. */
  | { readonly kind: "busy" }
  /** Somebody else changed what this was built on, the views fell behind, or the signal was aborted: the rest comes with the next pass. */
  | { readonly kind: "interrupted" };

interface Begin {
  /** What the views have seen, and must have seen all the time. */
  readonly target: Sequence;
  /** The row of EXPIRY_RUNS as it was read. */
  readonly row: Row | undefined;
  readonly finishedAt: number;
  readonly signal: AbortSignal;
}

export const EXPIRY_RUN_KEY = { name: "expiry" };

export const expireAll = async (dependencies: ExpiryDependencies, begin: Begin): Promise<ExpiryPass> => {
  const { retention, logger, clock } = dependencies;
  const lease = createLease(dependencies, begin);
  try {
    await lease.renew(async () => NOTHING);
  } catch (error) {
    if (error instanceof OutdatedError) return { kind: "busy" };
    throw error;
  }
  try {
    let expired = 0;
    for (const record of (await readStored(retention)).policies) {
      let count = 0;
      for (const kept of RETENTION_CLASSES)
        count += await expireClass(dependencies, { record, kept, lease, begin });
      if (count > 0) logger.info("events expired", { tenant: record.tenant, count });
      expired += count;
    }
    if (await isWalkDue(dependencies.views, clock().getTime())) await walkCases(dependencies, lease, begin);
    await lease.release(clock().getTime());
    return { kind: "finished", expired };
  } catch (error) {
    // What is left is found again: by the next pass, here or elsewhere.
    await lease.release(begin.finishedAt).catch(() => undefined);
    if (error instanceof OutdatedError) return { kind: "interrupted" };
    throw error;
  }
};

/** Whether the views that tell what may go have come that far. */
export const haveSeen = async (
  { views }: Pick<ExpiryDependencies, "views">,
  target: Sequence,
): Promise<boolean> => {
  const positions = await Promise.all(VIEWS_NEEDED.map((name) => views.position(name)));
  return positions.every((position) => position >= target);
};

/** Cases tell what belongs to a hold. */
const VIEWS_NEEDED = [eventsProjection.name, "cases"] as const;

const MADE_AGAIN = "the view of cases is made again";

class OutdatedError extends Error {
  override readonly name = "OutdatedError";
}

const NOTHING: RowChanges = { expected: [], writes: [] };

type Lease = ReturnType<typeof createLease>;

const createLease = ({ views, cases, clock, holder }: ExpiryDependencies, begin: Begin) => {
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
   * Throws OutdatedError where another process has begun, or a row stands otherwise however often the changes are built: the projector may give a
   * case an event meanwhile.
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
    /** While there is nothing to write for long: without it the next process would begin anew, and neither ever come further. */
    keep: async (): Promise<void> => {
      if (heldUntil - clock().getTime() < EXPIRY_LEASE_MS / 2) await renew(async () => NOTHING);
    },
    release: async (finishedAt: number): Promise<void> => {
      const isReleased = await revise(NOTHING, { holder: "", held_until: 0, finished_at: finishedAt });
      if (!isReleased) throw new OutdatedError("somebody else has begun");
    },
  };
};

interface ClassParts {
  readonly record: PolicyRecord;
  readonly kept: RetentionClass;
  readonly lease: Lease;
  readonly begin: Begin;
}

const expireClass = async (dependencies: ExpiryDependencies, parts: ClassParts): Promise<number> => {
  const { views, clock, pause } = dependencies;
  const { record, kept, lease, begin } = parts;
  const { tenant, policy } = record;
  const before = dueBefore(ageOf(policy, kept), clock());
  if (before === undefined) return 0;
  const rowsMax = EXPIRY_ROWS_PER_COMMIT_MAX;
  let expired = 0;
  for (let after: Row | undefined; ; ) {
    const rows = await views.select(dueQuery({ tenant, kept, before, after, rowsMax }));
    if (rows.length > 0) expired += await expirePage(dependencies, { ...parts, rows });
    await lease.keep();
    if (rows.length < rowsMax) return expired;
    after = rows.at(-1);
    await pause(EXPIRY_PAUSE_MS, begin.signal);
    if (begin.signal.aborted) throw new OutdatedError("the service stops");
  }
};

const expirePage = async (
  dependencies: ExpiryDependencies,
  { record: { tenant }, lease, begin, rows }: ClassParts & { readonly rows: readonly Row[] },
): Promise<number> => {
  const { clock, onExpired } = dependencies;
  // Asked after the rows were read: a hold that was answered before now keeps them.
  const kept = await readKept(dependencies, { tenant, lease, signal: begin.signal });
  const { policy, holds: own } = kept;
  const now = clock();
  const casesOf = await casesOnHold(dependencies, tenant, kept);
  const due = rows.flatMap((row) => {
    const facts = factsIn(row);
    if (!facts) return [];
    const names = nodesOf(factOf(facts, 0));
    const { at } = expiresAt(
      { ...facts, received: rowText(row, "received"), correlationIds: casesOf(names) },
      policy,
      own,
    );
    return at !== undefined && at <= now ? [{ row, facts, names }] : [];
  });
  if (due.length === 0) return 0;
  const expiredAt = now.toISOString();
  await renewWithCases(dependencies, {
    lease,
    begin,
    tenant,
    names: due.flatMap(({ names }) => names),
    expiring: new Set(due.map(({ facts }) => facts.eventId)),
    readHolds: async () => factsOnHold(own, casesOf),
    changes: {
      expected: due.map(({ row }) => ({ table: EVENTS, key: keyOf(EVENTS, row), row })),
      writes: due.flatMap(({ row, facts }) => expiryWrites(row, facts, expiredAt)),
    },
  });
  onExpired(due.length);
  return due.length;
};

interface CaseParts {
  readonly lease: Lease;
  readonly begin: Begin;
  readonly tenant: string;
  /** Of the nodes whose cases may go. */
  readonly names: readonly string[];
  readonly expiring: ReadonlySet<string>;
  readonly readHolds: () => Promise<(fact: Fact) => boolean>;
  readonly changes: RowChanges;
}

/**
 * The changes, and in the same transaction the cases that have no other event. Where the projector writes to these all the time they are left, so that
 * events expire all the same, and all cases are due to be looked at.
 */
const renewWithCases = async (
  dependencies: ExpiryDependencies,
  parts: CaseParts,
): Promise<"done" | "left"> => {
  const { views, rules } = dependencies;
  const { lease, begin, tenant, expiring, readHolds, changes } = parts;
  const names = [...new Set(parts.names)];
  let [isRevised, areLeft] = [false, false];
  const revisionOf = async (isLastTry: boolean): Promise<RowChanges> => {
    const gone = await casesExpiring(views, { tenant, names, expiring, rules, readHolds });
    // A view that is made again meanwhile may know a part of a case only.
    if (!(await haveSeen(dependencies, begin.target))) throw new OutdatedError(MADE_AGAIN);
    isRevised = gone.writes.length > 0;
    if (!isRevised) return NOTHING;
    areLeft = isLastTry;
    return areLeft ? noticeably(views, NOTHING, { walkedAt: 0 }) : noticeably(views, gone);
  };
  await lease.renew(async (isLastTry) => {
    const { expected, writes } = await revisionOf(isLastTry);
    return { expected: [...changes.expected, ...expected], writes: [...changes.writes, ...writes] };
  });
  if (isRevised) await letProject(dependencies, begin.signal);
  return areLeft ? "left" : "done";
};

/** The group that the projector is at is computed anew, so the next one of these steps waits until it is through. */
const letProject = async (
  { views, log, cases, pause }: ExpiryDependencies,
  signal: AbortSignal,
): Promise<void> => {
  const position = await views.position(cases.name);
  if (position >= (await log.lastSequence())) return;
  for (let waitedMs = 0; waitedMs < EXPIRY_TURN_MS_MAX && !signal.aborted; waitedMs += EXPIRY_PAUSE_MS) {
    await pause(EXPIRY_PAUSE_MS, signal);
    if ((await views.position(cases.name)) > position) return;
  }
};

/** Looks at all cases of the tenants whose events expire. */
const walkCases = async (dependencies: ExpiryDependencies, lease: Lease, begin: Begin): Promise<void> => {
  const { views, retention, clock, pause } = dependencies;
  const rowsMax = EXPIRY_ROWS_PER_COMMIT_MAX;
  let areLeft = false;
  const { signal } = begin;
  for (const { tenant } of (await readStored(retention)).policies) {
    const readHolds = async () => {
      const kept = await readKept(dependencies, { tenant, lease, signal });
      return factsOnHold(kept.holds, await casesOnHold(dependencies, tenant, kept));
    };
    for (let after: string | undefined; ; ) {
      const rows = await views.select(walkQuery(tenant, after, rowsMax));
      const names = rows.filter((row) => row.facts !== "[]").map((row) => rowText(row, "node"));
      const expiring: ReadonlySet<string> = new Set();
      const parts = { lease, begin, tenant, names, expiring, readHolds, changes: NOTHING };
      if ((await renewWithCases(dependencies, parts)) === "left") areLeft = true;
      const last = rows.at(-1);
      if (!last || rows.length < rowsMax) break;
      after = rowText(last, "node");
      await pause(EXPIRY_PAUSE_MS, signal);
      if (signal.aborted) throw new OutdatedError("the service stops");
    }
  }
  if (!areLeft) await lease.renew(() => noticeably(views, NOTHING, { walkedAt: clock().getTime() }));
};

const readStored = async (retention: ExpiryDependencies["retention"]): Promise<StoredRetention> => {
  const read = await retention.read();
  if (read.kind === "unavailable") throw new Error(`policies and holds: ${read.detail}`);
  return read.stored;
};

interface HoldParts {
  readonly tenant: string;
  readonly lease: Lease;
  readonly signal: AbortSignal;
}

/** What a tenant wants kept. */
interface Kept {
  readonly policy: RetentionPolicy;
  readonly holds: readonly HoldRecord[];
  /** Of cases on hold. */
  readonly correlationIds: ReadonlySet<string>;
  /** What the views have seen since it was known that these are on hold; undefined where none is. */
  readonly seen: Sequence | undefined;
}

/** Asked again after what was waited for: a hold that was answered meanwhile counts too. */
const readKept = async (
  dependencies: ExpiryDependencies,
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

/** By the names of an event, the correlation ids of the cases on hold that it belongs to. */
const casesOnHold = async (
  dependencies: ExpiryDependencies,
  tenant: string,
  { correlationIds, seen }: Kept,
): Promise<CasesOnHold> => {
  if (seen === undefined) return () => [];
  const cases: (readonly [string, ReadonlySet<string>])[] = [];
  for (const id of correlationIds) cases.push([id, await namesOfCase(dependencies.views, tenant, id)]);
  // A view of cases that is made again meanwhile knows less than there is.
  if (!(await haveSeen(dependencies, seen))) throw new OutdatedError(MADE_AGAIN);
  return (names) => cases.filter(([, members]) => names.some((name) => members.has(name))).map(([id]) => id);
};

type CasesOnHold = (names: readonly string[]) => readonly string[];

const factsOnHold =
  (holds: readonly Hold[], casesOf: CasesOnHold) =>
  (fact: Fact): boolean =>
    isOnHold({ assetId: fact.asset, correlationIds: casesOf(nodesOf(fact)) }, holds);

/** The end of the log, seen by the views: what ties an event to a case on hold may have come after the pass began. */
const untilEndSeen = async (
  dependencies: ExpiryDependencies,
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
