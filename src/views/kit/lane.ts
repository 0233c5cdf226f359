/**
 * Views at one position, advanced together: what is read for one is read for all. A group of records is decoded once and committed in one transaction.
 */
import type { LogReader, StoredMessage } from "../../log/event-log.ts";
import type { Sequence } from "../../log/outcome.ts";
import type { CommitResult, DeadLetter, ViewCommit, ViewStore } from "../store/view-store.ts";
import { evolveGroup, type GroupOutcome, refusedLetter } from "./evolve-group.ts";
import { PROJECTION_RECORDS_PER_COMMIT_MAX } from "./limits.ts";
import type { Projection } from "./projection.ts";
import { endWrites } from "./view-end.ts";

export const LANE_ALARMS = [
  /** A sequence is missing in what the log returned. */
  "hole",
  /** The view has seen more than the log contains: the log was replaced, or restored from an older copy. */
  "ahead_of_log",
  /** The log has grown again since, and contains another record at the view's position. */
  "other_log",
] as const;

export type Stopped =
  /** As far as requested, or until the log returned nothing more, as after an abort. */
  | { readonly kind: "reached" }
  | { readonly kind: "superseded"; readonly projection: string }
  | {
      readonly kind: "alarm";
      readonly alarm: (typeof LANE_ALARMS)[number];
      readonly projection: string;
      readonly sequence: Sequence;
      readonly position: Sequence;
    }
  | { readonly kind: "failed"; readonly error: unknown };

interface Bounds {
  /** The sequence of the last record to take. */
  readonly to: Sequence;
  /** No group is started after this time. */
  readonly msMax: number;
  readonly signal: AbortSignal;
}

interface LaneDependencies extends MoverDependencies {
  readonly log: Pick<LogReader, "follow">;
}

export const createLaneReading =
  (dependencies: LaneDependencies) =>
  async (lane: Lane, { to, msMax, signal }: Bounds): Promise<Stopped> => {
    const { log } = dependencies;
    const mover = createMover(dependencies, lane);
    const end = performance.now() + msMax;
    const messagesMax = PROJECTION_RECORDS_PER_COMMIT_MAX;
    for await (const messages of log.follow({ from: lane.position + 1, messagesMax, signal })) {
      const position = mover.position();
      const gap = messages.findIndex((message, index) => message.sequence !== position + 1 + index);
      const whole = messages.slice(0, Math.min(gap < 0 ? messages.length : gap, to - position));
      const superseded = whole.length > 0 ? await mover.take(whole) : undefined;
      if (superseded) return { kind: "superseded", projection: superseded.view };
      if (mover.position() >= to) break;
      const unexpected = messages[gap];
      if (unexpected) {
        const { name: projection } = lane.projections[0];
        const { sequence } = unexpected;
        return { kind: "alarm", alarm: "hole", projection, sequence, position: mover.position() };
      }
      if (signal.aborted || performance.now() > end) break;
    }
    return { kind: "reached" };
  };

export interface Lane {
  readonly projections: readonly [Projection, ...Projection[]];
  readonly position: Sequence;
}

export interface Progress {
  readonly lane: Lane;
  readonly position: Sequence;
  readonly records: number;
  readonly deadLetters: readonly DeadLetter[];
}

interface MoverDependencies {
  readonly views: ViewStore;
  readonly clock: () => Date;
  readonly onProgress: (progress: Progress) => void;
}

type Superseded = Extract<CommitResult, { kind: "superseded" }>;

const createMover = (dependencies: MoverDependencies, lane: Lane) => {
  const { views, clock, onProgress } = dependencies;
  let { position } = lane;

  const take = async (messages: Messages): Promise<Superseded | undefined> => {
    const now = clock().toISOString();
    const { projections } = lane;
    const outcome = await evolveGroup({ projections, messages, load: views.load, now });
    const result = await commit(messages, outcome);
    if (result.kind === "committed") return undefined;
    if (result.kind === "superseded") return result;
    if (result.kind === "outdated") return take(messages);
    const [message, ...others] = messages;
    if (message && others.length === 0) return refuse(message, result.detail, now);
    // One record of the group violates a table, and the database does not say which: trying one by one shows it.
    for (const single of messages) {
      const superseded = await take([single]);
      if (superseded) return superseded;
    }
    return undefined;
  };

  /**
   * The database does not say either to which view the violated table belongs: it is the view without which the rest can be written. If there are
   * several such views, only views that take messages unparsed go on, because a tree that lacks a leaf could never be repaired.
   */
  const refuse = async (
    message: StoredMessage,
    detail: string,
    now: string,
  ): Promise<Superseded | undefined> => {
    const { projections } = lane;
    const [leader, ...others] = projections;
    const isTree = ({ takes }: Projection): boolean => takes === "entries";
    // The leader comes after the others, because these skip a record for which it has no row.
    const tries = [
      ...[...others.filter((each) => !isTree(each)), leader].map((left) =>
        projections.filter((each) => each !== left),
      ),
      others.filter(isTree),
      // A tree is what cannot be written.
      projections.filter((each) => !isTree(each)),
      [],
    ];
    for (const taking of tries) {
      const outcome = await evolveGroup({ projections: taking, messages: [message], load: views.load, now });
      const refused = projections.filter((each) => !taking.includes(each));
      const letters = refused.map(({ name }) => refusedLetter(name, message, detail, now));
      const result = await commit([message], {
        ...outcome,
        deadLetters: [...outcome.deadLetters, ...letters],
      });
      if (result.kind === "committed") return undefined;
      if (result.kind === "superseded") return result;
      if (result.kind === "outdated") return take([message]);
    }
    throw new Error(`a dead letter cannot be written: ${detail}`);
  };

  const commit = async (messages: Messages, outcome: GroupOutcome): Promise<CommitResult> => {
    const commit = commitOf({ ...lane, position }, messages, outcome);
    const result = await views.commit(commit);
    if (result.kind === "committed") moveTo(commit.to, outcome.deadLetters);
    return result;
  };

  const moveTo = (to: Sequence, deadLetters: readonly DeadLetter[]): void => {
    const records = to - position;
    position = to;
    onProgress({ lane, position, records, deadLetters });
  };

  return { take, position: (): Sequence => position };
};

type Messages = readonly StoredMessage[];

const commitOf = (
  { projections: views, position: from }: Lane,
  messages: Messages,
  outcome: GroupOutcome,
): ViewCommit => {
  const last = messages.at(-1);
  const names = views.map(({ name }) => name);
  const ends = last ? endWrites(names, last) : [];
  return { views, from, to: last?.sequence ?? from, ...outcome, writes: [...outcome.writes, ...ends] };
};
