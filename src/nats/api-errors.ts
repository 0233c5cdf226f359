/** The broker's error codes that we act on. Codes are compared, never message texts: those change between versions. */
import { ErrorCode, NatsError } from "nats";

export const API_ERROR = {
  streamNotFound: 10059,
  /** "JetStream system temporarily unavailable": fewer than half of the servers run, or a leader is being elected. */
  noQuorum: 10008,
  messageNotFound: 10037,
  /** More than one copy of a stream was asked for, and the server is no cluster. */
  noCluster: 10074,
  /** A stream reserves more than JetStream has left in memory. */
  noMemory: 10028,
  noDisk: 10047,
  wrongLastSequence: 10071,
  /** The same without the actual revision, which is still being replicated. */
  wrongLastSequenceUnnamed: 10164,
  /** R3: a message with the same id is being replicated. Not an answer yet: ask again (measured on 2.15.1). */
  duplicateInProcess: 10158,
  /** A message id in an atomic batch is known, so the whole batch was refused (NATS ADR-50). */
  duplicateInBatch: 10201,
} as const;

export const isDuplicateInBatch = (code: number): boolean =>
  code === API_ERROR.duplicateInBatch || code === API_ERROR.duplicateInProcess;

export const isWrongLastSequence = (code: number | undefined): boolean =>
  code === API_ERROR.wrongLastSequence || code === API_ERROR.wrongLastSequenceUnnamed;

export const apiErrorCode = (error: unknown): number | undefined =>
  error instanceof NatsError ? error.api_error?.err_code : undefined;

/** The outcome of a write with a revision that was not acknowledged: somebody else has written, or it is unknown. */
export const unwritten = (
  error: unknown,
): { readonly kind: "conflict" } | { readonly kind: "unavailable"; readonly detail: string } =>
  isWrongLastSequence(apiErrorCode(error))
    ? { kind: "conflict" }
    : { kind: "unavailable", detail: describeError(error) };

/** Errors whose code or description tells nobody what to do. */
const IN_WORDS: Readonly<Record<string, string>> = {
  [ErrorCode.Timeout]:
    "the broker did not answer in time; if this lasts, check that it runs, and in a cluster more than half of the brokers",
  [ErrorCode.NoResponders]:
    "no broker answers for JetStream; check that it is on, and in a cluster that more than half of the brokers run",
  [API_ERROR.noQuorum]:
    "JetStream has no leader (10008): an election takes seconds; if this lasts, start the missing brokers, because more than half must run",
};

export interface ApiError {
  readonly err_code?: number;
  readonly description?: string;
}

export const describeApiError = ({
  err_code: code = 0,
  description = "no reason was given",
}: ApiError): string => IN_WORDS[code] ?? `${description} (${code})`;

/** A description that may be logged and answered: it has the code, not the subject or the payload. */
export const describeError = (error: unknown): string => {
  if (!(error instanceof NatsError)) return error instanceof Error ? error.message : "unknown error";
  return error.api_error ? describeApiError(error.api_error) : (IN_WORDS[error.code] ?? error.code);
};
