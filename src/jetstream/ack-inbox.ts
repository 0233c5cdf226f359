/** One subscription for all acknowledgements, instead of one promise chain per request as in nats.js. */

import { createInbox, type NatsConnection, type Subscription } from "nats";
import { describeApiError } from "./api-errors.ts";

/** The broker's answer to one message or one batch (NATS ADR-1 PubAck, ADR-50). */
export type Acknowledgement =
  | { readonly kind: "stored"; readonly sequence: number }
  | { readonly kind: "duplicate"; readonly sequence: number }
  /** The broker's error: certainly not stored. `code` is its err_code; 0 if nobody serves the stream. */
  | { readonly kind: "error"; readonly code: number; readonly detail: string }
  /** No answer in time, or the connection was lost: it may or may not be stored. */
  | { readonly kind: "none"; readonly detail: string };

interface AckInbox {
  /** A subject for one answer, and the answer. Never rejects. */
  expect(timeoutMs: number): { readonly reply: string; readonly answer: Promise<Acknowledgement> };
  /** Answers everything that waits with `none`: after a reconnect nothing will come. */
  abandon(detail: string): void;
  isWaiting(): boolean;
}

export const openAckInbox = (nats: NatsConnection): AckInbox => {
  const prefix = createInbox();
  const waiting = new Map<string, (answer: Acknowledgement) => void>();
  let next = 0;
  const settle = (reply: string, answer: Acknowledgement): void => {
    const resolve = waiting.get(reply);
    waiting.delete(reply);
    resolve?.(answer);
  };
  const abandon: AckInbox["abandon"] = (detail) => {
    for (const reply of [...waiting.keys()]) settle(reply, { kind: "none", detail });
  };
  const subscribe = (): Subscription =>
    nats.subscribe(`${prefix}.*`, {
      // Never throws: nats.js would give up the whole connection.
      callback: (error, message) => {
        if (error) abandon(`acknowledgements cannot be received: ${error.message}`);
        else settle(message.subject, readAcknowledgement(message.data, message.headers?.code));
      },
    });
  let subscription = subscribe();
  return {
    expect: (timeoutMs) => {
      // Once the broker has refused a subscription, nats.js stays silent, even if the user gets the right later: records would be stored
      // and never acknowledged.
      if (subscription.isClosed() && !nats.isClosed()) subscription = subscribe();
      const reply = `${prefix}.${(next++).toString(36)}`;
      const { promise, resolve } = Promise.withResolvers<Acknowledgement>();
      const timer = setTimeout(
        () => settle(reply, { kind: "none", detail: "no acknowledgement came in time" }),
        timeoutMs,
      );
      waiting.set(reply, (answer) => {
        clearTimeout(timer);
        resolve(answer);
      });
      return { reply, answer: promise };
    },
    abandon,
    isWaiting: () => waiting.size > 0,
  };
};

const NO_RESPONDERS = 503;
const decoder = new TextDecoder();

const readAcknowledgement = (data: Uint8Array, status: number | undefined): Acknowledgement => {
  if (status === NO_RESPONDERS) return { kind: "error", code: 0, detail: "nobody serves the stream" };
  const body = parse(decoder.decode(data));
  const { seq, duplicate, error } = body;
  if (isObject(error)) {
    const code = Number(error.err_code ?? 0);
    const detail = describeApiError({ err_code: code, description: String(error.description) });
    return { kind: "error", code, detail };
  }
  if (typeof seq !== "number") return { kind: "none", detail: "the acknowledgement could not be read" };
  return { kind: duplicate === true ? "duplicate" : "stored", sequence: seq };
};

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null;

const parse = (text: string): Readonly<Record<string, unknown>> => {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
};
