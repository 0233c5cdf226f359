/** The formats of single values of an event (DESIGN 3, "Event rules"): predicates, and canonical spellings. */
import {
  EVENT_ID_SUFFIX_CHARACTERS_MAX,
  LEGAL_BASIS_CHARACTERS_MAX,
  TIME_KEY_FRACTION_DIGITS_MAX,
} from "../limits.ts";

/** RFC 9562 §5.7: version 7, variant 10. */
const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const CONTROL = /\p{Cc}/u;
export const SHA256 = /^sha256:[0-9a-fA-F]{64}$/;
export const LEGAL_BASIS = /^[a-z][a-z0-9_]*$/;

/** The prefix that SPEC 2.1 names. EXTRA_EVENT_ID_PREFIXES adds others. */
export const EVENT_ID_PREFIX = "evt_";
export const EXTRA_EVENT_ID_PREFIX = /^[a-z][a-z0-9]{0,15}_$/;

export const isUuidV7 = (text: string): boolean => UUID_V7.test(text);

/** Counts Unicode code points, which is what JSON Schema's minLength and maxLength count. */
export const isWithinCharacters = (text: string, min: number, max: number): boolean => {
  // A code point takes one or two UTF-16 units, so most texts need no counting.
  if (text.length < min || text.length > max * 2) return false;
  if (text.length <= max && min <= 1) return true;
  const count = [...text].length;
  return count >= min && count <= max;
};

export const isEventId = (text: string, prefixes: readonly string[]): boolean => {
  if (isUuidV7(text)) return true;
  const prefix = prefixes.find((candidate) => text.startsWith(candidate));
  if (prefix === undefined) return false;
  const suffix = text.slice(prefix.length);
  return (
    isWithinCharacters(suffix, 1, EVENT_ID_SUFFIX_CHARACTERS_MAX) &&
    !CONTROL.test(suffix) &&
    suffix.isWellFormed()
  );
};

/**
 * The same as a regular expression, for documents. JSON Schema counts code points, but some of its engines count UTF-16 units, so surrogate pairs are
 * spelled out. A test compares the two.
 */
export const eventIdPattern = (prefixes: readonly string[]): string => {
  const hex = "[0-9a-fA-F]";
  const uuid = `${hex}{8}-${hex}{4}-7${hex}{3}-[89abAB]${hex}{3}-${hex}{12}`;
  const character = "(?:[\\uD800-\\uDBFF][\\uDC00-\\uDFFF]|[^\\u0000-\\u001F\\u007F-\\u009F\\uD800-\\uDFFF])";
  return `^(?:${uuid}|(?:${prefixes.join("|")})${character}{1,${EVENT_ID_SUFFIX_CHARACTERS_MAX}})$`;
};

/** The spelling under which an event_id is compared: the case of letters in a UUID has no meaning (RFC 9562 §4). */
export const canonicalEventId = (eventId: string): string =>
  UUID.test(eventId) ? eventId.toLowerCase() : eventId;

/** W3C Trace Context §3.2.2.3: 32 hexadecimal digits. */
const W3C_TRACE_ID = /^[0-9a-f]{32}$/i;

/** The spelling under which a trace is found: libraries write W3C trace ids in either case; any other text is kept as it is. */
export const canonicalTraceId = (traceId: string): string =>
  W3C_TRACE_ID.test(traceId) ? traceId.toLowerCase() : traceId;

export const isSha256 = (text: string): boolean => SHA256.test(text);

export const isLegalBasis = (text: string): boolean =>
  text.length <= LEGAL_BASIS_CHARACTERS_MAX && LEGAL_BASIS.test(text);

/** RFC 3339 §5.6 with any precision; §5.6 also allows "t" and "z" in lower case. */
const TIMESTAMP = /^(\d{4})-(\d{2})-(\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(\.\d+)?([Zz]|[+-]00:00)$/;

const daysInMonth = (year: number, month: number): number => {
  const isLeapYear = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  if (month === 2) return isLeapYear ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
};

/** The value of two digits of a time. The caller knows that they are digits. */
export const twoDigits = (text: string, at: number): number =>
  (text.charCodeAt(at) - 48) * 10 + text.charCodeAt(at + 1) - 48;

/** Whether it is an existing time in UTC. A leap second can only end a month (ITU-R TF.460-6). */
export const isUtcTimestamp = (text: string): boolean => {
  if (!TIMESTAMP.test(text)) return false;
  const year = twoDigits(text, 0) * 100 + twoDigits(text, 2);
  const [month, day] = [twoDigits(text, 5), twoDigits(text, 8)];
  const [hour, minute, second] = [twoDigits(text, 11), twoDigits(text, 14), twoDigits(text, 17)];
  if (month < 1 || month > 12 || day < 1 || day > daysInMonth(year, month)) return false;
  if (hour > 23 || minute > 59 || second > 60) return false;
  return second < 60 || (hour === 23 && minute === 59 && day === daysInMonth(year, month));
};

/** Milliseconds since 1970 of a timestamp that was already checked, to the second. */
export const instantMsOf = (timestamp: string): number =>
  Date.UTC(
    twoDigits(timestamp, 0) * 100 + twoDigits(timestamp, 2),
    twoDigits(timestamp, 5) - 1,
    twoDigits(timestamp, 8),
    twoDigits(timestamp, 11),
    twoDigits(timestamp, 14),
    twoDigits(timestamp, 17),
  );

const DATE = "2026-11-20".length;
const WHOLE_MINUTES = "2026-11-20T10:00:".length;
export const WHOLE_SECONDS = "2026-11-20T10:00:00".length;

/**
 * A timestamp as text that sorts by time: no offset, and no trailing zeros in the fraction. It keeps the precision: two events a nanosecond apart
 * stay apart, which a Date could not represent. A fraction with more than TIME_KEY_FRACTION_DIGITS_MAX digits is truncated. Undefined if it is not an
 * existing time in UTC.
 */
export const timeKeyOf = (timestamp: string): string | undefined =>
  isUtcTimestamp(timestamp) ? cutTimestamp(timestamp) : undefined;

const WITH_OFFSET = /^(\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:)(\d{2})(\.\d+)?([+-]\d{2}:\d{2})$/;

/** The same for a time in any zone. Undefined if it is not a time. */
export const instantKeyOf = (text: string): string | undefined => {
  const utc = timeKeyOf(text);
  if (utc !== undefined) return utc;
  const [, minute, second, fraction = "", offset] = WITH_OFFSET.exec(text) ?? [];
  if (minute === undefined || !isUtcTimestamp(`${minute}00Z`)) return undefined;
  // Only to the minute: Date.parse does not know leap seconds, which end a month in UTC but may end any hour elsewhere.
  const instant = Date.parse(`${minute}00${offset}`);
  return Number.isNaN(instant)
    ? undefined
    : timeKeyOf(`${new Date(instant).toISOString().slice(0, WHOLE_MINUTES)}${second}${fraction}Z`);
};

/** The date at the beginning of a text; undefined if there is no existing date. */
export const dateAtStart = (text: string): string | undefined => {
  const date = text.slice(0, DATE);
  return isUtcTimestamp(`${date}T00:00:00Z`) ? date : undefined;
};

/** The same for a timestamp that was already checked. */
export const timeKey = (timestamp: string): string => {
  if (!TIMESTAMP.test(timestamp)) throw new Error("timeKey takes a timestamp that isUtcTimestamp accepts");
  return cutTimestamp(timestamp);
};

/** Slices instead of concatenating, because it is done twice for every event. */
const cutTimestamp = (timestamp: string): string => {
  // It ends in `Z`, `z` or an offset of zero.
  let end =
    timestamp.length - (timestamp.charCodeAt(timestamp.length - 1) === ZERO ? "+00:00".length : "Z".length);
  if (end > WHOLE_SECONDS) {
    end = Math.min(end, FRACTION_END_MAX);
    while (timestamp.charCodeAt(end - 1) === ZERO) end--;
    if (timestamp.charCodeAt(end - 1) === POINT) end--;
  }
  const key = timestamp.slice(0, end);
  return timestamp.charCodeAt(DATE) === LOWER_T ? key.replace("t", "T") : key;
};

const FRACTION_END_MAX = WHOLE_SECONDS + ".".length + TIME_KEY_FRACTION_DIGITS_MAX;
const ZERO = "0".charCodeAt(0);
const POINT = ".".charCodeAt(0);
const LOWER_T = "t".charCodeAt(0);
