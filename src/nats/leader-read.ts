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
