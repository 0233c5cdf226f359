/** The answer to a batch, in the terms of the API, from the results of its events. */
import { MEMBER_CHARACTERS_SHOWN, pointerToken } from "../../event/json-pointer.ts";
import { isOfOwnMember, type Warning, within } from "../../event/warnings.ts";
import { WARNING_INDEXES_MAX, WARNINGS_MAX } from "../../limits.ts";
import type { JudgedEvent, JudgedRequest, Refusal, RejectedEvent } from "./intake.ts";
import type { Receipt, Settled } from "./replay.ts";

export interface BatchAnswer {
  readonly kind: "answered";
  readonly data: {
    readonly accepted: number;
    readonly rejected: number;
    readonly duplicates: number;
    readonly errors: readonly RejectedEvent[];
    readonly warnings?: readonly BatchWarning[];
    /** Highest among the accepted events; absent if none was accepted. */
    readonly sequence?: number;
    /** One per accepted event, if the request asked for receipts. */
    readonly receipts?: readonly (Receipt & { readonly index: number })[];
  };
}

export const answerBatch = (
  { events, rejected, otherMembers }: JudgedRequest,
  settled: readonly Settled[],
  wantsReceipts: boolean,
): BatchAnswer | Refusal => {
  const errors = [...rejected];
  const warned: JudgedEvent[] = [];
  const receipts: (Receipt & { readonly index: number })[] = [];
  let [accepted, duplicates, sequence] = [0, 0, 0];
  for (const [position, event] of events.entries()) {
    const each = settled[position];
    if (!each) throw new Error("each event is settled");
    if (each.kind !== "stored") {
      errors.push(rejectSettled(event, each));
      continue;
    }
    const { receipt } = each;
    accepted++;
    if (receipt.duplicate) duplicates++;
    sequence = Math.max(sequence, receipt.sequence);
    if (event.warnings.length > 0) warned.push(event);
    if (wantsReceipts) receipts.push({ index: event.index, ...receipt });
  }
  const [first] = errors;
  // Nothing was stored; every event may simply be resent.
  if (accepted === 0 && first && errors.every(({ retryable }) => retryable))
    return { kind: first.code === "overloaded" ? "overloaded" : "unavailable", detail: first.message };
  errors.sort((a, b) => a.index - b.index);
  const warnings = collectWarnings(otherMembers.map(ignoredMember), warned);
  return {
    kind: "answered",
    data: {
      accepted,
      rejected: errors.length,
      duplicates,
      errors,
      ...(warnings.length > 0 && { warnings }),
      ...(sequence > 0 && { sequence }),
      ...(wantsReceipts && { receipts }),
    },
  };
};

const rejectSettled = (
  { index, eventId }: JudgedEvent,
  settled: Exclude<Settled, { readonly kind: "stored" }>,
): RejectedEvent => {
  const entry = { index, event_id: eventId };
  if (settled.kind === "conflict") {
    const message = "Another event in the log has this event_id: give the new one its own.";
    return { ...entry, code: "event_id_conflict", message, errors: [] };
  }
  const message = `${settled.detail} Retry the event: it is stored at most once.`;
  const code = settled.kind === "overloaded" ? "overloaded" : "log_unavailable";
  return { ...entry, code, message, errors: [], retryable: true };
};

/** Members beside `events` belong to no event, so they are not kept. */
const ignoredMember = (member: string): Warning => ({
  path: `/${pointerToken(member.slice(0, MEMBER_CHARACTERS_SHOWN))}`,
  code: "unknown_field",
  message: "Not kept: only the members of an event are stored. Put it into the events.",
});

interface BatchWarning extends Warning {
  /** The first event it is about. Absent, with the other two, if it is about the body outside the events. */
  readonly index?: number;
  readonly count?: number;
  readonly indexes?: readonly number[];
}

interface Collected {
  readonly first: Warning;
  /** Several values at one place may have different hints. */
  readonly messages: Set<string>;
  count: number;
  readonly indexes: number[];
}

const MESSAGES_MAX = 5;

const collectWarnings = (
  ofBody: readonly Warning[],
  ofEvents: Iterable<{ readonly index: number; readonly warnings: readonly Warning[] }>,
): readonly BatchWarning[] => {
  const collected = new Map<string, Collected>();
  for (const { index, warnings } of ofEvents) {
    for (const warning of warnings) {
      const { path, code, message } = warning;
      const key = `${code} ${path}`;
      const known = collected.get(key) ?? { first: warning, messages: new Set(), count: 0, indexes: [] };
      if (known.indexes.at(-1) === index) continue;
      collected.set(key, known);
      known.count++;
      if (known.messages.size <= MESSAGES_MAX) known.messages.add(message);
      if (known.indexes.length < WARNING_INDEXES_MAX) known.indexes.push(index);
    }
  }
  const entries = [...collected.values()];
  const own = entries.filter(({ first }) => isOfOwnMember(first));
  const others = entries.filter(({ first }) => !isOfOwnMember(first));
  return within<BatchWarning>(WARNINGS_MAX, [...ofBody, ...[...others, ...own].map(warningOf)]);
};

const warningOf = ({ first, messages, count, indexes }: Collected): BatchWarning => ({
  ...(indexes[0] !== undefined && { index: indexes[0] }),
  path: first.path,
  code: first.code,
  message: textOf([...messages]),
  count,
  indexes,
});

const textOf = (messages: readonly string[]): string =>
  messages.length > MESSAGES_MAX
    ? `${messages.slice(0, MESSAGES_MAX).join(" ")} Further events have other values here.`
    : messages.join(" ");
