/**
 * Runs our own nats-server as a child process: on loopback, with its own passwords, alive exactly as long as we are (DESIGN 2). find.ts
 * finds the program.
 */
import { mkdir, realpath } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import type { BrokerUser } from "../../../streams/permissions.ts";
import type { Logger } from "../../telemetry/logger.ts";
import {
  type BrokerFiles,
  brokerFiles,
  brokerUrl,
  CredentialsError,
  diskTakesBytes,
  loadCredentials,
  lockInstance,
  readLastPort,
  writePrivateFile,
} from "./broker-files.ts";
import { isPortFree } from "./server-info.ts";
import { endLeftover, type LaunchOptions, launch, type RunningServer } from "./server-process.ts";
import { prepareStaging } from "./staging.ts";

/** How long a server may take to recover its streams at the first start: well past the seconds that a large store takes. */
const READY_MS_MAX = 120_000;
const RESTART_DELAY_MS_MIN = 100;
const RESTART_DELAY_MS_MAX = 5000;
/** A run that lasted this long was not part of a series of crashes. */
const STEADY_MS_MIN = 60_000;

interface BrokerOptions {
  /** Path of a nats-server that `findBroker` has accepted. */
  readonly binary: string;
  /** Everything the broker keeps; made when missing. */
  readonly directory: string;
  readonly logger: Logger;
}

export interface Broker extends AsyncDisposable {
  /** With the user's password. It never changes while this broker lives, even when the server crashes. */
  url(user: BrokerUser): string;
  readonly port: number;
  readonly version: string;
  /** Of the current nats-server; it changes after a crash. */
  readonly pid: number;
  /** Call it when streams were made, so that their batches are staged in memory if possible. */
  stageInMemory(): Promise<void>;
  /**
   * Resolves when the current nats-server is ready and its batches are staged in memory if possible. After a crash clients may reach the
   * next server a moment before that.
   */
  untilReady(): Promise<void>;
  /**
   * Restarts a server with a stream that could not write, unless the disk takes no bytes: then it would only be gone. Resolves when the
   * restart has begun.
   */
  revive(reason: string): Promise<void>;
  /** A stream may have failed to write: from now on the server is not ended in order; see shim.ts. */
  distrust(): void;
  /** Resolves when the server has ended and another process may use the directory. */
  stop(): Promise<void>;
}

/** Measured on 2.15.1; see reconcile.ts, too. */
const WHY_SPACE = "On a full disk a server leaves out the streams that it cannot recover. Free some space.";

/** The broker cannot be started. The message is for the operator. */
export class BrokerStartError extends Error {
  readonly code: "directory_in_use" | "disk_full" | "not_ready";
  constructor(code: BrokerStartError["code"], message: string) {
    super(message);
    this.code = code;
  }
}

/** Resolves when clients can connect and JetStream answers. Rejects with `BrokerStartError`, or with what the disk throws. */
export const startBroker = async ({ binary, directory, logger }: BrokerOptions): Promise<Broker> => {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const files = brokerFiles(await realpath(directory));
  const lock = lockInstance(files.directory);
  if (lock.kind === "in_use") {
    const owner = lock.pid === undefined ? "another process" : `process ${lock.pid}`;
    throw new BrokerStartError(
      "directory_in_use",
      `${files.directory} is in use by ${owner}. Two services cannot share one DATA_DIR: stop the other one, or give this one its own DATA_DIR and PORT.`,
    );
  }
  try {
    return await startLocked({ binary, files, logger, release: lock.release });
  } catch (error) {
    lock.release();
    throw error instanceof CredentialsError ? new BrokerStartError("not_ready", error.message) : error;
  }
};

interface LockedOptions extends Pick<LaunchOptions, "binary" | "files" | "logger"> {
  readonly release: () => void;
}

const startLocked = async ({ release, ...options }: LockedOptions): Promise<Broker> => {
  const { files, logger } = options;
  if (!(await diskTakesBytes(files)))
    throw new BrokerStartError(
      "disk_full",
      `The disk of ${files.directory} takes no more bytes. ${WHY_SPACE}`,
    );
  const credentials = await loadCredentials(files.credentials);
  await endLeftover(files, logger);
  const stopping = new AbortController();
  const staging = await prepareStaging(files, logger);
  const launchOptions = { ...options, credentials, staging, signal: stopping.signal };
  const first = await launchFirst({
    ...launchOptions,
    port: await lastPort(files),
    readyMsMax: READY_MS_MAX,
  });
  logger.info("the broker is ready", { pid: first.pid, detail: `nats-server ${first.version}` });
  const supervised = supervise({ ...launchOptions, port: first.port, readyMsMax: undefined }, first);
  const stop = async (): Promise<void> => {
    stopping.abort();
    await supervised.stopped;
    await staging.remove();
    release();
  };
  return {
    url: (user) => brokerUrl(user, credentials, first.port),
    port: first.port,
    version: first.version,
    get pid() {
      return supervised.current().pid;
    },
    stageInMemory: staging.link,
    untilReady: supervised.untilReady,
    revive: supervised.revive,
    distrust: supervised.distrust,
    stop,
    [Symbol.asyncDispose]: stop,
  };
};

const launchFirst = async (options: LaunchOptions): Promise<RunningServer> => {
  const { files, credentials, staging } = options;
  let server: RunningServer | undefined;
  try {
    const outcome = await launch(options);
    if (outcome.kind === "failed")
      throw new BrokerStartError("not_ready", `The broker did not start: ${outcome.reason}`);
    server = outcome.server;
    await writePrivateFile(files.port, `${server.port}\n`);
    await writePrivateFile(files.consumerUrl, `${brokerUrl("consumer", credentials, server.port)}\n`);
    return server;
  } catch (error) {
    await server?.end();
    await staging.remove();
    throw error;
  }
};

/** The port of the last run if it is free, so that URLs given to people stay right. */
const lastPort = async (files: BrokerFiles): Promise<number | undefined> => {
  const port = await readLastPort(files);
  return port !== undefined && (await isPortFree(port)) ? port : undefined;
};

/** Keeps a server running on the same port until `options.signal`, then ends it. */
const supervise = (options: LaunchOptions, first: RunningServer) => {
  const { files, logger, signal } = options;
  let server = first;
  let endedBecause: string | undefined;
  let ready = Promise.withResolvers<void>();
  ready.resolve();
  const aborted = new Promise<string>((resolve) =>
    signal.addEventListener("abort", () => resolve("stopped")),
  );
  const run = async (): Promise<void> => {
    let delayMs = RESTART_DELAY_MS_MIN;
    let startedMs = performance.now();
    for (;;) {
      const how = await Promise.race([server.ended, aborted]);
      ready = Promise.withResolvers<void>();
      await server.end();
      if (signal.aborted) return;
      if (endedBecause === undefined)
        logger.error("the broker ended by itself and is started again", { pid: server.pid, detail: how });
      else logger.warn("the broker is started again", { pid: server.pid, detail: endedBecause });
      endedBecause = undefined;
      if (performance.now() - startedMs > STEADY_MS_MIN) delayMs = RESTART_DELAY_MS_MIN;
      const next = await restart(options, delayMs);
      if (next === undefined) return;
      ({ server, delayMs } = next);
      ready.resolve();
      startedMs = performance.now();
      logger.info("the broker is back", { pid: server.pid });
    }
  };
  // If the shim was killed the server may still run; a stop waits for it too.
  const stopped = run().finally(() => {
    ready.resolve();
    return endLeftover(files, logger);
  });
  const distrust = (): void => server.distrust();
  const revive = async (reason: string): Promise<void> => {
    distrust();
    if (!(await diskTakesBytes(files))) return;
    endedBecause = reason;
    await server.end();
  };
  return { stopped, revive, distrust, untilReady: () => ready.promise, current: () => server };
};

/** Tries until a server runs again. Undefined if it was stopped meanwhile. */
const restart = async (options: LaunchOptions, firstDelayMs: number) => {
  const { files, logger, signal } = options;
  for (let delayMs = firstDelayMs; ; ) {
    await delay(delayMs, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return undefined;
    delayMs = Math.min(delayMs * 2, RESTART_DELAY_MS_MAX);
    try {
      await endLeftover(files, logger);
      if (!(await diskTakesBytes(files))) {
        logger.error("the broker is not started again on a full disk", { detail: WHY_SPACE });
        continue;
      }
      const outcome = await launch(options);
      if (outcome.kind === "ready") return { server: outcome.server, delayMs };
      if (!signal.aborted) logger.error("the broker did not start again", { detail: outcome.reason });
    } catch (error) {
      // A full or failing disk. It may recover; clients get 503 meanwhile.
      logger.error("the broker could not be started again", { detail: String(error) });
    }
  }
};
