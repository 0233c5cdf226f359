/**
 * Where the next page of a list begins, as a text that means nothing to a client. It holds the place of the last row, so new
 * rows neither shift nor repeat a page, and a short hash of the question (`scope`), so that a cursor used with
 * other filters is refused instead of answering something else.
 */
import { createHash } from "node:crypto";

/** The values of the columns by which a list is ordered. */
export type Place = readonly (string | number)[];

export interface Cursor {
  readonly place: Place;
  /** The question in a form that is equal for equal questions; holds the tenant. */
  readonly scope: string;
}

export type ReadCursor =
  | { readonly kind: "cursor"; readonly place: Place }
  | { readonly kind: "invalid_cursor" };

export const writeCursor = ({ place, scope }: Cursor): string =>
  Buffer.from(JSON.stringify([VERSION, scopeHash(scope), ...place])).toString("base64url");

/** Whatever text it gets; the cursor is valid only for the scope that it was written with. */
export const readCursor = (text: string, scope: string): ReadCursor => {
  const place = placeIn(Buffer.from(text, "base64url").toString());
  // Writing it again covers everything at once: version, scope, and characters that base64 decoders ignore.
  const isOurs = place !== undefined && writeCursor({ place, scope }) === text;
  return isOurs ? { kind: "cursor", place } : { kind: "invalid_cursor" };
};

const VERSION = 2;

const placeIn = (text: string): Place | undefined => {
  try {
    const values: unknown = JSON.parse(text);
    if (!Array.isArray(values)) return undefined;
    const place = values.slice(2);
    return place.every((value) => typeof value === "string" || Number.isSafeInteger(value))
      ? place
      : undefined;
  } catch {
    return undefined;
  }
};

/** 72 bits: a mistake is not taken for a match; it guards nothing, the tenant comes from the API key. */
const HASH_CHARACTERS = 12;

const scopeHash = (scope: string): string =>
  createHash("sha256").update(scope).digest("base64url").slice(0, HASH_CHARACTERS);
