/**
 * Turns lines into events. The text of an event is not changed. It is parsed only to check that it is one JSON value, so that no line can break, or
 * add to, the batch that it becomes part of. Input is NDJSON, or one object written over several lines.
 */
import { parseJson } from "../json.ts";
import { createJsonBeginning } from "./json-beginning.ts";
import type { Line } from "./line-splitter.ts";

export type Entry = {
  /** The line on which the event begins, counted from 1. */
  readonly line: number;
  /** Offset in the input behind the event. */
  readonly end: number;
  /** The line on which the event ends. */
  readonly endLine: number;
} & (
  | { readonly kind: "event"; readonly text: string }
  | {
      readonly kind: "broken";
      readonly code: "invalid_json" | "invalid_utf8" | "payload_too_large";
      readonly message: string;
    }
  | { readonly kind: "blank" }
);

export interface EntryReader {
  push(lines: readonly Line[]): readonly Entry[];
  finish(): readonly Entry[];
}

/** Only a reader that starts at the first line looks for one object over several lines. */
export const createEntryReader = (options: {
  readonly isAtStart: boolean;
  /** Maximum size of such an object, in bytes. */
  readonly objectBytesMax: number;
}): EntryReader => {
  let state: "start" | "holding" | "lines" = options.isAtStart ? "start" : "lines";
  let held: Line[] = [];
  const beginning = createJsonBeginning();
  const release = (): readonly Entry[] => {
    state = "lines";
    const entries = held.map((line, index) =>
      entryOf(line, options.isAtStart && index === 0 && line.number === 1),
    );
    held = [];
    return entries;
  };
  const take = (line: Line): readonly Entry[] => {
    const isFirst = options.isAtStart && line.number === 1;
    if (state === "lines") return [entryOf(line, isFirst)];
    if (state === "start") {
      const entry = entryOf(line, isFirst);
      if (entry.kind === "blank") return [entry];
      const text = textOf(line, isFirst);
      if (entry.kind !== "broken" || !text?.trimStart().startsWith("{") || !beginning.take(text)) {
        state = "lines";
        return [entry];
      }
      state = "holding";
      held = [line];
      return [];
    }
    held.push(line);
    const text = line.end > options.objectBytesMax ? undefined : textOf(line, false);
    // For example a complete object where none is allowed: NDJSON whose first line is broken.
    return text === undefined || !beginning.take(text) ? release() : [];
  };
  return {
    push: (lines) => lines.flatMap(take),
    finish: () => {
      if (held.length === 0) return [];
      const text = joined(held);
      const [first] = held;
      const last = held.at(-1);
      if (!first || !last || text === undefined || parseJson(text) === undefined) return release();
      held = [];
      return [{ kind: "event", line: first.number, end: last.end, endLine: last.number, text }];
    },
  };
};

/** Undefined if one of the lines was not held or is not UTF-8. */
const joined = (lines: readonly Line[]): string | undefined => {
  const texts = lines.map((line) => textOf(line, line.number === 1));
  return texts.includes(undefined) ? undefined : texts.join("\n");
};

const BYTE_ORDER_MARK = "\ufeff";
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Undefined if the line was not held or is not UTF-8. A byte order mark before the first line belongs to the file and not to the event. */
const textOf = ({ bytes }: Line, isFirst: boolean): string | undefined => {
  if (!bytes) return undefined;
  try {
    const text = utf8.decode(bytes);
    return isFirst && text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text;
  } catch {
    return undefined;
  }
};

const entryOf = (line: Line, isFirst: boolean): Entry => {
  const place = { line: line.number, end: line.end, endLine: line.number };
  if (!line.bytes)
    return {
      ...place,
      kind: "broken",
      code: "payload_too_large",
      message: "The line is longer than any event may be.",
    };
  const text = textOf(line, isFirst);
  if (text === undefined)
    return {
      ...place,
      kind: "broken",
      code: "invalid_utf8",
      message: "The line holds bytes that are no UTF-8 text.",
    };
  // The white space of JSON (RFC 8259 §2), and no other.
  if (/^[ \t\r]*$/.test(text)) return { ...place, kind: "blank" };
  if (parseJson(text) !== undefined) return { ...place, kind: "event", text };
  return { ...place, kind: "broken", code: "invalid_json", message: invalidJsonMessage(text) };
};

const invalidJsonMessage = (text: string): string =>
  text.trimStart().startsWith("[")
    ? "The line is not one JSON value. Of an array make lines: jq -c '.[]'"
    : "The line is not one JSON value: one event stands on one line.";
