/** Syncs written files, one sync at a time. Whatever is written during a sync is part of the next one, so that many events share it. */
import { closeSync, fdatasync } from "node:fs";
import { open } from "node:fs/promises";
import { setImmediate } from "node:timers";
import { codeOf } from "./error-code.ts";
import { textOf } from "./error-text.ts";
import { isMissing } from "./is-missing.ts";
import type { Synced } from "./outbox.ts";

export interface OpenFile {
  readonly fd: number;
  readonly path: string;
  /** Nothing in it waits to be sent any more, so it may have been removed. */
  readonly isSettled: boolean;
  /**
   * What was written to the file may never reach the disk. The sync is not retried: the kernel reports the failure once, then treats the bytes as
   * written, and the next sync succeeds without them (fsync(2); P. Alvaro et al., "Can Applications Recover from fsync Failures?", USENIX ATC 2020).
   */
  onUnsynced(reason: string): void;
}

export class FileSync {
  readonly #directory: string;
  readonly #onFailure: (reason: string) => void;
  readonly #written = new Set<OpenFile>();
  readonly #done = new Set<OpenFile>();
  #hasNewFiles = false;
  #syncingFile: OpenFile | undefined;
  #syncing: Promise<Synced> | undefined;
  #next: Promise<Synced> | undefined;
  #isPlanned = false;

  /** `onFailure` is called for failed syncs that no caller waits for. */
  constructor(directory: string, onFailure: (reason: string) => void) {
    this.#directory = directory;
    this.#onFailure = onFailure;
  }

  get isDue(): boolean {
    return this.#written.size > 0 || this.#done.size > 0 || this.#hasNewFiles;
  }

  /** Whether the file is being synced, so that a write to it would have to wait. */
  isBusy(file: OpenFile): boolean {
    return file === this.#syncingFile;
  }

  /** The file has bytes that are not on the disk yet. */
  written(file: OpenFile): void {
    this.#written.add(file);
  }

  /** A file was made in the folder. */
  made(): void {
    this.#hasNewFiles = true;
  }

  /** The file is complete: it is closed after the next sync. */
  finished(file: OpenFile): void {
    this.#done.add(file);
  }

  /** Syncs after this turn of the event loop. Events captured in one turn share a sync, and the caller does not pay for it. */
  syncSoon(): void {
    if (this.#isPlanned) return;
    this.#isPlanned = true;
    setImmediate(() => {
      this.#isPlanned = false;
      void this.syncQuietly();
    });
  }

  /**
   * Syncs if there is something to sync, and reports a failure to `onFailure`. Always waits for a sync under way, because a client that closes its
   * outbox gives its folder away.
   */
  async syncQuietly(): Promise<void> {
    if (!this.isDue) {
      await this.#syncing;
      return;
    }
    const synced = await this.sync();
    if (synced.kind === "failed") this.#onFailure(`The outbox could not be synced: ${synced.reason}`);
  }

  /** Syncs everything that was written before the call, except for files whose earlier sync failed. */
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
    const attempt = async (
      action: () => void | Promise<void>,
      onFailure: (reason: string) => void,
    ): Promise<void> => {
      try {
        await action();
      } catch (error) {
        const reason = textOf(error);
        failed ??= { kind: "failed", reason };
        onFailure(reason);
      }
    };
    for (const file of files) {
      this.#syncingFile = file;
      await attempt(
        () => syncFile(file),
        (reason) => file.onUnsynced(reason),
      );
    }
    this.#syncingFile = undefined;
    if (hasNewFiles)
      await attempt(
        () => syncFolder(this.#directory),
        () => this.made(),
      );
    for (const file of done) {
      this.#written.delete(file);
      // Some file systems report only now what they could not write (close(2)).
      await attempt(
        () => closeSync(file.fd),
        (reason) => file.onUnsynced(reason),
      );
    }
    return failed ?? { kind: "synced" };
  }
}

const syncFile = async (file: OpenFile): Promise<void> => {
  try {
    await new Promise<void>((resolve, reject) =>
      fdatasync(file.fd, (error) => (error ? reject(error) : resolve())),
    );
  } catch (error) {
    // Node with --permission, which lets a program sync what it has opened by a path, and no file that is a number (measured on 20.20, 22.0 and 24.21).
    if (codeOf(error) !== "ERR_ACCESS_DENIED") throw error;
    await syncByPath(file.path, "r+").catch((missing: unknown) => {
      if (!(isMissing(missing) && file.isSettled)) throw missing;
    });
  }
};

/** After a power failure a new file exists only if its folder was synced too. */
const syncFolder = (directory: string): Promise<void> => syncByPath(directory, "r");

const syncByPath = async (path: string, flags: "r" | "r+"): Promise<void> => {
  const handle = await open(path, flags);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
};
