/**
 * Decides when the next request may go and how many events it may carry. It knows nothing of their content; time and chance are passed in.
 * `sender.ts` decides what to do after an answer.
 */
import { RETRY_CAP_MS } from "./limits.ts";
import { nextAttemptMs } from "./retry.ts";

interface Parts {
  /** The number of events of a request when nothing has failed. */
  readonly eventsMax: number;
  /** `performance.now`. */
  readonly now: () => number;
  readonly random: () => number;
}

export class Pace {
  readonly #parts: Parts;
  /** Halved by a refusal, doubled by a success. */
  #events: number;
  /** Failed requests in a row. */
  #failures = 0;
  /** Answers in a row in which an event was to be sent again. */
  #againRounds = 0;
  /** Until when our own back-off lasts. A flush ends it. */
  #backoffUntilMs = 0;
  /** Until when `Retry-After` asks to wait. A flush does not end it. */
  #askedUntilMs = 0;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#events = parts.eventsMax;
  }

  /** The most events that the next request may carry. */
  get events(): number {
    return this.#events;
  }

  /** Nothing is sent before this time. */
  get opensMs(): number {
    return Math.max(this.#backoffUntilMs, this.#askedUntilMs);
  }

  get isOpen(): boolean {
    return this.#parts.now() >= this.opensMs;
  }

  /** A caller waits: only the wait that the service asked for still counts. */
  hasten(): void {
    this.#backoffUntilMs = 0;
  }

  /** A request was answered, event by event. `askedMs`: the service asked to send nothing for that time. */
  answered(askedMs: number | undefined): void {
    if (askedMs !== undefined) this.#askedUntilMs = this.#parts.now() + askedMs;
    this.#failures = 0;
    this.#events = Math.min(this.#parts.eventsMax, this.#events * 2);
  }

  /** A request with this many events was refused. */
  halve(sent: number): void {
    this.#events = Math.max(1, Math.floor(sent / 2));
  }

  /** A request failed. */
  failed({ capMs, askedMs }: { readonly capMs: number; readonly askedMs: number | undefined }): void {
    this.#failures++;
    const now = this.#parts.now();
    const waitMs = nextAttemptMs({ failures: this.#failures, capMs, askedMs, random: this.#parts.random });
    this.#backoffUntilMs = now + waitMs;
    this.#askedUntilMs = askedMs === undefined ? 0 : now + askedMs;
  }

  /** When the events of an answer that must be sent again are due: later each time. */
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

  /** No event of an answer must be sent again. */
  noneAgain(): void {
    this.#againRounds = 0;
  }
}
