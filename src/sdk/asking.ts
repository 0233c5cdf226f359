/**
 * Sends a request and finds out why it failed: either the service is away, or something in between (such as a proxy) does not let these events
 * through. To tell the two apart, a request without events is sent as well.
 */
import { setTimeout as delay } from "node:timers/promises";
import { isFinal } from "./after-delivery.ts";
import type { Deliver, Delivery } from "./delivery.ts";
import { UNANSWERED_PAUSE_MS } from "./limits.ts";
import type { Taken } from "./outbox.ts";
import type { Pace } from "./pace.ts";
import { isUnanswered, Silence, type Unanswered } from "./silence.ts";

interface Parts {
  readonly deliver: Deliver;
  /** The number of events of a request when nothing has failed. */
  readonly eventsMax: number;
  readonly pace: Pick<Pace, "events" | "reached">;
}

export class Asking {
  readonly #parts: Parts;
  readonly #silence = new Silence();
  /** Aborts the request in flight. */
  #request = new AbortController();
  /** How many events in a row were refused by something in between, each alone in its request. */
  #refusedAlone = 0;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Aborts the request in flight, if there is one. */
  interrupt(reason: string): void {
    this.#request.abort(new Error(reason));
  }

  /**
   * If these events repeatedly get no answer, while a request without events gets one just before each new attempt, the content is at fault: it
   * counts as refused by something in between. If the service is away, nothing changes, and all events keep their order.
   */
  async ask(taken: Taken): Promise<Delivery> {
    this.#request = new AbortController();
    const { signal } = this.#request;
    const putOff = this.#silence.takePutOff(taken);
    let hasWaited = putOff !== undefined;
    let delivery = putOff ?? (await this.#askOnce(taken));
    while (isUnanswered(delivery) && this.#silence.isDoubtful(taken)) {
      if (delivery.askedMs !== undefined && !hasWaited) {
        this.#silence.putOff(delivery);
        break;
      }
      await pause(signal);
      const empty = await this.#askWithoutEvents();
      if (empty.kind !== "answered") return { ...delivery, askedMs: empty.askedMs };
      if (hasWaited) this.#parts.pace.reached();
      hasWaited = false;
      await pause(signal);
      delivery = await this.#askOnce(taken);
      if (isUnanswered(delivery) && !signal.aborted && this.#silence.failedBesideAnAnswer(taken))
        return notLetThrough(delivery);
    }
    return await this.#askWhetherAll(delivery, taken);
  }

  /**
   * A refusal by something in between may be about this event or about every event. The first such event is set aside. If the next one is refused
   * too, and so is a request without events, then every request is refused (some proxies replace each refusal of the service by their own), and the
   * event is retried at the next flush. If the request without events is answered, the event gets another attempt at once, because the cause may
   * just have been removed.
   */
  async #askWhetherAll(delivery: Delivery, taken: Taken): Promise<Delivery> {
    if (delivery.kind !== "rejected" || isFinal(delivery)) {
      this.#refusedAlone = 0;
      return delivery;
    }
    const isAlone = taken.entries.length === 1;
    if (!isAlone || delivery.askedMs !== undefined || this.#refusedAlone++ === 0) return delivery;
    const empty = await this.#askWithoutEvents();
    if (empty.kind === "answered") {
      // Many such events in a row should delay the others as little as possible. Later attempts at them delay no others.
      if (!taken.isSuspect) this.#parts.pace.reached();
      return await this.#askOnce(taken);
    }
    if (empty.kind !== "rejected" || isFinal(empty)) return delivery;
    return { ...delivery, isForAll: true, askedMs: empty.askedMs };
  }

  async #askOnce({ entries, mayBeResent }: Taken): Promise<Delivery> {
    const { deliver, eventsMax, pace } = this.#parts;
    const delivery = await deliver({ events: entries, mayBeResent, signal: this.#request.signal });
    this.#silence.note(delivery, { isLooking: pace.events < eventsMax });
    return delivery;
  }

  #askWithoutEvents(): Promise<Delivery> {
    return this.#parts.deliver({ events: [], mayBeResent: false, signal: this.#request.signal });
  }
}

const notLetThrough = ({ reason, askedMs }: Unanswered): Delivery => {
  const message = `The service answers, but not to this request: ${reason}`;
  return { kind: "rejected", rejection: { code: "unanswered", message, errors: [] }, isOurs: false, askedMs };
};

/** This timer does not keep the program alive: only the request in flight does. */
const pause = (signal: AbortSignal): Promise<void> =>
  delay(UNANSWERED_PAUSE_MS, undefined, { ref: false, signal }).catch(() => {});
