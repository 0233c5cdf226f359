/** Views in SQLite on disks that are nearly full. */
import { expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { join, resolve } from "node:path";
import process from "node:process";
import { canMountDisk, mountDisk } from "../support/memory-disk.ts";
import { dataFolder } from "../support/process.ts";

const PROGRAMS = resolve(import.meta.dir, "../projections");

/** The words that the program prints; to it the folder is a separate disk. */
const onSmallDisk = async (program: string, mib: number): Promise<readonly string[]> => {
  await using folder = await dataFolder();
  await using disk = await mountDisk(folder.path, mib);
  const [command = "", ...before] = disk.enter;
  const own = [process.execPath, join(PROGRAMS, program), folder.path];
  const { stdout, stderr, status } = spawnSync(command, [...before, ...own], { encoding: "utf8" });
  if (status !== 0) throw new Error(`${program} ended with ${status}: ${stderr}`);
  return stdout.trim().split(" ");
};

const SMALL_DISK_MIB = 80;

test.skipIf(!(await canMountDisk()))(
  "on a small disk the WAL leaves room for the rows, whoever writes or reads for long, the rows leave some for the broker, and freed room is used again",
  async () => {
    const printed = await onSmallDisk("small-disk-program.ts", SMALL_DISK_MIB);
    const [failed, full = 0, freed = 0, left] = printed.map(Number);
    expect(failed).toBe(0);
    // Something else fills a third of the disk until it is full.
    expect(full).toBeGreaterThan(SMALL_DISK_MIB / 2);
    expect(freed).toBeGreaterThan(0.8 * SMALL_DISK_MIB);
    // Room for the broker.
    expect(left).toBeGreaterThan(4);
  },
);

/** The views need 23 MiB, and as much again if they were written in one commit. */
const NARROW_DISK_MIB = 35;

test.skipIf(!(await canMountDisk()))(
  "a projector far behind on a small disk writes only as much at once as fits, and continues after a rebuild that found no room",
  async () => {
    expect(await onSmallDisk("small-disk-catch-up-program.ts", NARROW_DISK_MIB)).toEqual(["failed", "0"]);
  },
);

test.skipIf(!(await canMountDisk()))(
  "on a nearly full disk a view is rebuilt in the room of the old one",
  async () => {
    const printed = await onSmallDisk("small-disk-remake-program.ts", NARROW_DISK_MIB);
    expect(printed).toEqual(["rebuilt", "committed"]);
  },
);
