/**
 * The slow and exact way: reads a JSON text by the grammar of RFC 8259 and reports where it breaks, or which members occur twice. Used only
 * for texts that the fast way refused. Iterative, so that depth costs memory and never the stack.
 */
import { pointerToken } from "../../../event/json-pointer.ts";

type Inspection =
  | { readonly kind: "valid"; readonly duplicateMembers: readonly string[] }
  | { readonly kind: "invalid"; readonly expected: string; readonly place: string };

/** One is enough to refuse the text, so no more are listed. */
const DUPLICATES_MAX = 10;
const POINTER_CHARACTERS_MAX = 256;

/** An open container: an array (`names` undefined) or an object with the names seen so far. */
interface Level {
  readonly names: Set<string> | undefined;
  readonly close: "]" | "}";
  token: string;
  index: number;
}

const WHITESPACE = /[ \t\n\r]*/y;
const SCALAR = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;

export const inspect = (text: string): Inspection => {
  const levels: Level[] = [];
  const duplicateMembers: string[] = [];
  let position = 0;
  /** To the next character that is no white space. */
  const goTo = (from: number): string | undefined => {
    WHITESPACE.lastIndex = from;
    position = from + (WHITESPACE.exec(text)?.[0].length ?? 0);
    return text[position];
  };
  const broken = (expected: string): Inspection => {
    return { kind: "invalid", expected, place: placeOf(text, position) };
  };
  let character = goTo(0);
  let level: Level | undefined;
  let isName = false;
  for (;;) {
    if (isName) {
      const end = endOfString(text, position);
      if (end === undefined) return broken("a member name in double quotes");
      const name: string = JSON.parse(text.slice(position, end));
      if (level) level.token = pointerToken(name);
      if (level?.names?.has(name) && duplicateMembers.length < DUPLICATES_MAX)
        duplicateMembers.push(pointerOf(levels));
      level?.names?.add(name);
      if (goTo(end) !== ":") return broken('":"');
      character = goTo(position + 1);
    }
    if (character === "{" || character === "[") {
      const names = character === "{" ? new Set<string>() : undefined;
      level = { names, close: names ? "}" : "]", token: "0", index: 0 };
      levels.push(level);
      character = goTo(position + 1);
      isName = names !== undefined;
      if (character !== level.close) continue;
    } else {
      const end = character === '"' ? endOfString(text, position) : endOfScalar(text, position);
      if (end === undefined) return broken(character === '"' ? A_STRING : "a value");
      character = goTo(end);
    }
    // After a value: close what ends here, then either the text ends or the next value begins.
    for (level = levels.at(-1); level && character === level.close; level = levels.at(-1)) {
      levels.pop();
      character = goTo(position + 1);
    }
    if (!level) return position === text.length ? { kind: "valid", duplicateMembers } : broken("the end");
    if (character !== ",") return broken(`"," or "${level.close}"`);
    character = goTo(position + 1);
    level.token = String(++level.index);
    isName = level.names !== undefined;
  }
};

const A_STRING = "a closed string with valid escapes and no raw control characters";

const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;

/** Index after the string that starts at `start`; undefined if it is not valid (RFC 8259 §7). */
const endOfString = (text: string, start: number): number | undefined => {
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
const endOfScalar = (text: string, start: number): number | undefined => {
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
