import { open } from "node:fs/promises";

/** Writes until the disk is full: smaller and smaller pieces, because other writers may take the last bytes. */
export const fill = async (path: string): Promise<void> => {
  await using file = await open(path, "w");
  for (let size = 1024 * 1024; size >= 512; size /= 2) {
    const bytes = new Uint8Array(size).fill(1);
    while (await file.write(bytes).then(({ bytesWritten }) => bytesWritten === size, isFull));
  }
};

const isFull = (error: unknown): boolean => {
  if (error instanceof Error && "code" in error && error.code === "ENOSPC") return false;
  throw error;
};
