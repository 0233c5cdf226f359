/**
 * The place where the next page of a list begins, as a text that is opaque to clients. It contains the place of the last row, so that new rows
 * neither shift nor repeat a page, and a short hash of the query (`scope`), so that a cursor used with other filters is refused instead of answering
 * something else.
 */
import { createHash } from "node:crypto";

/** The values of the columns by which a list is ordered. */
export type Place = readonly (string | number)[];

export interface Cursor {
  readonly place: Place;
  /** The query in a form that is the same for the same query; it contains the tenant. */
  readonly scope: string;
}

export type ReadCursor =
  | { readonly kind: "cursor"; readonly place: Place }
  | { readonly kind: "invalid_cursor" };

export const writeCursor = ({ place, scope }: Cursor): string =>
  Buffer.from(JSON.stringify([VERSION, scopeHash(scope), ...place])).toString("base64url");

/** Accepts any text; a cursor is valid only for the scope for which it was written. */
export const readCursor = (text: string, scope: string): ReadCursor => {
  const place = placeIn(Buffer.from(text, "base64url").toString());
  // Writing it again checks everything at once: version, scope, and characters that base64 decoders ignore.
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

/** 72 bits: enough that a mistake does not pass for a match. It protects nothing, because the tenant comes from the API key. */
const HASH_CHARACTERS = 12;

const scopeHash = (scope: string): string =>
  createHash("sha256").update(scope).digest("base64url").slice(0, HASH_CHARACTERS);
