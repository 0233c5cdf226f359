/**
 * Cuts the text of each event out of a request body without changing a byte of it, and parses it only to look at it.
 * The fast way: find where a value ends by its brackets and strings, then let the platform's JSON.parse judge the cut text.
 * A body is valid exactly when the frame around the values is and JSON.parse accepts each of them. A value that is too large for an event is not
 * parsed at all, and a long text is not read a second time to say where it breaks: 16 MiB of brackets would take seconds (measured).
 */
import { EVENT_BYTES_MAX, EVENT_DEPTH_MAX, WARNINGS_MAX } from "../../../limits.ts";
import { inspect } from "./inspect.ts";

/** The text of one value as sent, with what was found in it. */
export interface JsonSlice {
  readonly text: string;
  /** Undefined if the text is longer than EVENT_BYTES_MAX characters: then it was not parsed. */
  readonly value: unknown;
  /** Levels of objects and arrays, 1 for a flat object, 0 for a scalar. */
  readonly depth: number;
  /** JSON Pointers of members that occur twice in one object: which one counts is undefined (RFC 8259 §4). */
  readonly duplicateMembers: readonly string[];
}

type SlicedBody = { readonly kind: "slice"; readonly slice: JsonSlice } | InvalidJson;

type SlicedBatch =
  | { readonly kind: "batch"; readonly otherMembers: readonly string[] }
  /** Valid JSON, but not `{"events": […]}`. */
  | {
      readonly kind: "not_a_batch";
      readonly path: string;
      readonly reason: "type" | "missing" | "duplicate" | "count" | "members";
    }
  | InvalidJson;

interface InvalidJson {
  readonly kind: "invalid_json";
  readonly detail: string;
}

export const sliceBody = (text: string): SlicedBody => {
  const start = afterWhitespace(text, 0);
  const extent = measure(text, start);
  const slice = cut(text, start, extent);
  if (!slice || afterWhitespace(text, extent.end) !== text.length) return invalidJson(text);
  return { kind: "slice", slice };
};

interface BatchReading {
  readonly text: string;
  /** Bounds the work: a body with more is not read to its end. */
  readonly eventsMax: number;
  /** Lets other requests run, if it is time. */
  readonly pause: () => Promise<void> | undefined;
  /**
   * Called with each event as it is found, so that no parsed event is kept until the last one is read. The calls count only if the answer
   * is "batch".
   */
  readonly take: (slice: JsonSlice) => void;
}

export const sliceBatch = async (reading: BatchReading): Promise<SlicedBatch> => {
  const { text } = reading;
  const start = afterWhitespace(text, 0);
  if (text[start] !== "{") {
    return sliceBody(text).kind === "slice"
      ? { kind: "not_a_batch", path: "", reason: "type" }
      : invalidJson(text);
  }
  let hasEvents = false;
  const otherMembers: string[] = [];
  let position = afterWhitespace(text, start + 1);
  let isFirst = true;
  while (text[position] !== "}" || !isFirst) {
    const member = readMember(text, position);
    if (!member) return invalidJson(text);
    if (member.name === "events") {
      if (hasEvents) return notABatch(text, "/events", "duplicate");
      const array = await readArray(reading, member.valueStart);
      if (array.kind === "invalid") return invalidJson(text);
      if (array.kind === "type") return notABatch(text, "/events", "type");
      if (array.kind === "count") return { kind: "not_a_batch", path: "/events", reason: "count" };
      hasEvents = true;
      position = array.end;
    } else {
      const extent = measure(text, member.valueStart);
      if (!cut(text, member.valueStart, extent)) return invalidJson(text);
      otherMembers.push(member.name);
      if (otherMembers.length > WARNINGS_MAX) return { kind: "not_a_batch", path: "", reason: "members" };
      position = extent.end;
    }
    isFirst = false;
    position = afterWhitespace(text, position);
    if (text[position] === "}") break;
    if (text[position] !== ",") return invalidJson(text);
    position = afterWhitespace(text, position + 1);
  }
  if (afterWhitespace(text, position + 1) !== text.length) return invalidJson(text);
  return hasEvents
    ? { kind: "batch", otherMembers }
    : { kind: "not_a_batch", path: "/events", reason: "missing" };
};

/** Invalid JSON is reported first. */
const notABatch = (text: string, path: string, reason: "type" | "duplicate"): SlicedBatch =>
  sliceBody(text).kind === "slice" ? { kind: "not_a_batch", path, reason } : invalidJson(text);

/** The members of a JSON object by name, each as its original text. Empty if the text is no object. */
export const memberTexts = (text: string): ReadonlyMap<string, string> => {
  const texts = new Map<string, string>();
  let position = afterWhitespace(text, 0);
  while (text[position] === "{" || text[position] === ",") {
    const member = readMember(text, afterWhitespace(text, position + 1));
    if (!member) break;
    const { end } = measure(text, member.valueStart);
    texts.set(member.name, text.slice(member.valueStart, end));
    position = afterWhitespace(text, end);
  }
  return texts;
};

const readMember = (text: string, position: number): { name: string; valueStart: number } | undefined => {
  if (text[position] !== '"') return undefined;
  const end = endOfString(text, position);
  const name = parse(text.slice(position, end));
  const colon = afterWhitespace(text, end);
  if (typeof name !== "string" || text[colon] !== ":") return undefined;
  return { name, valueStart: afterWhitespace(text, colon + 1) };
};

type ReadArray =
  | { readonly kind: "array"; readonly end: number }
  | { readonly kind: "invalid" }
  | { readonly kind: "type" }
  | { readonly kind: "count" };

const readArray = async (
  { text, eventsMax, pause, take }: BatchReading,
  start: number,
): Promise<ReadArray> => {
  if (text[start] !== "[") return { kind: "type" };
  let count = 0;
  let position = afterWhitespace(text, start + 1);
  if (text[position] === "]") return { kind: "array", end: position + 1 };
  for (;;) {
    if (count === eventsMax) return { kind: "count" };
    const extent = measure(text, position);
    const slice = cut(text, position, extent);
    if (!slice) return { kind: "invalid" };
    take(slice);
    count++;
    const paused = pause();
    if (paused) await paused;
    position = afterWhitespace(text, extent.end);
    if (text[position] === "]") return { kind: "array", end: position + 1 };
    if (text[position] !== ",") return { kind: "invalid" };
    position = afterWhitespace(text, position + 1);
  }
};

interface Extent {
  readonly end: number;
  readonly depth: number;
  /** Colons outside strings: as many as there are members in all its objects. */
  readonly memberCount: number;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** Where the value that starts at `start` ends. For an invalid value any end will do. */
const measure = (text: string, start: number): Extent => {
  let level = 0;
  let depth = 0;
  let memberCount = 0;
  let position = start;
  while (position < text.length) {
    const code = text.charCodeAt(position);
    if (code === QUOTE) {
      position = endOfString(text, position);
      if (level === 0) break;
      continue;
    }
    if (code === OPEN_BRACE || code === OPEN_BRACKET) {
      level++;
      if (level > depth) depth = level;
    } else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) {
      if (level === 0) break;
      level--;
      if (level === 0) return { end: position + 1, depth, memberCount };
    } else if (code === COLON) {
      memberCount++;
    } else if (level === 0 && (code === COMMA || isWhitespace(code))) {
      break;
    }
    position++;
  }
  return { end: position, depth, memberCount };
};

/** Index after the string that starts at `start`; the end of the text if it is not closed. */
const endOfString = (text: string, start: number): number => {
  let quote = text.indexOf('"', start + 1);
  while (quote > 0) {
    let backslashes = 0;
    while (text.charCodeAt(quote - 1 - backslashes) === BACKSLASH) backslashes++;
    if (backslashes % 2 === 0) return quote + 1;
    quote = text.indexOf('"', quote + 1);
  }
  return text.length;
};

const cut = (text: string, start: number, extent: Extent): JsonSlice | undefined => {
  const sliceText = text.slice(start, extent.end);
  if (sliceText.length > EVENT_BYTES_MAX) {
    return { text: sliceText, value: undefined, depth: extent.depth, duplicateMembers: [] };
  }
  const value = parse(sliceText);
  if (value === undefined) return undefined;
  // JSON.parse keeps the last of two members with one name. So fewer members than colons means duplicates.
  const isCountable = extent.depth <= EVENT_DEPTH_MAX;
  const hasDuplicates = isCountable && countMembers(value) !== extent.memberCount;
  const duplicateMembers = hasDuplicates ? duplicatesIn(sliceText) : NONE;
  return { text: sliceText, value, depth: extent.depth, duplicateMembers };
};

const NONE: readonly string[] = [];

/** `undefined`, which no JSON text can mean, if the text is not JSON. */
const parse = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** Recursion is bounded: the caller has checked the depth. */
const countMembers = (value: unknown): number => {
  let count = 0;
  if (Array.isArray(value)) {
    for (const item of value) if (typeof item === "object") count += countMembers(item);
  } else if (isObject(value)) {
    // No inherited names: these are objects that JSON.parse made.
    for (const name in value) {
      count++;
      const member = value[name];
      if (typeof member === "object") count += countMembers(member);
    }
  }
  return count;
};

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null;

const duplicatesIn = (text: string): readonly string[] => {
  const inspection = inspect(text);
  return inspection.kind === "valid" ? inspection.duplicateMembers : [];
};

const isWhitespace = (code: number): boolean =>
  code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;

const afterWhitespace = (text: string, start: number): number => {
  let position = start;
  while (isWhitespace(text.charCodeAt(position))) position++;
  return position;
};

const invalidJson = (text: string): InvalidJson => {
  if (text.length > EVENT_BYTES_MAX)
    return { kind: "invalid_json", detail: "The body is not valid JSON (RFC 8259)." };
  const inspection = inspect(text);
  const where = inspection.kind === "invalid" ? `: ${inspection.expected} expected ${inspection.place}` : "";
  return { kind: "invalid_json", detail: `The body is not valid JSON (RFC 8259)${where}.` };
};
