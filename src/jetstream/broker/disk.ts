import { open, rm } from "node:fs/promises";
import { join } from "node:path";

/** Enough for a server to start and for a stream to write on. */
const PROBE_BYTES = 4 * 1024 * 1024;

/** Whether the disk of a directory takes bytes. Tested by writing some, because free space and quotas are counted in too many ways. */
export const diskTakesBytes = async (directory: string): Promise<boolean> => {
  const path = join(directory, "disk.probe");
  try {
    await using file = await open(path, "w", 0o600);
    await file.writeFile(new Uint8Array(PROBE_BYTES).fill(1));
    await file.sync();
    return true;
  } catch {
    return false;
  } finally {
    // On a disk that became read-only nothing can be removed either.
    await rm(path, { force: true }).catch(() => {});
  }
};
