/**
 * Reads what a program passes in, and each member only once: a getter, a proxy or a `toJSON()` may return another value the next time, and the value
 * that was checked must be the value that is sent. A value that JSON cannot represent is refused with its path. `JSON.stringify` would write NaN as
 * null, leave out functions and symbols, turn a Map into `{}` and throw for a BigInt: a changed event, or none.
 */
import { EVENT_BYTES_MAX, EVENT_DEPTH_MAX } from "./limits.ts";

export interface NotJson {
  /** JSON Pointer (RFC 6901). */
  readonly path: string;
  readonly message: string;
  /** No single value is wrong: together they are larger than an event may be. */
  readonly isTooLarge?: true;
}

interface Reading {
  /**
   * Bytes that the event may still take, counting each character as one byte, which is the least it can take. So a value that is too large is refused
   * before it is written, and reading ends for objects that share others and can be reached in very many ways.
   */
  bytes: number;
  /** The fault at which reading ended. It is kept here instead of returned, so that an event without a fault pays nothing for it. */
  fault: NotJson | undefined;
}

/**
 * Replaces each member of `members`, the caller's own copy, by what was read: values that JSON can represent, shared with nobody. Returns the first
 * fault, if there is one. Undefined members count as absent.
 */
export const readMembers = (members: Record<string, unknown>): NotJson | undefined => {
  const reading: Reading = { bytes: EVENT_BYTES_MAX, fault: undefined };
  readEach(members, 1, reading);
  return reading.fault;
};

/** Why JSON cannot represent `value`, which is no object with members of its own. */
export const whyNotJson = (value: unknown): NotJson | undefined => {
  const reading: Reading = { bytes: EVENT_BYTES_MAX, fault: undefined };
  read(value, 1, reading);
  return reading.fault;
};

/** The value to write as JSON. If JSON cannot represent it, the fault is noted in `reading` and the result has no meaning. */
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
      if (Number.isFinite(value)) take(reading, 1);
      else refuse(reading, `${value} is no JSON number: send a text or null.`);
      return value;
    case "object":
      if (value !== null) return readObject(value, depth, reading);
      take(reading, 4);
      return value;
    case "bigint":
      return refuse(reading, "A BigInt is no JSON number: send it as a text.");
    default:
      return refuse(reading, `A ${typeof value} cannot be sent.`);
  }
};

const readObject = (value: object, depth: number, reading: Reading): unknown => {
  if (depth > EVENT_DEPTH_MAX)
    return refuse(reading, `Nested more than ${EVENT_DEPTH_MAX} levels deep, or in a circle.`);
  const toJson: unknown = "toJSON" in value ? value.toJSON : undefined;
  if (typeof toJson === "function") return readWritten(toJson.call(value), depth, reading);
  if (Array.isArray(value)) return readArray(value, depth, reading);
  if (!isPlain(value)) {
    const kind = value.constructor?.name || "object with a prototype";
    return refuse(reading, `A ${kind} is not sent as it is: make a plain object of it.`);
  }
  // A raw JSON number cannot change, and a copy of it would be a plain object.
  if (isRawJson(value)) return value;
  const members: Record<string, unknown> = { ...value };
  readEach(members, depth, reading);
  return members;
};

/** Reads the result of a `toJSON()`. */
const readWritten = (written: unknown, depth: number, reading: Reading): unknown => {
  if (written === null || written === undefined)
    return refuse(reading, "Its toJSON() gives nothing: is it a valid date?");
  // JSON.stringify calls `toJSON()` once and does not call that of the result.
  if (typeof written === "object" && "toJSON" in written && typeof written.toJSON === "function")
    return refuse(reading, "Its toJSON() gives something that has a toJSON() itself.");
  return read(written, depth + 1, reading);
};

const readEach = (members: Record<string, unknown>, depth: number, reading: Reading): void => {
  if (Object.getOwnPropertySymbols(members).length > 0) {
    refuse(reading, "A symbol is no name in JSON: give the member a text for a name, or leave it out.");
    return;
  }
  for (const name in members) {
    const member = members[name];
    if (member === undefined) continue;
    const value = take(reading, name.length + 3) ? read(member, depth + 1, reading) : undefined;
    if (reading.fault) {
      placeIn(name, reading);
      return;
    }
    if (value !== member) members[name] = value;
  }
  take(reading, 2);
};

const readArray = (value: readonly unknown[], depth: number, reading: Reading): unknown => {
  const items: unknown[] = [];
  for (let index = 0; index < value.length; index++) {
    const item = value[index];
    if (item === undefined) refuse(reading, "An array has no place for undefined: send null.");
    else items.push(read(item, depth + 1, reading));
    if (reading.fault) return placeIn(index, reading);
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

/** Only the first fault is kept. */
const refuse = (reading: Reading, message: string): undefined => {
  reading.fault ??= { path: "", message };
  return undefined;
};

/** False if no room is left. */
const take = (reading: Reading, bytes: number): boolean => {
  reading.bytes -= bytes;
  if (reading.bytes >= 0) return true;
  reading.fault ??= { path: "", message: "More than an event may have.", isTooLarge: true };
  return false;
};

/** The path of a fault is built from the inside out. */
const placeIn = (name: string | number, reading: Reading): undefined => {
  const { fault } = reading;
  if (!fault) return undefined;
  const step = String(name).replaceAll("~", "~0").replaceAll("/", "~1");
  reading.fault = { ...fault, path: `/${step}${fault.path}` };
  return undefined;
};
