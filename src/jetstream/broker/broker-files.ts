/** The files of the broker's directory, and how files with secrets are written. */
import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ACCOUNT_OF } from "../../../streams/permissions.ts";

export interface BrokerFiles {
  readonly directory: string;
  /** The streams. Everything else here can be deleted while nothing runs. */
  readonly store: string;
  /** Inside it, the streams of the service's account. */
  readonly account: string;
  readonly configuration: string;
  readonly credentials: string;
  /** URL for the `consumer` user, for people: `nats sub --server "$(cat consumer.url)" 'audit.>'`. */
  readonly consumerUrl: string;
  /** The port of the last run, retried at the next start. */
  readonly port: string;
  /** Names the folder in memory of the last run, so that the next run can remove it. */
  readonly staging: string;
  readonly log: string;
  /** Output of the server before it has opened its log. */
  readonly startLog: string;
  /** Belongs to one run of the server and is emptied before the next. */
  readonly run: string;
  readonly pid: string;
}

export const brokerFiles = (directory: string): BrokerFiles => ({
  directory,
  store: join(directory, "store"),
  account: join(directory, "store", "jetstream", ACCOUNT_OF.service),
  configuration: join(directory, "nats-server.conf"),
  credentials: join(directory, "credentials.json"),
  consumerUrl: join(directory, "consumer.url"),
  port: join(directory, "port"),
  staging: join(directory, "staging"),
  log: join(directory, "nats-server.log"),
  startLog: join(directory, "nats-server.start.log"),
  run: join(directory, "run"),
  pid: join(directory, "run", "nats-server.pid"),
});

/** Only the owner can read the file, and a reader sees the old text or the new, never half. */
export const writePrivateFile = async (path: string, text: string): Promise<void> => {
  const unfinished = `${path}.new`;
  await writeFile(unfinished, text, { mode: 0o600 });
  await rename(unfinished, path);
};

/** Undefined if there was no run, or a power failure has damaged the file. */
export const readLastPort = async (files: BrokerFiles): Promise<number | undefined> => {
  const port = Number.parseInt(await readFile(files.port, "utf8").catch(() => ""), 10);
  return port > 0 && port < 65_536 ? port : undefined;
};
