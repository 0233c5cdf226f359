/** The service that is measured, with a broker of its own in `dataDir`. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { HEARTBEAT } from "../test/support/histories/source-life.ts";

export const root = resolve(import.meta.dir, "..");

export interface Subject extends AsyncDisposable {
  readonly port: number;
  readonly key: string;
  readonly natsUrl: string;
  /** With the rights to make streams. */
  readonly provisionUrl: string;
  readonly servicePid: number;
}

type Settings = Readonly<Record<string, string>>;

interface Program {
  /** Its folder, by default this one. */
  readonly tree?: string;
  readonly settings?: Settings;
}

const environment = (dataDir: string, settings: Settings) => ({
  ...process.env,
  ...settings,
  DATA_DIR: dataDir,
  PORT: "0",
  LOG_LEVEL: "warn",
});

export const startSubject = async (
  dataDir: string,
  roles: string,
  { tree = root, settings = {} }: Program = {},
): Promise<Subject> => {
  const child = spawn(process.execPath, [join(tree, "src/service/main.ts")], {
    env: environment(dataDir, { ...settings, ROLES: roles, EXTRA_EVENT_TYPES: HEARTBEAT }),
    stdio: ["ignore", "inherit", "pipe"],
  });
  const ready = Promise.withResolvers<number>();
  let banner = "";
  child.stderr.setEncoding("utf8").on("data", (text) => {
    banner += text;
    const port = /listens at\s+http:\/\/127\.0\.0\.1:(\d+)/.exec(banner)?.[1];
    if (port !== undefined) ready.resolve(Number(port));
  });
  const ended = new Promise<void>((resolveEnded) => child.on("close", () => resolveEnded()));
  void ended.then(() => ready.reject(new Error(banner)));
  const port = await ready.promise;
  const key = (await readFile(join(dataDir, "admin.key"), "utf8")).trim();
  const passwords: { service: string; provisioner: string } = JSON.parse(
    await readFile(join(dataDir, "broker/credentials.json"), "utf8"),
  );
  const natsPort = (await readFile(join(dataDir, "broker/port"), "utf8")).trim();
  const urlOf = (user: keyof typeof passwords) => `nats://${user}:${passwords[user]}@127.0.0.1:${natsPort}`;
  const stop = async (): Promise<void> => {
    child.kill("SIGTERM");
    await ended;
  };
  return {
    port,
    key,
    natsUrl: urlOf("service"),
    provisionUrl: urlOf("provisioner"),
    servicePid: child.pid ?? 0,
    [Symbol.asyncDispose]: stop,
  };
};

/** A process of its own that makes the views of the subject's log, in `dataDir` or where `settings` say. */
export const startProjector = (
  dataDir: string,
  { natsUrl, provisionUrl }: Subject,
  { tree = root, settings = {} }: Program = {},
) => {
  const child = spawn(process.execPath, [join(tree, "src/service/main.ts")], {
    env: environment(dataDir, {
      ...settings,
      ROLES: "projector",
      NATS_URL: natsUrl,
      NATS_PROVISION_URL: provisionUrl,
    }),
    stdio: ["ignore", "inherit", "ignore"],
  });
  const ended = once(child, "close");
  return {
    pid: child.pid ?? 0,
    isRunning: () => child.exitCode === null && child.signalCode === null,
    [Symbol.asyncDispose]: async (): Promise<void> => {
      child.kill("SIGTERM");
      await ended;
    },
  };
};

/** User and system time of a process so far. Fields 14 and 15 of proc(5) stat, in ticks of 10 ms. */
export const cpuMicroseconds = (pid: number): number => {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
    .replace(/^.*\) /, "")
    .split(" ");
  return (Number(fields[11]) + Number(fields[12])) * 10_000;
};
