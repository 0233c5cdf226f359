/**
 * Sends events all the time and remembers each answer: either it was acknowledged under a sequence, or nothing is certain. It sends an event that was
 * not acknowledged again with the same identity a few times, then gives it up, as clients do.
 */
import { createChance } from "../support/histories/chance.ts";
import { type Answer, type CallOptions, event, type TestService } from "../support/service.ts";
import { pause } from "./scene.ts";

export interface SentEvent {
  readonly eventId: string;
  readonly text: string;
  /** Absent if no answer said that the event is stored. */
  sequence?: number | "not told";
}

export interface Loader {
  readonly sent: ReadonlyMap<string, SentEvent>;
  /** Answers that no fault excuses; each is a sentence. */
  readonly wrongAnswers: readonly string[];
  acknowledged(): number;
  /** When the newest acknowledged request began, on the clock of `performance.now`. */
  lastBegunMs(): number;
  /** Ends the load; resolves when every request has its answer. */
  stop(): Promise<void>;
}

const TRIES_MAX = 6;
const RETRY_MS = 25;

export const startLoader = (options: {
  /** Sends a request to whichever front end is available now. */
  readonly call: TestService["call"];
  readonly seed: number;
  readonly senders: number;
  /** How long each sender pauses between two requests. */
  readonly restMs: number;
  readonly batchEventsMax: number;
}): Loader => {
  const { seed, senders, restMs, batchEventsMax } = options;
  const sent = new Map<string, SentEvent>();
  const wrongAnswers: string[] = [];
  let lastBegunMs = Number.NEGATIVE_INFINITY;
  let isRunning = true;
  let next = 0;

  const make = (members: object = {}, said: object = {}): SentEvent => {
    const eventId = `evt_chaos_${next++}`;
    const metadata = { n: next, s: "é😀", ...said };
    const text = JSON.stringify(event({ event_id: eventId, ...members, metadata }));
    const made: SentEvent = { eventId, text };
    sent.set(eventId, made);
    return made;
  };

  /** The answer, if the event was accepted. */
  const call = async (path: string, content: CallOptions): Promise<Answer | undefined> => {
    const begunMs = performance.now();
    const answer = await options.call(path, content).catch(() => undefined);
    if (answer?.status === 202) {
      lastBegunMs = Math.max(lastBegunMs, begunMs);
      return answer;
    }
    const isExcused = answer === undefined || answer.status === 503;
    if (!isExcused && wrongAnswers.length < 20) wrongAnswers.push(`${path} was answered ${answer.text}`);
    return undefined;
  };

  const sendOne = async (one: SentEvent, headers: Record<string, string>): Promise<boolean> => {
    const answer = await call("/v1/events", { body: one.text, headers });
    if (!answer) return false;
    one.sequence = answer.json.data.sequence;
    return true;
  };

  /** The answer of a batch has no sequence per event: the accepted events are known to be stored, each under some sequence. */
  const sendBatch = async (batch: readonly SentEvent[]): Promise<boolean> => {
    const body = `{"events":[${batch.map(({ text }) => text).join(",")}]}`;
    const answer = await call("/v1/events/batch", { body });
    if (!answer) return false;
    const rejected = new Set(answer.json.data.errors.map(({ index }: { index: number }) => index));
    for (const [index, one] of batch.entries()) if (!rejected.has(index)) one.sequence ??= "not told";
    return rejected.size === 0;
  };

  const drive = async (random: () => number): Promise<void> => {
    const makeAny = createMaker(random, make);
    while (isRunning) {
      const size = random() < 0.5 ? 1 : 1 + Math.floor(random() * batchEventsMax);
      const batch = Array.from({ length: size }, makeAny);
      const headers = random() < 0.3 ? { "idempotency-key": `key-${batch[0]?.eventId}` } : {};
      const [first] = batch;
      for (let tries = 0; tries < TRIES_MAX; tries++) {
        const isDone = size === 1 && first ? await sendOne(first, headers) : await sendBatch(batch);
        if (isDone) break;
        await pause(RETRY_MS);
      }
      if (restMs > 0) await pause(restMs);
    }
  };
  const running = Array.from({ length: senders }, (_, index) => drive(createChance(seed + index).next));
  return {
    sent,
    wrongAnswers,
    lastBegunMs: () => lastBegunMs,
    acknowledged: () => [...sent.values()].filter(({ sequence }) => sequence !== undefined).length,
    stop: async () => {
      isRunning = false;
      await Promise.all(running);
    },
  };
};

/** One in sixteen, so that every round has some. */
const REVIEWS_SHARE = 1 / 16;

/** Some of the events trigger reviews, each with a duty to complete it; half of these are completed, sooner or later, or in the same batch. */
const createMaker = (
  random: () => number,
  make: (members?: object, said?: object) => SentEvent,
): (() => SentEvent) => {
  const open: string[] = [];
  return () => {
    if (random() >= REVIEWS_SHARE) return make();
    const timestamp = new Date().toISOString();
    const completed = random() < 0.5 ? open.shift() : undefined;
    if (completed !== undefined)
      return make({ event_type: "decision.human_review_completed", timestamp }, { decision_id: completed });
    const decision = crypto.randomUUID();
    open.push(decision);
    return make({ event_type: "decision.human_review_triggered", timestamp }, { decision_id: decision });
  };
};
