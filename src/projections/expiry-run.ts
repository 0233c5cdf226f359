/** One pass over everything that is due, by one process: the rows of each transaction change together with the row that says who is at work. */

import { factOf } from "../cases/fact.ts";
import type { EventFacts } from "../event/facts.ts";
import { EXPIRY_LEASE_MS, EXPIRY_PAUSE_MS, EXPIRY_ROWS_PER_COMMIT_MAX } from "../limits.ts";
import type { Sequence } from "../log/outcome.ts";
import { ageOf, dueBefore, expiresAt, RETENTION_CLASSES, type RetentionClass } from "../retention/age.ts";
import type { HoldRecord, PolicyRecord } from "../retention/records.ts";
import type { RetentionStore, StoredRetention } from "../retention/retention-store.ts";
import type { Logger } from "../telemetry/logger.ts";
import { type Row, rowText } from "../views/tables.ts";
import type { ViewRevision, ViewStore } from "../views/view-store.ts";
import { nodesOf } from "./cases/nodes.ts";
import { namesOfCase } from "./cases/queries.ts";
import { eventsProjection } from "./events/evolve.ts";
import { dueQuery, expiryWrites, factsIn, keyOf } from "./events/expiry.ts";
import { EVENTS, EXPIRY_RUNS } from "./events/tables.ts";

export interface ExpiryDependencies {
  readonly views: Pick<ViewStore, "load" | "select" | "position" | "revise">;
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
  /** Somebody else changed what this was built on, or the signal was aborted: the rest comes with the next pass. */
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
    await lease.renew(NOTHING);
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

class OutdatedError extends Error {
  override readonly name = "OutdatedError";
}

type Changes = Pick<ViewRevision, "expected" | "writes">;

const NOTHING: Changes = { expected: [], writes: [] };

type Lease = ReturnType<typeof createLease>;

const createLease = ({ views, clock, holder }: ExpiryDependencies, begin: Begin) => {
  let standing = begin.row;
  const revise = async ({ expected, writes }: Changes, next: Row): Promise<void> => {
    const row = { ...EXPIRY_RUN_KEY, ...next };
    const { kind } = await views.revise({
      view: eventsProjection,
      expected: [{ table: EXPIRY_RUNS, key: EXPIRY_RUN_KEY, row: standing }, ...expected],
      writes: [{ kind: "upsert", table: EXPIRY_RUNS, row }, ...writes],
    });
    if (kind === "outdated") throw new OutdatedError("somebody else changed the rows");
    standing = row;
  };
  return {
    /** Throws OutdatedError where another process has begun, or a row stands otherwise. */
    renew: (changes: Changes): Promise<void> => {
      const heldUntil = clock().getTime() + EXPIRY_LEASE_MS;
      return revise(changes, { holder, held_until: heldUntil, finished_at: begin.finishedAt });
    },
    release: (finishedAt: number): Promise<void> =>
      revise(NOTHING, { holder: "", held_until: 0, finished_at: finishedAt }),
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
  const { record, kept, begin } = parts;
  const { tenant, policy } = record;
  const before = dueBefore(ageOf(policy, kept), clock());
  if (before === undefined) return 0;
  const rowsMax = EXPIRY_ROWS_PER_COMMIT_MAX;
  let expired = 0;
  for (let after: Row | undefined; ; ) {
    const rows = await views.select(dueQuery({ tenant, kept, before, after, rowsMax }));
    if (rows.length > 0) expired += await expirePage(dependencies, { ...parts, rows });
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
  const { retention, clock, onExpired } = dependencies;
  // Asked after the rows were read: a hold that was answered before now keeps them.
  const { policies, holds } = await readStored(retention);
  const policy = policies.find((record) => record.tenant === tenant)?.policy ?? {};
  const own = holds.map(({ record }) => record).filter((hold) => hold.tenant === tenant);
  const now = clock();
  const casesOf = await casesOnHold(dependencies, { tenant, holds: own, target: begin.target });
  const due = rows.flatMap((row) => {
    const facts = factsIn(row);
    if (!facts) return [];
    const { at } = expiresAt(
      { ...facts, received: rowText(row, "received"), correlationIds: casesOf(facts) },
      policy,
      own,
    );
    return at !== undefined && at <= now ? [{ row, facts }] : [];
  });
  if (due.length === 0) return 0;
  const expiredAt = now.toISOString();
  await lease.renew({
    expected: due.map(({ row }) => ({ table: EVENTS, key: keyOf(EVENTS, row), row })),
    writes: due.flatMap(({ row, facts }) => expiryWrites(row, facts, expiredAt)),
  });
  onExpired(due.length);
  return due.length;
};

const readStored = async (retention: ExpiryDependencies["retention"]): Promise<StoredRetention> => {
  const read = await retention.read();
  if (read.kind === "unavailable") throw new Error(`policies and holds: ${read.detail}`);
  return read.stored;
};

/** For an event, the correlation ids of the cases on hold that it belongs to. */
const casesOnHold = async (
  dependencies: ExpiryDependencies,
  at: { readonly tenant: string; readonly holds: readonly HoldRecord[]; readonly target: Sequence },
): Promise<(facts: EventFacts) => readonly string[]> => {
  const { tenant, holds, target } = at;
  const correlationIds = new Set(
    holds.flatMap(({ correlation_id: id, released_at: released }) =>
      id === undefined || released !== undefined ? [] : [id],
    ),
  );
  if (correlationIds.size === 0) return () => [];
  const cases: (readonly [string, ReadonlySet<string>])[] = [];
  for (const id of correlationIds) cases.push([id, await namesOfCase(dependencies.views, tenant, id)]);
  // A view of cases that is made again meanwhile knows less than there is.
  if (!(await haveSeen(dependencies, target))) throw new OutdatedError("the view of cases is made again");
  return (facts) => {
    const names = nodesOf(factOf(facts, 0));
    return cases.filter(([, members]) => names.some((name) => members.has(name))).map(([id]) => id);
  };
};
