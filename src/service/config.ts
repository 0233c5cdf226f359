/** Settings, read from the environment once, at the start. An invalid value stops the start with the name of its setting. */
import { isIPv6 } from "node:net";
import { isAbsolute, relative, sep } from "node:path";
import { type Static, Type } from "@sinclair/typebox";
import { Errors } from "@sinclair/typebox/errors";
import { ADMIN_KEY_PATTERN } from "../access/admin-key.ts";
import { API_KEY_PREFIX, API_KEY_PREFIX_DEFAULT } from "../access/api-key.ts";
import type { TenantRateLimit } from "../access/key-limiter.ts";
import type { SignInSettings } from "../access/sign-in-provider.ts";
import type { EventVocabulary } from "../event/audit-event.ts";
import { EVENT_TYPES, EXTRA_EVENT_TYPE } from "../event/event-types.ts";
import { EVENT_ID_PREFIX, EXTRA_EVENT_ID_PREFIX } from "../event/formats.ts";
import { KEY_RATE_PER_SECOND_MAX } from "../limits.ts";
import { LOG_LEVELS, type LogLevel } from "../telemetry/logger.ts";
import { LEGAL_BASES } from "../views/coverage/legal-bases.ts";
import { setting } from "./setting.ts";
import { SIGN_IN_SETTINGS, signInSettings, unfinishedSignIn } from "./sign-in-settings.ts";

const ROLES = ["api", "projector", "sealer"] as const;
type Role = (typeof ROLES)[number];

export interface Config {
  readonly host: string;
  /** Undefined: it does not listen. */
  readonly port: number | undefined;
  readonly dataDir: string;
  /** Absent: signed heads are nowhere but in the log. */
  readonly headsCopy: string | undefined;
  /** Absent: a broker of our own. */
  readonly natsUrl: string | undefined;
  readonly natsProvisionUrl: string | undefined;
  readonly natsServerBinary: string | undefined;
  /** Absent: SQLite in dataDir. */
  readonly databaseUrl: string | undefined;
  readonly adminApiKey: string | undefined;
  /** What new keys begin with. */
  readonly apiKeyPrefix: string;
  /** Of all keys of a tenant together. */
  readonly tenantRateLimit: TenantRateLimit;
  readonly roles: readonly Role[];
  readonly logLevel: LogLevel;
  readonly trustedHops: number;
  readonly replicas: number;
  readonly checkpointIntervalMs: number;
  /** Absent: a file in dataDir. */
  readonly checkpointKey: string | undefined;
  readonly serviceName: string;
  readonly obligationRulesFile: string | undefined;
  readonly lateRecordGraceMs: number;
  readonly vocabulary: EventVocabulary;
  /** Absent: people sign in with API keys alone. */
  readonly signIn: SignInSettings | undefined;
}

type ConfigResult =
  | { readonly kind: "valid"; readonly config: Config }
  | { readonly kind: "invalid"; readonly errors: readonly string[] };

/** Defaults, spelt as in the environment. */
const DEFAULTS = {
  HOST: "127.0.0.1",
  PORT: "8080",
  DATA_DIR: "./data",
  API_KEY_PREFIX: API_KEY_PREFIX_DEFAULT,
  ROLES: ROLES.join(","),
  LOG_LEVEL: "info",
  STREAM_REPLICAS: "1",
  CHECKPOINT_INTERVAL: "1s",
  SERVICE_NAME: "prooftrail",
  LATE_RECORD_GRACE: "24h",
} as const;

const list = (item: RegExp): string => `^${item.source.slice(1, -1)}(,${item.source.slice(1, -1)})*$`;
/** Up to KEY_RATE_PER_SECOND_MAX. */
const RATE = "(?:[1-9]\\d{0,5}|1000000)";
const TENANT_RATE_LIMIT = new RegExp(`^${RATE}(?:,${RATE})?$`);
const KEY_RING_ENTRY = "(?:(?:public:)?[0-9a-f]{64}|public:[^\\s,+]+\\+[0-9a-f]{8}\\+[A-Za-z0-9+/=]+)";
const NATS = `${list(/^nats:\/\/[^\s,]+$/)}|${list(/^tls:\/\/[^\s,]+$/)}`;
const NATS_EXPECTS =
  "nats://user:password@host:port, or tls:// for a server with TLS, several of one kind separated by commas without spaces, with %, /, ? and # in user and password as %25, %2F, %3F and %23";
const HOST_EXPECTS = "a host name or an IP address, without a port (that is PORT)";

export const Environment = Type.Object({
  HOST: setting({
    pattern: "^[A-Za-z0-9.:_-]+$",
    description: "Address to listen on.",
    default: DEFAULTS.HOST,
    expects: HOST_EXPECTS,
  }),
  PORT: setting({
    pattern: "^(0|[1-9]\\d{0,3}|[1-5]\\d{4}|6[0-4]\\d{3}|65[0-4]\\d{2}|655[0-2]\\d|6553[0-5])$",
    description:
      "Port to listen on; 0 takes a free one. A process without the role `api` has `/health/live`, `/health/ready` and `/metrics` there, and listens only where this is set.",
    default: DEFAULTS.PORT,
    expects: "a number from 0 to 65535",
  }),
  DATA_DIR: setting({
    pattern: "^[^\\u0000]+$",
    description: "Folder for the broker's data, the views, the signing key and the copy of the admin key.",
    default: DEFAULTS.DATA_DIR,
    expects: "a path",
  }),
  NATS_URL: setting({
    pattern: NATS,
    description:
      "NATS server or servers (2.12.1 or newer, with JetStream), separated by commas; with `tls://` only connections with TLS are used. Unset: a broker of our own as a child process.",
    default: "unset",
    expects: NATS_EXPECTS,
  }),
  NATS_PROVISION_URL: setting({
    pattern: NATS,
    description:
      "The same server with the credentials of a user that may create and update streams; used only while that is done.",
    default: "NATS_URL",
    expects: NATS_EXPECTS,
  }),
  NATS_SERVER_BIN: setting({
    pattern: "^[^\\u0000]+$",
    description:
      "Path of the nats-server to run, where NATS_URL is unset. Unset: the one on PATH, else one is downloaded.",
    default: "unset",
    expects: "a path",
  }),
  DATABASE_URL: setting({
    pattern: "^postgres(ql)?://[^\\s]+$",
    description:
      "PostgreSQL database for the views alone (encoding UTF8), whose user may make tables. Each process takes five connections, and one for each evidence bundle that it makes; one of these stays open. Unset: SQLite in DATA_DIR, for one machine.",
    default: "unset",
    expects: "postgres://user:password@host:port/database",
  }),
  ADMIN_API_KEY: setting({
    pattern: ADMIN_KEY_PATTERN,
    description:
      "The admin key, 16 to 256 visible ASCII characters. Unset: made on the first start, shown once and only in a terminal, kept only as a hash, with a copy in DATA_DIR/admin.key. Set: replaces the earlier key, whose copy there is removed, and stays valid when it is left out again.",
    default: "unset",
    expects: "16 to 256 visible ASCII characters",
  }),
  API_KEY_PREFIX: setting({
    pattern: API_KEY_PREFIX.source,
    description:
      "What new keys begin with, for client libraries that take only keys with a prefix of their own, for example `JUN_live_`. Earlier keys go on working.",
    default: DEFAULTS.API_KEY_PREFIX,
    expects: "up to 32 letters, digits and underscores, with a letter first and an underscore last",
  }),
  TENANT_RATE_LIMIT: setting({
    pattern: TENANT_RATE_LIMIT.source,
    description:
      "What all keys of a tenant may send together, whoever made them: requests per second, and after a comma events per second, for example `100` or `100,5000`. The admin key does not count. Unset: no limit but those of the keys.",
    default: "unset",
    expects: `one or two whole numbers from 1 to ${KEY_RATE_PER_SECOND_MAX} with a comma between them, such as 100 or 100,5000`,
  }),
  ROLES: setting({
    pattern: list(new RegExp(`^(?:${ROLES.join("|")})$`)),
    description:
      "What this process does, separated by commas: answer requests, keep the views, sign and check tree heads.",
    default: DEFAULTS.ROLES,
    expects: `one or more of ${ROLES.join(", ")}, separated by commas without spaces`,
  }),
  LOG_LEVEL: setting({
    pattern: `^(?:${LOG_LEVELS.join("|")})$`,
    description:
      "Least important lines that are printed: `debug`, `info`, `warn` or `error`; `silent` prints none.",
    default: DEFAULTS.LOG_LEVEL,
    expects: `one of ${LOG_LEVELS.join(", ")}`,
  }),
  TRUST_PROXY: setting({
    pattern: "^\\d{1,2}$",
    description:
      "Number of your own proxies in front, whose X-Forwarded-For is believed. Unset: the socket's address counts.",
    default: "unset",
    expects: "a number of proxies, 0 to 99",
  }),
  STREAM_REPLICAS: setting({
    pattern: "^[1-5]$",
    description: "Copies of each stream: 1 on a single broker, such as our own, 3 on a cluster of three.",
    default: DEFAULTS.STREAM_REPLICAS,
    expects: "a number from 1 to 5",
  }),
  CHECKPOINT_INTERVAL: setting({
    // Below 24 days, the longest time of a timer.
    pattern: "^[1-9](?:\\d{0,5}(?:ms|s)|\\d{0,3}m)$",
    description: "How often the tree heads of tenants with new events are signed.",
    default: DEFAULTS.CHECKPOINT_INTERVAL,
    expects: "a time such as 500ms, 1s or 2m, from 1ms to 999999ms, 999999s or 9999m",
  }),
  CHECKPOINT_KEY: setting({
    pattern: `^${KEY_RING_ENTRY}([\\s,]+${KEY_RING_ENTRY})*$`,
    description:
      "What signs tree heads: 64 hex digits, the seed of an Ed25519 key. Several are separated by commas, 50 at most, and all sign. `public:` with an old key's public key, in hex or as `GET /v1/log/key` gives it, keeps its signatures verifiable. Unset: made on the first start, in DATA_DIR/checkpoint.key.",
    default: "unset",
    expects:
      "64 hex digits in lower case, or public: and a public key, as 64 hex digits or as GET /v1/log/key gives it, separated by commas",
  }),
  HEADS_COPY: setting({
    pattern: "^[^\\u0000]+$",
    description:
      "Folder outside DATA_DIR, on another disk or a mount of object storage, to which every signed tree head is written before it is published; the same for each process with the role `api` or `sealer`. A log that does not reach these heads, as after an older copy was put back, is neither signed nor written until that is accepted.",
    default: "unset",
    expects: "a path outside DATA_DIR",
  }),
  SERVICE_NAME: setting({
    pattern: "^[a-z0-9][a-z0-9.-]{0,99}$",
    description:
      "Name of this installation in its tree heads: `SERVICE_NAME/tenant` is the origin of each log, and cannot change after the first signature.",
    default: DEFAULTS.SERVICE_NAME,
    expects: "lower-case letters, digits, dots and hyphens, at most 100",
  }),
  OBLIGATION_RULES_FILE: setting({
    pattern: "^[^\\u0000]+$",
    description:
      "JSON file with your own limits, zones and holidays for the rules of obligations. Unset: the table of rules as it is. Its former name, DEADLINES_FILE, is still read.",
    default: "unset",
    expects: "a path",
  }),
  LATE_RECORD_GRACE: setting({
    pattern: "^(?:0|[1-9]\\d{0,5}(?:ms|s|m|h|d))$",
    description:
      "How long after its due time an event that met an obligation in time may reach the log; later, the obligation is `recorded_late`.",
    default: DEFAULTS.LATE_RECORD_GRACE,
    expects: "a time such as 30m, 24h or 2d, up to 999999 of its unit, or 0",
  }),
  EXTRA_EVENT_TYPES: setting({
    pattern: list(EXTRA_EVENT_TYPE),
    description:
      "Event types beside the 32 documented ones, separated by commas, for example `sdk.heartbeat`; none of the groups `system` and `legacy`.",
    default: "unset",
    expects:
      "types such as sdk.heartbeat: one or two words in lower snake case joined by a dot, separated by commas without spaces, none of the groups system and legacy, which Prooftrail keeps for its own events and for types of one word",
  }),
  EXTRA_EVENT_ID_PREFIXES: setting({
    pattern: list(EXTRA_EVENT_ID_PREFIX),
    description: "Prefixes of event_id beside `evt_`, separated by commas, for example `obj_,rev_`.",
    default: "unset",
    expects:
      "prefixes such as obj_, in lower case with an underscore at the end, separated by commas without spaces",
  }),
  ...SIGN_IN_SETTINGS,
});

export const ENVIRONMENT_NAMES: readonly string[] = Object.keys(Environment.properties);

/** Names of v0.1.0. Whoever set one would otherwise get the limits of the table without a word. */
const FORMER_NAMES: ReadonlyMap<string, string> = new Map([["OBLIGATION_RULES_FILE", "DEADLINES_FILE"]]);
const TWICE =
  "DEADLINES_FILE is the former name of OBLIGATION_RULES_FILE: both are set. Leave DEADLINES_FILE out.";

export const readConfig = (variables: Readonly<Record<string, string | undefined>>): ConfigResult => {
  const given: Record<string, string> = {};
  for (const name of ENVIRONMENT_NAMES) {
    const value = variables[name] ?? variables[FORMER_NAMES.get(name) ?? name];
    if (value !== undefined) given[name] = value;
  }
  const twice = [...FORMER_NAMES].flat().every((name) => variables[name] !== undefined);
  const malformed = new Map<string, string>();
  for (const { path, schema, value } of Errors(Environment, [], given)) {
    const name = path.slice(1);
    malformed.set(name, `${name} must be ${schema["x-expects"]}${shown(name, value)}.`);
  }
  const wellFormed = Object.fromEntries(Object.entries(given).filter(([name]) => !malformed.has(name)));
  const errors = [
    ...malformed.values(),
    ...(twice ? [TWICE] : []),
    ...unreadableHost(wellFormed),
    ...unreadableUrls(wellFormed),
    ...unfinishedSignIn(given),
    // A malformed NATS_URL still counts as set.
    ...contradictions({
      ...wellFormed,
      NATS_URL: given.NATS_URL,
      NATS_PROVISION_URL: given.NATS_PROVISION_URL,
    }),
  ];
  return errors.length > 0 ? { kind: "invalid", errors } : { kind: "valid", config: toConfig(given) };
};

/** What a pattern cannot decide: whether a colon belongs to an IPv6 address. */
const unreadableHost = ({ HOST: host = "" }: Static<typeof Environment>): readonly string[] =>
  host.includes(":") && !isIPv6(host) ? [`HOST must be ${HOST_EXPECTS}${shown("HOST", host)}.`] : [];

/**
 * What a pattern cannot decide about a URL: whether it names a server, whether the port exists, whether name and password can be decoded.
 * Nothing may follow the server: an unescaped `/`, `?` or `#` in a password would cut it off, and its beginning would be read as a port.
 */
const unreadableUrls = (given: Static<typeof Environment>): readonly string[] =>
  (["NATS_URL", "NATS_PROVISION_URL"] as const)
    .filter((name) => !items(given[name]).every(isReadableUrl))
    .map((name) => `${name} must be ${NATS_EXPECTS}.`);

const isReadableUrl = (text: string): boolean => {
  try {
    const { hostname, username, password, pathname, search, hash } = new URL(text);
    decodeURIComponent(username + password);
    const isServerAlone = hostname !== "" && ["", "/"].includes(pathname) && search === "" && hash === "";
    return isServerAlone && (username !== "" || password === "");
  } catch {
    return false;
  }
};

/** Settings that are valid alone and contradict each other. */
const contradictions = (given: Readonly<Record<string, string | undefined>>): readonly string[] => {
  const { NATS_URL: natsUrl, NATS_PROVISION_URL: provisionUrl } = given;
  const replicas = given.STREAM_REPLICAS ?? DEFAULTS.STREAM_REPLICAS;
  const errors: string[] = [];
  if (given.HEADS_COPY !== undefined && isWithin(given.DATA_DIR ?? DEFAULTS.DATA_DIR, given.HEADS_COPY))
    errors.push(COPY_WITHIN);
  if (natsUrl !== undefined) return errors;
  if (provisionUrl !== undefined)
    errors.push(
      "NATS_PROVISION_URL must not be set without NATS_URL: a broker of our own would be started, and take the events. Set NATS_URL to the same server, or leave both out.",
    );
  if (replicas === "1") return errors;
  errors.push(
    `STREAM_REPLICAS must be 1 without NATS_URL, not ${replicas}: a broker of our own is one server. Leave it out, or set NATS_URL to a cluster of at least ${replicas} servers.`,
  );
  return errors;
};

export const COPY_WITHIN =
  "HEADS_COPY must be outside DATA_DIR: a copy of DATA_DIR that is put back would bring its own heads along.";

export const isWithin = (folder: string, path: string): boolean => {
  const [first] = relative(folder, path).split(sep);
  return first !== ".." && !isAbsolute(relative(folder, path));
};

/**
 * Does not repeat values that may be secret. But a value that was read from a file often ends with an invisible line break, so white space
 * around it is reported.
 */
const shown = (name: string, value: unknown): string => {
  if (value === "" || !["_URL", "_KEY", "_SECRET"].some((end) => name.endsWith(end)))
    return `, not ${JSON.stringify(value)}`;
  return typeof value === "string" && value !== value.trim()
    ? ", without white space or a line break around it"
    : "";
};

const UNIT_MS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** `500ms`, `1s`, `2m`, `24h`, `2d` or `0`. */
const milliseconds = (text: string): number =>
  Number.parseInt(text, 10) * (UNIT_MS[text.replace(/^\d+/, "")] ?? 0);

const items = (text: string | undefined): readonly string[] => text?.split(",") ?? [];

const tenantRateLimit = (text: string | undefined): TenantRateLimit => {
  const [requests, events] = items(text).map(Number);
  return { ...(requests !== undefined && { requests }), ...(events !== undefined && { events }) };
};

/** Several processes without the role api may run on one machine, so they listen only if PORT is set. */
const portOf = (given: string | undefined, roles: readonly Role[]): number | undefined => {
  if (given !== undefined) return Number(given);
  return roles.includes("api") ? Number(DEFAULTS.PORT) : undefined;
};

const toConfig = (given: Static<typeof Environment>): Config => {
  const settings = { ...DEFAULTS, ...given };
  const asked = items(settings.ROLES);
  const roles = ROLES.filter((role) => asked.includes(role));
  return {
    host: settings.HOST,
    port: portOf(given.PORT, roles),
    dataDir: settings.DATA_DIR,
    headsCopy: given.HEADS_COPY,
    natsUrl: given.NATS_URL,
    natsProvisionUrl: given.NATS_PROVISION_URL ?? given.NATS_URL,
    natsServerBinary: given.NATS_SERVER_BIN,
    databaseUrl: given.DATABASE_URL,
    adminApiKey: given.ADMIN_API_KEY,
    apiKeyPrefix: settings.API_KEY_PREFIX,
    tenantRateLimit: tenantRateLimit(given.TENANT_RATE_LIMIT),
    roles,
    logLevel: LOG_LEVELS.find((level) => level === settings.LOG_LEVEL) ?? DEFAULTS.LOG_LEVEL,
    trustedHops: Number(given.TRUST_PROXY ?? 0),
    replicas: Number(settings.STREAM_REPLICAS),
    checkpointIntervalMs: milliseconds(settings.CHECKPOINT_INTERVAL),
    checkpointKey: given.CHECKPOINT_KEY,
    serviceName: settings.SERVICE_NAME,
    obligationRulesFile: given.OBLIGATION_RULES_FILE,
    lateRecordGraceMs: milliseconds(settings.LATE_RECORD_GRACE),
    vocabulary: {
      eventTypes: [...new Set([...EVENT_TYPES, ...items(given.EXTRA_EVENT_TYPES)])],
      eventIdPrefixes: [...new Set([EVENT_ID_PREFIX, ...items(given.EXTRA_EVENT_ID_PREFIXES)])],
      legalBases: LEGAL_BASES.map(({ name }) => name),
    },
    signIn: signInSettings(given),
  };
};
