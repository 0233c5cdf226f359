/** Runs our own nats-server as a child process, on loopback, alive exactly as long as we are (DESIGN 2). */
import { mkdir, realpath } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import type { BrokerUser } from "../../../streams/permissions.ts";
import { replaceDurably } from "../../runtime/durable-file.ts";
import type { Logger } from "../../telemetry/logger.ts";
import { BrokerRefusedError } from "../connection.ts";
import {
  type BrokerFiles,
  brokerFiles,
  brokerUrl,
  diskTakesBytes,
  loadCredentials,
  lockInstance,
  readLastPort,
} from "./broker-files.ts";
import { isPortFree } from "./server-info.ts";
import { endLeftover, type LaunchOptions, launch, type RunningServer } from "./server-process.ts";

/** How long a server may take to recover its streams at the first start: well past the seconds that a large store takes. */
const READY_MS_MAX = 120_000;
const RESTART_DELAY_MS_MIN = 100;
const RESTART_DELAY_MS_MAX = 5000;
/** A run that lasted this long was not part of a series of crashes. */
const STEADY_MS_MIN = 60_000;

interface BrokerOptions {
  readonly binary: string;
  readonly directory: string;
  readonly logger: Logger;
}

export type Broker = Awaited<ReturnType<typeof startBroker>>;

const WHY_SPACE = "On a full disk a server leaves out the streams that it cannot recover. Free some space.";

/** Resolves when clients can connect and JetStream answers. Rejects with BrokerRefusedError, or with what the disk throws. */
export const startBroker = async ({ binary, directory, logger }: BrokerOptions) => {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const files = brokerFiles(await realpath(directory));
  await using undo = new AsyncDisposableStack();
  undo.defer(lockInstance(files.directory));
  if (!(await diskTakesBytes(files)))
    throw new BrokerRefusedError(`The disk of ${files.directory} accepts no more data. ${WHY_SPACE}`);
  const credentials = await loadCredentials(files.credentials);
  await endLeftover(files, logger);
  const stopping = new AbortController();
  const options = { binary, files, logger, credentials, signal: stopping.signal };
  const first = await launch({ ...options, port: await lastPort(files), readyMsMax: READY_MS_MAX });
  if (typeof first === "string") throw new BrokerRefusedError(`The broker did not start: ${first}`);
  undo.defer(first.end);
  await replaceDurably(files.port, `${first.port}\n`);
  await replaceDurably(files.consumerUrl, `${brokerUrl("consumer", credentials, first.port)}\n`);
  logger.info("the broker is ready", { pid: first.pid, detail: `nats-server ${first.version}` });
  const supervised = supervise({ ...options, port: first.port, readyMsMax: undefined }, first);
  const started = undo.move();
  const stop = async (): Promise<void> => {
    stopping.abort();
    await supervised.stopped;
    await started.disposeAsync();
  };
  return {
    /** With the user's password. It never changes while this broker lives, even when the server crashes. */
    url: (user: BrokerUser): string => brokerUrl(user, credentials, first.port),
    port: first.port,
    version: first.version,
    get pid() {
      return supervised.current().pid;
    },
    stageInMemory: () => supervised.current().stageInMemory(),
    /** Resolves when the current nats-server is ready. After a crash clients may reach the next one a moment before that. */
    untilReady: supervised.untilReady,
    /** Restarts a server with a stream that could not write, unless the disk takes no bytes. Resolves when the restart has begun. */
    revive: supervised.revive,
    /** A stream may have failed to write: from now on the server is not stopped cleanly (SHIM in server-process.ts). */
    distrust: supervised.distrust,
    /** Resolves when the server has ended and another process may use the directory. */
    stop,
    [Symbol.asyncDispose]: stop,
  };
};

/** The port of the last run if it is free, so that URLs given to people stay right. */
const lastPort = async (files: BrokerFiles): Promise<number | undefined> => {
  const port = await readLastPort(files);
  return port !== undefined && (await isPortFree(port)) ? port : undefined;
};

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
        logger.error("the broker exited on its own; restarting it", { pid: server.pid, detail: how });
      else logger.warn("restarting the broker", { pid: server.pid, detail: endedBecause });
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

const restart = async (options: LaunchOptions, firstDelayMs: number) => {
  const { files, logger, signal } = options;
  for (let delayMs = firstDelayMs; ; ) {
    await delay(delayMs, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return undefined;
    delayMs = Math.min(delayMs * 2, RESTART_DELAY_MS_MAX);
    try {
      await endLeftover(files, logger);
      if (!(await diskTakesBytes(files))) {
        logger.error("not restarting the broker on a full disk", { detail: WHY_SPACE });
        continue;
      }
      const server = await launch(options);
      if (typeof server !== "string") return { server, delayMs };
      if (!signal.aborted) logger.error("the broker did not restart", { detail: server });
    } catch (error) {
      // A full or failing disk. It may recover; clients get 503 meanwhile.
      logger.error("the broker could not be restarted", { detail: String(error) });
    }
  }
};
