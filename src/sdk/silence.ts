/**
 * What requests without an answer say together: whether the service seems to be away, or what was sent does not come through. It only counts what
 * `asking.ts` has found out.
 */
import type { Delivery } from "./delivery.ts";
import { UNANSWERED_ALONE_MIN, UNANSWERED_MIN } from "./limits.ts";
import type { Taken } from "./outbox.ts";

/** No answer of the service's own. */
export type Unanswered = Extract<Delivery, { kind: "again" }>;

export const isUnanswered = (delivery: Delivery): delivery is Unanswered =>
  delivery.kind === "again" && delivery.isUnanswered === true;

export class Silence {
  /** Requests in a row without an answer; while a smaller batch looks for the event at fault, answers between them do not end it. */
  #requests = 0;
  /** How often in a row the same events had no answer right after a request without events had one. */
  #timesBesideAnAnswer = 0;
  #putOff: Unanswered | undefined;

  /** `isLooking`: batches are smaller than they may be, for the event at fault. */
  note(delivery: Delivery, { isLooking }: { readonly isLooking: boolean }): void {
    if (isUnanswered(delivery)) {
      this.#requests++;
      return;
    }
    this.#timesBesideAnAnswer = 0;
    if (!isLooking) this.#requests = 0;
  }

  /** There were so many that what was sent may be at fault, or it was at fault before. */
  isDoubtful({ isSuspect }: Taken): boolean {
    return isSuspect || this.#requests >= UNANSWERED_MIN;
  }

  /** It came with a time to wait. The next request, which goes after that, begins with what is to be found out of this one. */
  putOff(unanswered: Unanswered): void {
    this.#putOff = unanswered;
  }

  /** What was put off, once, where there is still doubt. */
  takePutOff(taken: Taken): Unanswered | undefined {
    const putOff = this.#putOff;
    this.#putOff = undefined;
    return this.isDoubtful(taken) ? putOff : undefined;
  }

  /** These events had no answer, right after a request without events had one. True where they are at fault by now; several are only halved for it. */
  failedBesideAnAnswer({ entries, isSuspect }: Taken): boolean {
    this.#timesBesideAnAnswer++;
    if (entries.length === 1 && !isSuspect && this.#timesBesideAnAnswer < UNANSWERED_ALONE_MIN) return false;
    this.#timesBesideAnAnswer = 0;
    return true;
  }
}
