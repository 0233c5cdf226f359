/**
 * Sends what was taken, and finds out what came of it: whether the service is away, or these events alone do not come through, because something in between
 * chokes on them or refuses them. For that a request without events is sent beside them.
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
  /** Events that a request has where nothing speaks against it. */
  readonly eventsMax: number;
  readonly pace: Pick<Pace, "events" | "reached">;
}

export class Asking {
  readonly #parts: Parts;
  readonly #silence = new Silence();
  /** Of the request on its way. */
  #request = new AbortController();
  /** Events in a row that something in between refused alone. */
  #refusedAlone = 0;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Ends the request on its way, if any. */
  interrupt(reason: string): void {
    this.#request.abort(new Error(reason));
  }

  /**
   * What gets no answer again and again, while a request without events gets one just before it is tried once more, does not come through because of what is
   * in it: it is as if something in between had refused it. Where the service is away nothing changes, and all of them keep their order.
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
   * What something in between refuses in words of its own may be for the event, or for all of them. One stands aside for it; where the next one is refused as
   * well, and so is a request without events, a flush tries it again. The others are tried all the same: what replaces each refusal by its own, as some proxies do,
   * does so to that request too. Where that is answered, the event has another chance: it may just be mended.
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
      // Many in a row hold up the others no longer than they must. When they are tried again they hold up none.
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

/** Keeps no program: one that ends by itself is to be kept by the request on its way, and not by those that follow it. */
const pause = (signal: AbortSignal): Promise<void> =>
  delay(UNANSWERED_PAUSE_MS, undefined, { ref: false, signal }).catch(() => {});
