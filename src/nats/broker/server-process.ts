/** One run of nats-server: start it, wait until it serves JetStream, end it. Not for restarting: see supervise.ts. */
import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { mkdir, readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { replaceDurably } from "../../runtime/durable-file.ts";
import type { Logger } from "../../telemetry/logger.ts";
import type { BrokerCredentials, BrokerFiles } from "./broker-files.ts";
import { configure } from "./configure.ts";
import { runCommand } from "./run-command.ts";
import { readServerInfo } from "./server-info.ts";
import { prepareStaging, type Staging } from "./staging.ts";

const STILL_STARTING_MS = 5000;
const POLL_MS = 20;
/** From the request to stop to SIGKILL. DESIGN 2 gives the whole service 10 s, of which requests may take five. */
const STOP_MS_MAX = 3000;
/** The shim's watcher ends the broker of a dead parent within 5 s; one more for the machine. */
const OWN_END_MS_MAX = 6000;
const KILLED_END_MS_MAX = 5000;
const LOG_TAIL_LINES = 20;

export interface LaunchOptions {
  readonly binary: string;
  readonly files: BrokerFiles;
  readonly credentials: BrokerCredentials;
  readonly port: number | undefined;
  readonly logger: Logger;
  readonly readyMsMax: number | undefined;
  readonly signal: AbortSignal;
}

interface ServerAddress {
  readonly pid: number;
  readonly port: number;
  readonly version: string;
}

export interface RunningServer extends ServerAddress {
  readonly ended: Promise<string>;
  readonly stageInMemory: Staging["link"];
  /** Marks the server as one that would write wrong data on a clean stop: from now on it is killed. */
  distrust(): void;
  /** Asks it to end, and kills it when it does not. Resolves when it has ended. */
  end(): Promise<void>;
}

/** The server, or the reason why there is none. */
export const launch = async (options: LaunchOptions): Promise<RunningServer | string> => {
  const { files, credentials, port, logger } = options;
  await rm(files.run, { recursive: true, force: true });
  await mkdir(files.run, { recursive: true, mode: 0o700 });
  await replaceDurably(files.configuration, configure({ files, credentials, port }));
  await using undo = new AsyncDisposableStack();
  const staging = await prepareStaging(files, logger);
  undo.defer(staging.remove);
  const child = startShim(options);
  const started = undo.move();
  const ended = endOf(child);
  const end = (): Promise<void> => endShim(child, ended).finally(() => started.disposeAsync());
  const ready = await waitUntilReady(options, ended, staging);
  const distrust = (): void => void child.stdin?.write("wrong\n");
  if (typeof ready !== "string") return { ...ready, ended, stageInMemory: staging.link, distrust, end };
  await end();
  return `${ready}${await logTail(files)}`;
};

/**
 * The shell between us and nats-server, which ends the broker when we end, even by `kill -9`: the kernel then closes the pipe that is its standard
 * input. It asks the broker to stop, and kills it after 5 seconds. A broker that has failed to write is killed at once: on a clean stop, nats-server
 * 2.15.1 can record a sequence that it never stored, and the log would have a hole (measured). We report a failure with a line on the pipe, and
 * as we may die before that, the failures in the server's log are compared with the number at the start. Arguments: the path of the server's log,
 * then the server and its arguments.
 */
export const SHIM = `
log=$1
shift
failures() { cat "$log"* 2>/dev/null | grep -c ' Critical write error: '; }
before=$(failures)
exec 3<&0 </dev/null
"$@" 3<&- &
broker=$!
(
  is_wrong=
  while read -r _; do is_wrong=1; done <&3
  if [ -n "$is_wrong" ] || [ "$(failures)" -gt "$before" ]; then
    kill -KILL "$broker"
    exit
  fi
  kill -TERM "$broker" || exit
  tenths=0
  while kill -0 "$broker" && [ "$tenths" -lt 50 ]; do
    sleep 0.1
    tenths=$((tenths + 1))
  done
  kill -KILL "$broker"
) 2>/dev/null &
watcher=$!
exec 3<&-
wait "$broker"
status=$?
kill "$watcher" 2>/dev/null
wait "$watcher" 2>/dev/null
exit "$status"
`;

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

const endShim = async (child: ChildProcess, ended: Promise<string>): Promise<void> => {
  // The shim still reads what was written before.
  child.stdin?.end();
  const timer = new AbortController();
  const late = delay(STOP_MS_MAX, "late", { signal: timer.signal }).catch(() => "in time");
  // The group is shim, watcher and server, since the shim was started detached.
  if ((await Promise.race([ended, late])) === "late" && child.pid !== undefined) kill(-child.pid);
  await ended;
  timer.abort();
};

const waitUntilReady = async (
  { files, logger, readyMsMax = Number.POSITIVE_INFINITY, signal }: LaunchOptions,
  ended: Promise<string>,
  staging: Staging,
): Promise<ServerAddress | string> => {
  const startedMs = performance.now();
  let saidMs = startedMs;
  let end: string | undefined;
  void ended.then((how) => {
    end = how;
  });
  for (;;) {
    // In every round, so that the links exist before clients do: the server removes them while it recovers its streams.
    await staging.link();
    const server = await findServer(files);
    if (server !== undefined) {
      // The last stream may have been recovered since.
      await staging.link();
      return server;
    }
    if (end !== undefined) return `nats-server exited before it was ready (${end})`;
    if (signal.aborted) return "stopped while it was starting";
    const nowMs = performance.now();
    if (nowMs - startedMs > readyMsMax) return `nats-server was not ready after ${readyMsMax / 1000} s`;
    if (nowMs - saidMs > STILL_STARTING_MS) {
      saidMs = nowMs;
      logger.info("the broker is still starting", { duration_ms: Math.round(nowMs - startedMs) });
    }
    await delay(POLL_MS);
  }
};

/** The server writes its ports file when it listens, and it listens once JetStream has recovered. */
const findServer = async (files: BrokerFiles): Promise<ServerAddress | undefined> => {
  const portsFile = (await readdir(files.run)).find((name) => name.endsWith(".ports"));
  if (portsFile === undefined) return undefined;
  const ports = await readFile(join(files.run, portsFile), "utf8");
  const port = Number(/"nats:\/\/127\.0\.0\.1:(\d+)"/.exec(ports)?.[1]);
  const pid = await readBrokerPid(files);
  if (!Number.isInteger(port) || pid === undefined) return undefined;
  const info = await readServerInfo(port);
  return info?.hasJetStream ? { pid, port, version: info.version } : undefined;
};

/** The end of what the server said: before it opened its log, or else in its log. */
const logTail = async (files: BrokerFiles): Promise<string> => {
  for (const path of [files.startLog, files.log]) {
    const said = (await readFile(path, "utf8").catch(() => "")).trim();
    const tail = said.split("\n").slice(-LOG_TAIL_LINES).join("\n");
    if (tail !== "") return `; the end of its log, ${path}:\n${tail}`;
  }
  return "";
};

/** A nats-server that outlived the process that started it must be gone before another opens the same store. */
export const endLeftover = async (files: BrokerFiles, logger: Logger): Promise<void> => {
  const pid = await readBrokerPid(files);
  if (pid === undefined || !(await isOurBroker(pid, files))) return;
  logger.warn("a broker of an earlier run is still running: waiting for it to exit", { pid });
  if (await hasEnded(pid, files, OWN_END_MS_MAX)) return;
  logger.warn("the earlier broker is still running: killing it", { pid });
  kill(pid);
  if (await hasEnded(pid, files, KILLED_END_MS_MAX)) return;
  throw new Error(`process ${pid} is an earlier broker on ${files.directory} and cannot be killed`);
};

const readBrokerPid = async (files: BrokerFiles): Promise<number | undefined> => {
  const pid = Number.parseInt(await readFile(files.pid, "utf8").catch(() => ""), 10);
  return Number.isInteger(pid) && pid > 1 ? pid : undefined;
};

const hasEnded = async (pid: number, files: BrokerFiles, waitMs: number): Promise<boolean> => {
  const deadline = performance.now() + waitMs;
  while (await isOurBroker(pid, files)) {
    if (performance.now() > deadline) return false;
    await delay(POLL_MS);
  }
  return true;
};

/** Process ids are reused, so the command line must end with exactly our configuration. A zombie has no command line and counts as ended. */
const isOurBroker = async (pid: number, { configuration }: BrokerFiles): Promise<boolean> =>
  (await commandLine(pid)).endsWith(` ${configuration}`);

const commandLine = async (pid: number): Promise<string> => {
  if (process.platform === "linux")
    return (await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => ""))
      .slice(0, -1)
      .replaceAll("\0", " ");
  const ps = runCommand("ps", ["-ww", "-o", "args=", "-p", String(pid)], { timeoutMs: KILLED_END_MS_MAX });
  return (await ps.catch(() => "")).trimEnd();
};

const kill = (pid: number): void => {
  try {
    process.kill(pid, "SIGKILL");
  } catch {}
};
