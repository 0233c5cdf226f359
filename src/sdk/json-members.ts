/** Spreading what a program hands over, without making `{}` of a Map or leaving out what a `toJSON()` would have said. */
import { isJsonObject, type JsonObject } from "./json-object.ts";
import { isPlain } from "./json-reading.ts";

/** What JSON would hold of `value`, as members to spread. Undefined where that is no plain object: `readMembers` or the service says what is wrong with it. */
export const membersOf = (value: unknown): JsonObject | undefined => {
  if (!isJsonObject(value)) return undefined;
  const { toJSON } = value;
  if (typeof toJSON !== "function") return isPlain(value) ? value : undefined;
  const written: unknown = toJSON.call(value);
  return isJsonObject(written) && isPlain(written) ? written : undefined;
};

/** The members of both; where `over` has one, it counts. What has no members to spread is given back as it is, to be refused with its place. */
export const joinedMembers = (under: unknown, over: unknown): unknown => {
  const below = membersOf(under);
  if (!below) return under;
  const above = membersOf(over);
  if (!above) return over;
  const both: Record<string, unknown> = { ...below, ...above };
  for (const name in below) if (both[name] === undefined) both[name] = below[name];
  return both;
};
