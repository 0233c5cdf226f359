/** Spreads objects that a program passes in, without turning a Map into `{}` or ignoring a `toJSON()`. */
import { isJsonObject, type JsonObject } from "./json-object.ts";
import { isPlain } from "./json-reading.ts";

/**
 * The members that JSON would have for `value`, ready to spread. Undefined if `value` is no plain object: `readMembers` or the service then reports
 * what is wrong with it.
 */
export const membersOf = (value: unknown): JsonObject | undefined => {
  if (!isJsonObject(value)) return undefined;
  const { toJSON } = value;
  if (typeof toJSON !== "function") return isPlain(value) ? value : undefined;
  const written: unknown = toJSON.call(value);
  return isJsonObject(written) && isPlain(written) ? written : undefined;
};

/** The members of both; those of `over` win. A value without members to spread is returned as it is, so that it is refused with its path. */
export const joinedMembers = (under: unknown, over: unknown): unknown => {
  const below = membersOf(under);
  if (!below) return under;
  const above = membersOf(over);
  if (!above) return over;
  const both: Record<string, unknown> = { ...below, ...above };
  for (const name in below) if (both[name] === undefined) both[name] = below[name];
  return both;
};
