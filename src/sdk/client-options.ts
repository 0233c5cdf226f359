/** The options of a client, and how they are read: a mistake is thrown at once, so that it shows when the program is deployed. */
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
import { isBytes, isJsonObject, type JsonObject } from "./values.ts";

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

/** Reads the value of an option, or throws an error with its name. */
type Reader<Value> = (given: unknown, name: string) => Value;
type Readers = Readonly<Record<string, Reader<unknown>>>;
type ReadBy<Table extends Readers> = { readonly [Name in keyof Table]: ReturnType<Table[Name]> };

/** A misspelt option would be ignored without anybody noticing. The message does not repeat the value, which may be a key. */
const checkNames = (options: unknown, known: Readers, name: string): JsonObject => {
  const names = Object.keys(known).join(", ");
  if (!isJsonObject(options)) throw new TypeError(`${name || "options"} is no object: give { ${names} }.`);
  for (const member of Object.keys(options))
    if (!Object.hasOwn(known, member))
      throw new TypeError(`${name && `${name}.`}${member} is no option: there are ${names}.`);
  return options;
};

/** Reads an object with the options in a table. */
const group =
  <Table extends Readers>(table: Table): Reader<ReadBy<Table>> =>
  (given, name) => {
    const options = checkNames(given, table, name);
    const read: Record<string, unknown> = {};
    for (const [member, reader] of Object.entries(table))
      read[member] = reader(options[member], name ? `${name}.${member}` : member);
    return read as ReadBy<Table>;
  };

/** A value of one kind; `complaint` says what is wrong with another one. */
const kept =
  <Value>(isIt: (given: unknown) => given is Value, complaint: string): Reader<Value> =>
  (given, name) => {
    if (!isIt(given)) throw new TypeError(`${name} ${complaint}`);
    return given;
  };

const optional =
  <Value>(reader: Reader<Value>): Reader<Value | undefined> =>
  (given, name) =>
    given === undefined ? undefined : reader(given, name);

const count =
  (fallback: number, { min, max }: { readonly min: number; readonly max: number }): Reader<number> =>
  (given = fallback, name) => {
    if (typeof given !== "number" || !Number.isSafeInteger(given) || given < min || given > max)
      throw new RangeError(`${name} is ${given}: give a whole number from ${min} to ${max}.`);
    return given;
  };

/** A delay that a timer can keep (2³¹ − 1 ms), in milliseconds. */
const DELAY_MS = { min: 1, max: 2 ** 31 - 1 };
const BYTES = { min: 2 * EVENT_BYTES_MAX, max: 2 ** 40 };

const parseUrl = (given: unknown): URL | undefined => {
  try {
    const url = new URL(String(given));
    return url.protocol === "http:" || url.protocol === "https:" ? url : undefined;
  } catch {
    return undefined;
  }
};

const url: Reader<string> = (given) => {
  const parsed = parseUrl(given);
  if (!parsed)
    throw new TypeError(
      `url is ${JSON.stringify(given)}: give the address of the service, such as "https://audit.example.com".`,
    );
  if (parsed.username !== "" || parsed.password !== "")
    throw new TypeError("url holds a password: the key goes into apiKey.");
  if (parsed.search !== "" || parsed.hash !== "")
    throw new TypeError("url has a query or a fragment: give the address alone.");
  return `${parsed.origin}${parsed.pathname.replace(/\/(v1\/?)?$/, "")}`;
};

/** The message does not repeat the value, which may hold a password. */
const proxy: Reader<HttpProxy> = (given) => {
  const parsed = parseUrl(given);
  if (!parsed)
    throw new TypeError(
      'proxy is no address of an HTTP proxy: give one such as "http://proxy.example:3128".',
    );
  return proxyAt(parsed);
};

const isText = (given: unknown): given is string => typeof given === "string" && given !== "";
const isKey = (given: unknown): given is string => isText(given) && /^[!-~]+$/.test(given);
const isCallback = (given: unknown): given is () => void => typeof given === "function";
const isPolicy = (given: unknown): given is SyncPolicy =>
  given === "always" || given === "interval" || given === "never";

const callback = optional(kept(isCallback, "is no function: give one, or leave it out."));

const source: Reader<string | undefined> = (given = "sdk") => {
  if (given === false) return undefined;
  if (!isText(given) || given.length > SOURCE_CHARACTERS_MAX)
    throw new TypeError(
      `source is empty or longer than ${SOURCE_CHARACTERS_MAX} characters: name this program, or say false.`,
    );
  return given;
};

const hashKey: Reader<Hash> = (given) => {
  if (given === undefined) return sha256;
  if (typeof given !== "string" && !isBytes(given))
    throw new TypeError("hashKey is neither a text nor a Uint8Array: give one of them.");
  return keyedHash(given);
};

const inMemory = group({ bytesMax: count(MEMORY_OUTBOX_BYTES_DEFAULT, BYTES) });

const FOLDER = {
  directory: kept(isText, "is empty: name a folder."),
  sync: (given: unknown = "interval", name: string) =>
    kept(isPolicy, `is ${JSON.stringify(given)}: say "always", "interval" or "never".`)(given, name),
  memory: (): undefined => undefined,
  bytesMax: count(OUTBOX_BYTES_DEFAULT, BYTES),
};

type OutboxChoice = Readonly<{ directory: string | undefined; sync: SyncPolicy; bytesMax: number }>;

/** Whether events may end with the process is never guessed: options that give both kinds of outbox, or neither, are refused. */
const outbox: Reader<OutboxChoice> = (given, name) => {
  if (typeof given !== "object" || given === null)
    throw new TypeError("outbox is missing: give { directory } or { memory: true }.");
  const { memory, directory, sync, bytesMax } = checkNames(given, FOLDER, name);
  if (memory === undefined) return group(FOLDER)(given, name);
  if (memory !== true)
    throw new TypeError("outbox.memory is not true: say true, or leave it out and name a directory.");
  for (const [member, value] of Object.entries({ directory, sync }))
    if (value !== undefined)
      throw new TypeError(
        `outbox.${member} is of a folder, and outbox.memory asks for none: leave one of them out.`,
      );
  return { directory: undefined, sync: "never", ...inMemory({ bytesMax }, name) };
};

const EVENT = {
  source,
  hashKey,
  onDropped: callback,
  onRejected: callback,
  onProblem: callback,
};

const SERVICE = {
  url,
  requestTimeoutMs: count(REQUEST_TIMEOUT_MS_DEFAULT, DELAY_MS),
  proxy: optional(proxy),
  ...EVENT,
};

const batch = group({
  events: count(BATCH_EVENTS_DEFAULT, { min: 1, max: BATCH_EVENTS_MAX }),
  bytes: count(BATCH_BYTES_DEFAULT, { min: 1, max: BATCH_BYTES_MAX }),
  intervalMs: count(FLUSH_INTERVAL_MS_DEFAULT, DELAY_MS),
});

const CLIENT = {
  ...SERVICE,
  apiKey: kept(isKey, "is empty or has characters that no header may hold: give a key of the service."),
  outbox,
  batch: (given: unknown = {}, name: string) => batch(given, name),
  heartbeat: optional(
    group({
      asset_id: kept(isText, "is empty: name the asset that heartbeats are recorded under."),
      intervalMs: count(HEARTBEAT_INTERVAL_MS_DEFAULT, DELAY_MS),
    }),
  ),
};

export const readClientOptions = (options: ClientOptions): ReadBy<typeof CLIENT> => {
  const read = group(CLIENT)(options, "");
  if (read.heartbeat && read.source === undefined)
    throw new TypeError("heartbeat says the last number of a source, and source is false: name the source.");
  return read;
};

const SANDBOX = { ...SERVICE, outbox: (given: unknown = {}, name: string) => inMemory(given, name) };

export const readSandboxOptions = (options: SandboxOptions): ReadBy<typeof SANDBOX> =>
  group(SANDBOX)(options, "");

/** A program may pass the same options as to its real client; the others are ignored. */
export const readEventOptions = (options: EventOptions): ReadBy<typeof EVENT> => {
  checkNames(options, CLIENT, "");
  const { source, hashKey, onDropped, onRejected, onProblem } = options;
  return group(EVENT)({ source, hashKey, onDropped, onRejected, onProblem }, "");
};
