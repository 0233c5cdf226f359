/**
 * Takes from the outboxes and delivers, one request at a time, in the background. What to do after a request is decided in `after-delivery.ts`, when the
 * next one may go in `pace.ts`; what becomes of each event is done in `settling.ts`.
 */
import { setTimeout as delay } from "node:timers/promises";
import { afterDelivery, isFinal, type NextStep, type Wait } from "./after-delivery.ts";
import type { DeadLetters } from "./dead-letters.ts";
import type { Deliver, Delivery } from "./delivery.ts";
import { textOf } from "./error-text.ts";
import { RETRY_CAP_MS, UNANSWERED_ALONE_MIN, UNANSWERED_MIN, UNANSWERED_PAUSE_MS } from "./limits.ts";
import type { Outbox, TakeLimits, Taken } from "./outbox.ts";
import { Pace } from "./pace.ts";
import type { Reports } from "./reports.ts";
import { Settling } from "./settling.ts";
import { Waiting } from "./waiting.ts";
import { WakeUp } from "./wake-up.ts";

export interface SenderOptions {
  /** The first that has something due is served. */
  readonly outboxes: readonly Outbox[];
  readonly deliver: Deliver;
  readonly deadLetters: DeadLetters;
  readonly reports: Reports;
  readonly limits: TakeLimits;
  /** How long the first entry of a batch waits for others. */
  readonly flushIntervalMs: number;
  readonly random: () => number;
}

export type Flushed =
  /** Every event captured before the call has its outcome. */
  | { readonly kind: "flushed" }
  /** The time was over first. What is pending stays in the outbox; where that ended with `close()`, none is. */
  | { readonly kind: "pending"; readonly events: number; readonly reason: string | undefined };

export interface Sender {
  /** An entry of so many bytes was appended. */
  appended(bytes: number): void;
  flush(timeoutMs: number): Promise<Flushed>;
  /** Ends the request on its way, if any; its events are sent again later. */
  interrupt(reason: string): void;
  /** The same, and nothing more is sent. */
  stop(): Promise<void>;
  readonly delivered: number;
  readonly duplicates: number;
  /** Why nothing goes through; undefined while something does. */
  readonly failure: string | undefined;
}

export const createSender = (options: SenderOptions): Sender => new BackgroundSender(options);

class BackgroundSender implements Sender {
  failure: string | undefined;
  readonly #options: SenderOptions;
  readonly #pace: Pace;
  readonly #settling: Settling;
  readonly #flushing = new Waiting();
  readonly #wakeUp = new WakeUp(() => this.#start());
  readonly #ending = new AbortController();
  /** Of the request on its way. */
  #request = new AbortController();
  /** Requests in a row of which the service said nothing; of a batch that was halved for that, not only in a row. */
  #unanswered = 0;
  /** The last one of these asked to be left in peace for a time: only after that can it be asked whether the service answers at all. */
  #doubted: Again | undefined;
  /** How often in a row the same events had no answer right after a request without events had one. */
  #notLetThrough = 0;
  /** Events in a row that something in between refused alone. */
  #refused = 0;
  /** A flush came while the next request was being made: what comes of that one puts nothing off for it. */
  #isHastened = false;
  #running: Promise<void> | undefined;
  /** Of the next batch, so far. */
  #gathered = { events: 0, bytes: 0 };

  constructor(options: SenderOptions) {
    const { outboxes, limits, random, deadLetters, reports } = options;
    this.#options = options;
    this.#pace = new Pace({ eventsMax: limits.events, now: () => performance.now(), random });
    this.#settling = new Settling({ deadLetters, reports, pace: this.#pace });
    // What other processes have left: at the start, and whenever one dies.
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
    this.#request.abort(new Error(reason));
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
      // What came meanwhile is delivered, or is planned for by what follows: the next event is the first of a batch.
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

  /** Until nothing is due, or something says to wait. */
  async #run(): Promise<void> {
    while (!this.#ending.signal.aborted && this.#pace.isOpen) {
      const isDone = await this.#deliverNext();
      this.#flushing.look();
      if (isDone) return;
    }
    // When the wait is over it goes on, however long a batch is gathered for.
    this.#schedule(performance.now());
  }

  /** True where nothing is due. */
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

  /** From the first outbox that gives something; one that cannot be read holds up no other. */
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
    const delivery = await this.#ask(taken);
    // We broke it off ourselves, which says nothing of the service.
    if (delivery.kind === "again" && this.#ending.signal.aborted) return;
    await this.#do(afterDelivery(delivery, taken.entries.length), taken);
  }

  /**
   * What gets no answer again and again, while a request without events gets one just before it is tried once more, does not come through because of what is
   * in it: it is as if something in between had refused it. Where the service is away nothing changes, and all of them keep their order.
   */
  async #ask(taken: Taken): Promise<Delivery> {
    this.#request = new AbortController();
    const { signal } = this.#request;
    const doubted = this.#isDoubtful(taken) ? this.#doubted : undefined;
    this.#doubted = undefined;
    let delivery = doubted ?? (await this.#askOnce(taken, signal));
    while (isUnanswered(delivery) && this.#isDoubtful(taken)) {
      if (delivery.askedMs !== undefined && delivery !== doubted) {
        this.#doubted = delivery;
        break;
      }
      await pause(signal);
      const empty = await this.#options.deliver({ events: [], mayBeResent: false, signal });
      if (empty.kind !== "answered") return { ...delivery, askedMs: empty.askedMs };
      if (delivery === doubted) this.#pace.reached();
      await pause(signal);
      delivery = await this.#askOnce(taken, signal);
      if (isUnanswered(delivery) && !signal.aborted && this.#isAtFault(taken)) return notLetThrough(delivery);
    }
    return await this.#askWhetherAll(delivery, taken);
  }

  /**
   * What something in between refuses in words of its own may be for the event, or for all of them. One stands aside for it; where the next one is refused as
   * well, and so is a request without events, a flush tries it again. The others are tried all the same: what replaces each refusal by its own, as some proxies do,
   * does so to that request too. Where that is answered, the event has another chance: it may just be mended.
   */
  async #askWhetherAll(delivery: Delivery, taken: Taken): Promise<Delivery> {
    if (delivery.kind !== "rejected" || isFinal(delivery)) {
      this.#refused = 0;
      return delivery;
    }
    const isAlone = taken.entries.length === 1;
    if (!isAlone || delivery.askedMs !== undefined || this.#refused++ === 0) return delivery;
    const { signal } = this.#request;
    const empty = await this.#options.deliver({ events: [], mayBeResent: false, signal });
    if (empty.kind === "answered") {
      // Many in a row hold up the others no longer than they must. When they are tried again they hold up none.
      if (!taken.isSuspect) this.#pace.reached();
      return await this.#askOnce(taken, signal);
    }
    if (empty.kind !== "rejected" || isFinal(empty)) return delivery;
    return { ...delivery, isForAll: true, askedMs: empty.askedMs };
  }

  async #askOnce({ entries, mayBeResent }: Taken, signal: AbortSignal): Promise<Delivery> {
    const { deliver, limits } = this.#options;
    const delivery = await deliver({ events: entries, mayBeResent, signal });
    if (isUnanswered(delivery)) this.#unanswered++;
    else {
      this.#notLetThrough = 0;
      // What is smaller than it may be is still looking for the one at fault.
      if (this.#pace.events === limits.events) this.#unanswered = 0;
    }
    return delivery;
  }

  #isDoubtful({ isSuspect }: Taken): boolean {
    return isSuspect || this.#unanswered >= UNANSWERED_MIN;
  }

  /** Several are only halved for it. */
  #isAtFault({ entries, isSuspect }: Taken): boolean {
    this.#notLetThrough++;
    if (entries.length === 1 && !isSuspect && this.#notLetThrough < UNANSWERED_ALONE_MIN) return false;
    this.#notLetThrough = 0;
    return true;
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

type Again = Extract<Delivery, { kind: "again" }>;

const isUnanswered = (delivery: Delivery): delivery is Again =>
  delivery.kind === "again" && delivery.isUnanswered === true;

const notLetThrough = ({ reason, askedMs }: Again): Delivery => {
  const message = `The service answers, but not to this request: ${reason}`;
  return { kind: "rejected", rejection: { code: "unanswered", message, errors: [] }, isOurs: false, askedMs };
};

/** Keeps no program: one that ends by itself is to be kept by the request on its way, and not by those that follow it. */
const pause = (signal: AbortSignal): Promise<void> =>
  delay(UNANSWERED_PAUSE_MS, undefined, { ref: false, signal }).catch(() => {});
