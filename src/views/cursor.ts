/**
 * Where the next page of a list begins, as a text that means nothing to a client. It holds the last sequence, so new
 * rows neither shift nor repeat a page, and a short hash of the question (`scope`), so that a cursor used with
 * other filters is refused instead of answering something else.
 */
import { createHash } from "node:crypto";

export interface Cursor {
  readonly sequence: number;
  /** The question in a form that is equal for equal questions; holds the tenant. */
  readonly scope: string;
}

export type ReadCursor =
  | { readonly kind: "cursor"; readonly sequence: number }
  | { readonly kind: "invalid_cursor" };

export const writeCursor = ({ sequence, scope }: Cursor): string =>
  Buffer.from(`${VERSION}.${sequence}.${scopeHash(scope)}`).toString("base64url");

/** Whatever text it gets; the cursor is valid only for the scope that it was written with. */
export const readCursor = (text: string, scope: string): ReadCursor => {
  const sequence = Number(PLAIN.exec(Buffer.from(text, "base64url").toString("latin1"))?.[1]);
  // Writing it again covers everything at once: version, scope, and characters that base64 decoders ignore.
  const isOurs = Number.isSafeInteger(sequence) && writeCursor({ sequence, scope }) === text;
  return isOurs ? { kind: "cursor", sequence } : { kind: "invalid_cursor" };
};

const VERSION = 1;
const PLAIN = /^\d+\.(\d{1,16})\./;
/** 72 bits: a mistake is not taken for a match; it guards nothing, the tenant comes from the API key. */
const HASH_CHARACTERS = 12;

const scopeHash = (scope: string): string =>
  createHash("sha256").update(scope).digest("base64url").slice(0, HASH_CHARACTERS);
