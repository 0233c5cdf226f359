/** Text that people can paste into a shell as one word (POSIX Shell Command Language, §2.2). */

/** Unchanged if no character of it has a meaning for a shell. */
export const shellWord = (text: string): string => (PLAIN.test(text) ? text : shellQuoted(text));

const PLAIN = /^[A-Za-z0-9_@%+=:,./-]+$/;

/** In single quotation marks only the quotation mark itself has a special meaning. */
export const shellQuoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
