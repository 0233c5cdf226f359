/** PgBouncer in front of a test's database, from this machine's Debian release. */
import { type ChildProcess, spawn } from "node:child_process";
import { chmodSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePorts } from "./cluster.ts";
import { debianProgram } from "./debian-program.ts";
import { sharedByFiles } from "./lasting-folder.ts";
import { until } from "./until.ts";

export const pgbouncerProgram = sharedByFiles(() =>
  debianProgram(["pgbouncer", "libc-ares2", "libevent-2.1-7"], "usr/sbin/pgbouncer"),
);

export interface Pooler extends AsyncDisposable {
  /** Of the database, through the pooler. */
  readonly url: string;
}

export const startPgbouncer = async (
  databaseUrl: string,
  mode: "session" | "transaction" | "statement",
): Promise<Pooler> => {
  const program = await pgbouncerProgram();
  if (program.kind === "missing") throw new Error(program.reason);
  const database = new URL(databaseUrl);
  const folder = await mkdtemp(join(tmpdir(), "prooftrail-pgbouncer-"));
  const [port = 0] = await freePorts(1);
  const [users, config] = [join(folder, "users.txt"), join(folder, "pgbouncer.ini")];
  writeFileSync(users, `"${database.username}" "${database.password}"\n`);
  const settings = [
    "[databases]",
    `* = host=127.0.0.1 port=${database.port}`,
    "[pgbouncer]",
    "listen_addr = 127.0.0.1",
    `listen_port = ${port}`,
    "unix_socket_dir =",
    "auth_type = plain",
    `auth_file = ${users}`,
    `pool_mode = ${mode}`,
  ];
  writeFileSync(config, `${settings.join("\n")}\n`);
  // It refuses to run as root, and reads its files as the user that it becomes.
  chmodSync(folder, 0o755);
  const asRoot = process.getuid?.() === 0 ? ["-u", "nobody"] : [];
  const pooler = spawn(program.path, [...asRoot, config], {
    env: program.environment,
    stdio: ["ignore", "ignore", "pipe"],
  });
  let said = "";
  pooler.stderr.setEncoding("utf8").on("data", (text) => {
    said += text;
  });
  const close = async (): Promise<void> => {
    await endOf(pooler);
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await until("PgBouncer listens", () => {
      if (pooler.exitCode !== null) throw new Error(`PgBouncer ended: ${said}`);
      return said.includes("process up") || said.includes("listening on");
    });
  } catch (error) {
    await close();
    throw error;
  }
  database.port = String(port);
  return { url: database.href, [Symbol.asyncDispose]: close };
};

const endOf = async (child: ChildProcess): Promise<void> => {
  if (child.exitCode !== null) return;
  const ended = new Promise((done) => child.once("exit", done));
  child.kill("SIGKILL");
  await ended;
};
