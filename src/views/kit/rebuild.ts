/**
 * Makes a view again from the log, beside the live one, and replaces the live one in one transaction. The live view continues meanwhile, in this
 * process or another; whoever advances it notices that its position has changed and continues from there.
 */
import { setTimeout as delay } from "node:timers/promises";
import type { LogReader } from "../../log/event-log.ts";
import type { Sequence } from "../../log/outcome.ts";
import { toldAnew } from "../announcements/told-next.ts";
import type { Value } from "../store/tables.ts";
import { isAway } from "../store/unavailable.ts";
import { type DeadLetter, VIEW_REVISIONS, type ViewDefinition, type ViewStore } from "../store/view-store.ts";
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
  /** The projection whose rows others read: no view is advanced beyond it. */
  readonly leader: string;
  readonly onProgress: (progress: { readonly position: Sequence; readonly end: Sequence }) => void;
}

export type Rebuilt =
  | { readonly kind: "replaced"; readonly position: Sequence; readonly deadLetters: readonly DeadLetter[] }
  /** The live view advanced too fast each time, another rebuild of it began, or the signal was aborted. This rebuild has changed nothing. */
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
  // The remains of an earlier rebuild that was killed. If it is still running, it loses its tables and says so.
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
  /** The projection that writes into it. */
  readonly shadow: Projection;
  readonly signal: AbortSignal;
}

/** Whatever happens, nothing is left beside the live view. */
const makeAndDrop = async (making: Making): Promise<Rebuilt> => {
  const { views, beside } = making;
  try {
    return await makeAndReplace(making);
  } catch (error) {
    // If the database went away, it is not known whether the tables are gone because they replaced the view.
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
  // If the leader is rebuilt meanwhile it may lack rows for a while, and records would be skipped.
  const revision = await leadersRevision(making);
  let position: Sequence = 0;
  let isExpiredAlike = false;
  for (let tries = 0; tries < REPLACE_TRIES_MAX; ) {
    const caughtUp = await catchUp(making, read, position);
    if (caughtUp.kind === "given_up") return caughtUp;
    position = caughtUp.position;
    if ((await leadersRevision(making)) !== revision)
      return givenUp(`the view of ${leader} was rebuilt meanwhile`);
    if (!isExpiredAlike) {
      // Before the replacement: the next expiry pass may have other rules, and would leave what is already gone from the live view. It reads all
      // rows, so the log is caught up with once more.
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

/** Up to the leader's current position, or to the end of the log if this is the leader. */
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

/** Undefined for the leader itself, which reads nobody else's rows. */
const leadersRevision = async (making: Making): Promise<Value | undefined> => {
  const { views, leader: name } = making;
  return isLeader(making) ? undefined : (await views.load(VIEW_REVISIONS, [{ name }]))[0]?.revisions;
};

/** Another rebuild of this view has removed its tables. */
const isOvertaken = async ({ views, beside }: Making): Promise<boolean> =>
  !(await views.names()).includes(beside.name);

const INTERRUPTED = "it was interrupted";
const OVERTAKEN = "another rebuild of it began meanwhile, and goes on";

/** The pause between two attempts to replace a view that somebody is comparing with the log: that ends, and the finished rebuild is not lost. */
const rest = async (signal: AbortSignal): Promise<void> => {
  await delay(IN_USE_REST_MS, undefined, { signal }).catch(() => undefined);
};
const IN_USE_REST_MS = 500;

/** The live view has seen records that the log has lost, as after an older copy was restored: nothing can catch up with it. */
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
 * The view may be further back than before. A process that is advancing it may be computing with rows from both tables, and notices when it commits,
 * by the position. If the view were replaced once more before that, by one at the position that the process expects, it would not notice. So no
 * rebuild begins before that process has caught up.
 */
const settled = async (
  { views, leader }: Pick<RebuildDependencies, "views" | "leader">,
  { name }: Projection,
): Promise<void> => {
  const sequence = await views.position(leader);
  await waitForPosition({ views, projection: name, sequence, timeoutMs: REPLACE_SETTLE_MS_MAX });
};

/** Letters and digits, because it becomes a part of names in the database. */
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
