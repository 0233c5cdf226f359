/** Views at one position, advanced together: what is read for one is read for all. */
import type { LogReader } from "../log/event-log.ts";
import type { Sequence } from "../log/outcome.ts";
import { createMover, type Lane, type MoverDependencies } from "./lane-mover.ts";
import { PROJECTION_RECORDS_PER_COMMIT_MAX } from "./limits.ts";

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
