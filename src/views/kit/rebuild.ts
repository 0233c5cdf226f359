/**
 * Builds a view again from the log, beside the live one, and replaces the live one in one transaction. The live view continues meanwhile, in this
 * process or another; whoever advances it notices that its position has changed and continues from there.
 */
import { setTimeout as delay } from "node:timers/promises";
import type { LogReader } from "../../log/event-log.ts";
import type { Sequence } from "../../log/outcome.ts";
import { EVENTS_VIEW } from "../events/tables.ts";
import { isAway } from "../store/unavailable.ts";
import type { DeadLetter, ViewDefinition, ViewStore } from "../store/view-store.ts";
import { advance, type Stopped } from "./advance.ts";
import { copyOf, isCopy, type StoreBeside, storeBeside } from "./beside.ts";
import {
  LEADER_BEHIND_TRIES_MAX,
  REBUILD_REST_MS,
  REBUILD_STEP_MS,
  REPLACE_LAG_MAX,
  REPLACE_TRIES_MAX,
} from "./limits.ts";
import type { Projection } from "./projection.ts";
import { seenBeyond } from "./view-end.ts";

export interface RebuildDependencies {
  readonly log: LogReader;
  readonly views: ViewStore;
  readonly clock: () => Date;
  readonly onProgress: (progress: { readonly position: Sequence; readonly end: Sequence }) => void;
}

export type Rebuilt =
  | { readonly kind: "replaced"; readonly position: Sequence; readonly deadLetters: readonly DeadLetter[] }
  /** The live view advanced too fast each time, another rebuild of it began, or the signal was aborted. This rebuild has changed nothing. */
  | { readonly kind: "given_up"; readonly reason: string };

/** A copy was not built. The message is for the operator. */
export class NotBuiltError extends Error {
  override readonly name = "NotBuiltError";
}

export const rebuildView = async (
  dependencies: RebuildDependencies,
  projection: Projection,
  signal: AbortSignal,
): Promise<Rebuilt> => {
  try {
    return await withCopy(dependencies, projection, signal, (copy) =>
      takePlace(dependencies, projection, copy, signal),
    );
  } catch (error) {
    if (error instanceof NotBuiltError) return { kind: "given_up", reason: error.message };
    throw error;
  }
};

const takePlace = async (
  dependencies: RebuildDependencies,
  projection: Projection,
  copy: Copy,
  signal: AbortSignal,
): Promise<Rebuilt> => {
  const { views } = dependencies;
  await copy.readTo(await endFor(dependencies, projection));
  // Before the replacement: the next expiry pass may have other rules, and would leave what is already gone from the live view.
  await expireAlike(views, projection, copy.store);
  for (let tries = 0; tries < REPLACE_TRIES_MAX; ) {
    const position = await copy.readTo(await endFor(dependencies, projection));
    const replaced = await replaceBy(dependencies, projection, copy.definition);
    if (replaced === "replaced") return { kind: "replaced", position, deadLetters: copy.deadLetters };
    if (replaced === "behind") tries++;
    // A verification reads the view: waiting for its end saves the finished rebuild.
    else await delay(REBUILD_REST_MS, undefined, { signal }).catch(() => undefined);
  }
  throw new NotBuiltError("the live view advances faster than its rebuild");
};

/** How far a copy must get: to the position of `events` if it depends on that view, else to the end of the log. */
const endFor = async (
  { log, views }: Pick<RebuildDependencies, "log" | "views">,
  { asksForEvents }: Projection,
): Promise<Sequence> => {
  const led = asksForEvents ? await views.position(EVENTS_VIEW) : undefined;
  const last = await log.lastSequence();
  if (led !== undefined && led > last)
    throw new NotBuiltError(`the view of ${EVENTS_VIEW} has ${seenBeyond(led, last)}`);
  return led ?? last;
};

export const expireAlike = async (
  views: Pick<ViewStore, "snapshot">,
  projection: Projection,
  made: StoreBeside,
): Promise<void> => {
  if (projection.expireAlike)
    await views.snapshot(projection, async (live) => projection.expireAlike?.(live, made));
};

/** `liveVersion`: of the rows that are replaced, if they are of another version. */
export const replaceBy = async (
  { log, views }: Pick<RebuildDependencies, "log" | "views">,
  projection: Projection,
  by: ViewDefinition,
  liveVersion = projection.version,
): ReturnType<ViewStore["replace"]> => {
  // A live view that has seen records which the log has lost, as after an older copy was restored, cannot be caught up with.
  const lost = Math.max(0, (await views.position(projection.name)) - (await log.lastSequence()));
  const lagMax = REPLACE_LAG_MAX + lost;
  return views.replace({ view: projection, by, liveVersion, lagMax });
};

/** A copy of a view, built from the log under other names. */
export interface Copy {
  readonly definition: ViewDefinition;
  /** The store in which the view is the copy. */
  readonly store: StoreBeside;
  readonly deadLetters: readonly DeadLetter[];
  /** Returns the copy's position, which is this one or a later one. Throws NotBuiltError. */
  readTo(end: Sequence): Promise<Sequence>;
}

/** Whatever happens, nothing of the copy is left beside the live view. */
export const withCopy = async <Result>(
  dependencies: RebuildDependencies,
  projection: Projection,
  signal: AbortSignal,
  use: (copy: Copy) => Promise<Result>,
): Promise<Result> => {
  const { views } = dependencies;
  const definition = copyOf(projection);
  // Left by an earlier one that was killed. If it still runs, it loses its tables and reports that.
  for (const name of await views.names()) if (isCopy(name, projection)) await views.drop(name);
  await views.open(definition);
  const store = storeBeside(views, [{ live: projection, beside: definition }]);
  const deadLetters: DeadLetter[] = [];
  const readTo = (end: Sequence): Promise<Sequence> =>
    read({ ...dependencies, store, deadLetters, projection, signal }, end);
  try {
    return await use({ definition, store, deadLetters, readTo });
  } catch (error) {
    // If the database went away, it is not known whether the tables are gone.
    const isOvertaken = !isAway(error) && !(await views.names()).includes(definition.name);
    throw isOvertaken ? new NotBuiltError(OVERTAKEN) : error;
  } finally {
    await views.drop(definition.name);
  }
};

const OVERTAKEN = "another rebuild of it started, and continues";

interface Reading extends RebuildDependencies {
  readonly store: StoreBeside;
  readonly deadLetters: DeadLetter[];
  readonly projection: Projection;
  readonly signal: AbortSignal;
}

const read = async (reading: Reading, end: Sequence): Promise<Sequence> => {
  const { log, store, clock, deadLetters, projection, onProgress, signal } = reading;
  const advancing = {
    ...{ log, views: store, clock },
    onProgress: (progress: { readonly deadLetters: readonly DeadLetter[] }) =>
      void deadLetters.push(...progress.deadLetters),
  };
  for (let waits = 0; ; ) {
    const position = await store.position(projection.name);
    onProgress({ position, end });
    if (signal.aborted) throw new NotBuiltError("it was interrupted");
    if (position >= end) return position;
    const bounds = { to: end, msMax: REBUILD_STEP_MS, signal };
    const stopped = await advance(advancing, { projections: [projection], position }, bounds);
    if (stopped.kind === "reached") continue;
    const isLeaderBehind = stopped.kind === "superseded" && stopped.projection === EVENTS_VIEW;
    if (!isLeaderBehind || waits++ === LEADER_BEHIND_TRIES_MAX) throw new NotBuiltError(reasonOf(stopped));
    await delay(REBUILD_REST_MS, undefined, { signal }).catch(() => undefined);
  }
};

const reasonOf = (stopped: Stopped): string => {
  switch (stopped.kind) {
    case "alarm":
      return stopped.alarm === "hole" ? "the log has a hole" : "the log ends before the view";
    case "superseded":
      return stopped.projection === EVENTS_VIEW
        ? `the view of ${EVENTS_VIEW}, which it reads, is being rebuilt: retry when it has caught up`
        : "others write to its tables";
    case "failed":
      return String(stopped.error);
    case "reached":
      return "nothing";
  }
};
