/**
 * Takes events from the outboxes and delivers them in the background, one request at a time. `asking.ts` finds out what came of a request,
 * `after-delivery.ts` decides what to do next, `pace.ts` when the next request may go, and `settling.ts` applies the outcomes.
 */
import { afterDelivery, type NextStep, type Wait } from "./after-delivery.ts";
import { Asking } from "./asking.ts";
import type { DeadLetters } from "./dead-letters.ts";
import type { Deliver } from "./delivery.ts";
import { textOf } from "./error-text.ts";
import { RETRY_CAP_MS } from "./limits.ts";
import type { Outbox, TakeLimits, Taken } from "./outbox.ts";
import { Pace } from "./pace.ts";
import type { Reports } from "./reports.ts";
import { Settling } from "./settling.ts";
import { Waiting } from "./waiting.ts";
import { WakeUp } from "./wake-up.ts";

export interface SenderOptions {
  /** The first outbox with due entries is served. */
  readonly outboxes: readonly Outbox[];
  readonly deliver: Deliver;
  readonly deadLetters: DeadLetters;
  readonly reports: Reports;
  readonly limits: TakeLimits;
  /** How long the first event of a batch waits for others, in milliseconds. */
  readonly flushIntervalMs: number;
  readonly random: () => number;
}

export type Flushed =
  /** Every event captured before the call has an outcome, and so has every event that an earlier run left in the folder. */
  | { readonly kind: "flushed" }
  /** The timeout came first. Pending events stay in the outbox; after `close()` they stay only in a folder. */
  | { readonly kind: "pending"; readonly events: number; readonly reason: string | undefined };

export interface Sender {
  /** An entry of this many bytes was appended. */
  appended(bytes: number): void;
  flush(timeoutMs: number): Promise<Flushed>;
  /** Aborts the request in flight, if there is one; its events are sent again later. */
  interrupt(reason: string): void;
  /** Aborts the request in flight and sends nothing more. */
  stop(): Promise<void>;
  readonly delivered: number;
  readonly duplicates: number;
  /** Why nothing can be delivered now; undefined while delivery works. */
  readonly failure: string | undefined;
}

export const createSender = (options: SenderOptions): Sender => new BackgroundSender(options);

class BackgroundSender implements Sender {
  failure: string | undefined;
  readonly #options: SenderOptions;
  readonly #pace: Pace;
  readonly #asking: Asking;
  readonly #settling: Settling;
  readonly #flushing = new Waiting();
  readonly #wakeUp = new WakeUp(() => this.#start());
  readonly #ending = new AbortController();
  /** A flush came while the next request was being prepared: the outcome of that request must not postpone anything for it. */
  #isHastened = false;
  #running: Promise<void> | undefined;
  /** Events and bytes of the next batch so far. */
  #gathered = { events: 0, bytes: 0 };

  constructor(options: SenderOptions) {
    const { outboxes, deliver, limits, random, deadLetters, reports } = options;
    this.#options = options;
    this.#pace = new Pace({ eventsMax: limits.events, now: () => performance.now(), random });
    this.#asking = new Asking({ deliver, eventsMax: limits.events, pace: this.#pace });
    this.#settling = new Settling({ deadLetters, reports, pace: this.#pace });
    // For entries of dead processes: once at the start, and whenever more of them are found.
    this.#schedule(performance.now());
    for (const outbox of outboxes) outbox.onArrival(() => this.#schedule(performance.now()));
  }

  get delivered(): number {
    return this.#settling.delivered;
  }

  get duplicates(): number {
    return this.#settling.duplicates;
  }

  appended(bytes: number): void {
    const { limits, flushIntervalMs } = this.#options;
    this.#gathered.events++;
    this.#gathered.bytes += bytes;
    if (this.#gathered.events === 1) this.#schedule(performance.now() + flushIntervalMs);
    const isFull = this.#gathered.events >= limits.events || this.#gathered.bytes >= limits.bytes;
    if (isFull && !this.#running) this.#schedule(performance.now());
  }

  async flush(timeoutMs: number): Promise<Flushed> {
    const { outboxes } = this.#options;
    const marks = outboxes.map((outbox) => outbox.mark());
    const isDone = () => marks.every((isSettled) => isSettled());
    this.#hasten();
    this.#schedule(performance.now());
    await this.#flushing.until(() => isDone() || this.#ending.signal.aborted, timeoutMs);
    if (isDone()) return { kind: "flushed" };
    const events = outboxes.reduce((sum, { pending }) => sum + pending.events, 0);
    return { kind: "pending", events, reason: this.failure ?? this.#settling.asideReason };
  }

  #hasten(): void {
    this.#isHastened = true;
    this.#pace.hasten();
    for (const outbox of this.#options.outboxes) outbox.hasten();
  }

  interrupt(reason: string): void {
    this.#asking.interrupt(reason);
  }

  async stop(): Promise<void> {
    this.#ending.abort();
    this.interrupt("The client was closed.");
    this.#wakeUp.cancel();
    await this.#running;
    this.#flushing.look();
  }

  #schedule(atMs: number): void {
    if (!this.#ending.signal.aborted) this.#wakeUp.at(Math.max(atMs, this.#pace.opensMs));
  }

  #start(): void {
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined;
      // Entries that came meanwhile are delivered or scheduled below, so the next event is the first of a batch.
      this.#gathered = { events: 0, bytes: 0 };
      this.#scheduleNext();
    });
  }

  #scheduleNext(): void {
    const { outboxes, flushIntervalMs } = this.#options;
    const dueMs = outboxes.flatMap(({ nextDueMs }) => nextDueMs ?? []);
    if (dueMs.length > 0) this.#schedule(Math.min(...dueMs));
    if (outboxes.some(({ pending }) => pending.events > 0))
      this.#schedule(performance.now() + flushIntervalMs);
  }

  /** Runs until nothing is due, or until it has to wait. */
  async #run(): Promise<void> {
    while (!this.#ending.signal.aborted && this.#pace.isOpen) {
      const isDone = await this.#deliverNext();
      this.#flushing.look();
      if (isDone) return;
    }
    // Continues as soon as the wait is over, whatever the flush interval is.
    this.#schedule(performance.now());
  }

  /** Returns true if nothing is due. */
  async #deliverNext(): Promise<boolean> {
    this.#isHastened = false;
    try {
      const taken = await this.#take();
      if (!taken) return true;
      await this.#deliver(taken);
    } catch (error) {
      const reason = `The outbox cannot be read: ${textOf(error)}`;
      this.#wait({ reason, problem: "outbox", capMs: RETRY_CAP_MS });
    }
    if (this.#isHastened) this.#hasten();
    return false;
  }

  /** Takes from the first outbox that has due entries. One that cannot be read does not block the others. */
  async #take(): Promise<Taken | undefined> {
    const { outboxes, limits } = this.#options;
    const failures: unknown[] = [];
    for (const outbox of outboxes)
      try {
        const taken = await outbox.take({ events: this.#pace.events, bytes: limits.bytes });
        if (taken) return taken;
      } catch (error) {
        failures.push(error);
      }
    if (failures.length > 0) throw failures[0];
    return undefined;
  }

  async #deliver(taken: Taken): Promise<void> {
    if (this.#ending.signal.aborted) return;
    const delivery = await this.#asking.ask(taken);
    // The request was aborted by this client, which says nothing about the service.
    if (delivery.kind === "again" && this.#ending.signal.aborted) return;
    await this.#do(afterDelivery(delivery, taken.entries.length), taken);
  }

  async #do(step: NextStep, taken: Taken): Promise<void> {
    switch (step.kind) {
      case "settle":
        this.#pace.answered(step.answer.askedMs);
        this.failure = undefined;
        return await this.#settling.settle(taken, step.answer);
      case "halve":
        this.#pace.halve(taken.entries.length);
        break;
      case "set_aside":
        this.#settling.setAside(taken, [0], {
          reason: step.wait.reason,
          dueMs: performance.now() + step.forMs,
          isFirm: step.isFirm,
          isSuspect: true,
        });
        break;
      case "wait":
        break;
    }
    if (step.wait) this.#wait(step.wait);
  }

  #wait({ reason, problem, capMs, askedMs }: Wait): void {
    this.failure = reason;
    this.#pace.failed({ capMs, askedMs });
    this.#options.reports.problem(problem, `Events wait in the outbox: ${reason}`);
  }
}
