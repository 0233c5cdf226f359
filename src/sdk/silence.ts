/**
 * Concludes from requests without an answer whether the service seems to be away, or whether certain events do not get through. It only counts what
 * `asking.ts` finds out.
 */
import type { Delivery } from "./delivery.ts";
import { UNANSWERED_ALONE_MIN, UNANSWERED_MIN } from "./limits.ts";
import type { Taken } from "./outbox.ts";

/** No answer came from the service itself. */
export type Unanswered = Extract<Delivery, { kind: "again" }>;

export const isUnanswered = (delivery: Delivery): delivery is Unanswered =>
  delivery.kind === "again" && delivery.isUnanswered === true;

export class Silence {
  /** Requests in a row without an answer. While smaller batches look for the event at fault, answers in between do not reset it. */
  #requests = 0;
  /** How often in a row the same events got no answer right after a request without events got one. */
  #timesBesideAnAnswer = 0;
  #putOff: Unanswered | undefined;

  /** `isLooking`: batches are smaller than usual, to find the event at fault. */
  note(delivery: Delivery, { isLooking }: { readonly isLooking: boolean }): void {
    if (isUnanswered(delivery)) {
      this.#requests++;
      return;
    }
    this.#timesBesideAnAnswer = 0;
    if (!isLooking) this.#requests = 0;
  }

  /** There were so many that the events may be at fault, or these events are already suspects. */
  isDoubtful({ isSuspect }: Taken): boolean {
    return isSuspect || this.#requests >= UNANSWERED_MIN;
  }

  /** Keeps an unanswered request that asked for a wait. The next request, after that wait, first finds out whether its events were at fault. */
  putOff(unanswered: Unanswered): void {
    this.#putOff = unanswered;
  }

  /** Returns what was kept, once, if there is still doubt. */
  takePutOff(taken: Taken): Unanswered | undefined {
    const putOff = this.#putOff;
    this.#putOff = undefined;
    return this.isDoubtful(taken) ? putOff : undefined;
  }

  /**
   * These events got no answer right after a request without events got one. True if they now count as at fault; several events are then only halved.
   */
  failedBesideAnAnswer({ entries, isSuspect }: Taken): boolean {
    this.#timesBesideAnAnswer++;
    if (entries.length === 1 && !isSuspect && this.#timesBesideAnAnswer < UNANSWERED_ALONE_MIN) return false;
    this.#timesBesideAnAnswer = 0;
    return true;
  }
}
