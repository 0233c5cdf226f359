/** One pass over everything that is due, by one process: the rows of each transaction change together with the row that says who is at work. */

import {
  ageOf,
  dueBefore,
  expiresAt,
  RETENTION_CLASSES,
  type RetentionClass,
} from "../../access/retention/age.ts";
import type { PolicyRecord } from "../../access/retention/records.ts";
import { type Fact, factOf } from "../../law/cases/fact.ts";
import type { Rules } from "../../law/obligations/obligation.ts";
import type { Sequence } from "../../log/outcome.ts";
import type { Logger } from "../../telemetry/logger.ts";
import { casesExpiring, isWalkDue, noticeably, type RowChanges, walkQuery } from "../cases/expiry.ts";
import { nodesOf } from "../cases/nodes.ts";
import { dueQuery, expiryWrites, factsIn, keyOf } from "../events/expiry.ts";
import { EVENTS } from "../events/tables.ts";
import { type Row, rowText } from "../store/tables.ts";
import type { ViewStore } from "../store/view-store.ts";
import {
  casesOnHold,
  factsOnHold,
  type HoldDependencies,
  haveSeen,
  MADE_AGAIN,
  readKept,
  readStored,
} from "./expiry-holds.ts";
import {
  createLease,
  type Lease,
  type LeaseBegin,
  type LeaseDependencies,
  NOTHING,
  OutdatedError,
} from "./expiry-lease.ts";
import { EXPIRY_PAUSE_MS, EXPIRY_ROWS_PER_COMMIT_MAX, EXPIRY_TURN_MS_MAX } from "./limits.ts";

export interface ExpiryDependencies extends HoldDependencies, LeaseDependencies {
  readonly views: Pick<ViewStore, "load" | "select" | "position" | "revise">;
  readonly rules: Rules;
  readonly logger: Logger;
  readonly onExpired: (events: number) => void;
}

export type ExpiryPass =
  | { readonly kind: "finished"; readonly expired: number }
  /** Another projector is at work. */
  | { readonly kind: "busy" }
  /** Something that this was based on changed, the views fell behind, or the signal was aborted: the rest comes with the next pass. */
  | { readonly kind: "interrupted" };

interface Begin extends LeaseBegin {
  /** What the views have seen, and must have seen throughout. */
  readonly target: Sequence;
  readonly signal: AbortSignal;
}

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
    // The next pass finds the rest again, in this process or another.
    await lease.release(begin.finishedAt).catch(() => undefined);
    if (error instanceof OutdatedError) return { kind: "interrupted" };
    throw error;
  }
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
  // Read after the rows: a hold that was acknowledged before now protects them.
  const kept = await readKept(dependencies, { tenant, lease, signal: begin.signal });
  const { policy, holds: own } = kept;
  const now = clock();
  const casesOf = await casesOnHold(dependencies, tenant, kept);
  const due = rows.flatMap((row) => {
    const facts = factsIn(row);
    if (!facts) return [];
    const names = nodesOf(factOf(facts, 0, rowText(row, "received")));
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
      writes: due.flatMap(({ row }) => expiryWrites(row, expiredAt)),
    },
  });
  onExpired(due.length);
  return due.length;
};

interface CaseParts {
  readonly lease: Lease;
  readonly begin: Begin;
  readonly tenant: string;
  /** The names of the nodes whose cases may expire. */
  readonly names: readonly string[];
  readonly expiring: ReadonlySet<string>;
  readonly readHolds: () => Promise<(fact: Fact) => boolean>;
  readonly changes: RowChanges;
}

/**
 * The changes, and in the same transaction the cases that have no other event. If the projector keeps writing to these cases, they are left out, so
 * that events expire all the same, and all cases become due for a look.
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
    // A view that is being rebuilt may know only a part of a case.
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

/** The projector must compute its current group again, so the next such step waits until that is done. */
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
