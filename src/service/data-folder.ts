/** DATA_DIR: what is in it, and whether this user may use it. */
import { access, constants, mkdir, realpath, statfs } from "node:fs/promises";
import { join } from "node:path";
import { type BrokerFiles, brokerFiles } from "../nats/broker/broker-files.ts";
import { missingAs } from "../runtime/durable-file.ts";
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
export const openFolders = async (config: Where & Pick<Config, "headsCopy">): Promise<void> => {
  const { dataDir, headsCopy } = config;
  try {
    await mkdir(dataDir, { recursive: true, mode: 0o700 });
    await access(dataDir, constants.W_OK | constants.X_OK);
  } catch (error) {
    throw new RefusedError(
      `DATA_DIR ${dataDir} cannot be used: ${messageOf(error)}. Set DATA_DIR to a folder that this user can write or create.`,
    );
  }
  const closed = await viewsClosedToWriting(config);
  if (closed !== undefined) throw new RefusedError(`${closed}. ${BELONGS_TO_ITS_USER}`);
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
export const closedFolder = async (where: Where): Promise<string | undefined> =>
  where.natsUrl !== undefined && where.databaseUrl !== undefined
    ? undefined
    : refusalOf(constants.R_OK | constants.X_OK, foldersOf(where), "read");

/** Why a start by this user could not write here. Reading alone may be allowed, and then all seems well. */
export const readOnlyFolder = (where: Where): Promise<string | undefined> =>
  refusalOf(constants.W_OK | constants.X_OK, foldersOf(where), "written");

/** Why this user cannot write the views, for example after another user restored a copy. SQLite opens such a file all the same, read-only. */
export const viewsClosedToWriting = async (where: Where): Promise<string | undefined> => {
  const file = viewsFile(where);
  // The files beside it disappear when the last process closes it.
  const files = where.databaseUrl === undefined ? [file, `${file}-wal`, `${file}-shm`] : [];
  return refusalOf(constants.W_OK, files, "written");
};

const foldersOf = (where: Where): readonly string[] =>
  where.natsUrl === undefined
    ? [`DATA_DIR ${where.dataDir}`, ownBrokerFiles(where).directory]
    : [`DATA_DIR ${where.dataDir}`];

/** What does not exist is no reason. */
const refusalOf = async (
  mode: number,
  names: readonly string[],
  what: string,
): Promise<string | undefined> => {
  for (const name of names) {
    const detail = await access(name.replace(/^DATA_DIR /, ""), mode)
      .then(() => undefined, missingAs(undefined))
      .catch(messageOf);
    if (detail !== undefined) return `${name} cannot be ${what}: ${detail}`;
  }
  return undefined;
};

export const AS_ITS_USER = "Run it as the user that runs the service.";
export const BELONGS_TO_ITS_USER = "The user that runs the service must own it and the files beside it.";
