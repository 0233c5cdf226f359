/**
 * Reads what a program passes in, and each member only once: a getter, a proxy or a `toJSON()` may return another value the next time, and the value
 * that was checked must be the value that is sent. `JSON.stringify` would write NaN as null, leave out functions and symbols, turn a Map into `{}` and
 * throw for a BigInt: a changed event, or none. In `metadata` such a value gets a form that says what it was (`json-forms.ts`), and is reported; in
 * other members it is refused with its path.
 */
import { formOf, writtenNothing } from "./json-forms.ts";
import { EVENT_BYTES_MAX, EVENT_DEPTH_MAX } from "./limits.ts";

export interface NotJson {
  /** JSON Pointer (RFC 6901). */
  readonly path: string;
  readonly message: string;
  /** No single value is wrong: together they are larger than an event may be. */
  readonly isTooLarge?: true;
}

/** Values in `metadata` that JSON cannot represent: the first one, and how many there are. */
export interface Converted {
  readonly first: NotJson;
  readonly count: number;
}

interface Reading {
  /**
   * Bytes that the event may still take, counting each character as one byte, which is the least it can take. So a value that is too large is refused
   * before it is written, and reading ends for objects that share others and can be reached in very many ways.
   */
  bytes: number;
  /** The fault at which reading ended. It is kept here instead of returned, so that an event without a fault pays nothing for it. */
  fault: NotJson | undefined;
  converted: Converted | undefined;
  /** Where the value stands: names and indexes from the outside in, and the objects that they are in. */
  readonly steps: (string | number)[];
  readonly around: object[];
}

const newReading = (): Reading => ({
  bytes: EVENT_BYTES_MAX,
  fault: undefined,
  converted: undefined,
  steps: [],
  around: [],
});

/**
 * Replaces each member of `members`, the caller's own copy, by what was read: values that JSON can represent, shared with nobody. Returns the first
 * fault, if there is one, and what was converted, here and before. Undefined members count as absent.
 */
export const readMembers = (
  members: Record<string, unknown>,
  converted?: Converted,
): Pick<Reading, "fault" | "converted"> => {
  const reading = newReading();
  reading.converted = converted;
  readEach(members, 1, reading);
  return reading;
};

/** Why JSON cannot represent `value`, which is no object with members of its own. */
export const whyNotJson = (value: unknown): NotJson | undefined => {
  const reading = newReading();
  read(value, 1, reading);
  return reading.fault;
};

/** The value to write as JSON. If it cannot be sent, the fault is noted in `reading` and the result has no meaning. */
const read = (value: unknown, depth: number, reading: Reading): unknown => {
  switch (typeof value) {
    case "string":
      take(reading, value.length + 2);
      return value;
    case "boolean":
      take(reading, 4);
      return value;
    case "undefined":
      return value;
    case "number":
      if (!Number.isFinite(value)) return readForm(value, depth, reading);
      take(reading, 1);
      return value;
    case "object":
      if (value !== null) return readObject(value, depth, reading);
      take(reading, 4);
      return value;
    default:
      return readForm(value, depth, reading);
  }
};

const readObject = (value: object, depth: number, reading: Reading): unknown => {
  const isCircle = reading.around.includes(value);
  if (isCircle || depth > EVENT_DEPTH_MAX) {
    const message = `Nested more than ${EVENT_DEPTH_MAX} levels deep, or in a circle.`;
    return instead(reading, isCircle ? "[circular]" : "[nested too deep]", message);
  }
  reading.around.push(value);
  const written = readInside(value, depth, reading);
  reading.around.pop();
  return written;
};

const readInside = (value: object, depth: number, reading: Reading, isWritten = false): unknown => {
  const toJson: unknown = !isWritten && "toJSON" in value ? value.toJSON : undefined;
  if (typeof toJson === "function") return readWritten(value, toJson.call(value), depth, reading);
  if (Array.isArray(value)) return readArray(value, depth, reading);
  if (!isPlain(value)) return readForm(value, depth, reading);
  // A raw JSON number cannot change, and a copy of it would be a plain object.
  if (isRawJson(value)) return value;
  const members: Record<string, unknown> = { ...value };
  readEach(members, depth, reading);
  return members;
};

/** Reads the result of a `toJSON()`. */
const readWritten = (value: object, written: unknown, depth: number, reading: Reading): unknown => {
  if (written === null || written === undefined) {
    const { form, message } = writtenNothing(value);
    return instead(reading, form, message);
  }
  return written === value ? readInside(value, depth, reading, true) : read(written, depth + 1, reading);
};

/** Reads what takes the place of a value that JSON cannot represent. Its parts stand where the value stands. */
const readForm = (value: unknown, depth: number, reading: Reading): unknown => {
  const { form, message } = formOf(value);
  const replaced = instead(reading, form, message);
  if (replaced === undefined || typeof replaced === "string") return replaced;
  if (Array.isArray(replaced)) return readArray(replaced, depth, reading);
  readEach(replaced, depth, reading);
  return replaced;
};

const readEach = (members: Record<string, unknown>, depth: number, reading: Reading): void => {
  if (Object.getOwnPropertySymbols(members).length > 0)
    instead(
      reading,
      undefined,
      "A symbol is no name in JSON: give the member a text for a name, or leave it out.",
    );
  for (const name in members) {
    const member = members[name];
    if (reading.fault) return;
    if (member === undefined) continue;
    reading.steps.push(name);
    const value = take(reading, name.length + 3) ? read(member, depth + 1, reading) : undefined;
    reading.steps.pop();
    if (value !== member) members[name] = value;
  }
  take(reading, 2);
};

const readArray = (value: readonly unknown[], depth: number, reading: Reading): unknown => {
  const items: unknown[] = [];
  for (let index = 0; index < value.length && !reading.fault; index++) {
    const item = value[index];
    reading.steps.push(index);
    items.push(
      item === undefined
        ? instead(reading, null, "An array has no place for undefined: send null.")
        : read(item, depth + 1, reading),
    );
    reading.steps.pop();
  }
  take(reading, 2);
  return items;
};

/** Not an instance of a class: JSON would leave out its inherited members. */
export const isPlain = (value: object): boolean => {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === Object.prototype || prototype === null) return true;
  // Objects of another realm (`node:vm`, test runners) have an Object.prototype of their own.
  return Object.getPrototypeOf(prototype) === null && Object.hasOwn(Object(prototype), "hasOwnProperty");
};

const rawJson: unknown = Reflect.get(JSON, "isRawJSON");

/** A number with its original text, made by `JSON.rawJSON`, if the runtime has that. */
const isRawJson = (value: object): boolean =>
  Object.getPrototypeOf(value) === null && typeof rawJson === "function" && rawJson(value) === true;

/** In `metadata` the form takes the place of the value. Elsewhere the value is refused; only the first fault is kept. */
const instead = <Form>(reading: Reading, form: Form, message: string): Form | undefined => {
  const place = { path: pointerTo(reading.steps), message };
  if (reading.steps[0] !== "metadata") {
    reading.fault ??= place;
    return undefined;
  }
  const { first = place, count = 0 } = reading.converted ?? {};
  reading.converted = { first, count: count + 1 };
  if (typeof form === "string") take(reading, form.length + 2);
  return form;
};

/** False if no room is left. */
const take = (reading: Reading, bytes: number): boolean => {
  reading.bytes -= bytes;
  if (reading.bytes >= 0) return true;
  reading.fault ??= {
    path: pointerTo(reading.steps),
    message: "More than an event may have.",
    isTooLarge: true,
  };
  return false;
};

const pointerTo = (steps: readonly (string | number)[]): string =>
  steps.map((step) => `/${String(step).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
