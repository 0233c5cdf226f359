import { DECISION_NAMES, type JsonObject } from "./facts.ts";

/**
 * An event of the log as the views read it. A whole number in `tags` or `metadata`, or one that names a decision beside them, is read as the text of
 * its digits if JavaScript would round it, such as 9007199254740993: so an id of 64 bits is found by itself, and by no other. Throws if the text is
 * not JSON.
 */
export const readEvent = (text: string): JsonObject => {
  const event: JsonObject = Object(JSON.parse(text));
  if (!LONG_NUMBER.test(text)) return event;
  const exact: JsonObject = Object(JSON.parse(text, digitsAsSent));
  const { tags, metadata } = exact;
  const names = DECISION_NAMES.filter((name) => Object.hasOwn(exact, name));
  return { ...event, tags, metadata, ...Object.fromEntries(names.map((name) => [name, exact[name]])) };
};

/** The source of a number: ECMA-262, `JSON.parse` with the context of its reviver. */
const digitsAsSent = (_name: string, value: unknown, context?: { readonly source?: string }): unknown =>
  typeof value === "number" && context?.source !== undefined && isRounded(value, context.source)
    ? context.source
    : value;

const isRounded = (value: number, source: string): boolean =>
  Number.isInteger(value) && !Number.isSafeInteger(value) && WHOLE.test(source);

const WHOLE = /^-?\d+$/;

/** As many digits as 2^53 has, the first whole number that may be another one rounded, at a place where a number may end, which a hash is not. */
const LONG_NUMBER = /\d{16}[,}\] \t\n\r]/;
