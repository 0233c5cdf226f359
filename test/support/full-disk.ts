import { open } from "node:fs/promises";
import { setTimeout as pause } from "node:timers/promises";

/** Writes until the disk is full: smaller and smaller pieces, because other writers may take the last bytes. Returns the bytes written. */
export const fill = async (path: string): Promise<number> => {
  await using file = await open(path, "a");
  let written = 0;
  for (let size = 1024 * 1024; size >= 512; size /= 2) {
    const bytes = new Uint8Array(size).fill(1);
    while (await file.write(bytes).then(({ bytesWritten }) => bytesWritten === size, isFull)) written += size;
  }
  return written;
};

/** Runs `work` on a full disk. Others delete files meanwhile, so the disk is filled again and again. */
export const whileDiskIsFull = async (path: string, work: () => Promise<void>): Promise<void> => {
  while ((await fill(path)) > 0) await pause(REFILL_MS);
  let isWorking = true;
  const refill = (async () => {
    while (isWorking) {
      await fill(path);
      await pause(REFILL_MS);
    }
  })();
  try {
    await work();
  } finally {
    isWorking = false;
    await refill;
  }
};

const REFILL_MS = 20;

const isFull = (error: unknown): boolean => {
  if (error instanceof Error && "code" in error && error.code === "ENOSPC") return false;
  throw error;
};
