/** Times in requests about keys: RFC 3339 in UTC, stored with milliseconds. */

/** The date is a group. Without flags, so that the API description can show the pattern. */
export const UTC_TIME = /^(\d{4}-\d{2}-\d{2})[Tt]\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:[Zz]|[+-]00:00)$/;

/** The time in the spelling of the records. Undefined if there is no such time. */
export const instantOf = (text: string): string | undefined => {
  const parts = UTC_TIME.exec(text);
  const time = Date.parse(text.toUpperCase());
  // A date that does not exist, 30 February, is read as 1 March by some engines: the day must come back as sent.
  if (!parts || Number.isNaN(time) || new Date(time).toISOString().slice(0, 10) !== parts[1])
    return undefined;
  return new Date(time).toISOString();
};
