/** Sends a batch until each of its events is stored or refused. The one place of the command line that decides what is sent again, and when. */
import { setTimeout as delay } from "node:timers/promises";
import { nextAttemptMs, retryAfterMs } from "../../sdk/retry.ts";
import { type Api, exitCodeOf, foreignAnswer, refusalOf, unexpectedAnswer } from "../api.ts";
import { EXIT } from "../exit-codes.ts";
import { type Failure, type FieldError, failure, Interrupted } from "../failure.ts";
import { asNumber, asRecord, asRecords, asText, type JsonRecord, parseJson } from "../json.ts";
import { CLI_ANSWER_MS_MAX, CLI_LONG_ANSWER_MS_MAX, CLI_RETRY_MS_MAX } from "../limits.ts";

export interface BatchSender {
  /** Sends event texts. Throws a Failure if the service refuses the whole batch or does not accept it in time, and Interrupted. */
  send(events: readonly string[], options: { readonly isResent: boolean }): Promise<BatchOutcome>;
}

export interface Counts {
  readonly accepted: number;
  /** Accepted events that had been stored before. */
  readonly duplicates: number;
  /** The highest sequence that was written. */
  readonly sequence: number | undefined;
}

export interface BatchOutcome extends Counts {
  readonly rejected: readonly RejectedEvent[];
  readonly warnings: readonly EventWarning[];
}

/** About the event at this position of the batch, counted from 0. */
export interface EventWarning extends FieldError {
  readonly index: number;
}

export interface RejectedEvent {
  /** Position in the batch, from 0. */
  readonly index: number;
  readonly event_id?: string;
  readonly code: string;
  readonly message: string;
  readonly errors: readonly FieldError[];
}

export const createBatchSender = (parts: {
  readonly api: Api;
  readonly retryForMs: number;
  readonly signal: AbortSignal;
  readonly random: () => number;
  readonly now: () => Date;
  readonly elapsedMs: () => number;
  /** Called when retrying begins. */
  readonly onRetry: (failure: Failure) => void;
}): BatchSender => {
  const { retryForMs, signal, random, now, elapsedMs, onRetry } = parts;
  return {
    send: async (events, { isResent }) => {
      const gathered = createGathered();
      let pending = events.map((_, index) => index);
      let mayBeStored = isResent;
      let failedSinceMs: number | undefined;
      for (let tries = 1; ; tries++) {
        const result = await tryOnce(parts, {
          texts: pending.map((index) => events[index] ?? ""),
          mayBeStored,
        });
        if (result.kind === "answered") {
          const retryable = gathered.add(result.data, pending);
          if (retryable.length === 0) return gathered.outcome();
          // Some events were stored, so the time limit for retries starts again.
          if (retryable.length < pending.length) failedSinceMs = undefined;
          pending = retryable;
        }
        mayBeStored ||= result.kind === "answered" || result.mayBeStored;
        const problem = result.kind === "failed" ? result.failure : NOT_TAKEN;
        if (failedSinceMs === undefined) onRetry(problem);
        failedSinceMs ??= elapsedMs();
        const leftMs = failedSinceMs + retryForMs - elapsedMs();
        const askedMs = retryAfterMs(result.kind === "failed" ? result.retryAfter : null, now().getTime());
        const waitMs = nextAttemptMs({ failures: tries, capMs: CLI_RETRY_MS_MAX, askedMs, random });
        if (waitMs > leftMs) throw gaveUp(problem, elapsedMs() - failedSinceMs, waitMs);
        await delay(waitMs, undefined, { signal }).catch(() => {
          throw new Interrupted();
        });
      }
    },
  };
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

type Tried =
  | { readonly kind: "answered"; readonly data: JsonRecord }
  | {
      readonly kind: "failed";
      readonly failure: Failure;
      readonly mayBeStored: boolean;
      readonly retryAfter: string | null;
    };

/** Throws if retrying cannot help. */
const tryOnce = async (
  { api, signal }: { readonly api: Api; readonly signal: AbortSignal },
  { texts, mayBeStored }: { readonly texts: readonly string[]; readonly mayBeStored: boolean },
): Promise<Tried> => {
  const tried = await api.attempt({
    path: "/v1/events/batch",
    query: new URLSearchParams(mayBeStored ? { resent: "true" } : {}),
    body: `{"events":[${texts.join(",")}]}`,
    signal,
    timeoutMs: CLI_LONG_ANSWER_MS_MAX,
    bodyMs: CLI_ANSWER_MS_MAX,
  });
  if (tried.kind === "unreachable") return { ...tried, kind: "failed", mayBeStored: true, retryAfter: null };
  const { response } = tried;
  if (response.ok) return readAnswer(response, { api, signal, sent: texts.length });
  const refusal = await refusalOf(response, api.address, undefined);
  if (exitCodeOf(response.status) !== EXIT.unavailable) throw refusal;
  // A 429 is answered before anything is stored.
  const retryAfter = response.headers.get("retry-after");
  return { kind: "failed", failure: refusal, mayBeStored: response.status !== 429, retryAfter };
};

const readAnswer = async (
  response: Response,
  {
    api: { address },
    signal,
    sent,
  }: { readonly api: Api; readonly signal: AbortSignal; readonly sent: number },
): Promise<Tried> => {
  const text = await response.text().catch(() => undefined);
  if (signal.aborted) throw new Interrupted();
  const data = asRecord(asRecord(parseJson(text ?? ""))?.data);
  if (data && isWhole(data, sent)) return { kind: "answered", data };
  // An interrupted answer says nothing. A complete answer with other content does not come from Prooftrail.
  if (text !== undefined)
    throw (
      foreignAnswer(response, address) ??
      unexpectedAnswer(address, response, "JSON that does not say what became of each event")
    );
  const broken = failure("broken_transfer", "The answer broke off.");
  return { kind: "failed", failure: broken, mayBeStored: true, retryAfter: null };
};

/** Whether it accounts for each event that was sent: what it is silent about would be taken for stored, and a resume point would pass over it. */
const isWhole = ({ accepted, rejected, errors }: JsonRecord, sent: number): boolean => {
  const entries = asRecords(errors);
  const named = new Set(entries.map(({ index }) => index));
  const areOfEvents = [...named].every(
    (index) => typeof index === "number" && Number.isInteger(index) && index >= 0 && index < sent,
  );
  return (
    areOfEvents &&
    named.size === entries.length &&
    rejected === named.size &&
    typeof accepted === "number" &&
    accepted + named.size === sent
  );
};

const createGathered = () => {
  let [accepted, duplicates] = [0, 0];
  let sequence: number | undefined;
  const rejected: RejectedEvent[] = [];
  const warnings: EventWarning[] = [];
  return {
    /** `sent`: the positions in the batch of the events that this answers. Returns those to send again. */
    add: (data: JsonRecord, sent: readonly number[]): number[] => {
      accepted += asNumber(data.accepted) ?? 0;
      duplicates += asNumber(data.duplicates) ?? 0;
      sequence = Math.max(sequence ?? 0, asNumber(data.sequence) ?? 0) || undefined;
      const ofEvents = (value: unknown) =>
        asRecords(value).flatMap((about) => {
          const index = sent[asNumber(about.index) ?? -1];
          return index === undefined ? [] : [{ index, about }];
        });
      for (const { index, about } of ofEvents(data.warnings)) warnings.push({ index, ...fieldOf(about) });
      const errors = ofEvents(data.errors);
      for (const { index, about } of errors.filter(({ about: error }) => error.retryable !== true)) {
        const { path, ...said } = fieldOf(about);
        const eventId = asText(about.event_id);
        rejected.push({
          index,
          ...(eventId !== undefined && { event_id: eventId }),
          ...said,
          errors: asRecords(about.errors).map(fieldOf),
        });
      }
      return errors.filter(({ about }) => about.retryable === true).map(({ index }) => index);
    },
    outcome: (): BatchOutcome => ({ accepted, duplicates, rejected, warnings, sequence }),
  };
};

const fieldOf = ({ path, code, message }: JsonRecord): FieldError => ({
  path: asText(path) ?? "",
  code: asText(code) ?? "",
  message: asText(message) ?? "",
});
