/** How much of a member's name is shown: a name that was sent may be as long as the body. */
export const MEMBER_CHARACTERS_SHOWN = 64;

/** A member name as one token of a JSON Pointer (RFC 6901 §3). */
export const pointerToken = (name: string): string => name.replaceAll("~", "~0").replaceAll("/", "~1");

/** The same pointer with each name shortened to what a person needs to find it. */
export const shortPointer = (pointer: string, nameCharactersMax: number): string =>
  pointer
    .split("/")
    .map((token) =>
      pointerToken(token.replaceAll("~1", "/").replaceAll("~0", "~").slice(0, nameCharactersMax)),
    )
    .join("/");
