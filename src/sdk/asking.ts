/**
 * Sends what was taken, and finds out what came of it: whether the service is away, or these events alone do not come through, because something in between
 * chokes on them or refuses them. For that a request without events is sent beside them.
 */
import { setTimeout as delay } from "node:timers/promises";
import { isFinal } from "./after-delivery.ts";
import type { Deliver, Delivery } from "./delivery.ts";
import { UNANSWERED_ALONE_MIN, UNANSWERED_MIN, UNANSWERED_PAUSE_MS } from "./limits.ts";
import type { Taken } from "./outbox.ts";
import type { Pace } from "./pace.ts";

interface Parts {
  readonly deliver: Deliver;
  /** Events that a request has where nothing speaks against it. */
  readonly eventsMax: number;
  readonly pace: Pick<Pace, "events" | "reached">;
}

export class Asking {
  readonly #parts: Parts;
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
    const doubted = this.#isDoubtful(taken) ? this.#doubted : undefined;
    this.#doubted = undefined;
    let delivery = doubted ?? (await this.#askOnce(taken, signal));
    while (isUnanswered(delivery) && this.#isDoubtful(taken)) {
      if (delivery.askedMs !== undefined && delivery !== doubted) {
        this.#doubted = delivery;
        break;
      }
      await pause(signal);
      const empty = await this.#parts.deliver({ events: [], mayBeResent: false, signal });
      if (empty.kind !== "answered") return { ...delivery, askedMs: empty.askedMs };
      if (delivery === doubted) this.#parts.pace.reached();
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
    const empty = await this.#parts.deliver({ events: [], mayBeResent: false, signal });
    if (empty.kind === "answered") {
      // Many in a row hold up the others no longer than they must. When they are tried again they hold up none.
      if (!taken.isSuspect) this.#parts.pace.reached();
      return await this.#askOnce(taken, signal);
    }
    if (empty.kind !== "rejected" || isFinal(empty)) return delivery;
    return { ...delivery, isForAll: true, askedMs: empty.askedMs };
  }

  async #askOnce({ entries, mayBeResent }: Taken, signal: AbortSignal): Promise<Delivery> {
    const { deliver, eventsMax, pace } = this.#parts;
    const delivery = await deliver({ events: entries, mayBeResent, signal });
    if (isUnanswered(delivery)) this.#unanswered++;
    else {
      this.#notLetThrough = 0;
      // What is smaller than it may be is still looking for the one at fault.
      if (pace.events === eventsMax) this.#unanswered = 0;
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
