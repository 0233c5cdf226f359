/**
 * Where the admin key comes from, at every start. Only its hash is kept in the store. A new key is on disk in DATA_DIR before it is in the store, so that
 * no crash leaves an installation whose key nobody has. Several front ends may share the folder and start at once, so each prepares its own file, and
 * only the one whose key the store accepted renames it.
 */
import { mkdir, readdir, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { missingAs, syncFolder, writeDurably } from "../runtime/durable-file.ts";
import { hashSecret, makeApiKey, type RandomBytes } from "./api-key.ts";
import type { KeyStore } from "./key-store.ts";

export type AdminKeySetup =
  /** New: the banner shows it, this once and only in a terminal. The copy on disk is at `path`. */
  | { readonly kind: "made"; readonly key: string; readonly path: string }
  /** It existed, or another front end that started at the same time created it. `path`: of its copy, if this start found one. */
  | { readonly kind: "kept"; readonly path?: string }
  /** ADMIN_API_KEY replaced another key (`hadOne`), or is the first one. The banner says which. */
  | { readonly kind: "replaced"; readonly hadOne: boolean }
  /** The store gave no answer. Starting again is safe. */
  | { readonly kind: "unavailable"; readonly detail: string };

export const isFirstKey = (setup: AdminKeySetup): boolean =>
  setup.kind === "made" || (setup.kind === "replaced" && !setup.hadOne);

/** What ADMIN_API_KEY may be: visible ASCII, as a header carries nothing else safely; below 16 characters it could be guessed. */
export const ADMIN_KEY_PATTERN = "^[!-~]{16,256}$";

interface Dependencies {
  readonly store: Pick<KeyStore, "admin" | "createAdmin" | "replaceAdmin">;
  readonly dataDir: string;
  readonly now: () => Date;
  readonly randomBytes: RandomBytes;
  readonly keyPrefix?: string;
  /** The value of ADMIN_API_KEY, if it is set; it matches ADMIN_KEY_PATTERN. */
  readonly configured: string | undefined;
}

export const setUpAdminKey = async (dependencies: Dependencies): Promise<AdminKeySetup> => {
  const { store, dataDir, now, configured } = dependencies;
  const stored = store.admin();
  if (configured === undefined) return stored ? kept(dataDir, stored.secret_hash) : make(dependencies);
  const secret_hash = hashSecret(configured);
  if (stored?.secret_hash === secret_hash) return { kind: "kept" };
  const write = await store.replaceAdmin({ secret_hash, created_at: now().toISOString() });
  if (write.kind === "unavailable") return write;
  if (write.kind === "conflict")
    return { kind: "unavailable", detail: "somebody else changed the admin key at the same time" };
  // Readers of the copy, for example the command line, would be refused from now on.
  const path = join(dataDir, NAME);
  if (stored && (await hashIn(path)) === stored.secret_hash) await rm(path, { force: true });
  return { kind: "replaced", hadOne: stored !== undefined };
};

const NAME = "admin.key";
const PREPARED_PREFIX = `${NAME}.prepared-`;

const make = async ({
  store,
  dataDir,
  now,
  randomBytes,
  keyPrefix,
}: Dependencies): Promise<AdminKeySetup> => {
  const { id, text: key } = makeApiKey(randomBytes, keyPrefix);
  const prepared = join(dataDir, PREPARED_PREFIX + id);
  await mkdir(dataDir, { recursive: true });
  await writeDurably(prepared, `${key}\n`);
  await syncFolder(dataDir);
  const write = await store.createAdmin({ secret_hash: hashSecret(key), created_at: now().toISOString() });
  switch (write.kind) {
    case "written":
      return { kind: "made", key, path: await publish(prepared, dataDir) };
    case "conflict":
      await rm(prepared, { force: true });
      return { kind: "kept" };
    case "unavailable":
      // The key may have been stored, so the copy stays. The next start publishes or removes it.
      return write;
  }
};

const publish = async (prepared: string, dataDir: string): Promise<string> => {
  const path = join(dataDir, NAME);
  // If it is gone, another front end has published it.
  await rename(prepared, path).catch(missingAs(undefined));
  await syncFolder(dataDir);
  return path;
};

/** A start that was killed after the store took its key has left the copy under its prepared name; one that was killed earlier, one of no use. */
const kept = async (dataDir: string, secretHash: string): Promise<AdminKeySetup> => {
  const names = await readdir(dataDir).catch(missingAs<string[]>([]));
  for (const name of names.filter((candidate) => candidate.startsWith(PREPARED_PREFIX))) {
    const prepared = join(dataDir, name);
    if ((await hashIn(prepared)) === secretHash) await publish(prepared, dataDir);
    else await rm(prepared, { force: true });
  }
  const path = join(dataDir, NAME);
  return (await hashIn(path)) === secretHash ? { kind: "kept", path } : { kind: "kept" };
};

/** Undefined without such a file. */
const hashIn = async (path: string): Promise<string | undefined> => {
  const text = await readFile(path, "utf8").catch(missingAs(undefined));
  return text === undefined ? undefined : hashSecret(text.trim());
};
