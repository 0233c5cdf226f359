/** A client with an outbox, and a sender that works in the background. */
import { setMaxListeners } from "node:events";
import { clearInterval, setInterval } from "node:timers";
import { setImmediate } from "node:timers/promises";
import type { Deliver } from "./delivery.ts";
import type { CaptureEvent, EventWithout, SharedMembers } from "./event.ts";
import { eventCount } from "./event-count.ts";
import { eventIdIn } from "./event-id.ts";
import type { EventMaker } from "./event-maker.ts";
import { CLOSE_TIMEOUT_MS_DEFAULT, OVERFLOW_BYTES_MAX, SEND_TIMEOUT_MS_DEFAULT } from "./limits.ts";
import type { Outbox, Synced, TakeLimits } from "./outbox.ts";
import { programEnd } from "./program-end.ts";
import {
  type Captured,
  createRecorder,
  type EventText,
  type Keep,
  keepEvent,
  type LooseRecorder,
  makeEvent,
  type Recorder,
  reportConverted,
} from "./recorder.ts";
import type { DropReason, RejectedEvent, Reports } from "./reports.ts";
import { type Flushed, Sender } from "./sender.ts";
import type { ServiceAddress } from "./service.ts";
import { rejectedAs, type Sent, type SingleRoute, sendOne } from "./single-send.ts";
import { createMemoryOutbox } from "./sqlite-outbox.ts";
import { SDK_VERSION } from "./version.ts";

export interface Stats {
  /** Events that are in the log. Of these, the log already had `duplicates`. */
  readonly delivered: number;
  readonly duplicates: number;
  readonly rejected: number;
  readonly dropped: Readonly<Partial<Record<DropReason, number>>>;
  /** Events in the outbox, including those that dead processes left. */
  readonly pending: { readonly events: number; readonly bytes: number };
  /** Why nothing can be delivered now; undefined while delivery works. */
  readonly failure: string | undefined;
}

export interface Client<Extra extends string = never> extends Recorder<Extra> {
  // Declared with the same parameter type as `capture`: with CaptureEvent<Extra> alone, the compiler would not accept a client that knows more event
  // types in place of one that knows fewer.
  /**
   * Sends one event without the outbox and waits for its receipt, at most `timeoutMs` (default 30,000). Does not throw. An event that is both sent
   * and captured becomes two records in the log, so use one of the two.
   */
  send(
    event: EventWithout<CaptureEvent<Extra>, never>,
    options?: { readonly timeoutMs?: number },
  ): Promise<Sent>;
  /** Resolves when everything captured before the call is synced to the disk, or with the reason why it is not. */
  synced(): Promise<Synced>;
  /** Delivers everything captured before the call; waits at most `timeoutMs` (default 5,000). */
  flush(options?: { readonly timeoutMs?: number }): Promise<Flushed>;
  /**
   * Flushes, then releases all resources. Pending events, including those captured during the call, stay in the outbox's folder for the next process.
   * With an outbox in memory they are dropped, counted and reported.
   */
  close(options?: { readonly timeoutMs?: number }): Promise<Flushed>;
  readonly stats: Stats;
}

interface Parts {
  readonly service: ServiceAddress;
  /** The route of `send()`. */
  readonly route: SingleRoute;
  readonly maker: EventMaker;
  /** Makes the events of `send()`: without source numbers, so that the same event has the same content however often it is made. */
  readonly plainMaker: EventMaker;
  readonly reports: Reports;
  readonly deliver: Deliver;
  readonly outbox: Outbox;
  readonly limits: TakeLimits;
  readonly flushIntervalMs: number;
  readonly heartbeat: { readonly asset_id: string; readonly intervalMs: number } | undefined;
}

const HEARTBEAT = "sdk.heartbeat";
const ENDED = "The program has ended, and its outbox in memory with it.";

export class BackgroundClient implements Client {
  readonly #parts: Parts;
  /** Holds the events that could not be written to the disk. */
  readonly #overflow = createMemoryOutbox({ bytesMax: OVERFLOW_BYTES_MAX });
  /** When the first event went into the overflow. Events held there may have been sent since then. */
  #overflowSinceMs: number | undefined;
  readonly #sender: Sender;
  readonly #recorder: LooseRecorder;
  readonly #sending = new AbortController();
  #heartbeat: ReturnType<typeof setInterval> | undefined;
  #closing: Promise<Flushed> | undefined;
  /** From now on the outbox accepts nothing. */
  #isClosed = false;
  /** The program is ending: only a folder outlives it. */
  #hasEnded = false;
  /** Runs at `beforeExit`, when the event loop has nothing left to do: the last chance for events in memory. */
  readonly #drain = () =>
    void this.flush().then(({ kind }) => {
      // A request that hangs would keep the program alive for the whole request timeout.
      if (kind === "pending") this.#sender.interrupt("The program ended.");
    });
  /** Runs at `exit`: events that are still in memory end with the program, because no asynchronous work is done any more. */
  readonly #exit = () => {
    this.#parts.reports.ending();
    this.#hasEnded = true;
    this.#moveOverflow();
    this.#dropAll(this.#parts.outbox.empty(), "closed", ENDED);
  };

  constructor(parts: Parts) {
    const { outbox, deliver, limits, flushIntervalMs, reports, maker, heartbeat } = parts;
    this.#parts = parts;
    // Each `send()` in flight adds a listener.
    allowManyListeners(this.#sending.signal);
    this.#sender = new Sender({
      outboxes: [outbox, this.#overflow],
      deliver,
      limits,
      flushIntervalMs,
      random: Math.random,
      reports: { ...reports, rejected: (letter) => this.#rejected(letter) },
    });
    this.#recorder = createRecorder({ maker, reports, keep: (event) => this.#keep(event) });
    programEnd.beforeExit.call(this.#drain);
    programEnd.exit.call(this.#exit);
    if (heartbeat && maker.source) {
      this.#beat();
      this.#heartbeat = setInterval(() => this.#beat(), heartbeat.intervalMs);
      this.#heartbeat.unref();
    }
  }

  get stats(): Stats {
    const { reports, outbox } = this.#parts;
    const { delivered, duplicates, failure } = this.#sender;
    const [waiting, held] = [outbox.pending, this.#overflow.pending];
    const pending = { events: waiting.events + held.events, bytes: waiting.bytes + held.bytes };
    return {
      delivered,
      duplicates,
      rejected: reports.rejections,
      dropped: { ...reports.drops },
      pending,
      failure,
    };
  }

  capture(event: unknown): Captured {
    return this.#recorder.capture(event);
  }

  with(members: SharedMembers): LooseRecorder {
    return this.#recorder.with(members);
  }

  async send(event: unknown, { timeoutMs = SEND_TIMEOUT_MS_DEFAULT } = {}): Promise<Sent> {
    const { plainMaker, reports, service, route } = this.#parts;
    const made = makeEvent(plainMaker, event, {});
    if (made.kind === "dropped") {
      reports.dropped(made.dropped);
      return rejectedAs(made.dropped);
    }
    const body = new TextEncoder().encode(made.text);
    reportConverted(reports, made);
    const { signal } = this.#sending;
    const { eventId } = made;
    return await sendOne({ service, route, eventId, body, timeoutMs, signal, random: Math.random });
  }

  async synced(): Promise<Synced> {
    const isDelivered = this.#overflow.mark();
    const synced = this.#parts.outbox.sync();
    if (synced.kind === "failed" || isDelivered()) return synced;
    const { events } = this.#overflow.pending;
    const kept = `${eventCount(events)} ${events === 1 ? "is" : "are"} in memory only`;
    return { kind: "failed", reason: `The outbox cannot be written: ${kept}.` };
  }

  flush({ timeoutMs = CLOSE_TIMEOUT_MS_DEFAULT } = {}): Promise<Flushed> {
    return this.#sender.flush(timeoutMs);
  }

  close(options: { readonly timeoutMs?: number } = {}): Promise<Flushed> {
    this.#closing ??= this.#close(options);
    return this.#closing;
  }

  async #close(options: { readonly timeoutMs?: number }): Promise<Flushed> {
    programEnd.beforeExit.drop(this.#drain);
    if (this.#heartbeat) {
      clearInterval(this.#heartbeat);
      // The last heartbeat names the last source number, so that missing events at the end are noticed.
      this.#beat();
    }
    const flushed = await this.flush(options);
    this.#sending.abort(new Error("The client was closed."));
    await this.#sender.stop();
    this.#parts.reports.closing();
    // Set before anything else, because a callback that learns of a drop may capture an event.
    this.#isClosed = true;
    this.#moveOverflow();
    const ended = this.#parts.outbox.close();
    programEnd.exit.drop(this.#exit);
    this.#dropAll(ended, "closed", "The client is closed, and its outbox in memory ends with it.");
    // A process warning is written in the next turn of the event loop, and the program may exit before that.
    await setImmediate();
    const { events } = this.stats.pending;
    return flushed.kind === "pending" ? { ...flushed, events } : flushed;
  }

  /** Gives events that the disk did not accept a last chance: it may have space again. */
  #moveOverflow(): void {
    const left: string[] = [];
    let why: string | undefined;
    for (const text of this.#overflow.empty()) {
      const appended = this.#parts.outbox.append(text, this.#overflowSinceMs);
      if (appended.kind === "kept") continue;
      left.push(text);
      why ??= appended.kind === "full" ? "it has reached its bound" : appended.reason;
    }
    this.#dropAll(left, "outbox_failed", `The outbox cannot be written, and the client is closed: ${why}`);
  }

  #dropAll(entries: readonly string[], reason: DropReason, message: string): void {
    this.#parts.reports.droppedTogether(
      entries.map((text) => ({ reason, message, eventId: eventIdIn(text) })),
    );
  }

  #keep({ eventId, text }: EventText): ReturnType<Keep> {
    const { outbox, reports } = this.#parts;
    const drop = (reason: DropReason, message: string) =>
      ({ kind: "dropped", dropped: { reason, message, eventId } }) as const;
    if (this.#isClosed) return drop("closed", "The client is closed.");
    const appended = outbox.append(text);
    if (appended.kind === "full") return drop("outbox_full", "The outbox has reached its bound.");
    if (appended.kind === "failed") {
      const message = `The outbox cannot be written: ${appended.reason}`;
      if (this.#hasEnded || this.#overflow.append(text).kind !== "kept")
        return drop("outbox_failed", message);
      this.#overflowSinceMs ??= Date.now();
      reports.problem("outbox", `${message}. Events are held in memory meanwhile.`);
    }
    // Captured by an `exit` listener of the program that runs after ours.
    if (this.#hasEnded && outbox.empty().length > 0) return drop("closed", ENDED);
    this.#sender.appended(text.length);
    return { kind: "kept", eventId };
  }

  /** A heartbeat has no source number of its own: it reports on the numbered events. */
  #beat(): void {
    const { heartbeat, maker, reports } = this.#parts;
    if (!(heartbeat && maker.source)) return;
    const { pending, dropped, failure } = this.stats;
    keepEvent(
      { maker, reports, keep: (event) => this.#keep(event) },
      {
        asset_id: heartbeat.asset_id,
        event_type: HEARTBEAT,
        metadata: {
          source_id: maker.source.id,
          last_source_sequence: maker.source.last,
          outbox_depth: pending.events,
          queue_depth: this.#overflow.pending.events,
          dropped: Object.values(dropped).reduce((sum, count) => sum + count, 0),
          circuit_state: failure === undefined ? "closed" : "open",
          sdk_version: SDK_VERSION,
          sdk_language: "typescript",
        },
      },
      {},
    );
  }

  #rejected(letter: RejectedEvent): void {
    const { reports, heartbeat } = this.#parts;
    const isUnknownType = letter.rejection.errors.some(({ path }) => path === "/event_type");
    // This also covers heartbeats that waited behind the first one.
    if (!(heartbeat && isUnknownType && letter.text.includes(`"event_type":"${HEARTBEAT}"`)))
      reports.rejected(letter);
    else {
      clearInterval(this.#heartbeat);
      this.#heartbeat = undefined;
      reports.problem(
        "heartbeat",
        `The service does not admit ${HEARTBEAT}: heartbeats are off. Its operator may set EXTRA_EVENT_TYPES=${HEARTBEAT}.`,
      );
    }
  }
}

/** Node warns of a leak when a signal has more than ten listeners. */
const allowManyListeners = (signal: AbortSignal): void => {
  try {
    setMaxListeners(0, signal);
  } catch {
    // The signal comes from a test environment such as jsdom, which replaces Node's and does not count listeners.
  }
};
