/** What went wrong, counted and told. Nothing in here throws into the program, whatever its callbacks do. */
import process from "node:process";
import type { Rejection } from "./delivery.ts";
import { textOf } from "./error-text.ts";
import { eventCount } from "./event-count.ts";
import { REPORT_INTERVAL_MS } from "./limits.ts";

/** Why an event is not in the outbox and will not be sent. Each one is counted, and its number is missing at the source. */
export type DropReason =
  /** The outbox has reached its bound. What was in it before stays. */
  | "outbox_full"
  /** Neither the folder nor memory could take it. */
  | "outbox_failed"
  /** It cannot be written as JSON, or is no event; `path` says where. */
  | "invalid"
  /** It is larger than the service takes. */
  | "too_large"
  /** `close()` had ended before, or ended the outbox in memory that it was in, or the program did. */
  | "closed"
  /** What was in the outbox is not what had been written, or gone: damage from outside. */
  | "outbox_damaged"
  /** It was rejected, and the file of dead letters is full. */
  | "dead_letters_full";

export interface DroppedEvent {
  readonly reason: DropReason;
  readonly message: string;
  /** Undefined where it is not known any more. */
  readonly eventId: string | undefined;
  /** JSON Pointer into the event, where a member is at fault. */
  readonly path?: string;
}

/** The service will never take this event as it is. It is in the file of dead letters, where there is one. */
export interface RejectedEvent {
  readonly eventId: string | undefined;
  readonly rejection: Rejection;
  /** The event as it was sent. */
  readonly text: string;
}

export interface Problem {
  readonly kind:
    | "dropped"
    | "rejected"
    | "not_delivered"
    | "refused"
    | "outbox"
    | "heartbeat"
    | "callback"
    | "warning";
  readonly message: string;
  /** How often since the last report of this kind, this one included. */
  readonly count: number;
}

export interface Callbacks {
  /** An event that is lost: not captured, or not kept until it was delivered. */
  readonly onDropped?: (dropped: DroppedEvent) => void;
  /** An event that the service finds invalid. It is not sent again. */
  readonly onRejected?: (rejected: RejectedEvent) => void;
  /** At most once a minute for each kind, until the client is closed. Without it a warning of the process says the same. */
  readonly onProblem?: (problem: Problem) => void;
}

export interface Reports {
  dropped(dropped: DroppedEvent, events?: number): void;
  /** For the same reason. */
  droppedTogether(dropped: readonly DroppedEvent[]): void;
  rejected(rejected: RejectedEvent): void;
  problem(kind: Problem["kind"], message: string): void;
  /** Nothing more is told later: what is told from here on does not wait for its minute. */
  closing(): void;
  /** The same, and the loop has no further turn, in which a warning of the process would be written: what is told from here on, and in this turn was, is written at once. */
  ending(): void;
  readonly drops: Readonly<Partial<Record<DropReason, number>>>;
  readonly rejections: number;
}

export const createReports = (callbacks: Callbacks): Reports => {
  const drops: Partial<Record<DropReason, number>> = {};
  const told = new Map<Problem["kind"], { atMs: number; since: number }>();
  let rejections = 0;
  /** Nothing is told later. */
  let hasEnded = false;
  /** Warnings that the process writes when this turn of the loop is over. */
  const unwritten = new Set<() => void>();
  let warn: Warn = (kind, message, count) => {
    emitWarning(kind, message, count);
    const write = () => writeWarning(kind, message, count);
    unwritten.add(write);
    process.nextTick(() => unwritten.delete(write));
  };

  const problem = (kind: Problem["kind"], message: string): void => {
    const last = told.get(kind) ?? { atMs: Number.NEGATIVE_INFINITY, since: 0 };
    const count = last.since + 1;
    const nowMs = performance.now();
    const isDue = nowMs - last.atMs >= REPORT_INTERVAL_MS;
    told.set(kind, isDue ? { atMs: nowMs, since: 0 } : { ...last, since: count });
    if (!isDue) return;
    // Where the callback that tells of faults is at fault itself there is nobody left to tell.
    const callback = callbacks.onProblem ?? ((told: Problem) => warn(kind, message, told.count));
    run(
      () => callback({ kind, message, count }),
      () => {},
    );
    // Not before the callback is back: what it captures may be dropped as well.
    if (hasEnded) told.delete(kind);
  };

  const call = <Value>(callback: ((value: Value) => void) | undefined, value: Value): void => {
    run(
      () => callback?.(value),
      (error) => problem("callback", `A callback threw: ${textOf(error)}`),
    );
  };

  const countDropped = ({ reason, message, eventId, path }: DroppedEvent, events: number): void => {
    drops[reason] = (drops[reason] ?? 0) + events;
    const what = eventId === undefined || events > 1 ? eventCount(events) : `Event ${eventId}`;
    problem("dropped", `${what} dropped (${reason}): ${path ? `${path}: ` : ""}${message}`);
  };

  /** A callback that captures an event which is dropped as well, as in a full outbox, would be told of that for ever. */
  let isTelling = false;
  const tellDropped = (dropped: DroppedEvent): void => {
    if (isTelling) return;
    isTelling = true;
    call(callbacks.onDropped, dropped);
    isTelling = false;
  };

  const closing = () => told.clear();

  return {
    drops,
    get rejections() {
      return rejections;
    },
    problem,
    closing,
    ending: () => {
      closing();
      hasEnded = true;
      warn = writeWarning;
      for (const write of unwritten) write();
    },
    dropped: (dropped, events = 1) => {
      countDropped(dropped, events);
      tellDropped(dropped);
    },
    droppedTogether: (dropped) => {
      const [first] = dropped;
      if (first) countDropped(first, dropped.length);
      for (const each of dropped) tellDropped(each);
    },
    rejected: (rejected) => {
      rejections++;
      const { code, message, errors } = rejected.rejection;
      const first = errors[0] ? ` ${errors[0].message}` : "";
      problem("rejected", `Event ${rejected.eventId ?? "?"} rejected (${code}): ${message}${first}`);
      call(callbacks.onRejected, rejected);
    },
  };
};

/** An async callback throws by a promise. */
const run = (callback: () => unknown, failed: (error: unknown) => void): void => {
  try {
    Promise.resolve(callback()).catch(failed);
  } catch (error) {
    failed(error);
  }
};

type Warn = (kind: Problem["kind"], message: string, count: number) => void;

const emitWarning: Warn = (kind, message, count) => {
  const more = count > 1 ? ` (${count} times since the last warning of this kind)` : "";
  process.emitWarning(`${message}${more}`, { type: WARNING, code: warningCode(kind) });
};

const writeWarning: Warn = (kind, message) => {
  process.stderr.write(`[${warningCode(kind)}] ${WARNING}: ${message}\n`);
};

const WARNING = "ProoftrailWarning";

const warningCode = (kind: Problem["kind"]): string => `PROOFTRAIL_${kind.toUpperCase()}`;
