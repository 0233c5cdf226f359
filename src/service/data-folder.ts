/** The folder of DATA_DIR. */
import { access, constants, mkdir, realpath } from "node:fs/promises";
import { join } from "node:path";
import { type BrokerFiles, brokerFiles } from "../nats/broker/broker-files.ts";
import { missingAs } from "../runtime/durable-file.ts";
import { COPY_WITHIN, type Config, isWithin } from "./config.ts";

/** DATA_DIR cannot be used. The message is for the operator. */
export class DataFolderRefusedError extends Error {
  override readonly name = "DataFolderRefusedError";
}

/** Makes the folder if it is missing. Throws DataFolderRefusedError. */
export const makeDataFolder = async (path: string): Promise<void> => {
  try {
    await mkdir(path, { recursive: true, mode: 0o700 });
    await access(path, constants.W_OK | constants.X_OK);
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    throw new DataFolderRefusedError(
      `DATA_DIR ${path} cannot be used: ${detail}. Set DATA_DIR to a folder that this user may write, or to one that can be made.`,
    );
  }
};

/** A folder that is not mounted looks like one without heads, so it is never made here. Throws DataFolderRefusedError. */
export const checkHeadsCopy = async ({
  dataDir,
  headsCopy: path,
}: Pick<Config, "dataDir" | "headsCopy">): Promise<void> => {
  if (path === undefined) return;
  try {
    await access(path, constants.R_OK | constants.W_OK | constants.X_OK);
    // A link may lead into it.
    if (!isWithin(await realpath(dataDir), await realpath(path))) return;
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    throw new DataFolderRefusedError(
      `HEADS_COPY ${path} cannot be used: ${detail}. Mount it or make it, so that this user may read and write it.`,
    );
  }
  throw new DataFolderRefusedError(COPY_WITHIN);
};

/** What our own broker keeps there. */
export const ownBrokerFiles = ({ dataDir }: Pick<Config, "dataDir">): BrokerFiles =>
  brokerFiles(join(dataDir, "broker"));

type Where = Pick<Config, "dataDir" | "natsUrl">;

/**
 * Why this user may not read the service's files; otherwise they would all seem to be missing. DATA_DIR itself may be open to everybody, if
 * systemd or mkdir made it; the broker's folder in it is not.
 */
export const closedFolder = async (
  where: Where & Pick<Config, "databaseUrl">,
): Promise<string | undefined> =>
  where.natsUrl !== undefined && where.databaseUrl !== undefined
    ? undefined
    : refusalTo(constants.R_OK | constants.X_OK, where, "cannot be looked into");

/** Why a start by this user could not write here. Reading alone may be allowed, and then all seems well. */
export const readOnlyFolder = (where: Where): Promise<string | undefined> =>
  refusalTo(constants.W_OK | constants.X_OK, where, "cannot be written");

/** A folder that does not exist is no reason. */
const refusalTo = async (mode: number, where: Where, what: string): Promise<string | undefined> => {
  const { dataDir, natsUrl } = where;
  for (const path of natsUrl === undefined ? [dataDir, ownBrokerFiles(where).directory] : [dataDir]) {
    const detail = await access(path, mode)
      .then(() => undefined, missingAs(undefined))
      .catch((error: unknown) => (error instanceof Error ? error.message : String(error)));
    if (detail !== undefined) return `${path === dataDir ? "DATA_DIR " : ""}${path} ${what}: ${detail}`;
  }
  return undefined;
};

export const AS_ITS_USER = "Run it as the user that runs the service.";
