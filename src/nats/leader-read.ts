/**
 * Reads single messages from the leader of a stream. nats.js knows `next_by_subj` only for direct gets, which replicas that are behind answer too
 * (NATS ADR-31).
 */
import { API_ERROR, type ApiError, describeApiError } from "./api-errors.ts";
import type { BrokerConnection } from "./connection.ts";

export interface LeaderMessage {
  readonly subject: string;
  readonly seq: number;
  /** When it was stored, as the broker writes it: to the nanosecond. */
  readonly time: string;
  /** Base64; absent if the message is empty. */
  readonly data?: string;
}

export type LeaderQuery =
  | { readonly last_by_subj: string }
  | { readonly seq: number; readonly next_by_subj: string };

export const readFromLeader = async (
  { nats }: Pick<BrokerConnection, "nats">,
  stream: string,
  query: LeaderQuery,
  timeoutMs: number,
): Promise<LeaderMessage | undefined> => {
  const subject = `$JS.API.STREAM.MSG.GET.${stream}`;
  const answer = await nats.request(subject, JSON.stringify(query), { timeout: timeoutMs });
  const { message, error }: { message?: LeaderMessage; error?: ApiError } = answer.json();
  if (message) return message;
  if (error?.err_code === API_ERROR.messageNotFound) return undefined;
  throw new Error(describeApiError(error ?? {}));
};

/** Of a bucket (NATS ADR-8): undefined for a value that was deleted, or is not JSON. */
export const jsonIn = ({ data }: LeaderMessage): unknown => {
  try {
    return JSON.parse(Buffer.from(data ?? "", "base64").toString());
  } catch {
    return undefined;
  }
};

const READS_AT_ONCE = 64;

/** Gives `take` the messages after `from` up to `end`, in order. Where updates have left gaps, some answers are the same message. */
export const readOn = async (
  { from, end }: { readonly from: number; readonly end: number },
  read: (query: LeaderQuery) => Promise<LeaderMessage | undefined>,
  options: { readonly subjects: string; readonly take: (message: LeaderMessage) => void },
): Promise<void> => {
  for (let last = from; last < end; ) {
    const asked = Array.from({ length: Math.min(READS_AT_ONCE, end - last) }, (_, index) =>
      read({ seq: last + 1 + index, next_by_subj: options.subjects }),
    );
    const before = last;
    for (const message of await Promise.all(asked)) {
      if (message === undefined || message.seq <= last) continue;
      last = message.seq;
      options.take(message);
    }
    if (last === before) return;
  }
};
