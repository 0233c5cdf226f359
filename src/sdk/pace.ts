/**
 * When the next request may go, and how many events it may have. It knows nothing of what is sent; time and chance are handed in. What to do after an
 * answer is in `after-delivery.ts`.
 */
import { RETRY_CAP_MS } from "./limits.ts";
import { nextAttemptMs } from "./retry.ts";

interface Parts {
  /** Events that a request has where nothing speaks against it. */
  readonly eventsMax: number;
  /** `performance.now`. */
  readonly now: () => number;
  readonly random: () => number;
}

export class Pace {
  readonly #parts: Parts;
  /** Halved by a refusal, doubled by what goes through. */
  #events: number;
  /** Requests in a row that came to nothing. */
  #failures = 0;
  /** Answers in a row in which an event was to come again. */
  #againRounds = 0;
  /** Our own back-off, which a flush overrides. */
  #backoffUntilMs = 0;
  /** `Retry-After`, which it does not. */
  #askedUntilMs = 0;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#events = parts.eventsMax;
  }

  /** Of the next request, at most. */
  get events(): number {
    return this.#events;
  }

  /** Nothing is sent before. */
  get opensMs(): number {
    return Math.max(this.#backoffUntilMs, this.#askedUntilMs);
  }

  get isOpen(): boolean {
    return this.#parts.now() >= this.opensMs;
  }

  /** Somebody waits: only what the service has asked for is waited for. */
  hasten(): void {
    this.#backoffUntilMs = 0;
  }

  /** A request was answered, event by event; `askedMs`: nothing more is to be sent before. */
  answered(askedMs: number | undefined): void {
    if (askedMs !== undefined) this.#askedUntilMs = this.#parts.now() + askedMs;
    this.#failures = 0;
    this.#events = Math.min(this.#parts.eventsMax, this.#events * 2);
  }

  /** A request of so many events was too much. */
  halve(sent: number): void {
    this.#events = Math.max(1, Math.floor(sent / 2));
  }

  /** A request came to nothing. */
  failed({ capMs, askedMs }: { readonly capMs: number; readonly askedMs: number | undefined }): void {
    this.#failures++;
    const now = this.#parts.now();
    const waitMs = nextAttemptMs({ failures: this.#failures, capMs, askedMs, random: this.#parts.random });
    this.#backoffUntilMs = now + waitMs;
    this.#askedUntilMs = askedMs === undefined ? 0 : now + askedMs;
  }

  /** The service is there, and what failed is no sign that it is not: our own back-off begins anew. */
  reached(): void {
    this.#failures = 0;
  }

  /** When the events of an answer that are to come again do so: later each time. */
  againMs(): number {
    this.#againRounds++;
    const { now, random } = this.#parts;
    const waitMs = nextAttemptMs({
      failures: this.#againRounds,
      capMs: RETRY_CAP_MS,
      askedMs: undefined,
      random,
    });
    return now() + waitMs;
  }

  /** Of an answer, none is to come again. */
  noneAgain(): void {
    this.#againRounds = 0;
  }
}
