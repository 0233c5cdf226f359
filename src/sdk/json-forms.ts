/** The form in JSON of each kind of value that JSON cannot represent (README.md, "Values that are no JSON"). */
import { types } from "node:util";
import { isError } from "./is-error.ts";

interface Form {
  /** May contain further such values. */
  readonly form: string | unknown[] | Record<string, unknown>;
  /** What is wrong, for whoever wrote the program. */
  readonly message: string;
}

/** `value` is no text, finite number, boolean, null, array or plain object. */
export const formOf = (value: unknown): Form => {
  switch (typeof value) {
    case "number":
      return { form: String(value), message: `${value} is no JSON number: send a text or null.` };
    case "bigint":
      return { form: String(value), message: "A BigInt is no JSON number: send it as a text." };
    case "object":
      if (value !== null) return formOfObject(value);
  }
  const form = typeof value === "function" ? `[function ${value.name}]` : String(value);
  return { form, message: `A ${typeof value} cannot be sent.` };
};

const formOfObject = (value: object): Form => {
  const kind = value.constructor?.name || "object with a prototype";
  return { form: partsOf(value), message: `A ${kind} is not sent as it is: make a plain object of it.` };
};

const partsOf = (value: object): unknown[] | Record<string, unknown> => {
  if (types.isMap(value)) {
    const entries = [...value];
    return entries.every(([key]) => typeof key === "string") ? Object.fromEntries(entries) : entries;
  }
  if (types.isSet(value)) return [...value];
  if (types.isTypedArray(value)) return Array.from<unknown>(value);
  // Its name, message and cause are no members that JSON would have. The stack stays out: it has paths of the machine.
  if (isError(value)) {
    const { name, message, cause } = value;
    return { ...value, name, message, ...(cause !== undefined && { cause }) };
  }
  return { ...value };
};

/** The form of a value whose `toJSON()` returns null or nothing. */
export const writtenNothing = (
  value: object,
): { readonly form: string | null; readonly message: string } => ({
  form: types.isDate(value) ? "Invalid Date" : null,
  message: "Its toJSON() gives nothing: is it a valid date?",
});
