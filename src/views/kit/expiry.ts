/**
 * Lets events expire in the views, and cases with the last of their events; the log is never touched. Runs at the start and every hour, in small
 * transactions, each of which is kept only if the rows that it is based on still stand. So a pass may end anywhere, and several processes may run one.
 * Policies and holds are read before each transaction, so that a hold counts at once.
 */

import { ageOf, dueBefore, RETENTION_CLASSES, type RetentionClass } from "../../access/retention/age.ts";
import type { RetentionPolicy, RetentionStore } from "../../access/retention/records.ts";
import { type Fact, factOf } from "../../law/cases/fact.ts";
import type { Rules } from "../../law/obligations/obligation.ts";
import type { LogReader } from "../../log/event-log.ts";
import type { Sequence } from "../../log/outcome.ts";
import type { Logger } from "../../telemetry/logger.ts";
import { casesExpiring, holdsOver } from "../cases/expiry.ts";
import { nodesOf } from "../cases/nodes.ts";
import { CASES_VIEW } from "../cases/tables.ts";
import { eventsProjection } from "../events/evolve.ts";
import { dueQuery, factsIn, keyOf, tombstoneWrites } from "../events/expiry.ts";
import { EVENTS, EVENTS_VIEW, receivedIn } from "../events/tables.ts";
import { type Row, rowInteger, rowText } from "../store/tables.ts";
import type { ViewDefinition, ViewStore } from "../store/view-store.ts";
import {
  EXPIRY_INTERVAL_MS,
  EXPIRY_PAUSE_MS,
  EXPIRY_TRIES_MAX,
  EXPIRY_TURN_MS_MAX,
  EXPIRY_WAIT_MS_MAX,
  EXPIRY_ROWS_PER_COMMIT_MAX as ROWS_MAX,
} from "./limits.ts";
import { positionsOf } from "./view-end.ts";

interface ExpiryDependencies {
  readonly views: Pick<ViewStore, "load" | "select" | "position" | "revise">;
  /** The view of cases, made with the same rules. */
  readonly cases: ViewDefinition;
  readonly rules: Rules;
  readonly log: Pick<LogReader, "lastSequence">;
  readonly retention: Pick<RetentionStore, "read">;
  readonly clock: () => Date;
  /** Ends early, without an error, when the signal is aborted. */
  readonly pause: (durationMs: number, signal: AbortSignal) => Promise<void>;
  readonly logger: Logger;
  readonly onExpired: (events: number) => void;
}

/** The result of one look. */
export type ExpiryLook =
  | { readonly kind: "finished"; readonly expired: number }
  /** Done within the last hour. */
  | { readonly kind: "not_due" }
  /** The views have not seen all of the log. */
  | { readonly kind: "behind" }
  /** Rows changed meanwhile, the views fell behind, or the signal was aborted: the rest comes with the next pass. */
  | { readonly kind: "interrupted" };

export const createExpiryWorker = (dependencies: ExpiryDependencies) => {
  const { views, log, clock } = dependencies;
  let finished: { readonly atMs: number; readonly seen: Sequence } | undefined;
  /** What the views must have seen before a pass begins. */
  let target: Sequence | undefined;

  const isDue = async (): Promise<boolean> => {
    // Rebuilt views show everything.
    if (finished && !(await haveSeen(views, finished.seen))) finished = undefined;
    // A clock that was set back makes a pass due as well.
    return !finished || Math.abs(clock().getTime() - finished.atMs) >= EXPIRY_INTERVAL_MS;
  };
  const look = async (signal: AbortSignal): Promise<ExpiryLook> => {
    if (!(await isDue())) return { kind: "not_due" };
    target ??= await log.lastSequence();
    const seen = target;
    if (!(await haveSeen(views, seen))) return { kind: "behind" };
    target = undefined;
    try {
      const expired = await expireAll({ ...dependencies, signal });
      finished = { atMs: clock().getTime(), seen };
      return { kind: "finished", expired };
    } catch (error) {
      if (error instanceof OutdatedError) return { kind: "interrupted" };
      throw error;
    }
  };
  return { look };
};

/** What a step is based on has changed. */
class OutdatedError extends Error {
  override readonly name = "OutdatedError";
}

type Pass = ExpiryDependencies & { readonly signal: AbortSignal };

const expireAll = async (pass: Pass): Promise<number> => {
  let expired = 0;
  for (const { tenant, policy } of (await pass.retention.read()).policies) {
    let count = 0;
    for (const kept of RETENTION_CLASSES) count += await expireClass(pass, { tenant, policy, kept });
    if (count > 0) pass.logger.info("events expired", { tenant, count });
    expired += count;
  }
  return expired;
};

const expireClass = async (
  pass: Pass,
  of: { readonly tenant: string; readonly policy: RetentionPolicy; readonly kept: RetentionClass },
): Promise<number> => {
  const { views, clock } = pass;
  const { tenant, kept } = of;
  const before = dueBefore(ageOf(of.policy, kept), clock());
  if (before === undefined) return 0;
  let expired = 0;
  for (let after: Row | undefined; ; ) {
    const rows = await views.select(dueQuery({ tenant, kept, before, after, rowsMax: ROWS_MAX }));
    if (rows.length === 0) return expired;
    // Read after the rows: a hold or a policy that was acknowledged before now counts for them.
    const { policy, isHeld } = await readKept(pass, tenant);
    const still = dueBefore(ageOf(policy, kept), clock()) ?? "";
    const due = rows.flatMap((row): readonly Due[] => {
      const facts = factsIn(row);
      if (!facts || rowText(row, "counted_from") >= still) return [];
      const fact = factOf(facts, rowInteger(row, "sequence"), receivedIn(row));
      return isHeld(fact) ? [] : [{ row, fact, home: nodesOf(fact)[0] }];
    });
    expired += await expireStep(pass, { tenant, due, isHeld });
    if (rows.length < ROWS_MAX) return expired;
    after = rows.at(-1);
    await pass.pause(EXPIRY_PAUSE_MS, pass.signal);
    if (pass.signal.aborted) throw new OutdatedError("the service stops");
  }
};

interface Due {
  readonly row: Row;
  readonly fact: Fact;
  /** The node that counts it. */
  readonly home: string | undefined;
}

/** Events, and in the same transaction the cases that have no other event. */
const expireStep = async (
  pass: Pass,
  step: { readonly tenant: string; readonly due: readonly Due[]; readonly isHeld: (fact: Fact) => boolean },
): Promise<number> => {
  const { views, rules, cases, clock, onExpired } = pass;
  const { tenant, due, isHeld } = step;
  if (due.length === 0) return 0;
  const last = Math.max(...due.map(({ fact }) => fact.sequence));
  const events = new Map<string, Set<string>>();
  for (const { home, fact } of due)
    if (home !== undefined) events.set(home, (events.get(home) ?? new Set()).add(fact.id));
  for (let tries = 0; tries < EXPIRY_TRIES_MAX; tries++) {
    const ofCases = await casesExpiring(views, { tenant, events, rules, isHeld });
    // A view of cases that is being rebuilt counts what has expired before it takes it.
    if (!(await haveSeen(views, last))) throw new OutdatedError("the views are being rebuilt");
    const going = due.filter(({ home }) => home === undefined || !ofCases.held.has(home));
    const expected = going.map(({ row }) => ({ table: EVENTS, key: keyOf(row), row }));
    const writes = going.flatMap(({ row }) => tombstoneWrites(row, clock().toISOString()));
    const { kind } = await views.revise({
      views: [eventsProjection, cases],
      expected: [...expected, ...ofCases.expected],
      writes: [...writes, ...ofCases.writes],
    });
    if (kind === "outdated") continue;
    onExpired(going.length);
    if (ofCases.writes.length > 0) await letProject(pass);
    return going.length;
  }
  throw new OutdatedError("another process changed the rows");
};

/** The projector must compute its current batch again, so the next step waits until that is done. */
const letProject = async (pass: Pass): Promise<void> => {
  const { views, log } = pass;
  const position = await views.position(CASES_VIEW);
  const end = await log.lastSequence();
  const hasMoved = async () => position >= end || (await views.position(CASES_VIEW)) > position;
  await waitUntil(pass, hasMoved, EXPIRY_TURN_MS_MAX);
};

/** False if it did not come true in time. */
const waitUntil = async (
  { pause, signal }: Pass,
  isTrue: () => Promise<boolean>,
  msMax: number,
): Promise<boolean> => {
  for (let waitedMs = 0; waitedMs < msMax && !signal.aborted; waitedMs += EXPIRY_PAUSE_MS) {
    if (await isTrue()) return true;
    await pause(EXPIRY_PAUSE_MS, signal);
  }
  return isTrue();
};

/**
 * The policy and the holds of a tenant. An event that links another one to a case on hold may have come a moment ago, so holds on cases count once the views
 * have seen the log's end; then they are read again, because more may have been placed meanwhile.
 */
const readKept = async (pass: Pass, tenant: string) => {
  const { retention, views, log } = pass;
  const awaited = new Set<string>();
  let seen: Sequence = 0;
  for (;;) {
    const { policies, holds } = await retention.read();
    const own = holds
      .map(({ record }) => record)
      .filter((hold) => hold.tenant === tenant && !hold.released_at);
    const onCases = own.flatMap(({ correlation_id: id }) => id ?? []);
    if (onCases.every((id) => awaited.has(id))) {
      const policy = policies.find((each) => each.tenant === tenant)?.policy ?? {};
      const isHeld = await holdsOver(views, tenant, own);
      // A view of cases that is being rebuilt knows less than there is.
      if (!(await haveSeen(views, seen))) throw new OutdatedError("the views are being rebuilt");
      return { policy, isHeld };
    }
    for (const id of onCases) awaited.add(id);
    const end = await log.lastSequence();
    if (!(await waitUntil(pass, () => haveSeen(views, end), EXPIRY_WAIT_MS_MAX)))
      throw new OutdatedError("the views are behind");
    seen = end;
  }
};

/** The view of cases decides what belongs to a hold. */
const VIEWS_NEEDED = [EVENTS_VIEW, CASES_VIEW];

const haveSeen = async (views: Pick<ViewStore, "load">, sequence: Sequence): Promise<boolean> =>
  [...(await positionsOf(views, VIEWS_NEEDED)).values()].every((position) => position >= sequence);
