/** The folder of DATA_DIR. */
import { access, constants, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { missingAs } from "../files/durable-file.ts";
import { type BrokerFiles, brokerFiles } from "../jetstream/broker/broker-files.ts";
import type { Config } from "./config.ts";

/** It cannot be used. The message is for the operator. */
export class DataFolderRefusedError extends Error {
  override readonly name = "DataFolderRefusedError";
}

/** Makes it where it is not there. Throws DataFolderRefusedError. */
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

/** What our own broker keeps there. */
export const ownBrokerFiles = ({ dataDir }: Pick<Config, "dataDir">): BrokerFiles =>
  brokerFiles(join(dataDir, "broker"));

export const isThere = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

/**
 * Why this user may not look into what is there of a service: all that is in it would seem not to be. A DATA_DIR that was there before may be open to everybody,
 * as systemd and mkdir make one; the folder of the broker in it is not.
 */
export const closedFolder = async ({
  dataDir,
  natsUrl,
  databaseUrl,
}: Pick<Config, "dataDir" | "natsUrl" | "databaseUrl">): Promise<string | undefined> => {
  if (natsUrl !== undefined && databaseUrl !== undefined) return undefined;
  const closed = await closedReason(`DATA_DIR ${dataDir}`, dataDir);
  const broker = ownBrokerFiles({ dataDir }).directory;
  return closed ?? (natsUrl === undefined ? closedReason(broker, broker) : undefined);
};

/** Why no start of this user's can write what it keeps there: another may look into it, and all seems well. */
export const readOnlyFolder = async ({
  dataDir,
  natsUrl,
}: Pick<Config, "dataDir" | "natsUrl">): Promise<string | undefined> => {
  const places = natsUrl === undefined ? [dataDir, ownBrokerFiles({ dataDir }).directory] : [dataDir];
  for (const path of places) {
    const detail = await refusalTo(constants.W_OK | constants.X_OK, path);
    if (detail !== undefined) return `${path} cannot be written: ${detail}`;
  }
  return undefined;
};

const closedReason = async (name: string, path: string): Promise<string | undefined> => {
  const detail = await refusalTo(constants.R_OK | constants.X_OK, path);
  return detail && `${name} cannot be looked into: ${detail}`;
};

/** Of what is not there, none. */
const refusalTo = (mode: number, path: string): Promise<string | undefined> =>
  access(path, mode)
    .then(() => undefined, missingAs(undefined))
    .catch((error: unknown) => (error instanceof Error ? error.message : String(error)));

export const AS_ITS_USER = "Run it as the user that runs the service.";
