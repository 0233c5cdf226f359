/**
 * JSON that comes line by line. No token continues over the end of a line, because a JSON string contains no line break (RFC 8259 §7). So each line
 * is read once, however many there are. Pure.
 */
import { endOfScalar, endOfString } from "../../intake/json/inspect.ts";

export interface JsonBeginning {
  /** Whether this line and those before it are the beginning of one JSON value, or all of it. After false, no further line may be given. */
  take(line: string): boolean;
}

/** What may come next. */
type Place = "value" | "value or end" | "name" | "name or end" | "colon" | "comma or end";

export const createJsonBeginning = (): JsonBeginning => {
  /** The closing characters of what is open, outermost first. */
  const ends: ("]" | "}")[] = [];
  let place: Place = "value";
  const isValueNext = (): boolean => place === "value" || place === "value or end";
  const isNameNext = (): boolean => place === "name" || place === "name or end";
  const open = (end: "]" | "}"): boolean => {
    if (!isValueNext()) return false;
    ends.push(end);
    place = end === "}" ? "name or end" : "value or end";
    return true;
  };
  const close = (end: "]" | "}"): boolean => {
    if (ends.at(-1) !== end || place === "value" || place === "name" || place === "colon") return false;
    ends.pop();
    place = "comma or end";
    return true;
  };
  const separate = (): boolean => {
    if (place !== "comma or end" || ends.length === 0) return false;
    place = ends.at(-1) === "}" ? "name" : "value";
    return true;
  };
  const takeMark = (mark: string): boolean => {
    if (mark === "{") return open("}");
    if (mark === "[") return open("]");
    if (mark === "}" || mark === "]") return close(mark);
    if (mark === ",") return separate();
    if (place !== "colon") return false;
    place = "value";
    return true;
  };
  return {
    take: (line) => {
      let at = 0;
      while (at < line.length) {
        const character = line[at] ?? "";
        if (" \t\r".includes(character)) at++;
        else if ("{}[],:".includes(character)) {
          if (!takeMark(character)) return false;
          at++;
        } else {
          const end = character === '"' ? endOfString(line, at) : endOfScalar(line, at);
          if (end === undefined || !(isValueNext() || (character === '"' && isNameNext()))) return false;
          place = isValueNext() ? "comma or end" : "colon";
          at = end;
        }
      }
      return true;
    },
  };
};
