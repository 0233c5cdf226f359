/**
 * What JSON cannot hold is refused with its place. `JSON.stringify` would write NaN as null, leave functions out, make `{}` of a Map and throw at a
 * BigInt: a changed event, or none.
 */
import { EVENT_BYTES_MAX, EVENT_DEPTH_MAX } from "./limits.ts";

export interface NotJson {
  /** JSON Pointer (RFC 6901). */
  readonly path: string;
  readonly message: string;
  /** It is no single value that is at fault: together they are more than an event may have. */
  readonly isTooLarge?: true;
}

/**
 * Bytes that are left of an event, at least: a character has one or more. What is larger is not written only to be measured, and what is reached by very
 * many ways, as objects that share others may be, is not looked at for ever.
 */
interface Room {
  bytes: number;
}

/** The first value inside `value` that JSON cannot hold as it is; undefined where there is none. Members that are undefined count as absent. */
export const findNotJson = (value: unknown): NotJson | undefined =>
  check(value, 1, { bytes: EVENT_BYTES_MAX });

const refuse = (message: string): NotJson => ({ path: "", message });

const TOO_LARGE: NotJson = { path: "", message: "More than an event may have.", isTooLarge: true };

const takes = (room: Room, bytes: number): NotJson | undefined => {
  room.bytes -= bytes;
  return room.bytes < 0 ? TOO_LARGE : undefined;
};

/** Paths are put together on the way back, so that an event without a fault pays nothing for them. */
const within = (name: string | number, found: NotJson): NotJson => ({
  ...found,
  path: `/${String(name).replaceAll("~", "~0").replaceAll("/", "~1")}${found.path}`,
});

const check = (value: unknown, depth: number, room: Room): NotJson | undefined => {
  switch (typeof value) {
    case "string":
      return takes(room, value.length + 2);
    case "boolean":
      return takes(room, 4);
    case "undefined":
      return undefined;
    case "number":
      return Number.isFinite(value)
        ? takes(room, 1)
        : refuse(`${value} is no JSON number: send a text or null.`);
    case "object":
      return value === null ? takes(room, 4) : checkObject(value, depth, room);
    case "bigint":
      return refuse("A BigInt is no JSON number: send it as a text.");
    default:
      return refuse(`A ${typeof value} cannot be sent.`);
  }
};

const checkObject = (value: object, depth: number, room: Room): NotJson | undefined => {
  if (depth > EVENT_DEPTH_MAX)
    return refuse(`Nested more than ${EVENT_DEPTH_MAX} levels deep, or in a circle.`);
  if (Array.isArray(value)) return checkArray(value, depth, room);
  if (hasToJson(value)) {
    const written: unknown = value.toJSON();
    if (written === null || written === undefined)
      return refuse("Its toJSON() gives nothing: is it a valid date?");
    // JSON.stringify asks once, and takes what it is given as it is.
    if (hasToJson(written)) return refuse("Its toJSON() gives something that has a toJSON() itself.");
    return check(written, depth + 1, room);
  }
  if (!isPlain(value))
    return refuse(`A ${value.constructor.name} is not sent as it is: make a plain object of it.`);
  for (const name in value) {
    const member: unknown = Reflect.get(value, name);
    if (member === undefined) continue;
    const found = takes(room, name.length + 3) ?? check(member, depth + 1, room);
    if (found) return within(name, found);
  }
  return takes(room, 2);
};

const hasToJson = (value: unknown): value is { toJSON(): unknown } =>
  typeof value === "object" && value !== null && "toJSON" in value && typeof value.toJSON === "function";

/** No instance of a class, of which JSON would leave out what is not its own. */
export const isPlain = (value: object): boolean => {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === Object.prototype || prototype === null) return true;
  // Objects of another realm (`node:vm`, test runners) have an Object.prototype of their own.
  return Object.getPrototypeOf(prototype) === null && Object.hasOwn(Object(prototype), "hasOwnProperty");
};

const checkArray = (value: readonly unknown[], depth: number, room: Room): NotJson | undefined => {
  for (let index = 0; index < value.length; index++) {
    const item = value[index];
    const found =
      item === undefined
        ? refuse("An array has no place for undefined: send null.")
        : check(item, depth + 1, room);
    if (found) return within(index, found);
  }
  return takes(room, 2);
};
