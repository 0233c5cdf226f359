/** Counts and reports what went wrong. Nothing here throws into the program, whatever its callbacks do. */
import process from "node:process";
import { REPORT_INTERVAL_MS } from "./limits.ts";
import type { Rejection } from "./service.ts";
import { isJsonObject, textOf } from "./values.ts";

/** Why an event is not in the outbox and will not be sent. Each one is counted, and its source number is missing in the log. */
export type DropReason =
  /** The outbox has reached its limit. Earlier events stay in it. */
  | "outbox_full"
  /** Neither the folder nor memory could take the event. */
  | "outbox_failed"
  /** The value cannot be written as JSON, or is no event; `path` says where. */
  | "invalid"
  /** The event is larger than the service accepts. */
  | "too_large"
  /** `close()` or the program had ended before, or ended the outbox in memory that held the event. */
  | "closed"
  /** The entry in the outbox was changed or removed from outside. */
  | "outbox_damaged"
  /** The event was rejected, and the file of dead letters is full. */
  | "dead_letters_full";

export interface DroppedEvent {
  readonly reason: DropReason;
  readonly message: string;
  /** Undefined if it is no longer known. */
  readonly eventId: string | undefined;
  /** JSON Pointer into the event, if one member is at fault. */
  readonly path?: string;
}

/** The service will never accept this event as it is. It is in the file of dead letters, if there is one. */
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
    | "warning"
    | "converted";
  readonly message: string;
  /** How often it occurred since the last report of this kind, including this time. */
  readonly count: number;
}

export interface Callbacks {
  /** An event was lost: it was not captured, or not kept until it was delivered. */
  readonly onDropped?: (dropped: DroppedEvent) => void;
  /** The service rejected an event. It is not sent again. */
  readonly onRejected?: (rejected: RejectedEvent) => void;
  /** At most once a minute for each kind, until the client is closed. Without this callback a process warning says the same. */
  readonly onProblem?: (problem: Problem) => void;
}

export interface Reports {
  /** Events dropped for one reason. `events`: how many, if not each is known. */
  dropped(dropped: readonly DroppedEvent[], events?: number): void;
  rejected(rejected: RejectedEvent): void;
  problem(kind: Problem["kind"], message: string): void;
  /** The client is closing: losses that waited for the next minute are reported now, and problems that come later at once. */
  closing(): void;
  /** The program is ending: the same, and warnings are written at once, because the event loop has no further turn in which that would happen. */
  ending(): void;
  readonly drops: Readonly<Partial<Record<DropReason, number>>>;
  readonly rejections: number;
}

/** Of these each counts: its event is not in the log. */
const LOSSES: ReadonlySet<Problem["kind"]> = new Set(["dropped", "rejected"]);

export const createReports = ({ onDropped, onRejected, onProblem }: Callbacks): Reports => {
  const drops: Partial<Record<DropReason, number>> = {};
  const reported = new Map<Problem["kind"], { atMs: number; since: number; message: string }>();
  let rejections = 0;
  let hasEnded = false;
  /** Not given to the process yet. */
  const warnings: Problem[] = [];
  const emit = () => {
    for (const warning of warnings.splice(0)) (hasEnded ? writeWarning : emitWarning)(warning);
  };
  const warn = (warning: Problem): void => {
    warnings.push(warning);
    if (hasEnded) emit();
    else process.nextTick(emit);
  };

  // If the callback for faults fails itself, nobody is left to report to.
  const tell = (one: Problem): void =>
    run(
      () => (onProblem ?? warn)(one),
      () => {},
    );
  /** What would have waited for the next minute. */
  const tellTheRest = (): void => {
    for (const [kind, { since, message }] of reported)
      if (since > 0 && LOSSES.has(kind)) tell({ kind, message, count: since });
    reported.clear();
  };

  const problem = (kind: Problem["kind"], message: string): void => {
    const last = reported.get(kind) ?? { atMs: Number.NEGATIVE_INFINITY, since: 0 };
    const count = last.since + 1;
    const nowMs = performance.now();
    const isDue = nowMs - last.atMs >= REPORT_INTERVAL_MS;
    reported.set(
      kind,
      isDue ? { atMs: nowMs, since: 0, message } : { atMs: last.atMs, since: count, message },
    );
    if (!isDue) return;
    tell({ kind, message, count });
    // Not before the callback has returned: an event that it captures may be dropped as well.
    if (hasEnded) reported.delete(kind);
  };

  const call = <Value>(callback: ((value: Value) => void) | undefined, value: Value): void =>
    run(
      () => callback?.(value),
      (error) => problem("callback", `A callback threw: ${textOf(error)}`),
    );

  /** Otherwise a callback that captures an event which is dropped too, as in a full outbox, would be called forever. */
  let isInCallback = false;

  return {
    drops,
    get rejections() {
      return rejections;
    },
    problem,
    closing: tellTheRest,
    ending: () => {
      tellTheRest();
      hasEnded = true;
      emit();
    },
    dropped: (dropped, events = dropped.length) => {
      const [first] = dropped;
      if (!first) return;
      const { reason, message, eventId, path } = first;
      drops[reason] = (drops[reason] ?? 0) + events;
      const what = eventId === undefined || events > 1 ? eventCount(events) : `Event ${eventId}`;
      problem("dropped", `${what} dropped (${reason}): ${path ? `${path}: ` : ""}${message}`);
      if (isInCallback) return;
      isInCallback = true;
      for (const each of dropped) call(onDropped, each);
      isInCallback = false;
    },
    rejected: (rejected) => {
      rejections++;
      const { code, message, errors } = rejected.rejection;
      const first = errors[0] ? ` ${errors[0].message}` : "";
      problem("rejected", `Event ${rejected.eventId ?? "?"} rejected (${code}): ${message}${first}`);
      call(onRejected, rejected);
    },
  };
};

/** An async callback fails by rejecting its promise. */
const run = (callback: () => unknown, failed: (error: unknown) => void): void => {
  try {
    Promise.resolve(callback()).catch(failed);
  } catch (error) {
    failed(error);
  }
};

const WARNING = "ProoftrailWarning";

const warningCode = ({ kind }: Problem): string => `PROOFTRAIL_${kind.toUpperCase()}`;

const textOfWarning = ({ message, count }: Problem): string =>
  count > 1 ? `${message} (${count} times since the last warning of this kind)` : message;

const emitWarning = (warning: Problem): void => {
  process.emitWarning(textOfWarning(warning), { type: WARNING, code: warningCode(warning) });
};

const writeWarning = (warning: Problem): void => {
  process.stderr.write(`[${warningCode(warning)}] ${WARNING}: ${textOfWarning(warning)}\n`);
};

/** `1 event`, `2 events`. */
export const eventCount = (events: number): string => (events === 1 ? "1 event" : `${events} events`);

/** The `event_id` in the text of an event; undefined if it cannot be read. */
export const eventIdIn = (text: string): string | undefined => {
  try {
    const event: unknown = JSON.parse(text);
    return isJsonObject(event) && typeof event.event_id === "string" ? event.event_id : undefined;
  } catch {
    return undefined;
  }
};
