/**
 * Where the admin key comes from, at every start. Only its hash is kept in the store. A made key is on disk before the
 * store knows it, so that no crash leaves an installation whose key nobody has.
 */

import type { AdminKeyFile } from "./admin-key-file.ts";
import { hashSecret, makeApiKey, type RandomBytes } from "./api-key.ts";
import type { KeyStore, KeyWrite } from "./key-store.ts";

export type AdminKeySetup =
  /** Made now: the banner shows it, this once and only in a terminal. The copy on disk is at `path`. */
  | { readonly kind: "made"; readonly key: string; readonly path: string }
  /** There was one already, or another front end that started at the same time made it. `path`: of its copy, if this start found one. */
  | { readonly kind: "kept"; readonly path?: string; readonly otherKeyPath?: string }
  /** ADMIN_API_KEY replaced another key (`hadOne`), or is the first one. The banner says which. */
  | { readonly kind: "replaced"; readonly hadOne: boolean }
  /** The store gave no answer. Starting again is safe. */
  | { readonly kind: "unavailable"; readonly detail: string };

/** Whether the store had no admin key before this start. */
export const isFirstKey = (setup: AdminKeySetup): boolean =>
  setup.kind === "made" || (setup.kind === "replaced" && !setup.hadOne);

/** What ADMIN_API_KEY may be: visible ASCII, as a header carries nothing else safely; below 16 characters it could be guessed. */
export const ADMIN_KEY_PATTERN = "^[!-~]{16,256}$";

export const setUpAdminKey = async (dependencies: {
  readonly store: Pick<KeyStore, "admin" | "createAdmin" | "replaceAdmin">;
  readonly file: AdminKeyFile;
  readonly now: () => Date;
  readonly randomBytes: RandomBytes;
  /** What a key that is made now begins with. */
  readonly keyPrefix?: string;
  /** The value of ADMIN_API_KEY, if it is set; it matches ADMIN_KEY_PATTERN. */
  readonly configured: string | undefined;
}): Promise<AdminKeySetup> => {
  const { store, file, now, randomBytes, keyPrefix, configured } = dependencies;
  const stored = store.admin();
  if (configured !== undefined) {
    const secret_hash = hashSecret(configured);
    if (stored?.secret_hash === secret_hash) return { kind: "kept" };
    const write = await store.replaceAdmin({ secret_hash, created_at: now().toISOString() });
    if (write.kind !== "written") return { kind: "unavailable", detail: detailOf(write) };
    // Its readers, for example the command line, would be refused from now on.
    await file.remove((text) => hashSecret(text) === stored?.secret_hash);
    return { kind: "replaced", hadOne: stored !== undefined };
  }
  if (stored) {
    // A start that was killed after the store took its key has left the copy under its prepared name.
    const found = await file.recover((text) => hashSecret(text) === stored.secret_hash);
    if (!found) return { kind: "kept" };
    return { kind: "kept", ...(found.isKey ? { path: found.path } : { otherKeyPath: found.path }) };
  }

  const made = makeApiKey(randomBytes, keyPrefix);
  await file.prepare(made.id, made.text);
  const write = await store.createAdmin({
    secret_hash: hashSecret(made.text),
    created_at: now().toISOString(),
  });
  switch (write.kind) {
    case "written":
      return { kind: "made", key: made.text, path: await file.publish(made.id) };
    case "conflict":
      await file.discard(made.id);
      return { kind: "kept" };
    case "unavailable":
      // The key may have been stored, so the copy stays. The next start recovers or removes it.
      return { kind: "unavailable", detail: write.detail };
  }
};

const detailOf = (write: KeyWrite): string =>
  write.kind === "unavailable" ? write.detail : "the admin key was changed by somebody else at the same time";
