/** DATA_DIR: what is in it, and whether this user may use it. */
import { randomUUID } from "node:crypto";
import { access, constants, link, mkdir, realpath, rm, statfs } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type BrokerFiles, brokerFiles } from "../nats/broker/broker-files.ts";
import { isTaken, missingAs, writeDurably } from "../runtime/durable-file.ts";
import { messageOf } from "../runtime/error-text.ts";
import { RefusedError } from "../runtime/refused-error.ts";
import { COPY_WITHIN, type Config, isWithin } from "./config.ts";

type Where = Pick<Config, "dataDir" | "natsUrl" | "databaseUrl">;

export const viewsFile = ({ dataDir }: Pick<Config, "dataDir">): string => join(dataDir, "views.sqlite");

/** What our own broker keeps there. */
export const ownBrokerFiles = ({ dataDir }: Pick<Config, "dataDir">): BrokerFiles =>
  brokerFiles(join(dataDir, "broker"));

export const freeBytes = async (folder: string): Promise<number> => {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
};

/** Creates DATA_DIR if it is missing. A folder for HEADS_COPY is never created: one that is not mounted looks like one without heads. Throws RefusedError. */
export const openFolders = async ({
  dataDir,
  headsCopy,
}: Pick<Config, "dataDir" | "headsCopy">): Promise<void> => {
  try {
    await mkdir(dataDir, { recursive: true, mode: 0o700 });
    await access(dataDir, constants.W_OK | constants.X_OK);
  } catch (error) {
    throw new RefusedError(
      `DATA_DIR ${dataDir} cannot be used: ${messageOf(error)}. Set DATA_DIR to a folder that this user can write or create.`,
    );
  }
  if (headsCopy === undefined) return;
  try {
    await access(headsCopy, constants.R_OK | constants.W_OK | constants.X_OK);
    // A link may lead into it.
    if (!isWithin(await realpath(dataDir), await realpath(headsCopy))) return;
  } catch (error) {
    throw new RefusedError(
      `HEADS_COPY ${headsCopy} cannot be used: ${messageOf(error)}. Mount or create it so that this user can read and write it.`,
    );
  }
  throw new RefusedError(COPY_WITHIN);
};

/**
 * Why this user may not read the service's files; otherwise they would all seem to be missing. DATA_DIR itself may be open to everybody, if
 * systemd or mkdir made it; the broker's folder in it is not.
 */
export const closedFolder = async (where: Where): Promise<string | undefined> => {
  const { dataDir, natsUrl, databaseUrl } = where;
  if (natsUrl !== undefined && databaseUrl !== undefined) return undefined;
  const folders = natsUrl === undefined ? [dataDir, ownBrokerFiles(where).directory] : [dataDir];
  for (const folder of folders) {
    const detail = await access(folder, constants.R_OK | constants.X_OK)
      .then(() => undefined, missingAs(undefined))
      .catch(messageOf);
    if (detail !== undefined)
      return `${folder === dataDir ? "DATA_DIR " : ""}${folder} cannot be read: ${detail}`;
  }
  return undefined;
};

/** False if there is such a file. It gets its name, durable after `syncFolder`, when it is whole. Rejects where the file system has no hard links. */
export const createWhole = async (path: string, text: string): Promise<boolean> => {
  const unnamed = join(dirname(path), `.writing-${randomUUID()}`);
  try {
    await writeDurably(unnamed, text, "wx");
    await link(unnamed, path);
    return true;
  } catch (error) {
    if (!isTaken(error)) throw error;
    return false;
  } finally {
    await rm(unnamed, { force: true });
  }
};

export const AS_ITS_USER = "Run it as the user that runs the service.";
