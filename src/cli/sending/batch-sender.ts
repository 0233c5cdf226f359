/** Sends a batch until each of its events is stored or refused. The one place of the command line that decides what is sent again, and when. */
import { setTimeout as delay } from "node:timers/promises";
import { nextAttemptMs } from "../../sdk/retry.ts";
import { type Api, exitCodeOf, foreignAnswer, refusalOf, unexpectedAnswer } from "../api.ts";
import { EXIT } from "../exit-codes.ts";
import { Failure, type FieldError, failure, Interrupted } from "../failure.ts";
import { asNumber, asRecord, asRecords, asText, type JsonRecord, parseJson } from "../json.ts";
import { CLI_ANSWER_MS_MAX, CLI_LONG_ANSWER_MS_MAX, CLI_RETRY_MS_MAX } from "../limits.ts";

export interface Counts {
  readonly accepted: number;
  /** Accepted events that had been stored before. */
  readonly duplicates: number;
  readonly sequence: number | undefined;
}

/** About the event at this position of the batch, counted from 0. */
export interface EventWarning extends FieldError {
  readonly index: number;
}

export interface RejectedEvent {
  readonly index: number;
  readonly event_id?: string;
  readonly code: string;
  readonly message: string;
  readonly errors: readonly FieldError[];
}

export interface BatchOutcome extends Counts {
  readonly rejected: readonly RejectedEvent[];
  readonly warnings: readonly EventWarning[];
}

export interface SenderParts {
  readonly api: Pick<Api, "address" | "attempt">;
  readonly retryForMs: number;
  readonly signal: AbortSignal;
  readonly random: () => number;
  readonly elapsedMs: () => number;
  readonly onRetry: (failure: Failure) => void;
}

/** Throws a Failure if the service refuses the whole batch or does not accept it in time, and Interrupted. */
export const sendBatch = async (
  parts: SenderParts,
  events: readonly string[],
  isResent: boolean,
): Promise<BatchOutcome> => {
  const { retryForMs, signal, random, elapsedMs, onRetry } = parts;
  const gathered: BatchOutcome[] = [];
  let pending = events.map((_, index) => index);
  let mayBeStored = isResent;
  let failedSinceMs: number | undefined;
  for (let failures = 1; ; failures++) {
    const texts = pending.map((index) => events[index] ?? "");
    const answer = await tryOnce(parts, texts, mayBeStored);
    const problem = answer instanceof Failure ? answer : NOT_TAKEN;
    if (!(answer instanceof Failure)) {
      gathered.push(outcomeOf(answer, pending));
      const left = retryableOf(answer, pending);
      if (left.length === 0) return sumOf(gathered);
      // Some events were stored, so the time limit for retries starts again.
      if (left.length < pending.length) failedSinceMs = undefined;
      pending = left;
    }
    // A 429 is answered before anything is stored.
    mayBeStored ||= problem.document.status !== 429;
    if (failedSinceMs === undefined) onRetry(problem);
    failedSinceMs ??= elapsedMs();
    const triedMs = elapsedMs() - failedSinceMs;
    const askedMs = problem.retryAfterMs;
    const waitMs = nextAttemptMs({ failures, capMs: CLI_RETRY_MS_MAX, askedMs, random });
    if (triedMs + waitMs > retryForMs) throw gaveUp(problem, triedMs, waitMs);
    await delay(waitMs, undefined, { signal }).catch(() => {
      throw new Interrupted();
    });
  }
};

const NOT_TAKEN = failure(
  "unreachable",
  "The service did not take some of the events, and said that trying again can help.",
);

const gaveUp = ({ document }: Failure, triedMs: number, waitMs: number): Failure =>
  failure(
    "gave_up",
    `Tried for ${Math.round(triedMs / 1000)} s; the next try would be in ${Math.ceil(waitMs / 1000)} s, past --retry-for. The last answer: ${document.detail}`,
    "What was confirmed is stored, and sending the same again is safe. With --resume an import continues where it stopped.",
  );

/** The data of the answer, or a failure after which a retry can help. Throws any other. */
const tryOnce = async (
  { api, signal }: Pick<SenderParts, "api" | "signal">,
  texts: readonly string[],
  mayBeStored: boolean,
): Promise<JsonRecord | Failure> => {
  const response = await api.attempt({
    path: "/v1/events/batch",
    query: new URLSearchParams(mayBeStored ? { resent: "true" } : {}),
    body: `{"events":[${texts.join(",")}]}`,
    signal,
    timeoutMs: CLI_LONG_ANSWER_MS_MAX,
    bodyMs: CLI_ANSWER_MS_MAX,
  });
  if (response instanceof Failure) return response;
  if (!response.ok) {
    const refusal = await refusalOf(response, api.address, undefined);
    if (exitCodeOf(response.status) !== EXIT.unavailable) throw refusal;
    return refusal;
  }
  const text = await response.text().catch(() => undefined);
  if (signal.aborted) throw new Interrupted();
  if (text === undefined) return failure("broken_transfer", "The answer broke off.");
  const data = asRecord(asRecord(parseJson(text))?.data);
  if (data && isWhole(data, texts.length)) return data;
  throw (
    foreignAnswer(response, api.address) ??
    unexpectedAnswer(api.address, response, "JSON that does not say what became of each event")
  );
};

/** Whether it accounts for each event that was sent: what it is silent about would be taken for stored, and a resume point would pass over it. */
const isWhole = ({ accepted, rejected, errors }: JsonRecord, sent: number): boolean => {
  const entries = asRecords(errors);
  const named = new Set(entries.map(({ index }) => index));
  return (
    [...named].every((index) => Number.isInteger(index) && Number(index) >= 0 && Number(index) < sent) &&
    named.size === entries.length &&
    rejected === named.size &&
    typeof accepted === "number" &&
    accepted + named.size === sent
  );
};

/** `sent`: the positions in the batch of the events that are answered. */
const positionOf = ({ index }: JsonRecord, sent: readonly number[]): number =>
  sent[asNumber(index) ?? 0] ?? 0;

const retryableOf = ({ errors }: JsonRecord, sent: readonly number[]): number[] =>
  asRecords(errors).flatMap((error) => (error.retryable === true ? [positionOf(error, sent)] : []));

const outcomeOf = (data: JsonRecord, sent: readonly number[]): BatchOutcome => ({
  accepted: asNumber(data.accepted) ?? 0,
  duplicates: asNumber(data.duplicates) ?? 0,
  sequence: asNumber(data.sequence),
  warnings: asRecords(data.warnings).map((each) => ({ index: positionOf(each, sent), ...fieldOf(each) })),
  rejected: asRecords(data.errors).flatMap((each) => {
    if (each.retryable === true) return [];
    const { path, ...said } = fieldOf(each);
    const id = asText(each.event_id);
    const errors = asRecords(each.errors).map(fieldOf);
    return [{ index: positionOf(each, sent), ...(id !== undefined && { event_id: id }), ...said, errors }];
  }),
});

const sumOf = (outcomes: readonly BatchOutcome[]): BatchOutcome => ({
  accepted: outcomes.reduce((sum, { accepted }) => sum + accepted, 0),
  duplicates: outcomes.reduce((sum, { duplicates }) => sum + duplicates, 0),
  sequence: Math.max(0, ...outcomes.map(({ sequence = 0 }) => sequence)) || undefined,
  rejected: outcomes.flatMap(({ rejected }) => rejected),
  warnings: outcomes.flatMap(({ warnings }) => warnings),
});

const fieldOf = ({ path, code, message }: JsonRecord): FieldError => ({
  path: asText(path) ?? "",
  code: asText(code) ?? "",
  message: asText(message) ?? "",
});
