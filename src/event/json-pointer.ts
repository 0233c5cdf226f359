/** Of a member's name that was sent, which may be as long as the body, so much is shown. */
export const MEMBER_CHARACTERS_SHOWN = 64;

/** A member name as one token of a JSON Pointer (RFC 6901 §3). */
export const pointerToken = (name: string): string => name.replaceAll("~", "~0").replaceAll("/", "~1");

/** The same pointer with so much of each name as a person needs to find it: a name that was sent may be as long as the body. */
export const shortPointer = (pointer: string, nameCharactersMax: number): string =>
  pointer
    .split("/")
    .map((token) =>
      pointerToken(token.replaceAll("~1", "/").replaceAll("~0", "~").slice(0, nameCharactersMax)),
    )
    .join("/");
