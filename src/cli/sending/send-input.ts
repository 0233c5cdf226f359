/** An import from its first batch to its last: reads, sends, reports refused events, and saves the progress. */
import { BATCH_EVENTS_MAX } from "../../limits.ts";
import { asRecord, parseJson } from "../json.ts";
import type { BatchSender, Counts, EventWarning } from "./batch-sender.ts";
import type { InputFile } from "./input-file.ts";
import { type Entry, type Place, readBatches } from "./read-batches.ts";
import type { Rejection, Rejections } from "./rejections.ts";
import type { ResumePoint } from "./resume-point.ts";

export interface Totals extends Counts {
  readonly rejected: number;
}

export interface SendingParts {
  readonly input: Pick<InputFile, "chunks">;
  readonly sender: BatchSender;
  readonly rejections: Rejections;
  /** Called once for each kind: a member that a client always sends would fill the screen. */
  readonly warn: (warning: Omit<EventWarning, "index"> & { readonly line: number }) => Promise<void>;
  /** Where an earlier run stopped. */
  readonly from: ResumePoint | undefined;
  /** Every event may have been sent before. */
  readonly isResent: boolean;
  readonly fill: ((text: string) => string) | undefined;
  readonly save: (totals: Totals, place: Place) => Promise<void>;
  /** Called after each confirmed batch. */
  readonly onTotals: (totals: Totals) => void;
}

const WARNED_KINDS_MAX = 50;

/** Throws what the sender throws; events confirmed by then are in the last reported totals and in the resume point. */
export const sendInput = async (parts: SendingParts): Promise<Totals> => {
  const { input, sender, rejections, warn, from, fill, save, onTotals } = parts;
  const warned = new Set<string>();
  const { accepted = 0, duplicates = 0, rejected = 0 } = from ?? {};
  let totals: Totals = { accepted, duplicates, rejected, sequence: undefined };
  let sent = 0;
  let isBegun = from !== undefined;
  for await (const { entries, ...place } of ahead(readBatches(input.chunks(), from))) {
    // Saved before the first batch, so that a run killed during it is known to have begun.
    if (!isBegun) await save(totals, { line: 0, sha256: "" });
    isBegun = true;
    const events = entries.filter((entry) => entry.kind === "event");
    const texts = events.map(({ text }) => (fill ? fill(text) : text));
    const lineOf = (index: number): number => events[index]?.line ?? 0;
    // An earlier run ended with at most one batch in flight, which may be stored; what it sent before is behind the resume point.
    const mayBeStored = parts.isResent || (from !== undefined && sent < BATCH_EVENTS_MAX);
    const outcome = texts.length > 0 ? await sender.send(texts, { isResent: mayBeStored }) : undefined;
    sent += texts.length;
    for (const { index, ...warning } of outcome?.warnings ?? []) {
      const kind = `${warning.code} ${warning.path}`;
      if (warned.has(kind) || warned.size >= WARNED_KINDS_MAX) continue;
      warned.add(kind);
      await warn({ line: lineOf(index), ...warning });
    }
    const refused = [
      ...entries.flatMap(brokenLine),
      ...(outcome?.rejected ?? []).map(({ index, ...rest }) => ({
        line: lineOf(index),
        ...rest,
        text: texts[index] ?? "",
      })),
    ].sort((one, other) => one.line - other.line);
    await rejections.add(refused);
    totals = {
      accepted: totals.accepted + (outcome?.accepted ?? 0),
      duplicates: totals.duplicates + (outcome?.duplicates ?? 0),
      rejected: totals.rejected + refused.length,
      sequence: outcome?.sequence ?? totals.sequence,
    };
    await save(totals, place);
    onTotals(totals);
  }
  return totals;
};

const brokenLine = (entry: Entry): readonly Rejection[] =>
  entry.kind === "broken" ? [{ line: entry.line, code: entry.code, message: entry.message, errors: [] }] : [];

/** Reads the next batch while this one is in flight. */
async function* ahead<Value>(batches: AsyncGenerator<Value>): AsyncGenerator<Value> {
  let next = batches.next();
  for (;;) {
    const { done, value } = await next;
    if (done) return;
    next = batches.next();
    // Awaited later, in its turn; a failure is not reported before that.
    next.catch(() => {});
    yield value;
  }
}

/** Inserts missing members at the beginning of an event; the rest of its text stays as it is. */
export const fillEvent = (
  text: string,
  make: { readonly eventId: () => string; readonly timestamp: () => string },
): string => {
  const event = asRecord(parseJson(text));
  if (!event) return text;
  const missing = {
    ...(event.event_id === undefined && { event_id: make.eventId() }),
    ...(event.timestamp === undefined && { timestamp: make.timestamp() }),
  };
  if (Object.keys(missing).length === 0) return text;
  const rest = text.slice(text.indexOf("{") + 1);
  const isEmpty = Object.keys(event).length === 0;
  return `${JSON.stringify(missing).slice(0, -1)}${isEmpty ? "" : ","}${rest}`;
};
