/** A member name as one token of a JSON Pointer (RFC 6901 §3). */
export const pointerToken = (name: string): string => name.replaceAll("~", "~0").replaceAll("/", "~1");
