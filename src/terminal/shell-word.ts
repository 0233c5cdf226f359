/** Text for people to paste into a shell, which takes it as one word (POSIX Shell Command Language, §2.2). */

/** As it is where no character of it means anything to a shell. */
export const shellWord = (text: string): string => (PLAIN.test(text) ? text : shellQuoted(text));

const PLAIN = /^[A-Za-z0-9_@%+=:,./-]+$/;

/** In single quotation marks nothing has a meaning but they themselves. */
export const shellQuoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
