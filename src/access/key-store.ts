/** The port through which the rules see the stored keys. Reading is from memory: no request waits for the broker. */
import type { AdminKeyRecord, ApiKeyRecord } from "./key-record.ts";

export interface KeyStore {
  /** The key as last seen. Another front end's change is seen within a second. */
  get(id: string): ApiKeyRecord | undefined;
  /** All keys, or one tenant's, in no particular order. */
  list(tenant?: string): readonly ApiKeyRecord[];
  /** The key as now stored, with the revision that `update` needs. Asks the broker: for changes, not for requests. */
  fetch(id: string): Promise<FetchedKey>;
  create(record: ApiKeyRecord): Promise<KeyWrite>;
  /** Writes only if the stored revision is still this one. */
  update(record: ApiKeyRecord, revision: number): Promise<KeyWrite>;

  admin(): AdminKeyRecord | undefined;
  /**
   * Keys that the store lost although nobody removed them: it was emptied or replaced. They open nothing, but must not be
   * answered as invalid. Known only to a process that followed the store before.
   */
  readonly lost: Pick<KeyStore, "get" | "admin">;
  /** Writes only if there is none: of two front ends starting at once, one wins. */
  createAdmin(record: AdminKeyRecord): Promise<KeyWrite>;
  /** Overwrites: the operator's setting is the truth. */
  replaceAdmin(record: AdminKeyRecord): Promise<KeyWrite>;

  readiness(): KeyReadiness;
}

export type FetchedKey =
  | { readonly kind: "found"; readonly record: ApiKeyRecord; readonly revision: number }
  | { readonly kind: "absent" }
  | { readonly kind: "unavailable"; readonly detail: string };

export type KeyWrite =
  | { readonly kind: "written" }
  /** Somebody else wrote first; nothing was changed. */
  | { readonly kind: "conflict" }
  /** No answer came: it may or may not have been stored. */
  | { readonly kind: "unavailable"; readonly detail: string };

export type KeyReadiness =
  | { readonly kind: "ready" }
  /** Memory was last known to be complete this long ago. A key revoked since may still be accepted. */
  | { readonly kind: "stale"; readonly ageMs: number };

/** The reason if `admin()` gives nothing after the start, which makes one. An unknown key is then not a wrong one. */
export const KEYS_GONE =
  "The broker no longer has the admin key: its store was emptied or replaced, and no key works. Restore the store; a start without it creates a new admin key.";

/** Logged at a start. Only a start with an empty log creates the first admin key, so the store has lost its keys, unknown which. */
export const KEYS_LOST =
  "the log has records but there was no admin key: the key store was emptied or replaced. Earlier keys no longer work and get 401: restore the store from a copy, or create new keys";
