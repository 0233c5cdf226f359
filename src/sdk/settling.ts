/**
 * Applies the outcomes of a request to its entries. An entry is settled when its own outcome is known and, if it was rejected, when it is kept as a
 * dead letter. Until then it stays in its outbox.
 */
import { DEAD_LETTERS_FULL, type DeadLetters, type Kept } from "./dead-letters.ts";
import type { Answered, EventOutcome, PlacedWarning } from "./delivery.ts";
import { eventCount } from "./event-count.ts";
import { eventIdIn } from "./event-id.ts";
import { RETRY_CAP_MS } from "./limits.ts";
import type { Postponed, Taken } from "./outbox.ts";
import type { Pace } from "./pace.ts";
import type { RejectedEvent, Reports } from "./reports.ts";

interface Parts {
  readonly deadLetters: DeadLetters;
  readonly reports: Reports;
  readonly pace: Pace;
}

interface Aside extends Postponed {
  readonly reason: string;
}

export class Settling {
  readonly #parts: Parts;
  /** Events that are in the log. Of these, the log already had `duplicates`. */
  delivered = 0;
  duplicates = 0;
  /** Why and until when the last events were set aside. */
  #aside: { readonly reason: string; readonly dueMs: number } | undefined;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  async settle(taken: Taken, { outcomes, duplicates, warnings }: Answered): Promise<void> {
    this.#settleStored(taken, outcomes);
    this.duplicates += duplicates;
    this.#warn(taken, warnings);
    await this.#bury(taken, outcomes);
    this.#postpone(taken, outcomes);
  }

  /** Why events are set aside while others are sent; undefined if none are any more. */
  get asideReason(): string | undefined {
    if (!this.#aside) return undefined;
    const { reason, dueMs } = this.#aside;
    return performance.now() < Math.max(dueMs, this.#parts.pace.opensMs) ? reason : undefined;
  }

  setAside(taken: Taken, positions: readonly number[], { reason, ...until }: Aside): void {
    taken.postpone(positions, until);
    this.#aside = { reason, dueMs: until.dueMs };
  }

  #settleStored(taken: Taken, outcomes: readonly EventOutcome[]): void {
    const stored = positionsOf(outcomes, "stored");
    taken.settle(stored);
    this.delivered += stored.length;
  }

  #warn({ entries }: Taken, warnings: readonly PlacedWarning[]): void {
    const [first] = warnings;
    if (!first) return;
    const text = warningText(first, entries[first.position ?? -1], warnings.length);
    this.#parts.reports.problem("warning", text);
  }

  async #bury(taken: Taken, outcomes: readonly EventOutcome[]): Promise<void> {
    const { deadLetters, reports } = this.#parts;
    const positions = positionsOf(outcomes, "rejected");
    if (positions.length === 0) return;
    const letters = lettersOf(taken.entries, outcomes);
    const kept = await deadLetters.keep(letters);
    if (kept.kind === "failed") {
      const reason = `Rejected events cannot be kept: ${kept.reason}`;
      reports.problem("outbox", reason);
      this.setAside(taken, positions, { reason, dueMs: performance.now() + RETRY_CAP_MS, isFirm: false });
      return;
    }
    taken.settle(positions);
    for (const letter of letters) this.#tellRejected(letter, kept);
  }

  #tellRejected(letter: RejectedEvent, kept: Kept): void {
    const { reports } = this.#parts;
    reports.rejected(letter);
    if (kept.kind !== "full") return;
    reports.dropped({ reason: "dead_letters_full", message: DEAD_LETTERS_FULL, eventId: letter.eventId });
  }

  #postpone(taken: Taken, outcomes: readonly EventOutcome[]): void {
    const { pace, reports } = this.#parts;
    const positions = positionsOf(outcomes, "again");
    if (positions.length === 0) {
      pace.noneAgain();
      return;
    }
    const first = outcomes[positions[0] ?? 0];
    const reason = first?.kind === "again" ? first.reason : "";
    reports.problem("not_delivered", `Sending ${eventCount(positions.length)} again: ${reason}`);
    this.setAside(taken, positions, { reason, dueMs: pace.againMs(), isFirm: false });
  }
}

const positionsOf = (outcomes: readonly EventOutcome[], kind: EventOutcome["kind"]): readonly number[] =>
  outcomes.flatMap((outcome, position) => (outcome.kind === kind ? position : []));

const decoder = new TextDecoder();

const lettersOf = (
  entries: readonly Uint8Array[],
  outcomes: readonly EventOutcome[],
): readonly RejectedEvent[] =>
  outcomes.flatMap((outcome, position) => {
    const entry = entries[position];
    if (!entry || outcome.kind !== "rejected") return [];
    const text = decoder.decode(entry);
    return { eventId: eventIdIn(text), rejection: outcome.rejection, text };
  });

/** The text of the first warning: the others of an answer mostly say the same. `entry` is the event it is about, if known. */
const warningText = (
  { warning: { path, message } }: PlacedWarning,
  entry: Uint8Array | undefined,
  warnings: number,
): string => {
  const what = entry ? `Event ${eventIdIn(decoder.decode(entry)) ?? "?"}` : "What was sent";
  const more = warnings > 1 ? ` (the first of ${warnings} warnings)` : "";
  return `${what} was taken, with a warning: ${path ? `${path}: ` : ""}${message}${more}`;
};
