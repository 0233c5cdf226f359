/**
 * Takes from the outboxes and delivers, one request at a time, in the background. An entry is settled when its own outcome is known and, where it was
 * rejected, when it is kept as a dead letter; before that it stays. What one event is at fault for costs that event alone: a request that is refused
 * because of what is in it is halved until the event stands alone.
 */
import { clearTimeout, setTimeout } from "node:timers";
import type { DeadLetters } from "./dead-letters.ts";
import type { Deliver, Delivery, EventOutcome, PlacedWarning } from "./delivery.ts";
import { textOf } from "./error-text.ts";
import { eventIdIn } from "./event-id.ts";
import { REFUSED_RETRY_CAP_MS, RETRY_CAP_MS } from "./limits.ts";
import type { Outbox, TakeLimits, Taken } from "./outbox.ts";
import type { RejectedEvent, Reports } from "./reports.ts";
import { nextAttemptMs } from "./retry.ts";

/** The longest that a timer can wait; what is longer would end at once. */
const TIMER_MS_MAX = 2 ** 31 - 1;

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
  delivered = 0;
  duplicates = 0;
  failure: string | undefined;
  readonly #options: SenderOptions;
  readonly #ending = new AbortController();
  /** Of the request on its way. */
  #request = new AbortController();
  /** Events in the next request: halved by a refusal, doubled by what goes through. */
  #eventsMax: number;
  #failures = 0;
  /** Answers in a row in which an event was to come again. */
  #againRounds = 0;
  /** `performance.now()` before which nothing is sent: by our own back-off, which a flush overrides, and by `Retry-After`, which it does not. */
  #backoffUntilMs = 0;
  #askedUntilMs = 0;
  #gathered = { events: 0, bytes: 0 };
  #running: Promise<void> | undefined;
  #timer: { readonly handle: ReturnType<typeof setTimeout>; readonly atMs: number } | undefined;
  readonly #waiting = new Set<() => void>();

  constructor(options: SenderOptions) {
    this.#options = options;
    this.#eventsMax = options.limits.events;
    // What other processes have left: at the start, and whenever one dies.
    this.#schedule(performance.now());
    for (const outbox of options.outboxes) outbox.onArrival(() => this.#schedule(performance.now()));
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
    const marks = this.#options.outboxes.map((outbox) => outbox.mark());
    const isDone = () => marks.every((isSettled) => isSettled());
    this.#backoffUntilMs = 0;
    for (const outbox of this.#options.outboxes) outbox.hasten();
    this.#schedule(performance.now());
    await new Promise<void>((resolve) => {
      const look = () => {
        if (!(isDone() || this.#ending.signal.aborted)) return;
        clearTimeout(timer);
        this.#waiting.delete(look);
        resolve();
      };
      // Not unref'd: who waits for a flush wants the process to live that long.
      const timer = setTimeout(
        () => {
          this.#waiting.delete(look);
          resolve();
        },
        Math.min(timeoutMs, TIMER_MS_MAX),
      );
      this.#waiting.add(look);
      look();
    });
    if (isDone()) return { kind: "flushed" };
    const events = this.#options.outboxes.reduce((sum, { pending }) => sum + pending.events, 0);
    return { kind: "pending", events, reason: this.failure };
  }

  interrupt(reason: string): void {
    this.#request.abort(new Error(reason));
  }

  async stop(): Promise<void> {
    this.#ending.abort();
    this.interrupt("The client was closed.");
    if (this.#timer) clearTimeout(this.#timer.handle);
    await this.#running;
    this.#look();
  }

  /** Runs at this time, or earlier where that is planned already. */
  #schedule(atMs: number): void {
    if (this.#ending.signal.aborted) return;
    const dueMs = Math.max(atMs, this.#backoffUntilMs, this.#askedUntilMs);
    if (this.#timer && this.#timer.atMs <= dueMs) return;
    if (this.#timer) clearTimeout(this.#timer.handle);
    const handle = setTimeout(
      () => {
        this.#timer = undefined;
        this.#running ??= this.#run().finally(() => {
          this.#running = undefined;
          // What came meanwhile is delivered, or is planned for by what follows: the next event is the first of a batch.
          this.#gathered = { events: 0, bytes: 0 };
          this.#scheduleNext();
        });
      },
      Math.max(0, dueMs - performance.now()),
    );
    // What is in the outbox is there at the next start: no reason for a program to go on.
    handle.unref();
    this.#timer = { handle, atMs: dueMs };
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
    while (
      !this.#ending.signal.aborted &&
      performance.now() >= Math.max(this.#backoffUntilMs, this.#askedUntilMs)
    ) {
      try {
        const taken = await this.#take();
        if (taken) await this.#deliver(taken);
        else return this.#look();
      } catch (error) {
        this.#wait({ reason: `The outbox cannot be read: ${textOf(error)}` }, "outbox", RETRY_CAP_MS);
      }
      this.#look();
    }
    // When the wait is over it goes on, however long a batch is gathered for.
    this.#schedule(performance.now());
  }

  #look(): void {
    for (const look of [...this.#waiting]) look();
  }

  async #take(): Promise<Taken | undefined> {
    const { outboxes, limits } = this.#options;
    const failures: unknown[] = [];
    for (const outbox of outboxes)
      try {
        const taken = await outbox.take({ events: this.#eventsMax, bytes: limits.bytes });
        if (taken) return taken;
      } catch (error) {
        failures.push(error);
      }
    if (failures.length > 0) throw failures[0];
    return undefined;
  }

  async #deliver(taken: Taken): Promise<void> {
    const { entries, mayBeResent } = taken;
    if (this.#ending.signal.aborted) return;
    this.#request = new AbortController();
    const delivery = await this.#options.deliver({
      events: entries,
      mayBeResent,
      signal: this.#request.signal,
    });
    switch (delivery.kind) {
      case "answered":
        return await this.#answered(taken, delivery);
      case "again":
        if (this.#ending.signal.aborted) return;
        this.#suspect(taken, delivery.suspect);
        return this.#wait(delivery, "not_delivered", RETRY_CAP_MS);
      case "refused":
        return this.#wait(delivery, "refused", REFUSED_RETRY_CAP_MS);
      case "rejected":
        return await this.#rejected(taken, delivery);
    }
  }

  async #answered(
    taken: Taken,
    { outcomes, duplicates, warnings, askedMs }: Extract<Delivery, { kind: "answered" }>,
  ): Promise<void> {
    if (askedMs !== undefined) this.#askedUntilMs = performance.now() + askedMs;
    this.#failures = 0;
    this.failure = undefined;
    this.#eventsMax = Math.min(this.#options.limits.events, this.#eventsMax * 2);
    const stored = positionsOf(outcomes, "stored");
    taken.settle(stored);
    this.delivered += stored.length;
    this.duplicates += duplicates;
    this.#warn(taken, warnings);
    await this.#bury(taken, outcomes);
    this.#postpone(taken, outcomes);
  }

  /** In the words of the first: the others of an answer mostly say the same. */
  #warn(taken: Taken, warnings: readonly PlacedWarning[]): void {
    const [first] = warnings;
    if (!first) return;
    const entry = taken.entries[first.position ?? -1];
    const what = entry ? `Event ${eventIdIn(decoder.decode(entry)) ?? "?"}` : "What was sent";
    const { path, message } = first.warning;
    const more = warnings.length > 1 ? ` (the first of ${warnings.length} warnings)` : "";
    this.#options.reports.problem(
      "warning",
      `${what} was taken, with a warning: ${path ? `${path}: ` : ""}${message}${more}`,
    );
  }

  /** Rejected events are settled when they are kept elsewhere, and not before. */
  async #bury(taken: Taken, outcomes: readonly EventOutcome[]): Promise<void> {
    const { deadLetters, reports } = this.#options;
    const positions = positionsOf(outcomes, "rejected");
    if (positions.length === 0) return;
    const letters = positions.flatMap((position) => {
      const [entry, outcome] = [taken.entries[position], outcomes[position]];
      return entry && outcome?.kind === "rejected" ? letterOf(entry, outcome.rejection) : [];
    });
    const kept = await deadLetters.keep(letters);
    if (kept.kind === "failed") {
      reports.problem("outbox", `Rejected events cannot be kept: ${kept.reason}`);
      taken.postpone(positions, { dueMs: performance.now() + RETRY_CAP_MS, isFirm: false });
      return;
    }
    taken.settle(positions);
    for (const letter of letters) {
      reports.rejected(letter);
      if (kept.kind === "full") {
        const message = "The file of dead letters is full: move it away.";
        reports.dropped({ reason: "dead_letters_full", message, eventId: letter.eventId });
      }
    }
  }

  #postpone(taken: Taken, outcomes: readonly EventOutcome[]): void {
    const positions = positionsOf(outcomes, "again");
    this.#againRounds = positions.length === 0 ? 0 : this.#againRounds + 1;
    if (positions.length === 0) return;
    const first = outcomes[positions[0] ?? 0];
    const reason = first?.kind === "again" ? first.reason : "";
    this.#options.reports.problem("not_delivered", `${positions.length} events are sent again: ${reason}`);
    const { random } = this.#options;
    const waitMs = nextAttemptMs({
      failures: this.#againRounds,
      capMs: RETRY_CAP_MS,
      askedMs: undefined,
      random,
    });
    taken.postpone(positions, { dueMs: performance.now() + waitMs, isFirm: false });
  }

  /** What fails by its size, or for one of its events, does so again and again, and holds up all behind it: the next request has half of it. */
  #suspect({ entries, postpone }: Taken, suspect: Extract<Delivery, { kind: "again" }>["suspect"]): void {
    if (suspect === undefined) return;
    if (entries.length > 1) this.#eventsMax = Math.floor(entries.length / 2);
    // The others go first. A flush tries it at once: it may have been the service's own fault.
    else if (suspect === "content")
      postpone([0], { dueMs: performance.now() + REFUSED_RETRY_CAP_MS, isFirm: false });
  }

  async #rejected(
    taken: Taken,
    { rejection, isOurs }: Extract<Delivery, { kind: "rejected" }>,
  ): Promise<void> {
    if (taken.entries.length > 1) {
      this.#eventsMax = Math.max(1, Math.floor(taken.entries.length / 2));
      return;
    }
    // 413 is about the event whoever says it.
    if (isOurs || rejection.code === "status_413") {
      await this.#answered(taken, {
        kind: "answered",
        outcomes: [{ kind: "rejected", rejection }],
        duplicates: 0,
        warnings: [],
      });
      return;
    }
    // A proxy that dislikes this event, or all of them: it comes later, the others first, also where flushes follow each other.
    taken.postpone([0], { dueMs: performance.now() + REFUSED_RETRY_CAP_MS, isFirm: true });
    this.#wait({ reason: rejection.message }, "refused", RETRY_CAP_MS);
  }

  #wait(
    { reason, askedMs }: { readonly reason: string; readonly askedMs?: number },
    kind: "not_delivered" | "refused" | "outbox",
    capMs: number,
  ): void {
    const { random, reports } = this.#options;
    this.#failures++;
    this.failure = reason;
    const now = performance.now();
    const waitMs = nextAttemptMs({ failures: this.#failures, capMs, askedMs, random });
    this.#backoffUntilMs = now + waitMs;
    this.#askedUntilMs = askedMs === undefined ? 0 : now + askedMs;
    reports.problem(kind, `Events wait in the outbox: ${reason}`);
  }
}

const positionsOf = (outcomes: readonly EventOutcome[], kind: EventOutcome["kind"]): readonly number[] =>
  outcomes.flatMap((outcome, position) => (outcome.kind === kind ? position : []));

const decoder = new TextDecoder();

const letterOf = (entry: Uint8Array, rejection: RejectedEvent["rejection"]): RejectedEvent => {
  const text = decoder.decode(entry);
  return { eventId: eventIdIn(text), rejection, text };
};
