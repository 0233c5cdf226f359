/** One run of nats-server: start it, wait until it serves JetStream, end it. Not for restarting: see supervise.ts. */
import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { mkdir, readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Logger } from "../../telemetry/logger.ts";
import { type BrokerFiles, writePrivateFile } from "./broker-files.ts";
import { configure } from "./configure.ts";
import type { BrokerCredentials } from "./credentials.ts";
import { readBrokerPid } from "./leftover.ts";
import { readServerInfo } from "./server-info.ts";
import { SHIM } from "./shim.ts";
import type { Staging } from "./staging.ts";

/** How long a server may take to recover its streams at the first start: well past the seconds that a large store takes. */
export const READY_MS_MAX = 120_000;
const STILL_STARTING_MS = 5000;
const POLL_MS = 20;
/** From the request to stop to SIGKILL. DESIGN 2 gives the whole service 10 s, of which requests may take five. */
const STOP_MS_MAX = 3000;
const LOG_TAIL_CHARACTERS = 2000;

export interface LaunchOptions {
  readonly binary: string;
  readonly files: BrokerFiles;
  readonly credentials: BrokerCredentials;
  readonly port: number | undefined;
  readonly staging: Staging;
  readonly logger: Logger;
  /** After this the server is ended. Undefined: waits as long as it lives. */
  readonly readyMsMax: number | undefined;
  readonly signal: AbortSignal;
}

export interface RunningServer {
  readonly pid: number;
  readonly port: number;
  readonly version: string;
  /** Resolves with what happened, in words, once the shim has ended. */
  readonly ended: Promise<string>;
  /** Marks the server as one whose writes at its end would be wrong: from now on it is killed, whoever ends it. */
  distrust(): void;
  /** Asks it to end, and kills it when it does not. Resolves when it has ended. */
  end(): Promise<void>;
}

type LaunchOutcome =
  | { readonly kind: "ready"; readonly server: RunningServer }
  | { readonly kind: "failed"; readonly reason: string };

export const launch = async (options: LaunchOptions): Promise<LaunchOutcome> => {
  const { files, credentials, port, staging } = options;
  await staging.clear();
  await rm(files.run, { recursive: true, force: true });
  await mkdir(files.run, { recursive: true, mode: 0o700 });
  await writePrivateFile(files.configuration, configure({ files, credentials, port }));
  const child = startShim(options);
  const shim = { child, ended: endOf(child) };
  const ready = await waitUntilReady(options, shim.ended);
  if (typeof ready !== "string") {
    const distrust = (): void => void child.stdin?.write("wrong\n");
    return { kind: "ready", server: { ...ready, ended: shim.ended, distrust, end: () => endShim(shim) } };
  }
  await endShim(shim);
  return { kind: "failed", reason: `${ready}${await logTail(files)}` };
};

const startShim = ({ binary, files }: LaunchOptions): ChildProcess => {
  const startLog = openSync(files.startLog, "w", 0o600);
  try {
    const server = [binary, "-c", files.configuration];
    return spawn("/bin/sh", ["-c", SHIM, "prooftrail-broker", files.log, ...server], {
      cwd: files.directory,
      // Its own process group: Ctrl-C in the terminal must not end the broker before the service has finished.
      detached: true,
      // The server needs none of our environment, which holds secrets.
      env: { PATH: process.env.PATH ?? "/usr/bin:/bin" },
      stdio: ["pipe", startLog, startLog],
    });
  } finally {
    closeSync(startLog);
  }
};

const endOf = (child: ChildProcess): Promise<string> =>
  new Promise((resolve) => {
    child.once("error", (error) => resolve(`it could not be started: ${error.message}`));
    child.once("exit", (code, signal) =>
      resolve(signal === null ? `exit status ${code}` : `signal ${signal}`),
    );
    child.stdin?.on("error", () => {
      // The other end is gone, which `exit` reports too.
    });
  });

/** Address of the server, or the reason why there is none. */
const waitUntilReady = async (
  { files, staging, logger, readyMsMax, signal }: LaunchOptions,
  ended: Promise<string>,
): Promise<{ pid: number; port: number; version: string } | string> => {
  const startedMs = performance.now();
  let saidMs = startedMs;
  let end: string | undefined;
  void ended.then((how) => {
    end = how;
  });
  for (;;) {
    // In every round, so that the links exist before clients do: the server removes them while it recovers its streams, and listens after
    // that.
    await staging.link();
    const server = await findServer(files);
    if (server !== undefined) {
      // The last stream may have been recovered since.
      await staging.link();
      return server;
    }
    if (end !== undefined) return `nats-server ended before it was ready (${end})`;
    if (signal.aborted) return "stopped while it was starting";
    const nowMs = performance.now();
    if (readyMsMax !== undefined && nowMs - startedMs > readyMsMax) {
      return `nats-server was not ready after ${readyMsMax / 1000} s`;
    }
    if (nowMs - saidMs > STILL_STARTING_MS) {
      saidMs = nowMs;
      logger.info("the broker is still starting", { duration_ms: Math.round(nowMs - startedMs) });
    }
    await delay(POLL_MS);
  }
};

/** The server writes its ports file when it listens, and it listens once JetStream has recovered. */
const findServer = async (files: BrokerFiles) => {
  const portsFile = (await readdir(files.run)).find((name) => name.endsWith(".ports"));
  if (portsFile === undefined) return undefined;
  const port = Number(
    /"nats:\/\/127\.0\.0\.1:(\d+)"/.exec(await readFile(join(files.run, portsFile), "utf8"))?.[1],
  );
  const pid = await readBrokerPid(files);
  if (!Number.isInteger(port) || pid === undefined) return undefined;
  const info = await readServerInfo(port);
  return info?.hasJetStream ? { pid, port, version: info.version } : undefined;
};

const endShim = async (shim: {
  readonly child: ChildProcess;
  readonly ended: Promise<string>;
}): Promise<void> => {
  // The shim still reads what was written before.
  shim.child.stdin?.end();
  const timer = new AbortController();
  const late = delay(STOP_MS_MAX, "late", { signal: timer.signal }).catch(() => "in time");
  if ((await Promise.race([shim.ended, late])) === "late") killGroup(shim.child);
  await shim.ended;
  timer.abort();
};

/** Shim, watcher and server at once: the group is theirs alone, since the shim was started detached. */
const killGroup = (child: ChildProcess): void => {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, "SIGKILL");
  } catch {
    // Gone in between.
  }
};

/** The end of this run's log, in whole lines, with advice if a file was not accessible. */
const logTail = async (files: BrokerFiles): Promise<string> => {
  const [early, log] = await Promise.all(
    [files.startLog, files.log].map((path) => readFile(path, "utf8").catch(() => "")),
  );
  // If there is output from before the log was opened, that is all of this run.
  const [said = "", path] = early?.trim() ? [early, files.startLog] : [log, files.log];
  const lines = said.trim().split("\n");
  const first = lines.findLastIndex((line) => line.includes(FIRST_LINE));
  const tail = lastLines(lines.slice(Math.max(0, first)).join("\n"));
  if (tail === "") return "";
  const advice = REFUSED_FILE.test(tail)
    ? `\nHave all of ${files.directory} belong to the user that runs the service.`
    : "";
  return `; the end of its log, ${path}:\n${tail}${advice}`;
};

const lastLines = (text: string): string => {
  const end = text.slice(-LOG_TAIL_CHARACTERS);
  return end.length < text.length ? end.slice(end.indexOf("\n") + 1) : end;
};

/** The first line of a run of nats-server 2.15.1. With another version more lines are shown. */
const FIRST_LINE = "Starting nats-server";

const REFUSED_FILE = /not writable|permission denied/;
