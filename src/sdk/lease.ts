/**
 * Whose files of an outbox are whose. Each client has a lease in the folder; who finds a lease whose holder is dead may take over its files. On the same
 * machine the kernel knows whether the holder lives, also while it is stopped: a process, or a thread that ends before its process. From another machine or container only its silence tells, which can be
 * wrong; then events are sent twice, which the service takes for one, and the holder notices, keeps what the heir has not seen, and goes on under a new
 * name (file-outbox.ts).
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
  /** When the process began, in the kernel's own count, because process ids are used again; null where it cannot be asked for. */
  readonly started: string | null;
  /** Where it is a thread of its own, which may be ended alone (`worker.terminate()`), and is told nothing. */
  readonly thread?: Thread;
}

interface Thread {
  readonly id: number;
  /** As of a process: ids are used again. */
  readonly started: string;
}

/** Undefined where it fails. Throws where it does so for want of a file that may be opened, which says nothing of what is asked for: the next look may tell. */
const attempt = <Value>(read: () => Value): Value | undefined => {
  try {
    return read();
  } catch (error) {
    if (codeOf(error) === "EMFILE" || codeOf(error) === "ENFILE") throw error;
    return undefined;
  }
};

/** A boot and a space of process ids (Linux); elsewhere the machine's name. Two processes with the same one can ask for each other. */
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

/** What the kernel says of a process or a thread: when it began, in its own count; unknown where it is not Linux, or does not let us ask. */
type Life =
  | { readonly kind: "runs"; readonly started: string }
  | { readonly kind: "ended" }
  | { readonly kind: "unknown" };

/**
 * Of a process, or of a thread as `<pid>/task/<thread>`: field 22 of proc_pid_stat(5). The second field is a name in parentheses and may hold anything. The
 * third is Z for one that has ended and that its parent has not asked about, which may be never: a program that is the first process of its container does
 * not ask about those that it did not start.
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

/** Null where it is not there. */
const readIfThere = (path: string): string | null => {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    // ESRCH: it ended while it was read.
    if (isMissing(error) || codeOf(error) === "ESRCH") return null;
    throw error;
  }
};

/** Undefined where nobody knows. */
const startOf = (task: number | string): string | undefined => {
  const life = lifeOf(task);
  return life.kind === "runs" ? life.started : undefined;
};

/** Whether what began then has ended; its id may be another's by now. Undefined where nobody knows. */
const hasEnded = (task: number | string, started: string | null): boolean | undefined => {
  if (started === null) return undefined;
  const life = lifeOf(task);
  if (life.kind === "unknown") return undefined;
  return life.kind === "ended" || life.started !== started;
};

const taskOf = (pid: number, thread: number): string => `${pid}/task/${thread}`;

/** Undefined for the one that the process began with, and where the kernel does not say: then it is as if the process held the lease. */
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
    // EPERM: it runs under another user. What else may keep us from asking must not cost its files.
    return codeOf(error) !== "ESRCH";
  }
};

/**
 * Whether the files of this owner may be taken over. A lease that is gone was given up. Where the clock was set, or stood still, not long ago, those who
 * live may seem silent until they renew their leases, so silence tells nothing. Throws where it cannot be asked now: no failure counts as a death.
 */
export const isAbandoned = (directory: string, owner: string, isClockSet: () => boolean): boolean => {
  const path = join(directory, owner + LEASE_SUFFIX);
  const renewedMs = renewedAtMs(path);
  if (renewedMs === undefined) return true;
  const holder = attempt(() => readHolder(readFileSync(path, "utf8")));
  const isSilent = Math.abs(Date.now() - renewedMs) > LEASE_STALE_MS && !isClockSet();
  // Written just now by a process that has not filled it yet, or broken: its age decides.
  if (!holder || holder.host !== thisHost()) return isSilent;
  const { pid, started, thread } = holder;
  if (!isRunning(pid)) return true;
  const ends = [hasEnded(pid, started)];
  if (thread) ends.push(hasEnded(taskOf(pid, thread.id), thread.started));
  return ends.includes(true) || (ends.includes(undefined) && isSilent);
};

/** Undefined where the lease is not there. */
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

/** What `Lease.renew` has found where it gives false. */
export const LEASE_GONE =
  "The lease of this process is gone: another one takes it for dead and delivers what was in its outbox, or the folder was emptied.";

/** The lease of a client that lives, and the name that its files have. */
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

  /** A process that was stopped, or busy, for long may have been taken for dead by another machine. */
  get isLate(): boolean {
    return performance.now() - this.#renewedMs > 3 * LEASE_RENEW_MS;
  }

  /** False where it is gone, because somebody took us for dead: then there is another, with another name. */
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

  /** Asked whenever leases of others are looked at; see `isAbandoned`. */
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
      // A full disk may have made the file and taken nothing into it.
      dropLease(this.#directory, owner);
      throw error;
    }
    this.#owner = owner;
    this.#renewedMs = performance.now();
  }
}
