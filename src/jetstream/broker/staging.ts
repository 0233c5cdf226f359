/**
 * Stages atomic batches in memory, on a machine that has a folder for it. With one replica nats-server 2.15.1 makes a store of files for
 * each batch below its stream, syncs it five times and deletes it after the commit (`newBatchStore`, jetstream_batching.go). None of these
 * files survives a start of the server, and what is acknowledged is synced in the stream itself. So a link into memory in their place saves
 * all syncs but that one. Best effort: without the link the server uses the disk.
 */
import {
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  statfs,
  symlink,
  writeFile,
} from "node:fs/promises";
import { dirname, join } from "node:path";
import { topology } from "../../../streams/topology.ts";
import { COMMIT_BYTES_MAX, COMMITS_IN_FLIGHT_MAX } from "../../limits.ts";
import type { Logger } from "../../telemetry/logger.ts";
import { type BrokerFiles, writePrivateFile } from "./broker-files.ts";

const MEMORY_FOLDER = "/dev/shm";
const FOLDER_PREFIX = join(MEMORY_FOLDER, "prooftrail-batches-");
/** TMPFS_MAGIC of statfs(2). */
const MEMORY_FILE_SYSTEM = 0x01021994;
/** The commits of a service, and as much again for everything else that appends. A container has 64 MiB there by default. */
const FREE_BYTES_AT_START = 2 * COMMITS_IN_FLIGHT_MAX * COMMIT_BYTES_MAX;
/** With less, the commits in flight and their headers may not fit, and the server would refuse them. */
const FREE_BYTES_MIN = 1.5 * COMMITS_IN_FLIGHT_MAX * COMMIT_BYTES_MAX;
/** One batch needs six files and folders. */
const FREE_FILES_MIN = 100;
const WATCH_MS = 1000;

const STREAMS = topology({ replicas: 1 })
  .filter(({ settings }) => settings.storage === "file" && settings.allow_atomic)
  .map(({ name }) => name);

export interface Staging {
  /**
   * Makes missing links: a server removes them when it recovers its streams, and a new stream has none. If others fill the memory the links
   * are removed again, and batches go to the disk until the server is restarted.
   */
  link(): Promise<void>;
  /** Call it while no server runs: the staged batches of a killed one are useless and take memory. */
  clear(): Promise<void>;
  /** Call it when the server has ended. */
  remove(): Promise<void>;
}

export const prepareStaging = async (files: BrokerFiles, logger: Logger): Promise<Staging> => {
  await removeLeftover(files);
  const folder = await makeFolder(files);
  if (folder === undefined) return { link: async () => {}, clear: async () => {}, remove: async () => {} };
  const links = STREAMS.map((stream) => ({
    target: join(folder, stream),
    path: join(files.account, "streams", stream, "batches"),
  }));
  // An old link may lead nowhere, or to another service.
  await Promise.all(links.map(({ path }) => removeLink(path)));
  /**
   * Others may remove the folders: systemd does at the end of a user's last session (RemoveIPC of logind.conf). The server would refuse
   * every batch then.
   */
  const areTargetsThere = async (): Promise<boolean> => {
    const areThere = links.map(({ target }) =>
      stat(target).then(
        (found) => found.isDirectory(),
        () => false,
      ),
    );
    return (await Promise.all(areThere)).every(Boolean);
  };
  const watch = async (): Promise<void> => {
    const hasMemory = await hasRoom(FREE_BYTES_MIN);
    if (hasMemory && (await areTargetsThere())) return;
    const removed = await Promise.all(links.map(({ path }) => removeLink(path)));
    if (!removed.includes(true)) return;
    if (hasMemory)
      logger.warn("batches are staged on disk until the service is started again", {
        detail: `somebody has removed ${folder}`,
      });
    else
      logger.warn("batches are staged on disk until the broker is started again", {
        detail: `others have filled ${MEMORY_FOLDER}`,
      });
  };
  const timer = setInterval(() => void watch(), WATCH_MS);
  return {
    link: async () => {
      if (!(await hasRoom(FREE_BYTES_AT_START)) || !(await areTargetsThere())) return;
      for (const { target, path } of links)
        await symlink(target, path, "dir").catch(() => {
          // The stream does not exist yet, or the server has already staged a batch on disk.
        });
    },
    clear: async () => {
      for (const { target } of links)
        for (const name of await readdir(target).catch(() => []))
          await rm(join(target, name), { recursive: true, force: true }).catch(() => {});
    },
    remove: async () => {
      clearInterval(timer);
      await Promise.all(links.map(({ path }) => removeLink(path)));
      await rm(folder, { recursive: true, force: true });
      await rm(files.staging, { force: true });
    },
  };
};

/** Undefined if there is no such memory, or it may not be used. */
const makeFolder = async (files: BrokerFiles): Promise<string | undefined> => {
  try {
    if (!(await hasRoom(FREE_BYTES_AT_START))) return undefined;
    // Readable by its owner only, because it contains events.
    const folder = await mkdtemp(FOLDER_PREFIX);
    await writePrivateFile(files.staging, folder);
    await writeFile(join(folder, OWNER), files.directory);
    await Promise.all(STREAMS.map((stream) => mkdir(join(folder, stream))));
    return folder;
  } catch {
    return undefined;
  }
};

/** File in the folder that names its owner. A copied DATA_DIR names the folder of the original service, which may be running. */
const OWNER = "owner";

/** Removes the folder of a killed run. If it cannot be removed it stays: that is no reason not to start. */
const removeLeftover = async (files: BrokerFiles): Promise<void> => {
  const folder = await readFile(files.staging, "utf8").catch(() => "");
  if (!folder.startsWith(FOLDER_PREFIX) || dirname(folder) !== MEMORY_FOLDER) return;
  const owner = await readFile(join(folder, OWNER), "utf8").catch(() => "");
  if (owner === files.directory) await rm(folder, { recursive: true, force: true }).catch(() => {});
};

const hasRoom = async (bytes: number): Promise<boolean> => {
  try {
    const { type, bavail, bsize, files, ffree } = await statfs(MEMORY_FOLDER);
    // 0 means no limit on files.
    const takesFiles = files === 0 || ffree >= FREE_FILES_MIN;
    return type === MEMORY_FILE_SYSTEM && bavail * bsize >= bytes && takesFiles;
  } catch {
    return false;
  }
};

/** Whether there was a link. A folder that the server made stays. */
const removeLink = async (path: string): Promise<boolean> => {
  try {
    if (!(await lstat(path)).isSymbolicLink()) return false;
    await rm(path);
    return true;
  } catch {
    return false;
  }
};
