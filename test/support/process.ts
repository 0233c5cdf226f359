/** The service as its own process, on Bun or on Deno, with its own folder; ended and removed when disposed. */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { stagingFolder } from "../../src/nats/broker/staging.ts";
import { testBrokerBinary } from "./broker.ts";
import { builtProgram } from "./built-program.ts";
import { type CallOptions, createCaller, event } from "./service.ts";
import { until } from "./until.ts";

const root = resolve(import.meta.dir, "../..");
const MAIN = join(root, "src/service/main.ts");

/** The program itself: the package's own start script would not pass our signals on. */
const denoBinary = (): string => {
  const platforms = join(root, "node_modules/@deno");
  const binary = readdirSync(platforms)
    .map((name) => join(platforms, name, "deno"))
    .find((path) => existsSync(path));
  if (binary === undefined) throw new Error("the package deno ships no binary for this machine");
  return binary;
};

export const RUNTIMES = {
  Bun: [process.execPath, MAIN],
  /** Looked up at the first use: tests that run on Bun only do not need it. */
  get Deno() {
    return [denoBinary(), "run", "-A", "--quiet", "--node-modules-dir=manual", MAIN] as const;
  },
} as const;

export type Runtime = keyof typeof RUNTIMES;

export type ServiceProcess = ReturnType<typeof watchService>;

/** A folder for a service; when disposed, it is removed and the processes in it are ended. */
export const dataFolder = async (parent = tmpdir()): Promise<{ readonly path: string } & AsyncDisposable> => {
  const path = await mkdtemp(join(parent, "prooftrail-process-"));
  return {
    path,
    [Symbol.asyncDispose]: async () => {
      for (const pid of processesNaming(path)) killIfThere(pid, "SIGKILL");
      await until("every process in the folder has ended", () => processesNaming(path).length === 0);
      await removeStaged(path);
      await rm(path, { recursive: true, force: true });
    },
  };
};

/** Removes what killed brokers below a folder keep in memory for their next start (src/nats/broker/staging.ts). */
export const removeStaged = async (path: string): Promise<void> => {
  for (const name of await readdir(path, { recursive: true }))
    if (basename(name) === "instance.lock")
      await rm(await stagingFolder(dirname(join(path, name))), { recursive: true, force: true });
};

/** Starts it and does not wait: `await service.untilReady()`. */
export const spawnService = async (options: {
  readonly dataDir: string;
  /** Runs the source on this runtime; by default the program that `bun run build` makes. */
  readonly runtime?: Runtime;
  readonly environment?: Readonly<Record<string, string>>;
  /** A program that runs the service, such as nsenter with its parameters. It must become the service by exec, not start it. */
  readonly through?: readonly string[];
  /** Runs in place of the source on a runtime. */
  readonly program?: readonly string[];
  readonly cwd?: string;
  /** A file descriptor for its standard output, which is then not read. */
  readonly output?: number;
}): Promise<ServiceProcess> => {
  const { dataDir, runtime, environment = {}, through = [] } = options;
  const program =
    options.program ?? (runtime === undefined ? [await builtProgram(), "serve"] : RUNTIMES[runtime]);
  const [command = "", ...args] = [...through, ...program];
  const inherited = { PATH: process.env.PATH ?? "", HOME: process.env.HOME ?? "", TMPDIR: tmpdir() };
  const child = spawn(command, args, {
    cwd: options.cwd,
    env: {
      ...inherited,
      PORT: "0",
      DATA_DIR: dataDir,
      NATS_SERVER_BIN: await testBrokerBinary(),
      ...environment,
    },
    stdio: ["ignore", options.output ?? "pipe", "pipe"],
    detached: true,
  });
  return watchService(child, { dataDir, key: environment.ADMIN_API_KEY });
};

/** The same, once it listens and its parts are open. */
export const readyService = async (options: Parameters<typeof spawnService>[0]): Promise<ServiceProcess> => {
  const service = await spawnService(options);
  await service.untilReady();
  return service;
};

const watchService = (
  child: ChildProcess,
  { dataDir, key }: { dataDir: string; key: string | undefined },
) => {
  let output = "";
  let errors = "";
  child.stdout?.setEncoding("utf8").on("data", (text) => {
    output += text;
  });
  child.stderr?.setEncoding("utf8").on("data", (text) => {
    errors += text;
  });
  const ended = new Promise<number | null>((done) => child.on("close", (code) => done(code)));
  const url = (): string => /listens at\s+(http:\S+)/.exec(errors)?.[1] ?? "";
  const adminKey = (): string => key ?? readFileSync(join(dataDir, "admin.key"), "utf8").trim();
  return {
    pid: child.pid ?? 0,
    dataDir,
    /** Empty until it listens. */
    get url() {
      return url();
    },
    /** Standard output: log lines. */
    get output() {
      return output;
    },
    /** Standard error: the banner, and output that nobody should have to see. */
    get errors() {
      return errors;
    },
    get exitCode() {
      return child.exitCode;
    },
    call: (path: string, callOptions?: CallOptions) => createCaller(url(), adminKey())(path, callOptions),
    kill: (signal: NodeJS.Signals): void => void child.kill(signal),
    /** As `| head` does: later output has no reader. */
    stopReading: () => {
      child.stdout?.destroy();
      child.stderr?.destroy();
    },
    /** Resolves with the exit code. */
    ended: () => ended,
    untilReady: async () => {
      await until("the service listens", () => {
        if (child.exitCode !== null)
          throw new Error(`the service ended with ${child.exitCode}: ${errors}${output}`);
        return url() !== "";
      });
    },
    [Symbol.asyncDispose]: async () => {
      child.kill("SIGKILL");
      await ended;
    },
  };
};

/**
 * SIGSTOP, and a wait for its effect: each thread stops when it next enters the kernel, so a process may still answer after the signal. Without
 * /proc this cannot be seen, and there is no wait.
 */
export const standStill = async (pid: number): Promise<void> => {
  process.kill(pid, "SIGSTOP");
  const threads = `/proc/${pid}/task`;
  if (!existsSync(threads)) return;
  // The state follows the name, which is in brackets (proc(5)).
  const isStopped = (thread: string): boolean =>
    /\) T /.test(readFileSync(join(threads, thread, "stat"), "utf8"));
  await until("every thread has stopped", () => readdirSync(threads).every(isStopped));
};

/** Of the broker that a service with this folder runs. */
export const brokerPid = (dataDir: string): number =>
  Number(readFileSync(join(dataDir, "broker/run/nats-server.pid"), "utf8"));

/** SIGKILL, and a wait for its effect: until then the process may still answer, as after SIGSTOP. */
export const killNow = async (pid: number): Promise<void> => {
  process.kill(pid, "SIGKILL");
  await until("the process has ended", () => !killIfThere(pid, 0));
};

/** Processes whose command line contains a path (Linux only; elsewhere none are found). */
export const processesNaming = (path: string): number[] => {
  try {
    return readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name))
      .filter((name) => commandLine(name).includes(path))
      .map(Number);
  } catch {
    return [];
  }
};

const commandLine = (pid: string): string => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return "";
  }
};

/** Whether it was still there. The signal 0 only asks. */
const killIfThere = (pid: number, signal: NodeJS.Signals | 0): boolean => {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
};

/** The data of an acknowledged event; it is sent until the service accepts it. */
export const sendUntilAccepted = (service: ServiceProcess, event_id: string) =>
  until(`${event_id} is accepted`, async () => {
    const answer = await service.call("/v1/events", { body: event({ event_id }) }).catch(() => undefined);
    return answer?.status === 202 ? answer.json.data : undefined;
  });

export const listIds = async (service: ServiceProcess, sequence: number): Promise<string[]> => {
  const ids: string[] = [];
  let cursor = "";
  do {
    const page = await service.call(
      `/v1/events?order=asc&limit=200&min_sequence=${sequence}${cursor && `&cursor=${cursor}`}`,
    );
    ids.push(...page.json.data.map((row: { event: { event_id: string } }) => row.event.event_id));
    cursor = page.json.next_cursor ?? "";
  } while (cursor !== "");
  return ids;
};
