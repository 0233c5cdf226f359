/** The broker's error codes that we act on. Codes are compared, never message texts: those change between versions. */
import { ErrorCode, NatsError } from "nats";

/** nats-server `errors.json`, the `error_code` of each. */
export const API_ERROR = {
  streamNotFound: 10059,
  messageNotFound: 10037,
  /** R3: a message with the same id is being replicated. Not an answer yet: ask again (measured on 2.15.1). */
  duplicateInProcess: 10158,
} as const;

export const apiErrorCode = (error: unknown): number | undefined =>
  error instanceof NatsError ? error.api_error?.err_code : undefined;

/** The broker answered that it will not, or that nobody serves the stream: nothing was stored. */
export const isDefiniteRefusal = (error: unknown): boolean =>
  error instanceof NatsError && (error.api_error !== undefined || error.code === ErrorCode.NoResponders);

/** What may be printed and told: the code, not the subject or the payload. */
export const describeError = (error: unknown): string => {
  if (!(error instanceof NatsError)) return error instanceof Error ? error.message : "unknown error";
  const api = error.api_error;
  return api ? `${api.description} (${api.err_code})` : error.code;
};
