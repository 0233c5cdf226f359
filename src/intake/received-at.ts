/** `received_at`: RFC 3339, UTC, milliseconds. Requests that come together mostly have the same one, and writing a date is not cheap. */
export const receivedAtOf = (date: Date): string => {
  const ms = date.getTime();
  if (ms !== latest.ms) latest = { ms, text: date.toISOString() };
  return latest.text;
};

let latest = { ms: Number.NaN, text: "" };
