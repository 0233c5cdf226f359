/**
 * Webdis in front of Redis: an HTTP server in C that stores its input in an append-only file without checking it. Debian ships both; they are
 * unpacked into the user's cache, without root. Two durabilities: `always` syncs before each answer as we do, `everysec` may lose a second.
 */
import { execFile, spawn } from "node:child_process";
import { mkdir, mkdtemp, readdir, rename, rm, writeFile } from "node:fs/promises";
import { createConnection, createServer } from "node:net";
import { homedir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

export const DURABILITIES = ["always", "everysec"] as const;

export interface Peer extends AsyncDisposable {
  readonly port: number;
  readonly serverPid: number;
  readonly storePid: number;
}

const run = promisify(execFile);
const cache = join(homedir(), ".cache", "prooftrail");

/** The folder of the unpacked programs. Throws if this machine has no apt, or its mirror lacks them. */
export const obtainPeers = async (): Promise<string> => {
  const root = join(cache, "bench-peers");
  if ((await readdir(root).catch(() => [])).length > 0) return root;
  await mkdir(cache, { recursive: true });
  const work = await mkdtemp(join(cache, ".obtaining-"));
  try {
    await mkdir(join(work, "state/lists/partial"), { recursive: true });
    await mkdir(join(work, "cache/archives/partial"), { recursive: true });
    // Uses the machine's own sources and list of installed packages, so that only missing ones are downloaded; everything else is in this folder.
    const options = [
      `Dir::State=${join(work, "state")}`,
      "Dir::State::status=/var/lib/dpkg/status",
      `Dir::Cache=${join(work, "cache")}`,
      "Debug::NoLocking=true",
      "APT::Sandbox::User=",
    ].flatMap((option) => ["-o", option]);
    await run("apt-get", [...options, "update"]);
    const wanted = ["--download-only", "--no-install-recommends", "-y", "install", "webdis", "redis-server"];
    await run("apt-get", [...options, ...wanted]);
    const archives = join(work, "cache/archives");
    for (const name of await readdir(archives)) {
      if (name.endsWith(".deb")) await run("dpkg", ["-x", join(archives, name), join(work, "root")]);
    }
    await rename(join(work, "root"), root);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
  return root;
};

/** `directory` is for the append-only file. */
export const startPeer = async (
  root: string,
  durability: (typeof DURABILITIES)[number],
  directory: string,
): Promise<Peer> => {
  const [storePort, port] = [await freePort(), await freePort()];
  const libraries = [join(root, "usr/lib"), join(root, "lib")];
  const architectures = (await Promise.all(libraries.map((path) => readdir(path).catch(() => [])))).flat();
  const env = {
    ...process.env,
    LD_LIBRARY_PATH: libraries.flatMap((path) => architectures.map((name) => join(path, name))).join(":"),
  };
  const start = (program: string, parameters: readonly string[]) =>
    spawn(join(root, program), parameters, { cwd: directory, env, stdio: ["ignore", "ignore", "inherit"] });
  await using stack = new AsyncDisposableStack();
  const keep = (child: ReturnType<typeof start>): number => {
    const ended = new Promise<void>((resolve) => child.on("close", () => resolve()));
    stack.defer(async () => {
      child.kill("SIGKILL");
      await ended;
    });
    return child.pid ?? 0;
  };
  const settings = ["--port", String(storePort), "--bind", "127.0.0.1", "--save", "", "--appendonly", "yes"];
  const storePid = keep(start("usr/bin/redis-server", [...settings, "--appendfsync", durability]));
  await untilListening(storePort);
  const config = {
    redis_host: "127.0.0.1",
    redis_port: storePort,
    http_host: "127.0.0.1",
    http_port: port,
    http_max_request_size: 64 * 1024 * 1024,
    threads: 2,
    pool_size: 20,
    daemonize: false,
    verbosity: 0,
    logfile: join(directory, "webdis.log"),
    acl: [{ enabled: ["RPUSH"] }],
  };
  await writeFile(join(directory, "webdis.json"), JSON.stringify(config));
  const serverPid = keep(start("usr/bin/webdis", [join(directory, "webdis.json")]));
  await untilListening(port);
  const running = stack.move();
  return { port, serverPid, storePid, [Symbol.asyncDispose]: () => running.disposeAsync() };
};

const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const probe = createServer().listen(0, "127.0.0.1", () => {
      const address = probe.address();
      const port = typeof address === "object" && address ? address.port : 0;
      probe.close(() => resolve(port));
    });
  });

const LISTENING_MS_MAX = 10_000;

const untilListening = async (port: number): Promise<void> => {
  const until = performance.now() + LISTENING_MS_MAX;
  while (!(await answers(port))) {
    if (performance.now() > until) throw new Error(`nothing listens on port ${port}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
};

const answers = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = createConnection({ host: "127.0.0.1", port });
    socket.on("connect", () => resolve(true)).on("error", () => resolve(false));
    socket.on("connect", () => socket.destroy());
  });
