/** Sends a batch until each of its events is stored or refused. The one place of the command line that decides what is sent again, and when. */
import { setTimeout as delay } from "node:timers/promises";
import { eventIdIn } from "../../sdk/reports.ts";
import { nextAttemptMs } from "../../sdk/retry.ts";
import { type Answered, readOutcomes } from "../../sdk/service.ts";
import { type Api, dataOf, retryable } from "../api.ts";
import { Failure, type FieldError, failure, Interrupted } from "../failure.ts";
import { CLI_ANSWER_MS_MAX, CLI_LONG_ANSWER_MS_MAX, CLI_RETRY_MS_MAX } from "../limits.ts";

export interface SentEvent {
  readonly line: number;
  readonly text: string;
}

/** An event that will never be accepted. */
export interface Rejection {
  readonly line: number;
  readonly event_id?: string;
  readonly code: string;
  readonly message: string;
  readonly errors: readonly FieldError[];
  /** As it was sent; absent if the line was not JSON. */
  readonly text?: string;
}

export interface Outcome {
  readonly accepted: number;
  /** Accepted events that had been stored before. */
  readonly duplicates: number;
  readonly sequence: number | undefined;
  readonly rejected: readonly Rejection[];
  readonly warnings: readonly (FieldError & { readonly line: number })[];
}

const NOTHING_SENT: Outcome = { accepted: 0, duplicates: 0, sequence: undefined, rejected: [], warnings: [] };

export interface SenderParts {
  readonly api: Pick<Api, "ask">;
  readonly retryForMs: number;
  readonly signal: AbortSignal;
  readonly random: () => number;
  readonly elapsedMs: () => number;
  readonly onRetry: (failure: Failure) => void;
}

/** Throws a Failure if the service refuses the whole batch or does not accept it in time, and Interrupted. */
export const sendBatch = async (
  parts: SenderParts,
  events: readonly SentEvent[],
  isResent: boolean,
): Promise<Outcome> => {
  const { retryForMs, signal, random, elapsedMs, onRetry } = parts;
  let outcome = NOTHING_SENT;
  let pending = events;
  let mayBeStored = isResent;
  let failedSinceMs: number | undefined;
  for (let failures = 1; pending.length > 0; failures++) {
    const answer = await askOnce(parts, pending, mayBeStored);
    const problem = answer instanceof Failure ? answer : NOT_TAKEN;
    if (!(answer instanceof Failure)) {
      outcome = withAnswer(outcome, answer, pending);
      const again = pending.filter((_, position) => answer.outcomes[position]?.kind === "again");
      // Some events were stored, so the time limit for retries starts again.
      if (again.length < pending.length) failedSinceMs = undefined;
      pending = again;
      if (pending.length === 0) break;
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
  return outcome;
};

const NOT_TAKEN = failure(
  "unreachable",
  "The service did not accept some of the events, and said that a retry can help.",
);

const gaveUp = ({ document }: Failure, triedMs: number, waitMs: number): Failure =>
  failure(
    "gave_up",
    `Tried for ${Math.round(triedMs / 1000)} s; the next try would be in ${Math.ceil(waitMs / 1000)} s, past --retry-for. The last answer: ${document.detail}`,
    "What was confirmed is stored, and sending the same again is safe. With --resume an import continues where it stopped.",
  );

/** What the answer says of each event, or a failure after which a retry can help. Throws any other. */
const askOnce = async (
  { api, signal }: Pick<SenderParts, "api" | "signal">,
  events: readonly SentEvent[],
  mayBeStored: boolean,
): Promise<(Answered & { readonly sequence: number | undefined }) | Failure> => {
  const answer = await api
    .ask({
      path: "/v1/events/batch",
      query: new URLSearchParams(mayBeStored ? { resent: "true" } : {}),
      body: `{"events":[${events.map(({ text }) => text).join(",")}]}`,
      signal,
      timeoutMs: CLI_LONG_ANSWER_MS_MAX,
      bodyMs: CLI_ANSWER_MS_MAX,
    })
    .catch(retryable);
  if (answer instanceof Failure) return answer;
  const data = dataOf(answer);
  const read = readOutcomes(data, events.length);
  // What it is silent about would be taken for stored, and a resume point would pass over it.
  if (read.kind !== "answered")
    throw failure("unexpected_answer", "The service did not say what became of each event.");
  return { ...read, sequence: typeof data.sequence === "number" ? data.sequence : undefined };
};

const withAnswer = (
  before: Outcome,
  { outcomes, duplicates, warnings, sequence }: Exclude<Awaited<ReturnType<typeof askOnce>>, Failure>,
  sent: readonly SentEvent[],
): Outcome => {
  const rejected = sent.flatMap(({ line, text }, position): readonly Rejection[] => {
    const outcome = outcomes[position];
    if (outcome?.kind !== "rejected") return [];
    const event_id = eventIdIn(text);
    return [{ line, ...(event_id !== undefined && { event_id }), ...outcome.rejection, text }];
  });
  return {
    accepted: before.accepted + outcomes.filter(({ kind }) => kind === "stored").length,
    duplicates: before.duplicates + duplicates,
    sequence: sequence ?? before.sequence,
    rejected: [...before.rejected, ...rejected],
    warnings: [
      ...before.warnings,
      ...warnings.map(({ position = 0, warning }) => ({ line: sent[position]?.line ?? 0, ...warning })),
    ],
  };
};
