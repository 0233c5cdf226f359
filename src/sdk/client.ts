/** Clients for a program that records what its AI does, for the service and for its sandbox: an outbox, and a sender that works in the background. */
import { setMaxListeners } from "node:events";
import process from "node:process";
import { clearInterval, setInterval } from "node:timers";
import { setImmediate } from "node:timers/promises";
import {
  type ClientOptions,
  readClientOptions,
  readSandboxOptions,
  type SandboxOptions,
} from "./client-options.ts";
import type { CaptureEvent, EventWithout, SharedMembers } from "./event.ts";
import {
  BATCH_BYTES_DEFAULT,
  CLOSE_TIMEOUT_MS_DEFAULT,
  FLUSH_INTERVAL_MS_DEFAULT,
  SEND_TIMEOUT_MS_DEFAULT,
  TAKE_OVER_INTERVAL_MS,
} from "./limits.ts";
import { Outbox } from "./outbox.ts";
import { quietly } from "./outbox-database.ts";
import type { Synced } from "./outbox-file.ts";
import {
  type Captured,
  createRecorder,
  EventMaker,
  type Keep,
  type LooseRecorder,
  makeForSend,
  type Recorder,
} from "./recorder.ts";
import {
  type Callbacks,
  createReports,
  type DropReason,
  type RejectedEvent,
  type Reports,
} from "./reports.ts";
import { type Flushed, Sender } from "./sender.ts";
import { createDelivery } from "./service.ts";
import { rejectedAs, type Sent, sendOne } from "./single-send.ts";
import { SDK_VERSION } from "./version.ts";

/**
 * A client that keeps captured events in its outbox, and delivers them to the service in the background until it is closed. `Extra` names the event
 * types that the service admits beside the documented ones. Throws a TypeError or RangeError that names the wrong option, or the error of the file
 * system if the folder cannot be written to.
 */
export const createClient = <Extra extends string = never>(options: ClientOptions): Client<Extra> =>
  new BackgroundClient(readClientOptions(options), options);

/**
 * A client for the sandbox of a service, with an outbox in memory. Its events are not evidence: the sandbox marks them as such and forgets them after
 * an hour. Throws a TypeError or RangeError that names the wrong option.
 */
export const createSandboxClient = <Extra extends string = never>(options: SandboxOptions): Client<Extra> => {
  const batch = { events: 1, bytes: BATCH_BYTES_DEFAULT, intervalMs: FLUSH_INTERVAL_MS_DEFAULT };
  const settings = { ...readSandboxOptions(options), apiKey: undefined, heartbeat: undefined, batch };
  return new BackgroundClient(settings, options);
};

type ClientSettings = ReturnType<typeof readClientOptions>;
type Settings = Omit<ClientSettings, "apiKey"> & { readonly apiKey: string | undefined };

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

const HEARTBEAT = "sdk.heartbeat";

class BackgroundClient implements Client {
  readonly #settings: Settings;
  readonly #reports: Reports;
  readonly #maker: EventMaker;
  readonly #outbox: Outbox;
  readonly #sender: Sender;
  readonly #recorder: LooseRecorder;
  readonly #sending = new AbortController();
  #heartbeat: ReturnType<typeof setInterval> | undefined;
  #closing: Promise<Flushed> | undefined;
  #hasDrained = false;

  constructor(settings: Settings, callbacks: Callbacks) {
    const { batch, heartbeat } = settings;
    this.#settings = settings;
    const reports = createReports(callbacks);
    const maker = new EventMaker(settings);
    const outbox = new Outbox({ ...settings.outbox, reports, source: () => maker.source });
    [this.#reports, this.#maker, this.#outbox] = [reports, maker, outbox];
    // Each `send()` in flight adds a listener, and Node warns of a leak at more than ten. The signal of jsdom counts none, and is refused.
    quietly(() => setMaxListeners(0, this.#sending.signal));
    this.#sender = new Sender({
      outbox,
      deliver: createDelivery(settings),
      limits: batch,
      flushIntervalMs: batch.intervalMs,
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
    this.#reports.ending();
    this.#outbox.end("The program has ended, and its outbox in memory with it.");
  }

  get stats(): Stats {
    const { delivered, duplicates, failure } = this.#sender;
    const { rejections: rejected, drops } = this.#reports;
    return { delivered, duplicates, rejected, dropped: { ...drops }, pending: this.#outbox.pending, failure };
  }

  capture(event: unknown): Captured {
    return this.#recorder.capture(event);
  }

  with(members: SharedMembers): LooseRecorder {
    return this.#recorder.with(members);
  }

  async send(event: unknown, { timeoutMs = SEND_TIMEOUT_MS_DEFAULT } = {}): Promise<Sent> {
    const made = makeForSend({ maker: this.#maker, reports: this.#reports }, event);
    if (made.kind === "dropped") return rejectedAs(made.dropped);
    const body = new TextEncoder().encode(made.text);
    const { signal } = this.#sending;
    return await sendOne({ service: this.#settings, eventId: made.eventId, body, timeoutMs, signal });
  }

  async synced(): Promise<Synced> {
    return this.#outbox.sync();
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
    this.#reports.closing();
    this.#outbox.close();
    forget(this);
    // A process warning is written in the next turn of the event loop, and the program may exit before that.
    await setImmediate();
    const { events } = this.stats.pending;
    return flushed.kind === "pending" ? { ...flushed, events } : flushed;
  }

  readonly #keep: Keep = ({ text }) => {
    const refused = this.#outbox.append(text);
    if (!refused) this.#sender.appended();
    return refused;
  };

  /** A heartbeat has no source number of its own: it reports on the numbered events. */
  #beat(): void {
    const { heartbeat } = this.#settings;
    const { source } = this.#maker;
    if (!(heartbeat && source)) return;
    const { pending, dropped, failure } = this.stats;
    const metadata = {
      source_id: source.id,
      last_source_sequence: source.last,
      outbox_depth: pending.events,
      queue_depth: this.#outbox.held,
      dropped: Object.values(dropped).reduce((sum, count) => sum + count, 0),
      circuit_state: failure === undefined ? "closed" : "open",
      sdk_version: SDK_VERSION,
      sdk_language: "typescript",
    };
    const made = this.#maker.make({ asset_id: heartbeat.asset_id, event_type: HEARTBEAT, metadata });
    if (made.kind === "made") this.#keep(made);
  }

  #rejected(letter: RejectedEvent): void {
    const { heartbeat } = this.#settings;
    const isUnknownType = letter.rejection.errors.some(({ path }) => path === "/event_type");
    // This also covers heartbeats that waited behind the first one.
    if (!(heartbeat && isUnknownType && letter.text.includes(`"event_type":"${HEARTBEAT}"`)))
      this.#reports.rejected(letter);
    else {
      clearInterval(this.#heartbeat);
      this.#heartbeat = undefined;
      this.#reports.problem(
        "heartbeat",
        `The service does not admit ${HEARTBEAT}: heartbeats are off. Its operator may set EXTRA_EVENT_TYPES=${HEARTBEAT}.`,
      );
    }
  }
}

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
