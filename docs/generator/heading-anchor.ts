/** The anchor of a heading as a forge makes it, so that a link works on both the forge and the built site. */
export const headingAnchor = (heading: string): string =>
  heading
    .replaceAll("`", "")
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, "")
    .replace(/\s/g, "-");
