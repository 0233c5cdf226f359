/**
 * One process per directory. Two brokers on one store would write over each other.
 * The lock is a transaction on a SQLite file, because the kernel drops it when the owner dies, however it dies,
 * and because it is the one such lock that Bun, Deno and Node share.
 */
import { accessSync, constants, existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

interface InstanceLock extends Disposable {
  release(): void;
}

type LockOutcome =
  | { readonly kind: "locked"; readonly lock: InstanceLock }
  /** `pid` is undefined if the owner has the lock but has not written its note yet. */
  | { readonly kind: "in_use"; readonly pid: number | undefined };

/** SQLite's text for SQLITE_BUSY. Deno 2.9 gives no number with it, Bun and Node do. */
const BUSY_MESSAGE = "database is locked";

/** The directory must exist. Throws only what the disk throws. */
export const lockInstance = (directory: string): LockOutcome => {
  const note = join(directory, "instance.pid");
  const path = join(directory, "instance.lock");
  // On a read-only file SQLite would begin without a lock and not report it. If it cannot open the file, it does not name it; this check
  // does.
  if (existsSync(path)) accessSync(path, constants.R_OK | constants.W_OK);
  const database = new DatabaseSync(path);
  try {
    // The transaction never writes, and on a full disk there is no room for its journal.
    database.exec("PRAGMA journal_mode = MEMORY");
    database.exec("BEGIN EXCLUSIVE");
  } catch (error) {
    database.close();
    if (!isBusy(error)) throw error;
    return { kind: "in_use", pid: readPid(note) };
  }
  writeNote(note);
  let isHeld = true;
  const release = (): void => {
    if (!isHeld) return;
    isHeld = false;
    // Before the lock is released: afterwards the note may already be the next owner's.
    rmSync(note, { force: true });
    database.close();
  };
  return { kind: "locked", lock: { release, [Symbol.dispose]: release } };
};

const isBusy = (error: unknown): boolean => error instanceof Error && error.message.includes(BUSY_MESSAGE);

/** Only a refused process reads the note, so a full disk is no reason not to lock. */
const writeNote = (path: string): void => {
  try {
    writeFileSync(path, `${process.pid}\n`);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ENOSPC")) throw error;
  }
};

const readPid = (path: string): number | undefined => {
  try {
    const pid = Number.parseInt(readFileSync(path, "utf8"), 10);
    return Number.isInteger(pid) ? pid : undefined;
  } catch {
    return undefined;
  }
};
