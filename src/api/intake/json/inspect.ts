/**
 * The slow and exact way: reads a JSON text by the grammar of RFC 8259 and reports where it breaks, or which members occur twice. Used only
 * for texts that the fast way refused. Iterative, so that depth costs memory and never the stack.
 */
import { pointerToken } from "../../../event/json-pointer.ts";

export type Inspection =
  | { readonly kind: "valid"; readonly duplicateMembers: readonly string[] }
  | { readonly kind: "invalid"; readonly offset: number; readonly expected: string; readonly place: string };

/** One is enough to refuse the text, so no more are listed. */
const DUPLICATES_MAX = 10;
const POINTER_CHARACTERS_MAX = 256;

/** A container that is open: an array (`names` undefined) or an object with the names seen so far. */
interface Level {
  readonly names: Set<string> | undefined;
  readonly close: "]" | "}";
  /** Pointer token of the value being read. */
  token: string;
  index: number;
}

const WHITESPACE = /[ \t\n\r]*/y;
const SCALAR = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;

export const inspect = (text: string): Inspection => {
  const levels: Level[] = [];
  const duplicateMembers: string[] = [];
  let position = 0;

  const skip = (pattern: RegExp): void => {
    pattern.lastIndex = position;
    position += pattern.exec(text)?.[0].length ?? 0;
  };
  const skipTo = (end: number | undefined): boolean => {
    position = end ?? position;
    return end !== undefined;
  };
  const skipString = (): boolean => skipTo(endOfString(text, position));
  const broken = (expected: string): Inspection => ({
    kind: "invalid",
    offset: position,
    expected,
    place: placeOf(text, position),
  });

  /** Reads `"name" :` inside an object; returns what is missing. */
  const readName = (level: Level, names: Set<string>): string | undefined => {
    const start = position;
    if (!skipString()) return "a member name in double quotes";
    const name: string = JSON.parse(text.slice(start, position));
    level.token = pointerToken(name);
    if (names.has(name) && duplicateMembers.length < DUPLICATES_MAX) duplicateMembers.push(pointerOf(levels));
    names.add(name);
    skip(WHITESPACE);
    if (text[position] !== ":") return '":"';
    position++;
    skip(WHITESPACE);
    return undefined;
  };

  skip(WHITESPACE);
  for (;;) {
    const opener = text[position];
    if (opener === "{" || opener === "[") {
      const level: Level = {
        names: opener === "{" ? new Set() : undefined,
        close: opener === "{" ? "}" : "]",
        token: "0",
        index: 0,
      };
      levels.push(level);
      position++;
      skip(WHITESPACE);
      if (text[position] !== level.close) {
        const missing = level.names && readName(level, level.names);
        if (missing) return broken(missing);
        continue;
      }
    } else if (!(opener === '"' ? skipString() : skipTo(endOfScalar(text, position)))) {
      return broken(
        opener === '"'
          ? "a string that is closed and has valid escapes and no raw control characters"
          : "a value",
      );
    }
    // After a value: close what ends here, then either the text ends or the next value begins.
    skip(WHITESPACE);
    for (let level = levels.at(-1); level && text[position] === level.close; level = levels.at(-1)) {
      levels.pop();
      position++;
      skip(WHITESPACE);
    }
    const level = levels.at(-1);
    if (!level) return position === text.length ? { kind: "valid", duplicateMembers } : broken("the end");
    if (text[position] !== ",") return broken(`"," or "${level.close}"`);
    position++;
    skip(WHITESPACE);
    level.index++;
    level.token = String(level.index);
    const missing = level.names && readName(level, level.names);
    if (missing) return broken(missing);
  }
};

const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;

/** Index after the string that starts at `start`, or undefined if there is none that is valid (RFC 8259 §7). */
export const endOfString = (text: string, start: number): number | undefined => {
  if (text[start] !== '"') return undefined;
  let position = start + 1;
  while (position < text.length) {
    const code = text.charCodeAt(position);
    if (code === 0x22) return position + 1;
    if (code < 0x20) return undefined;
    if (code === 0x5c) {
      ESCAPE.lastIndex = position;
      if (!ESCAPE.test(text)) return undefined;
      position = ESCAPE.lastIndex;
    } else {
      position++;
    }
  }
  return undefined;
};

/** The same for a number, `true`, `false` or `null`. */
export const endOfScalar = (text: string, start: number): number | undefined => {
  SCALAR.lastIndex = start;
  return SCALAR.test(text) ? SCALAR.lastIndex : undefined;
};

const pointerOf = (levels: readonly Level[]): string => {
  let pointer = "";
  for (const level of levels) {
    pointer += `/${level.token}`;
    if (pointer.length > POINTER_CHARACTERS_MAX) return `${pointer.slice(0, POINTER_CHARACTERS_MAX)}…`;
  }
  return pointer;
};

const placeOf = (text: string, offset: number): string => {
  const before = text.slice(0, offset);
  const line = before.split("\n").length;
  const column = offset - before.lastIndexOf("\n");
  return `at line ${line}, column ${column}`;
};
