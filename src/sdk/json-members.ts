/** Spreads objects that a program passes in, without turning a Map into `{}` or ignoring a `toJSON()`. */
import { formOf } from "./json-forms.ts";
import { isJsonObject, type JsonObject } from "./json-object.ts";
import { isPlain } from "./json-reading.ts";

/**
 * The members that JSON would have for `value`, ready to spread. Undefined if `value` is no plain object: `readMembers` or the service then reports
 * what is wrong with it.
 */
export const membersOf = (value: unknown): JsonObject | undefined => {
  const written = writtenBy(value);
  return isJsonObject(written) && isPlain(written) ? written : undefined;
};

const writtenBy = (value: unknown): unknown => {
  if (!isJsonObject(value)) return value;
  const { toJSON } = value;
  return typeof toJSON === "function" ? toJSON.call(value) : value;
};

/** The members of metadata, whatever a program passes as it. `isConverted` if it is no object in JSON. */
export const metadataOf = (
  value: unknown,
): { readonly members: JsonObject; readonly isConverted: boolean } => {
  const written = writtenBy(value);
  if (isJsonObject(written) && isPlain(written)) return { members: written, isConverted: false };
  const form = isJsonObject(written) ? formOf(written).form : written;
  return { members: isJsonObject(form) ? form : { value: form }, isConverted: true };
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
