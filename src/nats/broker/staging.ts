/**
 * Stages atomic batches in memory. With one replica nats-server 2.15.1 makes a store of files for each batch, syncs it five times and deletes it
 * after the commit (`newBatchStore`, jetstream_batching.go); none survives a start. A link into memory saves these syncs. Best effort: without it
 * the server uses the disk.
 */
import { lstat, mkdir, rm, stat, statfs, symlink } from "node:fs/promises";
import { join } from "node:path";
import { topology } from "../../../streams/topology.ts";
import { COMMIT_BYTES_MAX, COMMITS_IN_FLIGHT_MAX } from "../../limits.ts";
import type { Logger } from "../../telemetry/logger.ts";
import type { BrokerFiles } from "./broker-files.ts";

const MEMORY_FOLDER = "/dev/shm";
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

/** For one run of a server: the batches that a killed one has staged are useless. */
export interface Staging {
  /** Makes missing links: a server removes them when it recovers its streams, and a new stream has none. */
  link(): Promise<void>;
  remove(): Promise<void>;
}

/** In memory; named by what no other directory of this machine has, and no copy of it, so that the next run finds what a killed one left. */
export const stagingFolder = async (directory: string): Promise<string> => {
  const { dev, ino } = await stat(directory);
  return join(MEMORY_FOLDER, `prooftrail-batches-${dev}-${ino}`);
};

export const prepareStaging = async (files: BrokerFiles, logger: Logger): Promise<Staging> => {
  const folder = await stagingFolder(files.directory);
  const links = STREAMS.map((stream) => ({
    target: join(folder, stream),
    path: join(files.account, "streams", stream, "batches"),
  }));
  const targets = links.map(({ target }) => target);
  const removeLinks = () => Promise.all(links.map(({ path }) => removeLink(path)));
  if (!(await makeFolder(folder, targets))) return { link: async () => {}, remove: async () => {} };
  // An old link may lead nowhere, or to another service.
  await removeLinks();
  const watch = async (): Promise<void> => {
    const isFull = !(await hasRoom(FREE_BYTES_MIN));
    if (!isFull && (await areFolders(targets))) return;
    if (!(await removeLinks()).includes(true)) return;
    const detail = isFull ? `others have filled ${MEMORY_FOLDER}` : `somebody has removed ${folder}`;
    logger.warn("batches are staged on disk until the broker restarts", { detail });
  };
  const timer = setInterval(() => void watch(), WATCH_MS);
  return {
    link: async () => {
      if (!(await hasRoom(FREE_BYTES_AT_START)) || !(await areFolders(targets))) return;
      for (const { target, path } of links)
        await symlink(target, path, "dir").catch(() => {
          // The stream does not exist yet, or the server has already staged a batch on disk.
        });
    },
    remove: async () => {
      clearInterval(timer);
      await removeLinks();
      await rm(folder, { recursive: true, force: true });
    },
  };
};

/** Whether there is such memory, and it may be used. Removes what a killed run has left. */
const makeFolder = async (folder: string, targets: readonly string[]): Promise<boolean> => {
  try {
    await rm(folder, { recursive: true, force: true });
    if (!(await hasRoom(FREE_BYTES_AT_START))) return false;
    // Readable by its owner only, because it contains events; and not recursively, because another user's folder of this name is not taken.
    await mkdir(folder, { mode: 0o700 });
    for (const target of targets) await mkdir(target);
    return true;
  } catch {
    return false;
  }
};

/** Others may remove the folders: systemd does at the end of a user's last session (RemoveIPC of logind.conf). */
const areFolders = async (paths: readonly string[]): Promise<boolean> => {
  const found = await Promise.all(paths.map((path) => stat(path).catch(() => undefined)));
  return found.every((folder) => folder?.isDirectory());
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

const removeLink = async (path: string): Promise<boolean> => {
  try {
    if (!(await lstat(path)).isSymbolicLink()) return false;
    await rm(path);
    return true;
  } catch {
    return false;
  }
};
