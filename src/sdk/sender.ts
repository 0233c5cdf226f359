/**
 * Delivers the events of an outbox in the background: one loop, one request at a time. If one event is at fault, only that event pays for it: a request
 * that is refused because of its content is halved until that event is alone.
 */
import { clearInterval, clearTimeout, setInterval, setTimeout } from "node:timers";
import { REFUSED_RETRY_CAP_MS, RETRY_CAP_MS } from "./limits.ts";
import type { Outbox } from "./outbox.ts";
import type { Entry, TakeLimits, Taken } from "./outbox-file.ts";
import { eventCount, eventIdIn, type Problem, type Reports } from "./reports.ts";
import { nextAttemptMs } from "./retry.ts";
import type { Answered, Deliver, Delivery } from "./service.ts";
import { isFinal } from "./service.ts";
import { textOf } from "./values.ts";

export interface SenderOptions {
  readonly outbox: Outbox;
  readonly deliver: Deliver;
  readonly reports: Reports;
  readonly limits: TakeLimits;
  /** How long the first event of a batch waits for others, in milliseconds. */
  readonly flushIntervalMs: number;
  /** How often to look for what dead processes left. */
  readonly takeOverIntervalMs: number;
  readonly random: () => number;
}

export type Flushed =
  /** Every event captured before the call has an outcome, and so has every event that an earlier run left in the folder. */
  | { readonly kind: "flushed" }
  /** The timeout came first. Pending events stay in the outbox; after `close()` they stay only in a folder. */
  | { readonly kind: "pending"; readonly events: number; readonly reason: string | undefined };

/** How long nothing is sent, and why. */
interface Wait {
  readonly reason: string;
  /** Under which kind it is reported. */
  readonly problem: Problem["kind"];
  readonly capMs?: number;
  readonly askedMs?: number | undefined;
}

/** The longest delay of a timer; with a longer one it would fire at once. */
const TIMER_MS_MAX = 2 ** 31 - 1;

export class Sender {
  /** Why nothing can be delivered now; undefined while delivery works. */
  failure: string | undefined;
  /** Events that are in the log. Of these, the log already had `duplicates`. */
  delivered = 0;
  duplicates = 0;
  readonly #options: SenderOptions;
  readonly #takingOver: ReturnType<typeof setInterval>;
  readonly #running: Promise<void>;
  #hasStopped = false;
  /** When to look for due events (`performance.now()`), and ends the wait for it. */
  #lookMs = 0;
  #wake = (): void => {};
  /** Aborts the request in flight. */
  #request = new AbortController();
  /** Callers of `flush()` look whether they are done. */
  readonly #flushes = new Set<() => void>();
  /** The most events of the next request: halved by a refusal, doubled by a success. */
  #eventsMax: number;
  /** Failed requests in a row. */
  #failures = 0;
  /** Until when our own back-off lasts, which a flush ends, and until when the service asked to wait (`performance.now()`). */
  #backoffUntilMs = 0;
  #askedUntilMs = 0;
  /** A flush came while a request was in flight: the outcome of that request must not postpone anything for it. */
  #isHastened = false;
  /** Why the last event was set aside. */
  #asideReason: string | undefined;

  constructor(options: SenderOptions) {
    this.#options = options;
    this.#eventsMax = options.limits.events;
    this.#takingOver = setInterval(() => {
      options.outbox.takeOver();
      this.#lookAt(0);
    }, options.takeOverIntervalMs);
    this.#takingOver.unref();
    this.#running = Promise.resolve().then(() => this.#run());
  }

  /** An event was appended. */
  appended(): void {
    const { outbox, limits, flushIntervalMs } = this.#options;
    const { events, bytes } = outbox.pending;
    const isFull = events >= limits.events || bytes >= limits.bytes;
    this.#lookAt(isFull ? 0 : performance.now() + flushIntervalMs);
  }

  async flush(timeoutMs: number): Promise<Flushed> {
    const { outbox } = this.#options;
    const isDone = outbox.mark();
    this.#hasten();
    await new Promise<void>((resolve) => {
      const end = () => {
        clearTimeout(timer);
        this.#flushes.delete(look);
        resolve();
      };
      const look = () => {
        if (this.#hasStopped || isDone()) end();
      };
      // Not unref'd: a caller that waits wants the process to live that long.
      const timer = setTimeout(end, Math.min(timeoutMs, TIMER_MS_MAX));
      this.#flushes.add(look);
      look();
    });
    if (isDone()) return { kind: "flushed" };
    const aside = outbox.nextDueMs === undefined ? undefined : this.#asideReason;
    return { kind: "pending", events: outbox.pending.events, reason: this.failure ?? aside };
  }

  #hasten(): void {
    this.#isHastened = true;
    this.#backoffUntilMs = 0;
    this.#options.outbox.hasten();
    this.#lookMs = 0;
    this.#wake();
  }

  /** Aborts the request in flight, if there is one; its events are sent again later. */
  interrupt(reason: string): void {
    this.#request.abort(new Error(reason));
  }

  /** Aborts the request in flight and sends nothing more. */
  async stop(): Promise<void> {
    this.#hasStopped = true;
    this.interrupt("The client was closed.");
    clearInterval(this.#takingOver);
    this.#wake();
    await this.#running;
    this.#lookAtFlushes();
  }

  #lookAtFlushes(): void {
    for (const look of [...this.#flushes]) look();
  }

  #lookAt(atMs: number): void {
    if (atMs >= this.#lookMs) return;
    this.#lookMs = atMs;
    this.#wake();
  }

  /** One request after the other, until the client is closed. */
  async #run(): Promise<void> {
    while (!this.#hasStopped) {
      const atMs = Math.max(this.#lookMs, this.#backoffUntilMs, this.#askedUntilMs);
      if (atMs > performance.now()) await this.#sleepUntil(atMs);
      else await this.#sendNext();
    }
  }

  /** Its timer does not keep the program alive. */
  async #sleepUntil(atMs: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#wake = resolve;
    const timer = setTimeout(resolve, Math.min(TIMER_MS_MAX, atMs - performance.now()));
    timer.unref();
    await promise;
    clearTimeout(timer);
  }

  async #sendNext(): Promise<void> {
    const { outbox, limits, flushIntervalMs } = this.#options;
    this.#lookMs = Number.POSITIVE_INFINITY;
    this.#isHastened = false;
    try {
      const taken = outbox.take({ events: this.#eventsMax, bytes: limits.bytes });
      if (taken) {
        await this.#deliver(taken);
        this.#lookMs = 0;
      } else if (outbox.pending.events > 0)
        this.#lookAt(Math.min(outbox.nextDueMs ?? Infinity, performance.now() + flushIntervalMs));
    } catch (error) {
      this.#wait({ reason: `The outbox cannot be read: ${textOf(error)}`, problem: "outbox" });
      this.#lookMs = 0;
    }
    if (this.#isHastened) this.#hasten();
    this.#lookAtFlushes();
  }

  async #deliver(taken: Taken): Promise<void> {
    this.#request = new AbortController();
    const { signal } = this.#request;
    const { entries, mayBeResent } = taken;
    const events = entries.map(({ text }) => text);
    const delivery = await this.#options.deliver({ events, mayBeResent, signal });
    if (delivery.kind === "answered") this.#answered(taken, delivery);
    else if (delivery.kind === "refused")
      this.#wait({ ...delivery, problem: "refused", capMs: REFUSED_RETRY_CAP_MS });
    else if (delivery.kind === "rejected") this.#rejected(taken, delivery);
    // A request that was aborted by this client says nothing about the service.
    else if (!this.#hasStopped) this.#failed(taken, delivery);
  }

  /** A request that fails because of its size, or because of one of its events, would fail again and block all events behind it. */
  #failed(taken: Taken, failed: Extract<Delivery, { kind: "again" }>): void {
    const { suspect, reason } = failed;
    if (suspect !== undefined && taken.entries.length > 1) this.#halve(taken);
    else if (suspect === "content") this.#setAside(taken, taken.entries, reason);
    this.#wait({ ...failed, problem: "not_delivered" });
  }

  /** Something in the request was refused: half of the events go at once, unless the answer asked for a wait. */
  #rejected(taken: Taken, rejected: Extract<Delivery, { kind: "rejected" }>): void {
    const { rejection, askedMs } = rejected;
    const isAlone = taken.entries.length === 1;
    if (isAlone && isFinal(rejected)) {
      const outcomes = [{ kind: "rejected", rejection }] as const;
      this.#answered(taken, { kind: "answered", outcomes, duplicates: 0, warnings: [], askedMs });
      return;
    }
    // One that stands alone was refused by something in between, which perhaps refuses every event.
    if (isAlone) this.#setAside(taken, taken.entries, rejection.message);
    else this.#halve(taken);
    if (isAlone || askedMs !== undefined)
      this.#wait({ reason: rejection.message, problem: "refused", askedMs });
  }

  #halve({ entries }: Taken): void {
    this.#eventsMax = Math.max(1, Math.floor(entries.length / 2));
  }

  /** Not for longer than the next flush: perhaps every event was refused, or the service itself was at fault. */
  #setAside({ file }: Taken, entries: readonly Entry[], reason: string): void {
    file.setAside(entries, performance.now() + REFUSED_RETRY_CAP_MS);
    this.#asideReason = reason;
  }

  #wait({ reason, problem, capMs = RETRY_CAP_MS, askedMs }: Wait, text = "Events wait in the outbox"): void {
    this.failure = reason;
    this.#failures++;
    const nowMs = performance.now();
    const { random, reports } = this.#options;
    this.#backoffUntilMs = nowMs + nextAttemptMs({ failures: this.#failures, capMs, askedMs, random });
    this.#askedUntilMs = nowMs + (askedMs ?? 0);
    reports.problem(problem, `${text}: ${reason}`);
  }

  /** Each event gets its own outcome. */
  #answered(taken: Taken, answer: Answered): void {
    const { entries, file } = taken;
    const { outcomes, duplicates, askedMs } = answer;
    this.#eventsMax = Math.min(this.#options.limits.events, this.#eventsMax * 2);
    const stored = entries.filter((_, position) => outcomes[position]?.kind === "stored");
    file.settle(stored);
    this.delivered += stored.length;
    this.duplicates += duplicates;
    this.#warn(taken, answer);
    this.#bury(taken, answer);
    const again = outcomes.flatMap((outcome) => (outcome.kind === "again" ? outcome.reason : []));
    const [reason] = again;
    if (reason !== undefined) {
      const text = `Sending ${eventCount(again.length)} again`;
      this.#wait({ reason, problem: "not_delivered", askedMs }, text);
      return;
    }
    this.failure = undefined;
    this.#failures = 0;
    this.#askedUntilMs = performance.now() + (askedMs ?? 0);
  }

  /** Reports the first warning: the others of an answer mostly say the same. */
  #warn({ entries }: Taken, { warnings }: Answered): void {
    const [first] = warnings;
    if (!first) return;
    const { path, message } = first.warning;
    const entry = entries[first.position ?? -1];
    const what = entry === undefined ? "What was sent" : `Event ${eventIdIn(entry.text) ?? "?"}`;
    const more = warnings.length > 1 ? ` (the first of ${warnings.length} warnings)` : "";
    const text = `${what} was accepted with a warning: ${path ? `${path}: ` : ""}${message}${more}`;
    this.#options.reports.problem("warning", text);
  }

  #bury(taken: Taken, { outcomes }: Answered): void {
    const { outbox, reports } = this.#options;
    const rejected = taken.entries.filter((_, position) => outcomes[position]?.kind === "rejected");
    if (rejected.length === 0) return;
    const rejections = outcomes.flatMap((outcome) => (outcome.kind === "rejected" ? outcome.rejection : []));
    const letters = rejections.map((rejection, position) => {
      const text = rejected[position]?.text ?? "";
      return { eventId: eventIdIn(text), rejection, text };
    });
    const kept = outbox.keepRejected(letters);
    if (kept.kind === "failed") {
      const reason = `Rejected events cannot be kept: ${kept.reason}`;
      reports.problem("outbox", reason);
      this.#setAside(taken, rejected, reason);
      return;
    }
    taken.file.settle(rejected);
    for (const letter of letters) {
      reports.rejected(letter);
      const message = "The outbox has no room for more dead letters: move its file away.";
      if (kept.kind === "full")
        reports.dropped([{ reason: "dead_letters_full", message, eventId: letter.eventId }]);
    }
  }
}
