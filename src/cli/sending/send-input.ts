/** An import from its first batch to its last: reads, sends, reports refused events, and saves the progress. */
import { BATCH_EVENTS_MAX } from "../../limits.ts";
import type { Api } from "../api.ts";
import { failure } from "../failure.ts";
import type { Report } from "../progress.ts";
import type { BatchOutcome, BatchSender } from "./batch-sender.ts";
import { type Batch, readBatches } from "./batches.ts";
import type { InputFile } from "./input-file.ts";
import type { Entry } from "./read-entries.ts";
import type { Rejection, Rejections } from "./rejections.ts";
import { headOf, type ResumePoint } from "./resume-point.ts";

export interface Totals {
  readonly accepted: number;
  /** Accepted events that had been stored before. */
  readonly duplicates: number;
  readonly rejected: number;
  /** The highest sequence that this run wrote. */
  readonly sequence: number | undefined;
}

/** A warning about an event that was stored. */
export interface Warning {
  /** The line of the input on which the event begins, counted from 1. */
  readonly line: number;
  readonly path: string;
  readonly code: string;
  readonly message: string;
}

export interface SendingParts {
  readonly input: InputFile;
  readonly sender: BatchSender;
  readonly rejections: Rejections;
  readonly warn: (warning: Warning) => Promise<void>;
  readonly api: Api;
  /** Where an earlier run stopped. */
  readonly from: ResumePoint | undefined;
  /** Every event may have been sent before. */
  readonly isResent: boolean;
  readonly fill: ((text: string) => string) | undefined;
  readonly save: ((point: ResumePoint) => Promise<void>) | undefined;
  readonly onProgress: (report: Report) => void;
  readonly onTotals: (totals: Totals) => void;
}

/** Throws what the sender throws; events confirmed by then are in the last reported totals and in the resume point. */
export const sendInput = async (parts: SendingParts): Promise<void> => {
  const { input, from, onProgress, onTotals, rejections } = parts;
  const start = { offset: from?.offset ?? 0, line: from?.line ?? 0 };
  const warned = createWarnings(parts.warn);
  const { accepted = 0, duplicates = 0, rejected = 0 } = from ?? {};
  let totals: Totals = { accepted, duplicates, rejected, sequence: undefined };
  let sent = 0;
  let isChecked = false;
  const check = (): void => {
    if (from && !isChecked) checkHead(input, from);
    isChecked = true;
  };
  // Saved before the first batch, so that a run killed during it is known to have begun.
  if (!from) await saveTotals(parts, totals, start);
  onTotals(totals);
  for await (const batch of ahead(readBatches(input.chunksFrom(start.offset), start))) {
    check();
    // An earlier run ended with at most one batch in flight, which may be stored; what it sent before is behind the resume point.
    const mayBeStored = parts.isResent || (from !== undefined && sent < BATCH_EVENTS_MAX);
    const { outcome, refused, events } = await sendBatch(parts, { batch, warned, mayBeStored });
    sent += events;
    await rejections.add(refused);
    totals = {
      accepted: totals.accepted + outcome.accepted,
      duplicates: totals.duplicates + outcome.duplicates,
      rejected: totals.rejected + refused.length,
      sequence: outcome.sequence ?? totals.sequence,
    };
    await saveTotals(parts, totals, batch);
    onTotals(totals);
    onProgress({
      count: totals.accepted + totals.rejected,
      bytes: batch.offset,
      ...(input.size !== undefined && { bytesOf: input.size }),
    });
  }
  check();
};

const saveTotals = async (
  { save, api, input }: SendingParts,
  { accepted, duplicates, rejected }: Totals,
  { offset, line }: { readonly offset: number; readonly line: number },
): Promise<void> => {
  const { url } = api.address;
  await save?.({ offset, line, accepted, duplicates, rejected, url, head: headOf(input.head(), offset) });
};

/** Reads the next batch while this one is in flight. */
async function* ahead(batches: AsyncGenerator<Batch>): AsyncGenerator<Batch> {
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

const checkHead = (input: InputFile, { head }: ResumePoint): void => {
  const found = headOf(input.head(), head.bytes);
  if (found.bytes === head.bytes && found.sha256 === head.sha256) return;
  throw failure(
    "another_input",
    "The input does not begin with what the resume point was written for.",
    "Send the same input, or name another file with --resume.",
  );
};

const NOTHING: BatchOutcome = { accepted: 0, duplicates: 0, rejected: [], warnings: [], sequence: undefined };

type EventEntry = Extract<Entry, { readonly kind: "event" }>;

const sendBatch = async (
  { sender, fill }: SendingParts,
  parts: { readonly batch: Batch; readonly warned: Warnings; readonly mayBeStored: boolean },
): Promise<{
  readonly outcome: BatchOutcome;
  readonly refused: readonly Rejection[];
  readonly events: number;
}> => {
  const { warned, mayBeStored } = parts;
  const { entries } = parts.batch;
  const events = entries.filter((entry): entry is EventEntry => entry.kind === "event");
  const texts = events.map(({ text }) => (fill ? fill(text) : text));
  const outcome = texts.length === 0 ? NOTHING : await sender.send(texts, { isResent: mayBeStored });
  for (const { index, ...warning } of outcome.warnings)
    await warned.add({ line: events[index]?.line ?? 0, ...warning });
  const broken = entries.flatMap((entry) =>
    entry.kind === "broken"
      ? [{ line: entry.line, code: entry.code, message: entry.message, errors: [] }]
      : [],
  );
  const rejected = outcome.rejected.map(({ index, ...rest }) => ({
    line: events[index]?.line ?? 0,
    ...rest,
    text: texts[index] ?? "",
  }));
  const refused = [...broken, ...rejected].sort((a, b) => a.line - b.line);
  return { outcome, refused, events: events.length };
};

interface Warnings {
  add(warning: Warning): Promise<void>;
}

/** Each kind once: a member that a client always sends would fill the screen. */
const createWarnings = (warn: SendingParts["warn"]): Warnings => {
  const told = new Set<string>();
  return {
    add: async (warning) => {
      const kind = `${warning.code} ${warning.path}`;
      if (told.has(kind) || told.size >= WARNED_KINDS_MAX) return;
      told.add(kind);
      await warn(warning);
    },
  };
};

const WARNED_KINDS_MAX = 50;
