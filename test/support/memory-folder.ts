/**
 * Loaded before all tests (bunfig.toml): temporary folders are in memory if there is plenty of it, which saves a fifth of the
 * time of the suite (measured: 155 s on a disk, 124 in memory). Full, slow or missing disks are tested in scenes
 * of their own (test/chaos).
 */
import { readFileSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import process from "node:process";

const FOLDER = "/dev/shm";
/** The suite takes up to two gigabytes there. */
const FREE_BYTES_MIN = 8 * 1024 ** 3;

const hasRoom = (): boolean => {
  try {
    const { bavail, bsize } = statfsSync(FOLDER);
    const availableKb = Number(
      /^MemAvailable:\s+(\d+) kB$/m.exec(readFileSync("/proc/meminfo", "utf8"))?.[1],
    );
    return Math.min(bavail * bsize, availableKb * 1024) >= FREE_BYTES_MIN;
  } catch {
    return false;
  }
};

/** For files that must not be below /dev: Deno gives a program that may only read files nothing from there. */
export const diskFolder = (): string => process.env.PROOFTRAIL_TEST_DISK ?? tmpdir();

if (process.env.PROOFTRAIL_TEST_DISK === undefined && hasRoom()) {
  process.env.PROOFTRAIL_TEST_DISK = tmpdir();
  process.env.TMPDIR = FOLDER;
}
