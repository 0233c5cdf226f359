/**
 * Makes a view again from the log, beside the live one, and puts it in its place in one transaction. The live view goes on meanwhile, in this process or
 * another; whoever moves it notices that it stands elsewhere and goes on from there.
 */
import { setTimeout as delay } from "node:timers/promises";
import type { LogReader } from "../log/event-log.ts";
import type { Sequence } from "../log/outcome.ts";
import type { Value } from "../views/tables.ts";
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

type GivenUp = Extract<Rebuilt, { kind: "given_up" }>;

const givenUp = (reason: string): GivenUp => ({ kind: "given_up", reason });

export const rebuildView = async (
  dependencies: RebuildDependencies,
  projection: Projection,
  signal: AbortSignal,
): Promise<Rebuilt> => {
  const { views } = dependencies;
  const beside = shadowDefinition(projection, generation());
  // What an earlier rebuild left that was killed. One that still runs loses its tables, and says so.
  for (const name of await views.names()) if (isShadowOf(name, projection.name)) await views.drop(name);
  await views.open(beside);
  const rebuilt = await makeAndDrop({
    ...dependencies,
    projection,
    beside,
    shadow: shadowOf(projection, beside),
    signal,
  });
  if (rebuilt.kind === "replaced") await settled(dependencies, projection);
  return rebuilt;
};

interface Making extends RebuildDependencies {
  readonly projection: Projection;
  /** The view that is made beside the live one, under a name of its own. */
  readonly beside: ViewDefinition;
  /** The rule that writes into it. */
  readonly shadow: Projection;
  readonly signal: AbortSignal;
}

/** Whatever comes of it, nothing is left beside the live view. */
const makeAndDrop = async (making: Making): Promise<Rebuilt> => {
  const { views, beside } = making;
  try {
    return await makeAndReplace(making);
  } catch (error) {
    // Of a database that went away nobody knows whether it has replaced the view, and the tables went so.
    if (!isAway(error) && (await isOvertaken(making))) return givenUp(OVERTAKEN);
    throw error;
  } finally {
    await views.drop(beside.name);
  }
};

const makeAndReplace = async (making: Making): Promise<Rebuilt> => {
  const { views, leader, projection, beside, signal } = making;
  const deadLetters: DeadLetter[] = [];
  const read = createLaneReading({
    ...making,
    onProgress: (progress) => void deadLetters.push(...progress.deadLetters),
  });
  // Made again meanwhile the leader may lack rows for a while, and records would be passed over.
  const revision = await leadersRevision(making);
  let position: Sequence = 0;
  let isExpiredAlike = false;
  for (let tries = 0; tries < REPLACE_TRIES_MAX; ) {
    const caughtUp = await catchUp(making, read, position);
    if (caughtUp.kind === "given_up") return caughtUp;
    position = caughtUp.position;
    if ((await leadersRevision(making)) !== revision)
      return givenUp(`the view of ${leader} was made again meanwhile`);
    if (!isExpiredAlike) {
      // Who looks next may keep longer, and would leave what has gone already. All rows are read for it, so the log is caught up with once more.
      await expireAlike(views, projection, beside);
      isExpiredAlike = true;
      continue;
    }
    const replaced = await takePlace(making);
    if (replaced === "replaced") return { kind: "replaced", position, deadLetters };
    if (replaced === "behind") tries++;
    else {
      await rest(signal);
      if (signal.aborted) return givenUp(INTERRUPTED);
    }
  }
  return givenUp("the live view moves faster than it can be caught up with");
};

/** Up to where the leader stands now, or to the end of the log where this is the leader. */
const catchUp = async (
  making: Making,
  read: ReturnType<typeof createLaneReading>,
  from: Sequence,
): Promise<{ readonly kind: "caught_up"; readonly position: Sequence } | GivenUp> => {
  const { log, views, leader, beside, shadow, signal, onProgress } = making;
  const led = isLeader(making) ? 0 : await views.position(leader);
  const last = await log.lastSequence();
  if (led > last) return givenUp(`the view of ${leader} has ${seenBeyond(led, last)}`);
  const end = isLeader(making) ? last : led;
  let position = from;
  while (position < end) {
    const lane = { projections: [shadow], position } as const;
    const stopped = await read(lane, { to: end, msMax: REBUILD_STEP_MS, signal });
    if (signal.aborted) return givenUp(INTERRUPTED);
    if (stopped.kind !== "reached")
      return givenUp((await isOvertaken(making)) ? OVERTAKEN : reasonOf(stopped));
    position = await views.position(beside.name);
    onProgress({ position, end });
  }
  return { kind: "caught_up", position };
};

const takePlace = async (making: Making): ReturnType<ViewStore["replace"]> => {
  const { views, projection, beside } = making;
  return views.replace({
    view: projection,
    by: beside,
    lagMax: REPLACE_LAG_MAX + (await recordsLost(making, projection)),
    ...(await toldAnew(views, projection)),
  });
};

const isLeader = ({ projection, leader }: Making): boolean => projection.name === leader;

/** Undefined for the leader itself, which asks nobody's rows. */
const leadersRevision = async (making: Making): Promise<Value | undefined> => {
  const { views, leader: name } = making;
  return isLeader(making) ? undefined : (await views.load(VIEW_REVISIONS, [{ name }]))[0]?.revisions;
};

/** Its tables went with another rebuild of this view. */
const isOvertaken = async ({ views, beside }: Making): Promise<boolean> =>
  !(await views.names()).includes(beside.name);

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
