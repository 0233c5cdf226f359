/** The options of a client, and how they are read: a mistake is thrown at once, so that it shows when the program is deployed. */
import { resolve } from "node:path";
import { type Hash, keyedHash, sha256 } from "./hash.ts";
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
import { type HttpProxy, proxyAt } from "./proxy.ts";
import type { Callbacks } from "./reports.ts";
import { isBytes, isJsonObject } from "./values.ts";

/** When captured events are synced to the disk: before `capture()` returns, once a second, or when the operating system decides. */
export type SyncPolicy = "always" | "interval" | "never";

export interface OutboxInFolder {
  /** On a local disk. Processes of one tenant may share it: each sends what a dead one left there with its own key. */
  readonly directory: string;
  /** Default: `interval`. */
  readonly sync?: SyncPolicy;
  /** Limit in bytes for all waiting events; default 256 MiB. Beyond it new events are dropped, counted and reported. */
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
  /** Name of this program; default `sdk`. Each event carries a source number, so that a missing event is noticed. `false` for none. */
  readonly source?: string | false;
  /** A key of at least 16 bytes. With it, identifiers are hashed with HMAC-SHA-256 instead of SHA-256. */
  readonly hashKey?: string | Uint8Array;
}

interface ServiceOptions extends EventOptions {
  /** Address of the service, such as `https://audit.example.com`. */
  readonly url: string;
  /** Timeout of one request, in milliseconds; default 15,000. */
  readonly requestTimeoutMs?: number;
  /** The proxy through which requests go, such as `http://proxy.example:3128`, with `user:password@` where it asks for them. */
  readonly proxy?: string;
}

export interface ClientOptions extends ServiceOptions {
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
  /** Reports at regular intervals that this program is alive and how many events wait. The service must admit `sdk.heartbeat` (EXTRA_EVENT_TYPES). */
  readonly heartbeat?: HeartbeatOptions;
}

/** The sandbox needs no key, forgets events after an hour, and accepts 100 requests a minute with one event each. */
export interface SandboxOptions extends ServiceOptions {
  /** An outbox in memory: nothing in it outlives the program. */
  readonly outbox?: OutboxInMemory;
}

const EVENT_NAMES = ["source", "hashKey", "onDropped", "onRejected", "onProblem"];
const SERVICE_NAMES = ["url", "requestTimeoutMs", "proxy", ...EVENT_NAMES, "outbox"];
const CLIENT_NAMES = [...SERVICE_NAMES, "apiKey", "batch", "heartbeat"];

/** Reads an object of options. A misspelt one would be ignored without anybody noticing. No message repeats a value that may be a key. */
const optionsIn = (given: unknown, names: readonly string[], group = "") => {
  const nameOf = (name: string): string => (group === "" ? name : `${group}.${name}`);
  if (!isJsonObject(given))
    throw new TypeError(`${group || "options"} is not an object: give { ${names.join(", ")} }.`);
  for (const [name, value] of Object.entries(given))
    if (value !== undefined && !names.includes(name))
      throw new TypeError(`${nameOf(name)} is not an option: the options are ${names.join(", ")}.`);
  return {
    given,
    text: (name: string, complaint: string, form = /./s): string => {
      const value = given[name];
      if (typeof value === "string" && form.test(value)) return value;
      throw new TypeError(`${nameOf(name)} ${complaint}`);
    },
    count: (name: string, fallback: number, { min, max }: { min: number; max: number }): number => {
      const { [name]: value = fallback } = given;
      if (typeof value === "number" && Number.isSafeInteger(value) && value >= min && value <= max)
        return value;
      throw new RangeError(`${nameOf(name)} is ${value}: give a whole number from ${min} to ${max}.`);
    },
  };
};

type Options = ReturnType<typeof optionsIn>;

/** A delay that a timer can keep (2³¹ − 1 ms), in milliseconds. */
const DELAY_MS = { min: 1, max: 2 ** 31 - 1 };
const BYTES = { min: 2 * EVENT_BYTES_MAX, max: 2 ** 40 };

const parseUrl = (given: unknown): URL | undefined => {
  const url = URL.canParse(String(given)) ? new URL(String(given)) : undefined;
  return url?.protocol === "http:" || url?.protocol === "https:" ? url : undefined;
};

const urlIn = ({ given }: Options): string => {
  const parsed = parseUrl(given.url);
  if (!parsed)
    throw new TypeError(
      `url is ${JSON.stringify(given.url)}: give the address of the service, such as "https://audit.example.com".`,
    );
  if (parsed.username !== "" || parsed.password !== "")
    throw new TypeError("url holds a password: the key goes into apiKey.");
  if (parsed.search !== "" || parsed.hash !== "")
    throw new TypeError("url has a query or a fragment: give the address alone.");
  return `${parsed.origin}${parsed.pathname.replace(/\/(v1\/?)?$/, "")}`;
};

/** The message does not repeat the value, which may hold a password. */
const proxyIn = ({ given: { proxy } }: Options): HttpProxy | undefined => {
  if (proxy === undefined) return undefined;
  const parsed = parseUrl(proxy);
  if (parsed) return proxyAt(parsed);
  throw new TypeError(
    'proxy is not the address of an HTTP proxy: give one such as "http://proxy.example:3128".',
  );
};

const hashIn = ({ given: { hashKey } }: Options): Hash => {
  if (hashKey === undefined) return sha256;
  if (typeof hashKey !== "string" && !isBytes(hashKey))
    throw new TypeError("hashKey is neither a string nor a Uint8Array: give one of them.");
  return keyedHash(hashKey);
};

const sourceIn = ({ given: { source = "sdk" } }: Options): string | undefined => {
  if (source === false) return undefined;
  if (typeof source === "string" && source !== "" && source.length <= SOURCE_CHARACTERS_MAX) return source;
  throw new TypeError(
    `source is empty or longer than ${SOURCE_CHARACTERS_MAX} characters: name this program, or say false.`,
  );
};

const isPolicy = (given: unknown): given is SyncPolicy =>
  given === "always" || given === "interval" || given === "never";

/** Whether events may end with the process is never guessed: options that give both kinds of outbox, or neither, are refused. */
const outboxIn = ({ given: { outbox } }: Options) => {
  if (typeof outbox !== "object" || outbox === null)
    throw new TypeError("outbox is missing: give { directory } or { memory: true }.");
  if (Reflect.get(outbox, "memory") === true)
    return inMemory(optionsIn(outbox, ["memory", "bytesMax"], "outbox"));
  const options = optionsIn(outbox, ["directory", "sync", "bytesMax"], "outbox");
  const { sync = "interval" } = options.given;
  if (!isPolicy(sync))
    throw new TypeError(`outbox.sync is ${JSON.stringify(sync)}: say "always", "interval" or "never".`);
  const bytesMax = options.count("bytesMax", OUTBOX_BYTES_DEFAULT, BYTES);
  // Resolved now, because the program may change its working directory later.
  return { directory: resolve(options.text("directory", "is empty: name a folder.")), sync, bytesMax };
};

const inMemory = (options: Options) => ({
  directory: undefined,
  sync: "never" as const,
  bytesMax: options.count("bytesMax", MEMORY_OUTBOX_BYTES_DEFAULT, BYTES),
});

const eventOptions = (options: Options) => {
  for (const name of ["onDropped", "onRejected", "onProblem"])
    if (!["function", "undefined"].includes(typeof options.given[name]))
      throw new TypeError(`${name} is not a function: pass one, or leave it out.`);
  return { source: sourceIn(options), hashKey: hashIn(options) };
};

const serviceOptions = (options: Options) => ({
  url: urlIn(options),
  requestTimeoutMs: options.count("requestTimeoutMs", REQUEST_TIMEOUT_MS_DEFAULT, DELAY_MS),
  proxy: proxyIn(options),
  ...eventOptions(options),
});

const batchIn = ({ given: { batch = {} } }: Options) => {
  const options = optionsIn(batch, ["events", "bytes", "intervalMs"], "batch");
  return {
    events: options.count("events", BATCH_EVENTS_DEFAULT, { min: 1, max: BATCH_EVENTS_MAX }),
    bytes: options.count("bytes", BATCH_BYTES_DEFAULT, { min: 1, max: BATCH_BYTES_MAX }),
    intervalMs: options.count("intervalMs", FLUSH_INTERVAL_MS_DEFAULT, DELAY_MS),
  };
};

const heartbeatIn = ({ given: { heartbeat, source } }: Options) => {
  if (heartbeat === undefined) return undefined;
  const options = optionsIn(heartbeat, ["asset_id", "intervalMs"], "heartbeat");
  if (source === false)
    throw new TypeError("heartbeat says the last number of a source, and source is false: name the source.");
  return {
    asset_id: options.text("asset_id", "is empty: name the asset that heartbeats are recorded under."),
    intervalMs: options.count("intervalMs", HEARTBEAT_INTERVAL_MS_DEFAULT, DELAY_MS),
  };
};

const KEY = "is empty or has characters that no header may hold: give a key of the service.";

export const readClientOptions = (given: ClientOptions) => {
  const options = optionsIn(given, CLIENT_NAMES);
  return {
    ...serviceOptions(options),
    apiKey: options.text("apiKey", KEY, /^[!-~]+$/),
    outbox: outboxIn(options),
    batch: batchIn(options),
    heartbeat: heartbeatIn(options),
  };
};

export const readSandboxOptions = (given: SandboxOptions) => {
  const options = optionsIn(given, SERVICE_NAMES);
  const { outbox = {} } = options.given;
  return { ...serviceOptions(options), outbox: inMemory(optionsIn(outbox, ["bytesMax"], "outbox")) };
};

/** A program may pass the same options as to its real client; the others are ignored. */
export const readEventOptions = (given: EventOptions) => eventOptions(optionsIn(given, CLIENT_NAMES));
