/** Syncs what was written: one sync at a time, and whatever is written during one is in the next, so that many events share it. */
import { closeSync, fdatasync } from "node:fs";
import { open } from "node:fs/promises";
import { textOf } from "./error-text.ts";
import type { Synced } from "./outbox.ts";

export class FileSync {
  readonly #directory: string;
  readonly #written = new Set<number>();
  readonly #done = new Set<number>();
  #hasNewFiles = false;
  #syncingFd: number | undefined;
  #syncing: Promise<Synced> | undefined;
  #next: Promise<Synced> | undefined;

  constructor(directory: string) {
    this.#directory = directory;
  }

  get isDue(): boolean {
    return this.#written.size > 0 || this.#done.size > 0 || this.#hasNewFiles;
  }

  /** A write to it would have to wait. */
  isBusy(fd: number): boolean {
    return fd === this.#syncingFd;
  }

  /** The file has bytes that are not on the disk yet. */
  written(fd: number): void {
    this.#written.add(fd);
  }

  /** A file was made in the folder. */
  made(): void {
    this.#hasNewFiles = true;
  }

  /** Nothing more is written to the file: it is closed after the next sync. */
  finished(fd: number): void {
    this.#done.add(fd);
  }

  /** Of everything that was written before the call. */
  sync(): Promise<Synced> {
    if (!this.#syncing) {
      this.#syncing = this.#sync().finally(() => {
        this.#syncing = undefined;
      });
      return this.#syncing;
    }
    this.#next ??= this.#syncing.then(() => {
      this.#next = undefined;
      return this.sync();
    });
    return this.#next;
  }

  async #sync(): Promise<Synced> {
    const [files, done, hasNewFiles] = [[...this.#written], [...this.#done], this.#hasNewFiles];
    this.#written.clear();
    this.#done.clear();
    this.#hasNewFiles = false;
    let failed: Synced | undefined;
    const attempt = async (sync: () => Promise<void>, again: () => void): Promise<void> => {
      try {
        await sync();
      } catch (error) {
        failed ??= { kind: "failed", reason: textOf(error) };
        again();
      }
    };
    for (const fd of files) {
      this.#syncingFd = fd;
      // One that is closed below cannot be synced again.
      await attempt(
        () => syncFile(fd),
        () => void (done.includes(fd) || this.#written.add(fd)),
      );
    }
    this.#syncingFd = undefined;
    if (hasNewFiles)
      await attempt(
        () => syncFolder(this.#directory),
        () => this.made(),
      );
    for (const fd of done) {
      this.#written.delete(fd);
      closeSync(fd);
    }
    return failed ?? { kind: "synced" };
  }
}

const syncFile = (fd: number): Promise<void> =>
  new Promise((resolve, reject) => fdatasync(fd, (error) => (error ? reject(error) : resolve())));

/** A new file is there after a power failure only when its folder was synced too. */
const syncFolder = async (directory: string): Promise<void> => {
  const folder = await open(directory, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
};
