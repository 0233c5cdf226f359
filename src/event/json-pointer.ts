/** How much of a member's name is shown: a name that was sent may be as long as the body. */
export const MEMBER_CHARACTERS_SHOWN = 64;

/** A member name as one token of a JSON Pointer (RFC 6901 §3). */
export const pointerToken = (name: string): string => name.replaceAll("~", "~0").replaceAll("/", "~1");

/** The same of a name that was sent. */
export const shownToken = (name: string): string => pointerToken(name.slice(0, MEMBER_CHARACTERS_SHOWN));
