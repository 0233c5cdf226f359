/** Views that stand at one position, moved together: a group of records is decoded once, and committed in one transaction. */
import { PROJECTION_RECORDS_PER_COMMIT_MAX } from "../limits.ts";
import type { LogReader, StoredMessage } from "../log/event-log.ts";
import type { Sequence } from "../log/outcome.ts";
import type { CommitResult, DeadLetter, ViewStore } from "../views/view-store.ts";
import { evolveGroup, type GroupOutcome, refusedLetter } from "./evolve-group.ts";
import type { Projection } from "./projection.ts";
import { endWrites } from "./view-end.ts";

export interface Lane {
  readonly projections: readonly [Projection, ...Projection[]];
  readonly position: Sequence;
}

export type Stopped =
  /** As far as was asked for; also where the log gave no more, as it does when the signal is aborted. */
  | { readonly kind: "reached" }
  | { readonly kind: "superseded"; readonly projection: string }
  | {
      readonly kind: "alarm";
      /**
       * `hole`: a sequence is missing in what the log gave. `ahead_of_log`: the view has seen more than the log holds, which was replaced, or
       * restored from an older copy. `other_log`: that log has grown again, and holds another record where the view stands.
       */
      readonly alarm: "hole" | "ahead_of_log" | "other_log";
      readonly projection: string;
      readonly sequence: Sequence;
      readonly position: Sequence;
    }
  | { readonly kind: "failed"; readonly error: unknown };

export interface Progress {
  readonly lane: Lane;
  readonly position: Sequence;
  readonly records: number;
  readonly deadLetters: readonly DeadLetter[];
}

interface Bounds {
  /** Sequence of the last record to take. */
  readonly to: Sequence;
  /** No group is begun after this. */
  readonly msMax: number;
  readonly signal: AbortSignal;
}

interface LaneDependencies {
  readonly log: LogReader;
  readonly views: ViewStore;
  readonly clock: () => Date;
  readonly onProgress: (progress: Progress) => void;
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

type Superseded = Extract<CommitResult, { kind: "superseded" }>;

const createMover = ({ views, clock, onProgress }: LaneDependencies, lane: Lane) => {
  let { position } = lane;

  const take = async (messages: readonly StoredMessage[]): Promise<Superseded | undefined> => {
    const now = clock().toISOString();
    const { projections } = lane;
    const outcome = await evolveGroup({ projections, messages, load: views.load, now });
    const result = await commit(messages, outcome);
    if (result.kind === "committed") return undefined;
    if (result.kind === "superseded") return result;
    if (result.kind === "outdated") return take(messages);
    const [message, ...others] = messages;
    if (message && others.length === 0) return refuse(message, result.detail, now);
    // One record of the group breaks a table, and the database does not say which: one by one it shows.
    for (const single of messages) {
      const superseded = await take([single]);
      if (superseded) return superseded;
    }
    return undefined;
  };

  /**
   * The database does not say whose table it is either: the one without which the rest can be written. Where there are several, only what takes messages as they are
   * goes on: a tree without a leaf could never be mended.
   */
  const refuse = async (
    message: StoredMessage,
    detail: string,
    now: string,
  ): Promise<Superseded | undefined> => {
    const { projections } = lane;
    const [leader, ...others] = projections;
    const isTree = ({ takes }: Projection): boolean => takes === "entries";
    // The leader behind the others, which pass a record over that it has no row of.
    const tries = [
      ...[...others.filter((each) => !isTree(each)), leader].map((left) =>
        projections.filter((each) => each !== left),
      ),
      others.filter(isTree),
      // It is a tree that cannot be written.
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

  const commit = async (messages: readonly StoredMessage[], outcome: GroupOutcome): Promise<CommitResult> => {
    const last = messages.at(-1);
    const to = last?.sequence ?? position;
    const names = lane.projections.map(({ name }) => name);
    const ends = last ? endWrites(names, last) : [];
    const result = await views.commit({
      views: lane.projections,
      from: position,
      to,
      ...outcome,
      writes: [...outcome.writes, ...ends],
    });
    if (result.kind === "committed") {
      position = to;
      onProgress({ lane, position, records: messages.length, deadLetters: outcome.deadLetters });
    }
    return result;
  };

  return { take, position: (): Sequence => position };
};
