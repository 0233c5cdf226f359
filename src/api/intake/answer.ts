/** All answers of the intake, as closed unions, and how they follow from what became of the events. http/problem.ts gives each its status. */
import { MEMBER_CHARACTERS_SHOWN, pointerToken } from "../../event/json-pointer.ts";
import type { Problem } from "../../event/validate.ts";
import type { Warning } from "../../event/warnings.ts";
import type { Sequence } from "../../log/outcome.ts";
import { type BatchWarning, collectWarnings } from "./batch-warnings.ts";
import type { JudgedEvent, JudgedRequest, RejectedEvent, Settled } from "./judged.ts";

/** Why a whole request was refused. */
export type Refusal =
  | { readonly kind: "invalid_json"; readonly detail: string }
  | { readonly kind: "invalid_request"; readonly problems: readonly Problem[]; readonly problemCount: number }
  | { readonly kind: "event_too_large" }
  | { readonly kind: "conflict"; readonly identity: "event_id" | "idempotency_key" }
  | { readonly kind: "overloaded"; readonly detail: string }
  /** It could not be decided in time whether the log already holds the events. Nothing was stored. */
  | { readonly kind: "view_behind" }
  | { readonly kind: "unavailable"; readonly detail: string };

type Stored = Omit<Extract<Settled, { readonly kind: "stored" }>, "kind">;

export interface AcceptedEvent extends Stored {
  readonly kind: "accepted";
  readonly warnings: readonly Warning[];
}

export interface BatchReceipt extends Stored {
  readonly index: number;
}

export interface BatchAnswer {
  readonly kind: "answered";
  readonly accepted: number;
  readonly duplicates: number;
  readonly rejected: readonly RejectedEvent[];
  readonly warnings: readonly BatchWarning[];
  /** One per accepted event, if the request asked for receipts. */
  readonly receipts?: readonly BatchReceipt[];
  /** Highest sequence among the accepted events; absent if none was accepted. */
  readonly sequence?: Sequence;
}

export const answerOne = (
  { events }: JudgedRequest,
  settled: Settled | undefined,
): AcceptedEvent | Refusal => {
  const [event] = events;
  if (!(event && settled)) throw new Error("each event is settled");
  return settled.kind === "stored" ? { ...settled, kind: "accepted", warnings: event.warnings } : settled;
};

export const answerBatch = (
  { events, rejected: invalid, otherMembers }: JudgedRequest,
  settled: readonly Settled[],
  wantsReceipts: boolean,
): BatchAnswer | Refusal => {
  const rejected = [...invalid];
  const warned: JudgedEvent[] = [];
  const receipts: BatchReceipt[] = [];
  let [accepted, duplicates, sequence] = [0, 0, 0];
  for (const [position, event] of events.entries()) {
    const each = settled[position];
    if (!each) throw new Error("each event is settled");
    if (each.kind !== "stored") {
      rejected.push(rejectSettled(event, each));
      continue;
    }
    accepted++;
    if (each.duplicate) duplicates++;
    sequence = Math.max(sequence, each.sequence);
    if (event.warnings.length > 0) warned.push(event);
    if (wantsReceipts) receipts.push({ ...each, index: event.index });
  }
  const [first] = rejected;
  // Nothing was stored, and every event may simply be sent again.
  if (accepted === 0 && first && rejected.every(({ retryable }) => retryable))
    return { kind: first.code === "overloaded" ? "overloaded" : "unavailable", detail: first.message };
  rejected.sort((a, b) => a.index - b.index);
  return {
    kind: "answered",
    accepted,
    duplicates,
    rejected,
    warnings: collectWarnings(otherMembers.map(ignoredMember), warned),
    ...(wantsReceipts && { receipts }),
    ...(sequence > 0 && { sequence }),
  };
};

const rejectSettled = (
  { index, eventId }: JudgedEvent,
  settled: Exclude<Settled, { readonly kind: "stored" }>,
): RejectedEvent => {
  const entry = { index, eventId, problems: [] };
  if (settled.kind === "conflict") {
    const message =
      "Another event with this event_id is in the log: give the new one an event_id of its own.";
    return { ...entry, code: "event_id_conflict", message, retryable: false };
  }
  const message = `${settled.detail} Send the event again: it is stored at most once.`;
  const code = settled.kind === "overloaded" ? "overloaded" : "log_unavailable";
  return { ...entry, code, message, retryable: true };
};

/** Members beside `events` belong to no event, so there is nowhere to keep them. */
const ignoredMember = (member: string): Warning => ({
  path: `/${pointerToken(member.slice(0, MEMBER_CHARACTERS_SHOWN))}`,
  code: "unknown_field",
  message: "Not kept: only the members of an event are stored. Put it into the events.",
});
