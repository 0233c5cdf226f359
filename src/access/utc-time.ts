/** Times in requests about keys: RFC 3339 in UTC, stored with milliseconds. */
import { isUtcTimestamp } from "../event/formats.ts";

/** Without flags, so that the API description can show the pattern. */
export const UTC_TIME = /^(\d{4}-\d{2}-\d{2})[Tt]\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:[Zz]|[+-]00:00)$/;

/** The time as records spell it. Undefined if invalid or a leap second. */
export const instantOf = (text: string): string | undefined => {
  const time = isUtcTimestamp(text) ? Date.parse(text.toUpperCase()) : Number.NaN;
  return Number.isNaN(time) ? undefined : new Date(time).toISOString();
};
