/**
 * Whose files of an outbox are whose. Each client has a lease in the folder; who finds a lease whose holder is dead may take over its files. On the same
 * machine the kernel knows whether the holder lives, also while it is stopped. From another machine or container only its silence tells, which can be
 * wrong; then events are sent twice, which the service takes for one, and the holder notices and goes on under a new name (file-outbox.ts).
 */
import { readFileSync, readlinkSync, statSync, unlinkSync, utimesSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { isJsonObject } from "./json-object.ts";
import { LEASE_STALE_MS } from "./limits.ts";

export const LEASE_SUFFIX = ".lease";

interface Holder {
  readonly host: string;
  readonly pid: number;
  /** When the process began, in the kernel's own count, because process ids are used again; null where it cannot be asked for. */
  readonly started: string | null;
}

const attempt = <Value>(read: () => Value): Value | undefined => {
  try {
    return read();
  } catch {
    return undefined;
  }
};

/** A boot and a space of process ids (Linux); elsewhere the machine's name. Two processes with the same one can ask for each other. */
const thisHost = (): string => {
  const boot = attempt(() => readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim());
  const processes = attempt(() => readlinkSync("/proc/self/ns/pid"));
  return boot && processes ? `${boot} ${processes}` : hostname();
};

/** Field 22 of proc_pid_stat(5). The second field is a name in parentheses and may hold anything. */
const startOf = (pid: number): string | null => {
  const stat = attempt(() => readFileSync(`/proc/${pid}/stat`, "utf8"));
  return stat?.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? null;
};

const isRunning = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: it runs under another user. What else may keep us from asking must not cost its files.
    return !(error instanceof Error && "code" in error && error.code === "ESRCH");
  }
};

export const takeLease = (directory: string, owner: string): void => {
  const holder: Holder = { host: thisHost(), pid: process.pid, started: startOf(process.pid) };
  writeFileSync(join(directory, owner + LEASE_SUFFIX), JSON.stringify(holder), { mode: 0o600, flag: "wx" });
};

/** False where the lease is gone: somebody took us for dead. */
export const renewLease = (directory: string, owner: string): boolean => {
  const now = new Date();
  try {
    utimesSync(join(directory, owner + LEASE_SUFFIX), now, now);
    return true;
  } catch (error) {
    return !(error instanceof Error && "code" in error && error.code === "ENOENT");
  }
};

export const dropLease = (directory: string, owner: string): void =>
  void attempt(() => unlinkSync(join(directory, owner + LEASE_SUFFIX)));

/** Whether the files of this owner may be taken over. A lease that is gone was given up. */
export const isAbandoned = (directory: string, owner: string): boolean => {
  const path = join(directory, owner + LEASE_SUFFIX);
  const renewedMs = attempt(() => statSync(path).mtimeMs);
  if (renewedMs === undefined) return true;
  const holder = attempt(() => readHolder(readFileSync(path, "utf8")));
  const isSilent = Math.abs(Date.now() - renewedMs) > LEASE_STALE_MS;
  // Written just now by a process that has not filled it yet, or broken: its age decides.
  if (!holder || holder.host !== thisHost()) return isSilent;
  if (!isRunning(holder.pid)) return true;
  return holder.started === null ? isSilent : startOf(holder.pid) !== holder.started;
};

const readHolder = (text: string): Holder | undefined => {
  const value: unknown = JSON.parse(text);
  if (!isJsonObject(value)) return undefined;
  const { host, pid, started } = value;
  if (typeof host !== "string" || typeof pid !== "number") return undefined;
  return { host, pid, started: typeof started === "string" ? started : null };
};
