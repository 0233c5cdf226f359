/**
 * The copy of a made admin key in DATA_DIR. Several front ends may share the folder and start at once, so each prepares a
 * file of its own, and only the one whose key the store took gives it the final name.
 */
import { mkdir, readdir, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { missingAs, syncFolder, writeDurably } from "../runtime/durable-file.ts";

export interface AdminKeyFile {
  /** On disk, fsynced, readable by its owner only, under a name of its own. */
  prepare(id: string, text: string): Promise<void>;
  /** The prepared file becomes `admin.key`, replacing an older one. Gives its path. */
  publish(id: string): Promise<string>;
  discard(id: string): Promise<void>;
  /**
   * Publishes the file that an earlier start prepared if it holds the key, and removes all others. Gives the path of `admin.key` if that
   * holds the key.
   */
  recover(isKey: (text: string) => boolean): Promise<FoundKey | undefined>;
  /** Removes `admin.key` if it holds the key. */
  remove(isKey: (text: string) => boolean): Promise<void>;
}

export interface FoundKey {
  readonly path: string;
  readonly isKey: boolean;
}

const NAME = "admin.key";
const PREPARED_PREFIX = `${NAME}.prepared-`;

export const createAdminKeyFile = (dataDir: string): AdminKeyFile => {
  const preparedPath = (id: string) => join(dataDir, PREPARED_PREFIX + id);
  const path = join(dataDir, NAME);
  const find = async (isKey: (text: string) => boolean): Promise<FoundKey | undefined> => {
    const text = await readFile(path, "utf8").catch(missingAs(undefined));
    return text === undefined ? undefined : { path, isKey: isKey(text.trim()) };
  };
  const file: AdminKeyFile = {
    prepare: async (id, text) => {
      await mkdir(dataDir, { recursive: true });
      await writeDurably(preparedPath(id), `${text}\n`);
      await syncFolder(dataDir);
    },
    publish: async (id) => {
      // If it is gone, the `recover` of another front end was quicker and has published it for us.
      await rename(preparedPath(id), path).catch(missingAs(undefined));
      await syncFolder(dataDir);
      return path;
    },
    discard: (id) => rm(preparedPath(id), { force: true }),
    recover: async (isKey) => {
      const names = await readdir(dataDir).catch(missingAs<string[]>([]));
      for (const name of names.filter((candidate) => candidate.startsWith(PREPARED_PREFIX))) {
        const id = name.slice(PREPARED_PREFIX.length);
        const text = await readFile(preparedPath(id), "utf8").catch(missingAs(""));
        if (isKey(text.trim())) await file.publish(id);
        else await file.discard(id);
      }
      return find(isKey);
    },
    remove: async (isKey) => {
      if ((await find(isKey))?.isKey) await rm(path, { force: true });
    },
  };
  return file;
};
