/**
 * The options of a client, and how they are read. A mistake in an option is thrown at once, so that it shows when the program is deployed and not
 * when an event is lost.
 */

import { type Hash, keyedHash, sha256 } from "./hash.ts";
import { isBytes } from "./is-bytes.ts";
import { isJsonObject } from "./json-object.ts";
import {
  BATCH_BYTES_DEFAULT,
  BATCH_BYTES_MAX,
  BATCH_EVENTS_DEFAULT,
  BATCH_EVENTS_MAX,
  EVENT_BYTES_MAX,
  FLUSH_INTERVAL_MS_DEFAULT,
  HEARTBEAT_INTERVAL_MS_DEFAULT,
  MEMORY_OUTBOX_BYTES_DEFAULT,
  OUTBOX_BYTES_DEFAULT,
  REQUEST_TIMEOUT_MS_DEFAULT,
  SOURCE_CHARACTERS_MAX,
} from "./limits.ts";
import type { SyncPolicy } from "./outbox.ts";
import { type HttpProxy, proxyAt } from "./proxy.ts";
import type { Callbacks } from "./reports.ts";

export interface OutboxInFolder {
  /**
   * Created with mode 0700 if it does not exist. It must be on a local disk, not on a network. Any number of processes of one tenant may share it: a
   * process sends what a dead process left there with its own key.
   */
  readonly directory: string;
  /** Default: `interval`. */
  readonly sync?: SyncPolicy;
  /**
   * Limit in bytes for all waiting events; default 256 MiB. Beyond it new events are dropped, counted and reported; events already in the outbox
   * stay.
   */
  readonly bytesMax?: number;
}

export interface OutboxInMemory {
  /** Limit in bytes; default 16 MiB. The content ends with the process. */
  readonly bytesMax?: number;
}

export interface BatchOptions {
  /** A batch is sent when it has this many events (default 500, at most 1000) … */
  readonly events?: number;
  /** … or this many bytes (default 1 MiB, at most 8 MiB) … */
  readonly bytes?: number;
  /** … or when its first event has waited this many milliseconds (default 1000). */
  readonly intervalMs?: number;
}

export interface HeartbeatOptions {
  /** The asset under which heartbeats are recorded. */
  readonly asset_id: string;
  /** In milliseconds; default one minute. */
  readonly intervalMs?: number;
}

/** Options of every kind of client. */
export interface EventOptions extends Callbacks {
  /**
   * Name of this program as a source of its tenant; default `sdk`. Each event carries a source number, so that a missing event is noticed. `false`
   * switches the numbers off.
   */
  readonly source?: string | false;
  /** A key of at least 16 bytes. With it, identifiers are hashed with HMAC-SHA-256 instead of SHA-256. */
  readonly hashKey?: string | Uint8Array;
}

export interface ClientOptions extends EventOptions {
  /** Address of the service, such as `https://audit.example.com`. */
  readonly url: string;
  /** An API key with the scope `events:write`. */
  readonly apiKey: string;
  /** Where events wait until they are delivered. There is no default, because you must decide whether events may be lost with the process. */
  readonly outbox:
    | (OutboxInFolder & { readonly memory?: undefined })
    | (OutboxInMemory & {
        readonly memory: true;
        readonly directory?: undefined;
        readonly sync?: undefined;
      });
  readonly batch?: BatchOptions;
  /** Timeout of one request, in milliseconds; default 15,000. */
  readonly requestTimeoutMs?: number;
  /**
   * The proxy through which requests go, such as `http://proxy.example:3128`, with `user:password@` where it asks for them. Without it Bun and Deno
   * follow HTTP_PROXY, HTTPS_PROXY and NO_PROXY, and Node follows them only where NODE_USE_ENV_PROXY=1 says so.
   */
  readonly proxy?: string;
  /** Reports at regular intervals that this program is alive and how many events wait. The service must admit `sdk.heartbeat` (EXTRA_EVENT_TYPES). */
  readonly heartbeat?: HeartbeatOptions;
}

/** The sandbox needs no key, forgets events after an hour, and accepts 100 requests a minute with one event each. */
export interface SandboxOptions extends EventOptions {
  /** Address of the service, such as `https://audit.example.com`. */
  readonly url: string;
  /** An outbox in memory: nothing in it outlives the program. */
  readonly outbox?: OutboxInMemory;
  /** Timeout of one request, in milliseconds; default 15,000. */
  readonly requestTimeoutMs?: number;
  /**
   * The proxy through which requests go, such as `http://proxy.example:3128`, with `user:password@` where it asks for them. Without it Bun and Deno
   * follow HTTP_PROXY, HTTPS_PROXY and NO_PROXY, and Node follows them only where NODE_USE_ENV_PROXY=1 says so.
   */
  readonly proxy?: string;
}

type Names<Options> = Readonly<Record<keyof Options, true>>;

const CALLBACKS: Names<Callbacks> = { onDropped: true, onRejected: true, onProblem: true };
const EVENT_OPTIONS: Names<EventOptions> = { source: true, hashKey: true, ...CALLBACKS };
const BATCH_OPTIONS: Names<BatchOptions> = { events: true, bytes: true, intervalMs: true };
const HEARTBEAT_OPTIONS: Names<HeartbeatOptions> = { asset_id: true, intervalMs: true };
const MEMORY_OPTIONS: Names<OutboxInMemory> = { bytesMax: true };
const OUTBOX_OPTIONS: Names<OutboxInFolder & { readonly memory: true }> = {
  directory: true,
  sync: true,
  memory: true,
  ...MEMORY_OPTIONS,
};
export const CLIENT_OPTIONS: Names<ClientOptions> = {
  url: true,
  apiKey: true,
  outbox: true,
  batch: true,
  requestTimeoutMs: true,
  proxy: true,
  heartbeat: true,
  ...EVENT_OPTIONS,
};
export const SANDBOX_OPTIONS: Names<SandboxOptions> = {
  url: true,
  outbox: true,
  requestTimeoutMs: true,
  proxy: true,
  ...EVENT_OPTIONS,
};

/** A misspelt option would be ignored without anybody noticing. The message does not repeat the value, which may be a key. */
const checkNames = (options: unknown, known: Readonly<Record<string, true>>, name?: string): void => {
  const names = Object.keys(known).join(", ");
  if (!isJsonObject(options)) throw new TypeError(`${name ?? "options"} is no object: give { ${names} }.`);
  for (const member of Object.keys(options))
    if (!Object.hasOwn(known, member))
      throw new TypeError(`${name ? `${name}.` : ""}${member} is no option: there are ${names}.`);
};

export const checkOptions = (options: EventOptions, known: Readonly<Record<string, true>>): void => {
  checkNames(options, known);
  const { onDropped, onRejected, onProblem } = options;
  for (const [name, callback] of Object.entries({ onDropped, onRejected, onProblem }))
    if (callback !== undefined && typeof callback !== "function")
      throw new TypeError(`${name} is no function: give one, or leave it out.`);
};

export const readUrl = (text: string): string => {
  const url = parseUrl(text);
  if (!url || !(url.protocol === "http:" || url.protocol === "https:"))
    throw new TypeError(
      `url is ${JSON.stringify(text)}: give the address of the service, such as "https://audit.example.com".`,
    );
  if (url.username !== "" || url.password !== "")
    throw new TypeError("url holds a password: the key goes into apiKey.");
  if (url.search !== "" || url.hash !== "")
    throw new TypeError("url has a query or a fragment: give the address alone.");
  return `${url.origin}${url.pathname.replace(/\/(v1\/?)?$/, "")}`;
};

/** The message does not repeat the value, which may hold a password. */
export const readProxy = (text: string | undefined): HttpProxy | undefined => {
  if (text === undefined) return undefined;
  const url = parseUrl(text);
  if (!url || !(url.protocol === "http:" || url.protocol === "https:"))
    throw new TypeError(
      'proxy is no address of an HTTP proxy: give one such as "http://proxy.example:3128".',
    );
  return proxyAt(url);
};

const parseUrl = (text: string): URL | undefined => {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
};

export const readKey = (key: string): string => {
  if (typeof key !== "string" || !/^[!-~]+$/.test(key))
    throw new TypeError(
      "apiKey is empty or has characters that no header may hold: give a key of the service.",
    );
  return key;
};

const count = (
  name: string,
  value: number,
  { min, max }: { readonly min: number; readonly max: number },
): number => {
  if (!Number.isSafeInteger(value) || value < min || value > max)
    throw new RangeError(`${name} is ${value}: give a whole number from ${min} to ${max}.`);
  return value;
};

/** A delay that a timer can keep (2³¹ − 1 ms), in milliseconds. */
const DELAY_MS = { min: 1, max: 2 ** 31 - 1 };
const BYTES = { min: 2 * EVENT_BYTES_MAX, max: 2 ** 40 };

export const readBatch = (batch: BatchOptions = {}) => {
  checkNames(batch, BATCH_OPTIONS, "batch");
  const {
    events = BATCH_EVENTS_DEFAULT,
    bytes = BATCH_BYTES_DEFAULT,
    intervalMs = FLUSH_INTERVAL_MS_DEFAULT,
  } = batch;
  return {
    limits: {
      events: count("batch.events", events, { min: 1, max: BATCH_EVENTS_MAX }),
      bytes: count("batch.bytes", bytes, { min: 1, max: BATCH_BYTES_MAX }),
    },
    flushIntervalMs: count("batch.intervalMs", intervalMs, DELAY_MS),
  };
};

export const readRequestTimeout = (timeoutMs = REQUEST_TIMEOUT_MS_DEFAULT): number =>
  count("requestTimeoutMs", timeoutMs, DELAY_MS);

export const readHeartbeat = ({ heartbeat, source }: ClientOptions) => {
  if (heartbeat === undefined) return undefined;
  checkNames(heartbeat, HEARTBEAT_OPTIONS, "heartbeat");
  const { asset_id, intervalMs = HEARTBEAT_INTERVAL_MS_DEFAULT } = heartbeat;
  if (typeof asset_id !== "string" || asset_id === "")
    throw new TypeError("heartbeat.asset_id is empty: name the asset that heartbeats are recorded under.");
  if (source === false)
    throw new TypeError("heartbeat says the last number of a source, and source is false: name the source.");
  return { asset_id, intervalMs: count("heartbeat.intervalMs", intervalMs, DELAY_MS) };
};

type OutboxChoice =
  | { readonly folder: Required<OutboxInFolder> }
  | { readonly memory: Required<OutboxInMemory> };

/** Whether events may end with the process is never guessed: options that give both kinds of outbox, or neither, are refused. */
export const readOutbox = (outbox: ClientOptions["outbox"]): OutboxChoice => {
  if (typeof outbox !== "object" || outbox === null)
    throw new TypeError("outbox is missing: give { directory } or { memory: true }.");
  checkNames(outbox, OUTBOX_OPTIONS, "outbox");
  if (outbox.memory === undefined) return { folder: readFolder(outbox) };
  if (outbox.memory !== true)
    throw new TypeError("outbox.memory is not true: say true, or leave it out and name a directory.");
  for (const name of ["directory", "sync"] as const)
    if (outbox[name] !== undefined)
      throw new TypeError(
        `outbox.${name} is of a folder, and outbox.memory asks for none: leave one of them out.`,
      );
  return { memory: readBound(outbox) };
};

const readFolder = ({
  directory,
  sync = "interval",
  bytesMax = OUTBOX_BYTES_DEFAULT,
}: Partial<OutboxInFolder>) => {
  if (!["always", "interval", "never"].includes(sync))
    throw new TypeError(`outbox.sync is ${JSON.stringify(sync)}: say "always", "interval" or "never".`);
  if (typeof directory !== "string" || directory === "")
    throw new TypeError("outbox.directory is empty: name a folder.");
  return { directory, sync, bytesMax: count("outbox.bytesMax", bytesMax, BYTES) };
};

/** For a client that can have no other outbox. */
export const readMemory = (outbox: OutboxInMemory = {}) => {
  checkNames(outbox, MEMORY_OPTIONS, "outbox");
  return readBound(outbox);
};

const readBound = ({ bytesMax = MEMORY_OUTBOX_BYTES_DEFAULT }: OutboxInMemory) => ({
  bytesMax: count("outbox.bytesMax", bytesMax, BYTES),
});

export const readHash = ({ hashKey }: EventOptions): Hash => {
  if (hashKey === undefined) return sha256;
  if (typeof hashKey !== "string" && !isBytes(hashKey))
    throw new TypeError("hashKey is neither a text nor a Uint8Array: give one of them.");
  return keyedHash(hashKey);
};

/** Each client of each run of a program is a source of its own, because its numbers begin at 1. */
export const readSource = ({ source = "sdk" }: EventOptions, id: string): string | undefined => {
  if (source === false) return undefined;
  if (typeof source !== "string" || source === "" || source.length > SOURCE_CHARACTERS_MAX)
    throw new TypeError(
      `source is empty or longer than ${SOURCE_CHARACTERS_MAX} characters: name this program, or say false.`,
    );
  return `${source}/${id}`;
};
