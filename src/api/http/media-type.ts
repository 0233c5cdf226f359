/** Whether a Content-Type is JSON in UTF-8. Pure. */

/**
 * RFC 9110 §5.6.6. A parameter may be empty; its value is a token, or a quoted text in which a backslash escapes any character. Names are
 * case-insensitive.
 */
const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
const QUOTED = '"(?:[\\t\\x20\\x21\\x23-\\x5B\\x5D-\\x7E\\x80-\\xFF]|\\\\[\\t\\x20-\\x7E\\x80-\\xFF])*"';
const JSON_TYPE = /^application\/json(?=[ \t;]|$)/i;
const PARAMETER = new RegExp(
  `[ \\t]*;[ \\t]*(?:(?<name>${TOKEN})[ \\t]*=[ \\t]*(?<value>${TOKEN}|${QUOTED}))?`,
  "y",
);

/** `utf8` is not registered, but is sent and means the same (WHATWG Encoding §4.2). */
const UTF_8 = /^utf-?8$/i;

/** JSON defines no parameters (RFC 8259 §11), so any is ignored, except a charset other than UTF-8. */
export const isJsonInUtf8 = (type: string): boolean => {
  const text = type.trim();
  PARAMETER.lastIndex = JSON_TYPE.exec(text)?.[0].length ?? 0;
  if (PARAMETER.lastIndex === 0) return false;
  for (let at = PARAMETER.lastIndex; at < text.length; at = PARAMETER.lastIndex) {
    const { name, value = "" } = PARAMETER.exec(text)?.groups ?? {};
    if (PARAMETER.lastIndex === 0) return false;
    if (name?.toLowerCase() === "charset" && !UTF_8.test(unquoted(value))) return false;
  }
  return true;
};

const unquoted = (value: string): string =>
  value.startsWith('"') ? value.slice(1, -1).replaceAll(/\\(.)/g, "$1") : value;
