/** The broker's directory: its files, the passwords in them, and the lock that lets one process at a time use it. */
import { randomBytes } from "node:crypto";
import { accessSync, constants, existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { open, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { ACCOUNT_OF, type BrokerUser } from "../../../streams/permissions.ts";
import { missingAs, replaceDurably } from "../../runtime/durable-file.ts";
import { messageOf } from "../../runtime/error-text.ts";
import { BrokerRefusedError } from "../connection.ts";

export type BrokerFiles = ReturnType<typeof brokerFiles>;

export const brokerFiles = (directory: string) => ({
  directory,
  store: join(directory, "store"),
  account: join(directory, "store", "jetstream", ACCOUNT_OF.service),
  configuration: join(directory, "nats-server.conf"),
  credentials: join(directory, "credentials.json"),
  /** URL for the `consumer` user, for people: `nats sub --server "$(cat consumer.url)" 'audit.>'`. */
  consumerUrl: join(directory, "consumer.url"),
  port: join(directory, "port"),
  log: join(directory, "nats-server.log"),
  startLog: join(directory, "nats-server.start.log"),
  run: join(directory, "run"),
  pid: join(directory, "run", "nats-server.pid"),
});

export const readLastPort = async (files: BrokerFiles): Promise<number | undefined> => {
  const port = Number.parseInt(await readFile(files.port, "utf8").catch(() => ""), 10);
  return port > 0 && port < 65_536 ? port : undefined;
};

const PROBE_BYTES = 4 * 1024 * 1024;

/** Whether the disk takes bytes. Tested by writing some, because free space and quotas are counted in too many ways. */
export const diskTakesBytes = async ({ directory }: BrokerFiles): Promise<boolean> => {
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

export type BrokerCredentials = Readonly<Record<BrokerUser, string>>;

const PASSWORD_BYTES = 24;

/** The passwords in `path`, or new ones, stored there so that internal consumers survive a restart. Throws BrokerRefusedError. */
export const loadCredentials = async (path: string): Promise<BrokerCredentials> => {
  const text = await readFile(path, "utf8")
    .catch(missingAs(undefined))
    .catch((error: unknown) => {
      throw new BrokerRefusedError(
        `${path} cannot be read: ${messageOf(error)}. The user that runs the service must own it.`,
      );
    });
  const passwordOf = (user: BrokerUser): string => {
    // No character of base64url has a meaning in a URL or in the broker's configuration.
    if (text === undefined) return randomBytes(PASSWORD_BYTES).toString("base64url");
    const kept = new RegExp(`"${user}": ?"([\\w-]+)"`).exec(text)?.[1];
    if (kept !== undefined) return kept;
    throw new BrokerRefusedError(
      `${path} has no password for ${user}. Remove the file: new ones are created, and consumer.url changes with them.`,
    );
  };
  const credentials: BrokerCredentials = {
    service: passwordOf("service"),
    provisioner: passwordOf("provisioner"),
    consumer: passwordOf("consumer"),
  };
  if (text === undefined) await replaceDurably(path, `${JSON.stringify(credentials, null, 2)}\n`);
  return credentials;
};

export const brokerUrl = (user: BrokerUser, credentials: BrokerCredentials, port: number): string =>
  `nats://${user}:${credentials[user]}@127.0.0.1:${port}`;

/** SQLite's text for SQLITE_BUSY. Deno 2.9 gives no number with it, Bun and Node do. */
const BUSY_MESSAGE = "database is locked";

/**
 * Two brokers on one store would write over each other. The lock is a transaction on a SQLite file: the kernel drops it when the owner dies, and
 * Bun, Deno and Node share it. Returns how to release it; throws BrokerRefusedError.
 */
export const lockInstance = (directory: string): (() => void) => {
  const note = join(directory, "instance.pid");
  const path = join(directory, "instance.lock");
  // On a read-only file SQLite would begin without a lock and not report it; and it does not name a file that it cannot open.
  if (existsSync(path)) accessSync(path, constants.R_OK | constants.W_OK);
  const database = new DatabaseSync(path);
  try {
    // The transaction never writes, and on a full disk there is no room for its journal.
    database.exec("PRAGMA journal_mode = MEMORY");
    database.exec("BEGIN EXCLUSIVE");
  } catch (error) {
    database.close();
    if (!(error instanceof Error && error.message.includes(BUSY_MESSAGE))) throw error;
    // The owner may not have written its note yet.
    const pid = existsSync(note) ? Number.parseInt(readFileSync(note, "utf8"), 10) : Number.NaN;
    const owner = Number.isInteger(pid) ? `process ${pid}` : "another process";
    throw new BrokerRefusedError(
      `${directory} is in use by ${owner}. Two services cannot share one DATA_DIR: stop the other one, or give this one its own DATA_DIR and PORT.`,
    );
  }
  writeNote(note);
  return () => {
    // Before the lock is released: afterwards the note may already be the next owner's.
    rmSync(note, { force: true });
    database.close();
  };
};

/** Only a refused process reads the note, so a full disk is no reason not to lock. */
const writeNote = (path: string): void => {
  try {
    writeFileSync(path, `${process.pid}\n`);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ENOSPC")) throw error;
  }
};
