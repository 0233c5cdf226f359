/**
 * Writes what a program passes in as JSON. In `metadata` a value that JSON cannot represent gets a form that says what it was (README.md, "Values that
 * are no JSON"); elsewhere it is refused with its path. Each member is read once: a getter may return another value the next time.
 */
import { types } from "node:util";
import { EVENT_BYTES_MAX, EVENT_DEPTH_MAX } from "./limits.ts";
import { isError, isJsonObject, type JsonObject } from "./values.ts";

/** Values in `metadata` that JSON cannot represent: the first one, and how many there are. */
export interface Converted {
  readonly first: { readonly path: string; readonly message: string };
  readonly count: number;
}

/** Why a value is no event. */
export class Fault extends Error {
  /** JSON Pointer (RFC 6901). Undefined if no single value is wrong: together they are larger than an event may be. */
  readonly path: string | undefined;
  constructor(path: string | undefined, message: string) {
    super(message);
    this.path = path;
  }
}

/** Throws the first fault. `converted`: what was converted before. */
export const writeJson = (members: JsonObject, converted?: Converted) => {
  const writing = new Writing(converted);
  const text = JSON.stringify(members, function (this: object, name: string, value: unknown) {
    return writing.write(this, name, value);
  });
  return { text, converted: writing.converted };
};

class Writing {
  converted: Converted | undefined;
  /** Bytes left, counting each character as one, which is the least. So it also ends for objects that can be reached in very many ways. */
  #bytes = EVENT_BYTES_MAX;
  /** The objects around the value, as they are written and as they were passed in, and the name of each. */
  readonly #written: object[] = [];
  readonly #around: object[] = [];
  readonly #steps: string[] = [];

  constructor(converted: Converted | undefined) {
    this.converted = converted;
  }

  /** What JSON.stringify writes for this member of `holder`. `value` is the result of its toJSON(), if it has one. */
  write(holder: object, name: string, value: unknown): unknown {
    while (this.#written.length > 0 && this.#written.at(-1) !== holder) {
      this.#written.pop();
      this.#around.pop();
      this.#steps.pop();
    }
    this.#steps.push(name);
    const written = this.#read(holder, name, value);
    if (written !== undefined && this.#written.length > 0 && !Array.isArray(holder))
      this.#take(name.length + 3);
    if (typeof written === "object" && written !== null) {
      this.#take(2);
      this.#written.push(written);
    } else {
      this.#take(sizeOf(written));
      this.#steps.pop();
    }
    return written;
  }

  #read(holder: object, name: string, given: unknown): unknown {
    let value = given;
    // JSON.stringify calls toJSON() once, and its result may have another one.
    for (let next = writtenBy(value); !Object.is(next, value); next = writtenBy(value)) value = next;
    if ((value === null || value === undefined) && isObject(Reflect.get(holder, name)))
      return this.#nothing(Reflect.get(holder, name));
    if (value === undefined && Array.isArray(holder))
      return this.#instead(null, "An array has no place for undefined: send null.");
    if (isJsonValue(value)) return value;
    if (!isObject(value)) return this.#form(value);
    const isCircle = this.#around.includes(value);
    if (isCircle || this.#around.length >= EVENT_DEPTH_MAX) {
      const message = `Nested more than ${EVENT_DEPTH_MAX} levels deep, or in a circle.`;
      return this.#instead(isCircle ? "[circular]" : "[nested too deep]", message);
    }
    const form = Array.isArray(value) || isPlain(value) ? value : this.#form(value);
    if (Object.getOwnPropertySymbols(value).length > 0)
      this.#instead(undefined, "JSON has no symbols as names: use a string, or leave the member out.");
    this.#around.push(value);
    return form;
  }

  #nothing(value: unknown): unknown {
    const form = types.isDate(value) ? "Invalid Date" : null;
    return this.#instead(form, "Its toJSON() returns nothing: is it a valid date?");
  }

  #form(value: unknown): unknown {
    const { form, message } = formOf(value);
    return this.#instead(form, message);
  }

  #instead<Form>(form: Form, message: string): Form {
    const place = { path: this.#path, message };
    if (this.#steps[1] !== "metadata") throw new Fault(place.path, message);
    const { first = place, count = 0 } = this.converted ?? {};
    this.converted = { first, count: count + 1 };
    return form;
  }

  #take(bytes: number): void {
    this.#bytes -= bytes;
    if (this.#bytes < 0) throw new Fault(undefined, "More than an event may have.");
  }

  /** The first step is the event itself. */
  get #path(): string {
    const steps = this.#steps.slice(1);
    return steps.map((step) => `/${step.replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
  }
}

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null;

const isJsonValue = (value: unknown): boolean =>
  value === null ||
  value === undefined ||
  typeof value === "string" ||
  typeof value === "boolean" ||
  (typeof value === "number" && Number.isFinite(value));

const sizeOf = (value: unknown): number => {
  if (typeof value === "string") return value.length + 2;
  return value === undefined ? 0 : 1;
};

/** Not an instance of a class: JSON would leave out its inherited members. */
const isPlain = (value: object): boolean => {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === Object.prototype || prototype === null) return true;
  // Objects of another realm (`node:vm`, test runners) have an Object.prototype of their own.
  return Object.getPrototypeOf(prototype) === null && Object.hasOwn(Object(prototype), "hasOwnProperty");
};

interface Form {
  /** May contain further values that JSON cannot represent. */
  readonly form: string | unknown[] | Record<string, unknown>;
  readonly message: string;
}

/** `value` is no text, finite number, boolean, null, array or plain object. */
export const formOf = (value: unknown): Form => {
  switch (typeof value) {
    case "number":
      return { form: String(value), message: `JSON has no ${value}: send a string or null.` };
    case "bigint":
      return { form: String(value), message: "JSON has no BigInt: send it as a string." };
    case "function":
      return { form: `[function ${value.name}]`, message: "A function cannot be sent." };
  }
  if (typeof value !== "object" || value === null)
    return { form: String(value), message: `A ${typeof value} cannot be sent.` };
  const kind = value.constructor?.name || "object with a prototype";
  return { form: partsOf(value), message: `A ${kind} is not sent as it is: pass a plain object.` };
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

const writtenBy = (value: unknown): unknown => {
  if (!isObject(value) || !("toJSON" in value)) return value;
  const { toJSON } = value;
  return typeof toJSON === "function" ? toJSON.call(value) : value;
};

/** The members that JSON would have for `value`, ready to spread. Undefined if it is no plain object: `writeJson` then says what is wrong. */
export const membersOf = (value: unknown): JsonObject | undefined => {
  const written = writtenBy(value);
  return isJsonObject(written) && isPlain(written) ? written : undefined;
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
