/** A short-lived token for a customer's own pages, bound to its key's tenant, a filter and the pages' origins (encrypted-text.ts). */
import type { RandomBytes } from "./api-key.ts";
import { type Authentication, authenticateById } from "./authenticate.ts";
import { hashIn, open, seal } from "./encrypted-text.ts";
import type { BoundFilter } from "./key-record.ts";
import type { KeyStore } from "./key-store.ts";

export interface EmbedToken {
  readonly keyId: string;
  readonly filter: BoundFilter;
  readonly origins: readonly string[];
  readonly endsAt: number;
}

type Keys = Pick<KeyStore, "get" | "admin">;

const PURPOSE = "prooftrail embed token, version 1";
const BEARER = /^bearer +(\S+)$/i;

export const sealEmbedToken = (token: EmbedToken, keys: Keys, randomBytes: RandomBytes): string | undefined =>
  seal(token, { purpose: PURPOSE, secretOf: hashIn(keys), randomBytes });

/** Also if it or its key has ended: for the answer that says so. */
export const openEmbedToken = (authorization: string | null, keys: Keys): EmbedToken | undefined => {
  const [, text] = BEARER.exec(authorization ?? "") ?? [];
  return text === undefined
    ? undefined
    : open<EmbedToken>(text, { purpose: PURPOSE, secretOf: hashIn(keys) });
};

export const authenticateEmbedToken = (
  authorization: string | null,
  keys: Keys,
  now: Date,
): Authentication => {
  if (authorization === null) return { kind: "missing" };
  const token = openEmbedToken(authorization, keys);
  if (token === undefined || now.getTime() >= token.endsAt) return { kind: "invalid" };
  return authenticateById(token.keyId, keys, now);
};
