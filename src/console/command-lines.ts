/** The same question for a terminal: text for a POSIX shell (IEEE 1003.1, 2.2), in which no value can end the quotation. The key is a variable. */
import type { Parameters } from "./address.ts";

/** Between single quotation marks nothing is special but the mark itself (2.2.2). */
const quoted = (text: string): string =>
  /^[\w.,:@%+/=-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;

export const curlLine = (address: string): string =>
  `curl -H "Authorization: Bearer $PROOFTRAIL_API_KEY" ${quoted(address)}`;

/** With `=`, because a value may begin with a hyphen. */
export const eventsCommand = (service: string, parameters: Parameters): string => {
  const options = Object.entries({ url: service, ...parameters }).flatMap(([name, value]) =>
    value ? [`--${name.replaceAll("_", "-")}=${quoted(value)}`] : [],
  );
  return ["prooftrail events list", ...options].join(" ");
};
