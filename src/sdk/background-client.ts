/** A client with an outbox, and a sender that works in the background. */
import { setMaxListeners } from "node:events";
import process from "node:process";
import { clearInterval, setInterval } from "node:timers";
import { setImmediate } from "node:timers/promises";
import type { Deliver } from "./delivery.ts";
import type { CaptureEvent, EventWithout, SharedMembers } from "./event.ts";
import type { EventMaker } from "./event-maker.ts";
import { CLOSE_TIMEOUT_MS_DEFAULT, SEND_TIMEOUT_MS_DEFAULT, TAKE_OVER_INTERVAL_MS } from "./limits.ts";
import type { Outbox } from "./outbox.ts";
import type { Synced, TakeLimits } from "./outbox-file.ts";
import {
  type Captured,
  createRecorder,
  type Keep,
  keepEvent,
  type LooseRecorder,
  type Recorder,
  reportConverted,
} from "./recorder.ts";
import type { DropReason, RejectedEvent, Reports } from "./reports.ts";
import { type Flushed, Sender } from "./sender.ts";
import type { ServiceAddress } from "./service.ts";
import { rejectedAs, type Sent, type SingleRoute, sendOne } from "./single-send.ts";
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
  /** Sends one event without the outbox and waits for its receipt, at most `timeoutMs` (default 30,000). Does not throw. */
  send(
    event: EventWithout<CaptureEvent<Extra>, never>,
    options?: { readonly timeoutMs?: number },
  ): Promise<Sent>;
  /** Resolves when everything captured before the call is synced to the disk, or with the reason why it is not. */
  synced(): Promise<Synced>;
  /** Delivers everything captured before the call; waits at most `timeoutMs` (default 5,000). */
  flush(options?: { readonly timeoutMs?: number }): Promise<Flushed>;
  /** Flushes, then releases all resources. Pending events stay in the folder; those in memory are dropped, counted and reported. */
  close(options?: { readonly timeoutMs?: number }): Promise<Flushed>;
  readonly stats: Stats;
}

interface Parts {
  readonly service: ServiceAddress;
  /** The route of `send()`. */
  readonly route: SingleRoute;
  readonly maker: EventMaker;
  readonly reports: Reports;
  readonly deliver: Deliver;
  readonly outbox: Outbox;
  readonly limits: TakeLimits;
  readonly flushIntervalMs: number;
  readonly heartbeat: { readonly asset_id: string; readonly intervalMs: number } | undefined;
}

const HEARTBEAT = "sdk.heartbeat";

export class BackgroundClient implements Client {
  readonly #parts: Parts;
  readonly #sender: Sender;
  readonly #recorder: LooseRecorder;
  readonly #sending = new AbortController();
  #heartbeat: ReturnType<typeof setInterval> | undefined;
  #closing: Promise<Flushed> | undefined;
  #hasDrained = false;

  constructor(parts: Parts) {
    const { reports, maker, heartbeat } = parts;
    this.#parts = parts;
    // Each `send()` in flight adds a listener.
    allowManyListeners(this.#sending.signal);
    this.#sender = new Sender({
      ...parts,
      takeOverIntervalMs: TAKE_OVER_INTERVAL_MS,
      random: Math.random,
      reports: { ...reports, rejected: (letter) => this.#rejected(letter) },
    });
    this.#recorder = createRecorder({ maker, reports, keep: this.#keep });
    untilTheEnd(this);
    if (heartbeat && maker.source) {
      this.#beat();
      this.#heartbeat = setInterval(() => this.#beat(), heartbeat.intervalMs);
      this.#heartbeat.unref();
    }
  }

  /** The event loop has nothing left to do: the last chance for events in memory. */
  drain(): void {
    if (this.#hasDrained) return;
    this.#hasDrained = true;
    void this.flush().then(({ kind }) => {
      // A request that hangs would keep the program alive for the whole request timeout.
      if (kind === "pending") this.#sender.interrupt("The program ended.");
    });
  }

  /** The program ends, and nothing is waited for any more. */
  end(): void {
    this.#parts.reports.ending();
    this.#parts.outbox.end("The program has ended, and its outbox in memory with it.");
  }

  get stats(): Stats {
    const { reports, outbox } = this.#parts;
    const { delivered, duplicates, failure } = this.#sender;
    const { rejections: rejected, drops } = reports;
    return { delivered, duplicates, rejected, dropped: { ...drops }, pending: outbox.pending, failure };
  }

  capture(event: unknown): Captured {
    return this.#recorder.capture(event);
  }

  with(members: SharedMembers): LooseRecorder {
    return this.#recorder.with(members);
  }

  async send(event: unknown, { timeoutMs = SEND_TIMEOUT_MS_DEFAULT } = {}): Promise<Sent> {
    const { maker, reports, service, route } = this.#parts;
    // Without a source number, so that the same event has the same content however often it is made.
    const made = maker.make(event, {}, false);
    if (made.kind === "dropped") {
      reports.dropped(made.dropped);
      return rejectedAs(made.dropped);
    }
    const body = new TextEncoder().encode(made.text);
    reportConverted(reports, made);
    const { signal } = this.#sending;
    return await sendOne({ service, route, eventId: made.eventId, body, timeoutMs, signal });
  }

  async synced(): Promise<Synced> {
    return this.#parts.outbox.sync();
  }

  flush({ timeoutMs = CLOSE_TIMEOUT_MS_DEFAULT } = {}): Promise<Flushed> {
    return this.#sender.flush(timeoutMs);
  }

  close(options: { readonly timeoutMs?: number } = {}): Promise<Flushed> {
    this.#closing ??= this.#close(options);
    return this.#closing;
  }

  async #close(options: { readonly timeoutMs?: number }): Promise<Flushed> {
    this.#hasDrained = true;
    if (this.#heartbeat) {
      clearInterval(this.#heartbeat);
      // The last heartbeat names the last source number, so that missing events at the end are noticed.
      this.#beat();
    }
    const flushed = await this.flush(options);
    this.#sending.abort(new Error("The client was closed."));
    await this.#sender.stop();
    this.#parts.reports.closing();
    this.#parts.outbox.close();
    forget(this);
    // A process warning is written in the next turn of the event loop, and the program may exit before that.
    await setImmediate();
    const { events } = this.stats.pending;
    return flushed.kind === "pending" ? { ...flushed, events } : flushed;
  }

  readonly #keep: Keep = ({ text }) => {
    const refused = this.#parts.outbox.append(text);
    if (!refused) this.#sender.appended();
    return refused;
  };

  /** A heartbeat has no source number of its own: it reports on the numbered events. */
  #beat(): void {
    const { heartbeat, maker, reports, outbox } = this.#parts;
    if (!(heartbeat && maker.source)) return;
    const { pending, dropped, failure } = this.stats;
    const metadata = {
      source_id: maker.source.id,
      last_source_sequence: maker.source.last,
      outbox_depth: pending.events,
      queue_depth: outbox.held,
      dropped: Object.values(dropped).reduce((sum, count) => sum + count, 0),
      circuit_state: failure === undefined ? "closed" : "open",
      sdk_version: SDK_VERSION,
      sdk_language: "typescript",
    };
    const event = { asset_id: heartbeat.asset_id, event_type: HEARTBEAT, metadata };
    keepEvent({ maker, reports, keep: this.#keep }, event);
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

/** Open clients. They share one listener of each kind, because Node warns of a leak at more than ten. */
const open = new Set<BackgroundClient>();
const drainAll = (): void => {
  for (const client of open) client.drain();
};
const endAll = (): void => {
  for (const client of open) client.end();
};

const untilTheEnd = (client: BackgroundClient): void => {
  if (open.size === 0) process.on("beforeExit", drainAll).on("exit", endAll);
  open.add(client);
};

const forget = (client: BackgroundClient): void => {
  if (open.delete(client) && open.size === 0) process.off("beforeExit", drainAll).off("exit", endAll);
};
