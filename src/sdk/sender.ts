/**
 * Takes events from the outboxes and delivers them in the background: one loop, one request at a time. If one event is at fault, only that event pays
 * for it: a request that is refused because of its content is halved until that event is alone. `pace.ts` says when the next request may go.
 */
import { type Answered, type Deliver, type Delivery, type EventOutcome, isFinal } from "./delivery.ts";
import { textOf } from "./error-text.ts";
import { eventCount } from "./event-count.ts";
import { eventIdIn } from "./event-id.ts";
import { REFUSED_RETRY_CAP_MS, RETRY_CAP_MS } from "./limits.ts";
import type { Outbox, Postponed, TakeLimits, Taken } from "./outbox.ts";
import { Pace } from "./pace.ts";
import type { Problem, RejectedEvent, Reports } from "./reports.ts";
import { Waiting } from "./waiting.ts";
import { WakeUp } from "./wake-up.ts";

export interface SenderOptions {
  /** The first outbox with due entries is served, and the first one keeps dead letters. */
  readonly outboxes: readonly [Outbox, ...Outbox[]];
  readonly deliver: Deliver;
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

/** How long nothing is sent, and why. */
interface Wait {
  readonly reason: string;
  /** Under which kind it is reported. */
  readonly problem: Problem["kind"];
  readonly capMs: number;
  readonly askedMs?: number | undefined;
}

export class Sender {
  /** Why nothing can be delivered now; undefined while delivery works. */
  failure: string | undefined;
  /** Events that are in the log. Of these, the log already had `duplicates`. */
  delivered = 0;
  duplicates = 0;
  readonly #options: SenderOptions;
  readonly #pace: Pace;
  readonly #flushing = new Waiting();
  readonly #wakeUp = new WakeUp(() => this.#start());
  readonly #ending = new AbortController();
  /** Aborts the request in flight. */
  #request = new AbortController();
  /** A flush came while a request was in flight: the outcome of that request must not postpone anything for it. */
  #isHastened = false;
  #running: Promise<void> | undefined;
  /** Events and bytes of the next batch so far. */
  #gathered = { events: 0, bytes: 0 };
  /** Why and until when the last events were set aside. */
  #aside: { readonly reason: string; readonly dueMs: number } | undefined;

  constructor(options: SenderOptions) {
    const { outboxes, limits, random } = options;
    this.#options = options;
    this.#pace = new Pace({ eventsMax: limits.events, now: () => performance.now(), random });
    // For entries of dead processes: once at the start, and whenever more of them are found.
    this.#schedule(performance.now());
    for (const outbox of outboxes) outbox.onArrival(() => this.#schedule(performance.now()));
  }

  /** An entry of this many characters was appended. */
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
    return { kind: "pending", events, reason: this.failure ?? this.#asideReason };
  }

  /** Why events are set aside while others are sent; undefined if none are any more. */
  get #asideReason(): string | undefined {
    const isOver = performance.now() >= Math.max(this.#aside?.dueMs ?? 0, this.#pace.opensMs);
    return isOver ? undefined : this.#aside?.reason;
  }

  #hasten(): void {
    this.#isHastened = true;
    this.#pace.hasten();
    for (const outbox of this.#options.outboxes) outbox.hasten();
  }

  /** Aborts the request in flight, if there is one; its events are sent again later. */
  interrupt(reason: string): void {
    this.#request.abort(new Error(reason));
  }

  /** Aborts the request in flight and sends nothing more. */
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
      this.#flushing.look();
      const { outboxes, flushIntervalMs } = this.#options;
      const dueMs = outboxes.flatMap(({ nextDueMs }) => nextDueMs ?? []);
      if (dueMs.length > 0) this.#schedule(Math.min(...dueMs));
      if (outboxes.some(({ pending }) => pending.events > 0))
        this.#schedule(performance.now() + flushIntervalMs);
    });
  }

  /** Runs until nothing is due, or until it has to wait. */
  async #run(): Promise<void> {
    while (!this.#ending.signal.aborted && this.#pace.isOpen) {
      this.#isHastened = false;
      try {
        const taken = this.#take();
        if (!taken) return;
        await this.#deliver(taken);
      } catch (error) {
        const reason = `The outbox cannot be read: ${textOf(error)}`;
        this.#wait({ reason, problem: "outbox", capMs: RETRY_CAP_MS });
      }
      if (this.#isHastened) this.#hasten();
      this.#flushing.look();
    }
    // Continues as soon as the wait is over, whatever the flush interval is.
    this.#schedule(performance.now());
  }

  /** Takes from the first outbox that has due entries. One that cannot be read does not block the others. */
  #take(): Taken | undefined {
    const { outboxes, limits } = this.#options;
    const failures: unknown[] = [];
    for (const outbox of outboxes)
      try {
        const taken = outbox.take({ events: this.#pace.events, bytes: limits.bytes });
        if (taken) return taken;
      } catch (error) {
        failures.push(error);
      }
    if (failures.length > 0) throw failures[0];
    return undefined;
  }

  async #deliver(taken: Taken): Promise<void> {
    this.#request = new AbortController();
    const { signal } = this.#request;
    const { entries: events, mayBeResent } = taken;
    const delivery = await this.#options.deliver({ events, mayBeResent, signal });
    switch (delivery.kind) {
      case "answered":
        this.#answered(taken, delivery);
        break;
      case "refused":
        this.#wait({ ...delivery, problem: "refused", capMs: REFUSED_RETRY_CAP_MS });
        break;
      case "rejected":
        this.#rejected(taken, delivery);
        break;
      case "again":
        // The request was aborted by this client, which says nothing about the service.
        if (!this.#ending.signal.aborted) this.#failed(taken, delivery);
    }
  }

  /** A request that fails because of its size, or because of one of its events, would fail again and block all events behind it. */
  #failed(taken: Taken, { reason, askedMs, suspect }: Extract<Delivery, { kind: "again" }>): void {
    const isAlone = taken.entries.length === 1;
    if (suspect !== undefined && !isAlone) this.#pace.halve(taken.entries.length);
    if (suspect === "content" && isAlone) this.#setAlone(taken, reason);
    this.#wait({ reason, problem: "not_delivered", capMs: RETRY_CAP_MS, askedMs });
  }

  /** Something in the request was refused: half of the events go at once, unless the answer asked for a wait. */
  #rejected(taken: Taken, rejected: Extract<Delivery, { kind: "rejected" }>): void {
    const { rejection, askedMs } = rejected;
    const wait = { reason: rejection.message, problem: "refused", capMs: RETRY_CAP_MS, askedMs } as const;
    if (taken.entries.length > 1) {
      this.#pace.halve(taken.entries.length);
      if (askedMs !== undefined) this.#wait(wait);
    } else if (isFinal(rejected)) {
      const outcomes = [{ kind: "rejected", rejection }] as const;
      this.#answered(taken, { kind: "answered", outcomes, duplicates: 0, warnings: [], askedMs });
    } else {
      // Something in between refused this event, or refuses every event.
      this.#setAlone(taken, rejection.message);
      this.#wait(wait);
    }
  }

  /** Not for longer than the next flush: perhaps every event was refused, or the service itself was at fault. */
  #setAlone(taken: Taken, reason: string): void {
    this.#setAside(taken, [0], reason, { dueMs: performance.now() + REFUSED_RETRY_CAP_MS, isSuspect: true });
  }

  #setAside(taken: Taken, positions: readonly number[], reason: string, until: Postponed): void {
    taken.postpone(positions, until);
    this.#aside = { reason, dueMs: until.dueMs };
  }

  #wait({ reason, problem, capMs, askedMs }: Wait): void {
    this.failure = reason;
    this.#pace.failed({ capMs, askedMs });
    this.#options.reports.problem(problem, `Events wait in the outbox: ${reason}`);
  }

  /** Each event gets its own outcome. */
  #answered(taken: Taken, answer: Answered): void {
    const { outcomes, duplicates } = answer;
    this.#pace.answered(answer.askedMs);
    this.failure = undefined;
    const stored = positionsOf(outcomes, "stored");
    taken.settle(stored);
    this.delivered += stored.length;
    this.duplicates += duplicates;
    this.#warn(taken, answer);
    this.#bury(taken, outcomes);
    this.#postpone(taken, outcomes);
  }

  /** Reports the first warning: the others of an answer mostly say the same. */
  #warn({ entries }: Taken, { warnings }: Answered): void {
    const [first] = warnings;
    if (!first) return;
    const { path, message } = first.warning;
    const entry = entries[first.position ?? -1];
    const what = entry === undefined ? "What was sent" : `Event ${eventIdIn(entry) ?? "?"}`;
    const more = warnings.length > 1 ? ` (the first of ${warnings.length} warnings)` : "";
    const text = `${what} was taken, with a warning: ${path ? `${path}: ` : ""}${message}${more}`;
    this.#options.reports.problem("warning", text);
  }

  #bury(taken: Taken, outcomes: readonly EventOutcome[]): void {
    const { outboxes, reports } = this.#options;
    const positions = positionsOf(outcomes, "rejected");
    if (positions.length === 0) return;
    const letters = lettersOf(taken.entries, outcomes);
    const kept = outboxes[0].keepRejected(letters);
    if (kept.kind === "failed") {
      const reason = `Rejected events cannot be kept: ${kept.reason}`;
      reports.problem("outbox", reason);
      this.#setAside(taken, positions, reason, { dueMs: performance.now() + RETRY_CAP_MS });
      return;
    }
    taken.settle(positions);
    for (const letter of letters) {
      reports.rejected(letter);
      const message = "The outbox has no room for more dead letters: move its file away.";
      if (kept.kind === "full")
        reports.dropped({ reason: "dead_letters_full", message, eventId: letter.eventId });
    }
  }

  #postpone(taken: Taken, outcomes: readonly EventOutcome[]): void {
    const positions = positionsOf(outcomes, "again");
    if (positions.length === 0) {
      this.#pace.noneAgain();
      return;
    }
    const first = outcomes[positions[0] ?? 0];
    const reason = first?.kind === "again" ? first.reason : "";
    this.#options.reports.problem(
      "not_delivered",
      `Sending ${eventCount(positions.length)} again: ${reason}`,
    );
    this.#setAside(taken, positions, reason, { dueMs: this.#pace.againMs() });
  }
}

const positionsOf = (outcomes: readonly EventOutcome[], kind: EventOutcome["kind"]): readonly number[] =>
  outcomes.flatMap((outcome, position) => (outcome.kind === kind ? position : []));

const lettersOf = (entries: readonly string[], outcomes: readonly EventOutcome[]): readonly RejectedEvent[] =>
  outcomes.flatMap((outcome, position) => {
    const text = entries[position];
    if (text === undefined || outcome.kind !== "rejected") return [];
    return { eventId: eventIdIn(text), rejection: outcome.rejection, text };
  });
