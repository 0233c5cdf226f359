import { isObject } from "../event/facts.ts";
import { canonicalEventId } from "../event/formats.ts";

/**
 * Whether the JSON texts of two events have the same content. White space, the order of members, the escaping of strings and the case of a UUID as
 * event_id do not matter. Numbers are compared by their decimal value and not as doubles, because 12345678901234567890 and 12345678901234567891 are
 * one double and two numbers.
 *
 * Only for accepted events: no member twice in one object, at most EVENT_DEPTH_MAX levels.
 */
export const sameContent = (aText: string, bText: string): boolean =>
  aText === bText || sameValue(parseEvent(aText), parseEvent(bText));

const parseEvent = (text: string): unknown => {
  const event = parse(text);
  if (!isObject(event) || typeof event.event_id !== "string") return event;
  return { ...event, event_id: `"${canonicalEventId(event.event_id.slice(1))}` };
};

/** Each scalar in a form that `===` compares correctly: numbers and strings become texts that begin with `#` or `"`. */
const parse = (text: string): unknown =>
  JSON.parse(text, (_name, value: unknown, context?: { readonly source?: string }): unknown => {
    if (typeof value === "string") return `"${value}`;
    if (typeof value !== "number") return value;
    return `#${decimal(context?.source ?? String(value))}`;
  });

const sameValue = (a: unknown, b: unknown): boolean => {
  if (a === b) return true;
  if (Array.isArray(a) || Array.isArray(b)) {
    if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false;
    return a.every((item, index) => sameValue(item, b[index]));
  }
  if (!isObject(a) || !isObject(b)) return false;
  const names = Object.keys(a);
  if (names.length !== Object.keys(b).length) return false;
  return names.every((name) => Object.hasOwn(b, name) && sameValue(a[name], b[name]));
};

const NUMBER = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?)0*(\d+))?$/;
/** With more digits the exponent leaves the safe integers; such numbers are equal only when written alike. */
const EXPONENT_DIGITS_MAX = 15;

/** The value of a JSON number in one spelling: digits without zeros at either end, and the power of ten. */
const decimal = (source: string): string => {
  const [, sign = "", whole = "", fraction = "", exponentSign = "", exponent = "0"] =
    NUMBER.exec(source) ?? [];
  if (exponent.length > EXPONENT_DIGITS_MAX) return source;
  const digits = withoutLeadingZeros(whole + fraction);
  const significant = withoutTrailingZeros(digits);
  if (significant === "") return "0";
  const power = Number(exponentSign + exponent) - fraction.length + (digits.length - significant.length);
  return `${sign}${significant}e${power}`;
};

const withoutLeadingZeros = (digits: string): string => digits.replace(/^0+/, "");

/** By hand: the pattern /0+$/ takes quadratic time on long runs of zeros that do not end the text. */
const withoutTrailingZeros = (digits: string): string => {
  let end = digits.length;
  while (end > 0 && digits[end - 1] === "0") end--;
  return digits.slice(0, end);
};
