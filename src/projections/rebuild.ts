/**
 * Makes a view again from the log, beside the live one, and puts it in its place in one transaction. The live view goes on meanwhile, in this process or
 * another; whoever moves it notices that it stands elsewhere and goes on from there.
 */
import { setTimeout as delay } from "node:timers/promises";
import type { LogReader } from "../log/event-log.ts";
import type { Sequence } from "../log/outcome.ts";
import { isAway } from "../views/unavailable.ts";
import { type DeadLetter, VIEW_REVISIONS, type ViewDefinition, type ViewStore } from "../views/view-store.ts";
import { toldAnew } from "./announcements/told-next.ts";
import { createLaneReading, type Stopped } from "./lane.ts";
import { REBUILD_STEP_MS, REPLACE_LAG_MAX, REPLACE_SETTLE_MS_MAX, REPLACE_TRIES_MAX } from "./limits.ts";
import type { Projection } from "./projection.ts";
import { isShadowOf, shadowDefinition, shadowOf, storeOfShadow } from "./shadow.ts";
import { seenBeyond } from "./view-end.ts";
import { waitForPosition } from "./wait-for-position.ts";

export interface RebuildDependencies {
  readonly log: LogReader;
  readonly views: ViewStore;
  readonly clock: () => Date;
  /** The projection whose rows others ask: no view is moved beyond it. */
  readonly leader: string;
  readonly onProgress: (progress: { readonly position: Sequence; readonly end: Sequence }) => void;
}

export type Rebuilt =
  | { readonly kind: "replaced"; readonly position: Sequence; readonly deadLetters: readonly DeadLetter[] }
  /** The live view moved away each time, another rebuild of it began, or the signal came. This one has changed nothing. */
  | { readonly kind: "given_up"; readonly reason: string };

export const rebuildView = async (
  dependencies: RebuildDependencies,
  projection: Projection,
  signal: AbortSignal,
): Promise<Rebuilt> => {
  const { log, views, leader, onProgress } = dependencies;
  const definition = shadowDefinition(projection, generation());
  const shadow = shadowOf(projection, definition);
  const deadLetters: DeadLetter[] = [];
  // What an earlier rebuild left that was killed. One that still runs loses its tables, and says so.
  for (const name of await views.names()) if (isShadowOf(name, projection.name)) await views.drop(name);
  await views.open(definition);
  let isReplaced = false;
  /** The tables that it writes went with another rebuild of this view. */
  const isOvertaken = async (): Promise<boolean> =>
    !isReplaced && !(await views.names()).includes(definition.name);
  const isLeader = projection.name === leader;
  // Made again meanwhile it may lack rows for a while, and records would be passed over.
  const leadersRevision = async () =>
    isLeader ? undefined : (await views.load(VIEW_REVISIONS, [{ name: leader }]))[0]?.revisions;
  const revision = await leadersRevision();
  const read = createLaneReading({
    ...dependencies,
    onProgress: (progress) => void deadLetters.push(...progress.deadLetters),
  });
  let isExpiredAlike = false;
  try {
    let position: Sequence = 0;
    for (let tries = 0; tries < REPLACE_TRIES_MAX; ) {
      const led = isLeader ? 0 : await views.position(leader);
      const last = await log.lastSequence();
      if (led > last)
        return { kind: "given_up", reason: `the view of ${leader} has ${seenBeyond(led, last)}` };
      const end = isLeader ? last : led;
      while (position < end) {
        const lane = { projections: [shadow], position } as const;
        const stopped = await read(lane, { to: end, msMax: REBUILD_STEP_MS, signal });
        if (signal.aborted) return { kind: "given_up", reason: INTERRUPTED };
        if (stopped.kind !== "reached")
          return { kind: "given_up", reason: (await isOvertaken()) ? OVERTAKEN : reasonOf(stopped) };
        position = await views.position(definition.name);
        onProgress({ position, end });
      }
      if ((await leadersRevision()) !== revision)
        return { kind: "given_up", reason: `the view of ${leader} was made again meanwhile` };
      if (!isExpiredAlike) {
        // Who looks next may keep longer, and would leave what has gone already. All rows are read for it, so the log is caught up with once more.
        await expireAlike(views, projection, definition);
        isExpiredAlike = true;
        continue;
      }
      const replaced = await views.replace({
        view: projection,
        by: definition,
        lagMax: REPLACE_LAG_MAX + (await recordsLost(dependencies, projection)),
        ...(await toldAnew(views, projection)),
      });
      if (replaced === "in_use") {
        await rest(signal);
        if (signal.aborted) return { kind: "given_up", reason: INTERRUPTED };
        continue;
      }
      if (replaced === "replaced") {
        isReplaced = true;
        await settled(dependencies, projection);
        return { kind: "replaced", position, deadLetters };
      }
      tries++;
    }
    return { kind: "given_up", reason: "the live view moves faster than it can be caught up with" };
  } catch (error) {
    // Of a database that went away nobody knows whether it has replaced the view, and the tables went so.
    if (!isAway(error) && (await isOvertaken())) return { kind: "given_up", reason: OVERTAKEN };
    throw error;
  } finally {
    await views.drop(definition.name);
  }
};

const INTERRUPTED = "it was interrupted";
const OVERTAKEN = "another rebuild of it began meanwhile, and goes on";

/** Between two tries to take the place of a view that somebody holds against the log: that ends, and what was made again is not lost. */
const rest = async (signal: AbortSignal): Promise<void> => {
  await delay(IN_USE_REST_MS, undefined, { signal }).catch(() => undefined);
};
const IN_USE_REST_MS = 500;

/** What the live view has seen and the log has lost, as after an older copy was brought back: nobody can catch up with that. */
const recordsLost = async (
  { log, views }: Pick<RebuildDependencies, "log" | "views">,
  { name }: Projection,
): Promise<number> => {
  const position = await views.position(name);
  return Math.max(0, position - (await log.lastSequence()));
};

const expireAlike = async (
  views: ViewStore,
  projection: Projection,
  definition: ViewDefinition,
): Promise<void> => {
  const made = storeOfShadow(views, projection, definition);
  await views.snapshot(projection, async (live) => projection.expireAlike?.(live, made));
};

/**
 * The view may stand further back than before. Whoever moves it may be at work on rows that he read from both tables, and finds out when he commits, by the
 * position. Were the view replaced once more until then, by one that stands where he believes it to, he would not. So nobody
 * begins anew before he has caught up.
 */
const settled = async (
  { views, leader }: Pick<RebuildDependencies, "views" | "leader">,
  { name }: Projection,
): Promise<void> => {
  const sequence = await views.position(leader);
  await waitForPosition({ views, projection: name, sequence, timeoutMs: REPLACE_SETTLE_MS_MAX });
};

/** Letters and digits: it becomes a part of names in the database. */
const generation = (): string => `g${Math.floor(Math.random() * 36 ** 5).toString(36)}`;

const reasonOf = (stopped: Stopped): string => {
  switch (stopped.kind) {
    case "alarm":
      return stopped.alarm === "hole" ? "the log has a hole" : "the log ends before the view";
    case "superseded":
      return "somebody else writes the tables";
    case "failed":
      return String(stopped.error);
    case "reached":
      return "nothing";
  }
};
