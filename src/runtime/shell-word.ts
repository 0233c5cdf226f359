/** Text as one word for a shell (POSIX Shell Command Language, §2.2); unchanged if no character of it has a meaning there. */
export const shellWord = (text: string): string =>
  PLAIN.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;

const PLAIN = /^[A-Za-z0-9_@%+=:,./-]+$/;
