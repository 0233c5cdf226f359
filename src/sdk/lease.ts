/**
 * Decides which client owns which files of an outbox. Each client has a lease in the folder; a client that finds the lease of a dead owner may take
 * over its files. On the same machine the kernel knows whether the owner is alive, even while it is stopped. The owner is a process, or a thread,
 * which may end before its process. On another machine or in another container only its silence counts, which may be misleading. Then events are sent
 * twice, which the service stores once; and the owner notices, keeps the entries that the heir has not seen, and continues under a new name
 * (file-outbox.ts).
 */
import {
  mkdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { codeOf } from "./error-code.ts";
import { isMissing } from "./is-missing.ts";
import { isJsonObject } from "./json-object.ts";
import { LEASE_RENEW_MS, LEASE_STALE_MS } from "./limits.ts";
import { haveClocksParted, thisMoment } from "./moment.ts";
import { uuid7 } from "./uuid.ts";

export const LEASE_SUFFIX = ".lease";

interface Holder {
  readonly host: string;
  readonly pid: number;
  /** When the process started, by the kernel's own count, because process ids are reused; null if the kernel does not tell. */
  readonly started: string | null;
  /** Set if the owner is a worker thread, which may be ended alone and without notice (`worker.terminate()`). */
  readonly thread?: Thread;
}

interface Thread {
  readonly id: number;
  /** As for a process: thread ids are reused. */
  readonly started: string;
}

/** Undefined if reading fails. Throws if no more files can be opened: that says nothing about the owner, and the next look may succeed. */
const attempt = <Value>(read: () => Value): Value | undefined => {
  try {
    return read();
  } catch (error) {
    if (codeOf(error) === "EMFILE" || codeOf(error) === "ENFILE") throw error;
    return undefined;
  }
};

/**
 * Boot id and namespace of process ids (Linux); elsewhere the machine's name. Two processes with the same value can ask the kernel about each other.
 */
let host: string | undefined;
const thisHost = (): string => {
  host ??= readHost();
  return host;
};

const readHost = (): string => {
  const boot = attempt(() => readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim());
  const processes = attempt(() => readlinkSync("/proc/self/ns/pid"));
  return boot && processes ? `${boot} ${processes}` : hostname();
};

/**
 * What the kernel says about a process or a thread: when it started, by the kernel's own count. Unknown if this is not Linux, or if the kernel does
 * not tell.
 */
type Life =
  | { readonly kind: "runs"; readonly started: string }
  | { readonly kind: "ended" }
  | { readonly kind: "unknown" };

/**
 * The life of a process, or of a thread given as `<pid>/task/<thread>`, by field 22 of proc_pid_stat(5). The second field is a name in parentheses
 * and may contain anything. The third is Z for a process that has ended and that its parent has not waited for. That may last forever: a program
 * that is the first process of its container does not wait for processes that it did not start.
 */
const lifeOf = (task: number | string): Life => {
  const path = `/proc/${task}/stat`;
  const stat = attempt(() => readIfThere(path));
  if (stat === null) return { kind: "ended" };
  const [state, ...fields] = stat?.slice(stat.lastIndexOf(")") + 2).split(" ") ?? [];
  const started = fields[18];
  if (started === undefined) return { kind: "unknown" };
  return state === "Z" ? { kind: "ended" } : { kind: "runs", started };
};

/** Null if the file does not exist. */
const readIfThere = (path: string): string | null => {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    // ESRCH: the process ended while its file was read.
    if (isMissing(error) || codeOf(error) === "ESRCH") return null;
    throw error;
  }
};

/** Undefined if it is not known. */
const startOf = (task: number | string): string | undefined => {
  const life = lifeOf(task);
  return life.kind === "runs" ? life.started : undefined;
};

/** Whether the task that started then has ended; its id may have been reused. Undefined if it is not known. */
const hasEnded = (task: number | string, started: string | null): boolean | undefined => {
  if (started === null) return undefined;
  const life = lifeOf(task);
  if (life.kind === "unknown") return undefined;
  return life.kind === "ended" || life.started !== started;
};

const taskOf = (pid: number, thread: number): string => `${pid}/task/${thread}`;

/** Undefined for the main thread, and if the kernel does not tell: then the lease counts as held by the process. */
const thisThread = (): Thread | undefined => {
  const [, , digits] = attempt(() => readlinkSync("/proc/thread-self"))?.split("/") ?? [];
  const id = Number(digits);
  if (!Number.isSafeInteger(id) || id === process.pid) return undefined;
  const started = startOf(taskOf(process.pid, id));
  return started === undefined ? undefined : { id, started };
};

const isRunning = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: the process runs under another user. Any other failure to find out must not cost a live owner its files.
    return codeOf(error) !== "ESRCH";
  }
};

/**
 * Whether the files of this owner may be taken over. An owner without a lease has given it up. Silence does not count shortly after the clock was set
 * or stood still, because live owners may seem silent until they renew their leases. Throws if it cannot be found out now: a failure never counts as
 * a death.
 */
export const isAbandoned = (directory: string, owner: string, isClockSet: () => boolean): boolean => {
  const path = join(directory, owner + LEASE_SUFFIX);
  const renewedMs = renewedAtMs(path);
  if (renewedMs === undefined) return true;
  const holder = attempt(() => readHolder(readFileSync(path, "utf8")));
  const isSilent = Math.abs(Date.now() - renewedMs) > LEASE_STALE_MS && !isClockSet();
  // The lease was just created and is still empty, or it is damaged: its age decides.
  if (!holder || holder.host !== thisHost()) return isSilent;
  const { pid, started, thread } = holder;
  if (!isRunning(pid)) return true;
  const ends = [hasEnded(pid, started)];
  if (thread) ends.push(hasEnded(taskOf(pid, thread.id), thread.started));
  return ends.includes(true) || (ends.includes(undefined) && isSilent);
};

/** Undefined if the lease does not exist. */
const renewedAtMs = (path: string): number | undefined => {
  try {
    return statSync(path).mtimeMs;
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
};

const readHolder = (text: string): Holder | undefined => {
  const value: unknown = JSON.parse(text);
  if (!isJsonObject(value)) return undefined;
  const { host, pid, started } = value;
  if (typeof host !== "string" || typeof pid !== "number") return undefined;
  const thread = threadIn(value.thread);
  return { host, pid, started: typeof started === "string" ? started : null, ...(thread && { thread }) };
};

const threadIn = (value: unknown): Thread | undefined => {
  if (!isJsonObject(value)) return undefined;
  const { id, started } = value;
  return typeof id === "number" && typeof started === "string" ? { id, started } : undefined;
};

export const dropLease = (directory: string, owner: string): void =>
  void attempt(() => unlinkSync(join(directory, owner + LEASE_SUFFIX)));

/** The reason when `Lease.renew` returns false. */
export const LEASE_GONE =
  "The lease of this process is gone: another one takes it for dead and delivers what was in its outbox, or the folder was emptied.";

/** The lease of a live client, and the name in front of its files. */
export class Lease {
  readonly #directory: string;
  #owner = "";
  #renewedMs = 0;
  #looked = thisMoment();
  #clockSetMs = -Infinity;

  constructor(directory: string) {
    this.#directory = directory;
    this.#take();
  }

  get owner(): string {
    return this.#owner;
  }

  /** A process that was stopped or busy for long may have been taken for dead by another machine. */
  get isLate(): boolean {
    return performance.now() - this.#renewedMs > 3 * LEASE_RENEW_MS;
  }

  /** False if the lease was gone because another client took this one for dead. Then there is a new lease with a new name. */
  renew(): boolean {
    this.#renewedMs = performance.now();
    const now = new Date();
    try {
      utimesSync(join(this.#directory, this.#owner + LEASE_SUFFIX), now, now);
      return true;
    } catch (error) {
      if (!isMissing(error)) return true;
    }
    this.#take();
    return false;
  }

  /** Called whenever leases of others are checked; see `isAbandoned`. */
  isClockSet(): boolean {
    if (haveClocksParted(this.#looked, LEASE_RENEW_MS)) this.#clockSetMs = performance.now();
    this.#looked = thisMoment();
    return performance.now() - this.#clockSetMs < LEASE_STALE_MS;
  }

  drop(): void {
    dropLease(this.#directory, this.#owner);
  }

  #take(): void {
    mkdirSync(this.#directory, { recursive: true, mode: 0o700 });
    const owner = uuid7(Date.now());
    const { pid } = process;
    const thread = thisThread();
    const holder: Holder = {
      host: thisHost(),
      pid,
      started: startOf(pid) ?? null,
      ...(thread && { thread }),
    };
    try {
      writeFileSync(join(this.#directory, owner + LEASE_SUFFIX), JSON.stringify(holder), {
        mode: 0o600,
        flag: "wx",
      });
    } catch (error) {
      // On a full disk the file may have been created and left empty.
      dropLease(this.#directory, owner);
      throw error;
    }
    this.#owner = owner;
    this.#renewedMs = performance.now();
  }
}
