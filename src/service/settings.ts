/** Every setting as data: docs/reference/settings.md is generated from it, and config.ts reads the environment by it. */
import { isIPv6 } from "node:net";
import { ADMIN_KEY_PATTERN } from "../access/admin-key.ts";
import { API_KEY_PREFIX, API_KEY_PREFIX_DEFAULT } from "../access/api-key.ts";
import { CALLBACK_PATH } from "../api/routes/session.ts";
import { EXTRA_EVENT_TYPE } from "../event/event-types.ts";
import { EXTRA_EVENT_ID_PREFIX } from "../event/formats.ts";
import { KEY_RATE_PER_SECOND_MAX } from "../limits.ts";
import { LOG_LEVELS } from "../telemetry/logger.ts";

export const ROLES = ["api", "projector", "sealer"] as const;

interface Setting {
  readonly pattern: string;
  /** What the pattern cannot decide. */
  readonly isValid?: (value: string) => boolean;
  readonly description: string;
  /** What an absent value means. */
  readonly default?: string;
  readonly expects: string;
}

const list = (item: RegExp): string => `^${item.source.slice(1, -1)}(,${item.source.slice(1, -1)})*$`;
/** Up to KEY_RATE_PER_SECOND_MAX. */
const RATE = "(?:[1-9]\\d{0,5}|1000000)";
const KEY_RING_ENTRY = "(?:(?:public:)?[0-9a-f]{64}|public:[^\\s,+]+\\+[0-9a-f]{8}\\+[A-Za-z0-9+/=]+)";
const NATS = `${list(/^nats:\/\/[^\s,]+$/)}|${list(/^tls:\/\/[^\s,]+$/)}`;
const NATS_EXPECTS =
  "nats://user:password@host:port, or tls:// for a server with TLS, several of one kind separated by commas without spaces, with %, /, ? and # in user and password as %25, %2F, %3F and %23";
/** Nothing may follow the server: an unescaped `/`, `?` or `#` in a password would cut it off, and its beginning would be read as a port. */
const isServerUrl = (text: string): boolean => {
  try {
    const { hostname, username, password, pathname, search, hash } = new URL(text);
    decodeURIComponent(username + password);
    const isServerAlone = hostname !== "" && ["", "/"].includes(pathname) && search === "" && hash === "";
    return isServerAlone && (username !== "" || password === "");
  } catch {
    return false;
  }
};

/** Plain HTTP only on this machine: the token tells who somebody is. */
const ADDRESS =
  "(?:https://[A-Za-z0-9.-]+(?::\\d{1,5})?|http://(?:localhost|127\\.0\\.0\\.1|\\[::1\\])(?::\\d{1,5})?)(?:/[^\\s?#]*)?";

export const SETTINGS = {
  HOST: {
    pattern: "^[A-Za-z0-9.:_-]+$",
    isValid: (host) => !host.includes(":") || isIPv6(host),
    description: "Address to listen on.",
    default: "127.0.0.1",
    expects: "a host name or an IP address, without a port (that is PORT)",
  },
  PORT: {
    pattern: "^(0|[1-9]\\d{0,3}|[1-5]\\d{4}|6[0-4]\\d{3}|65[0-4]\\d{2}|655[0-2]\\d|6553[0-5])$",
    description:
      "Port to listen on; 0 takes a free one. A process without the role `api` has `/health/live`, `/health/ready` and `/metrics` there, and listens only where this is set.",
    default: "8080",
    expects: "a number from 0 to 65535",
  },
  DATA_DIR: {
    pattern: "^[^\\u0000]+$",
    description: "Folder for the broker's data, the views, the signing key and the copy of the admin key.",
    default: "./data",
    expects: "a path",
  },
  NATS_URL: {
    pattern: NATS,
    isValid: (urls) => urls.split(",").every(isServerUrl),
    description:
      "NATS server or servers (2.12.1 or newer, with JetStream), separated by commas; with `tls://` only connections with TLS are used. Unset: our own broker as a child process.",
    expects: NATS_EXPECTS,
  },
  NATS_PROVISION_URL: {
    pattern: NATS,
    isValid: (urls) => urls.split(",").every(isServerUrl),
    description:
      "The same server with the credentials of a user that may create and update streams; used only while that is done.",
    default: "NATS_URL",
    expects: NATS_EXPECTS,
  },
  NATS_SERVER_BIN: {
    pattern: "^[^\\u0000]+$",
    description:
      "Path of the nats-server to run, where NATS_URL is unset. Unset: the one on PATH, else one is downloaded.",
    expects: "a path",
  },
  DATABASE_URL: {
    pattern: "^postgres(ql)?://[^\\s]+$",
    description:
      "PostgreSQL database for the views alone (encoding UTF8), whose user may create tables. Each process takes five connections, and one for each evidence bundle that it builds; one of these stays open. Unset: SQLite in DATA_DIR, for one machine.",
    expects: "postgres://user:password@host:port/database",
  },
  ADMIN_API_KEY: {
    pattern: ADMIN_KEY_PATTERN,
    description:
      "The admin key, 16 to 256 visible ASCII characters. Unset: created on the first start, shown once and only in a terminal, kept only as a hash, with a copy in DATA_DIR/admin.key. Set: replaces the earlier key, whose copy there is removed, and stays valid when it is left out again.",
    expects: "16 to 256 visible ASCII characters",
  },
  API_KEY_PREFIX: {
    pattern: API_KEY_PREFIX.source,
    description:
      "What new keys begin with, for client libraries that take only keys with a prefix of their own, for example `JUN_live_`. Earlier keys keep working.",
    default: API_KEY_PREFIX_DEFAULT,
    expects: "up to 32 letters, digits and underscores, with a letter first and an underscore last",
  },
  TENANT_RATE_LIMIT: {
    pattern: `^${RATE}(?:,${RATE})?$`,
    description:
      "What all keys of a tenant may send together, whoever created them: requests per second, and after a comma events per second, for example `100` or `100,5000`. The admin key does not count. Unset: only the keys have limits.",
    expects: `one or two whole numbers from 1 to ${KEY_RATE_PER_SECOND_MAX} with a comma between them, such as 100 or 100,5000`,
  },
  ROLES: {
    pattern: list(new RegExp(`^(?:${ROLES.join("|")})$`)),
    description:
      "What this process does, separated by commas: answer requests, keep the views, sign and check tree heads.",
    default: ROLES.join(","),
    expects: `one or more of ${ROLES.join(", ")}, separated by commas without spaces`,
  },
  LOG_LEVEL: {
    pattern: `^(?:${LOG_LEVELS.join("|")})$`,
    description: "Lowest level that is printed: `debug`, `info`, `warn` or `error`; `silent` prints none.",
    default: "info",
    expects: `one of ${LOG_LEVELS.join(", ")}`,
  },
  TRUST_PROXY: {
    pattern: "^\\d{1,2}$",
    description:
      "Number of your own proxies in front, whose X-Forwarded-For is believed. Unset: the socket's address counts.",
    expects: "a number of proxies, 0 to 99",
  },
  STREAM_REPLICAS: {
    pattern: "^[1-5]$",
    description: "Copies of each stream: 1 on a single broker, such as our own, 3 on a cluster of three.",
    default: "1",
    expects: "a number from 1 to 5",
  },
  CHECKPOINT_INTERVAL: {
    // Below 24 days, the longest time of a timer.
    pattern: "^[1-9](?:\\d{0,5}(?:ms|s)|\\d{0,3}m)$",
    description: "How often the tree heads of tenants with new events are signed.",
    default: "1s",
    expects: "a time such as 500ms, 1s or 2m, from 1ms to 999999ms, 999999s or 9999m",
  },
  CHECKPOINT_KEY: {
    pattern: `^${KEY_RING_ENTRY}([\\s,]+${KEY_RING_ENTRY})*$`,
    description:
      "What signs tree heads: 64 hex digits, the seed of an Ed25519 key. Several are separated by commas, 50 at most, and all sign. `public:` with an old key's public key, in hex or as `GET /v1/log/key` gives it, keeps its signatures verifiable. Unset: created on the first start, in DATA_DIR/checkpoint.key.",
    expects:
      "64 hex digits in lower case, or public: and a public key, as 64 hex digits or as GET /v1/log/key gives it, separated by commas",
  },
  HEADS_COPY: {
    pattern: "^[^\\u0000]+$",
    description:
      "Folder outside DATA_DIR, on another disk or a mount of object storage, to which every signed tree head is written before it is published; the same for each process with the role `api` or `sealer`. A log that does not reach these heads, as after an older copy was restored, is neither signed nor written until that is accepted.",
    expects: "a path outside DATA_DIR",
  },
  SERVICE_NAME: {
    pattern: "^[a-z0-9][a-z0-9.-]{0,99}$",
    description:
      "Name of this installation in its tree heads: `SERVICE_NAME/tenant` is the origin of each log, and cannot change after the first signature.",
    default: "prooftrail",
    expects: "lower-case letters, digits, dots and hyphens, at most 100",
  },
  OBLIGATION_RULES_FILE: {
    pattern: "^[^\\u0000]+$",
    description:
      "JSON file with your own limits, zones and holidays for the rules of obligations. Unset: the table of rules as it is. Its former name, DEADLINES_FILE, is still read.",
    expects: "a path",
  },
  LATE_RECORD_GRACE: {
    pattern: "^(?:0|[1-9]\\d{0,5}(?:ms|s|m|h|d))$",
    description:
      "How long after its due time an event that met an obligation in time may reach the log; later, the obligation is `recorded_late`.",
    default: "24h",
    expects: "a time such as 30m, 24h or 2d, up to 999999 of its unit, or 0",
  },
  EXTRA_EVENT_TYPES: {
    pattern: list(EXTRA_EVENT_TYPE),
    description:
      "Event types besides the 32 documented ones, separated by commas, for example `sdk.heartbeat`; none of the groups `system` and `legacy`.",
    expects:
      "types such as sdk.heartbeat: one or two words in lower snake case joined by a dot, separated by commas without spaces, none of the groups system and legacy, which Prooftrail keeps for its own events and for types of one word",
  },
  EXTRA_EVENT_ID_PREFIXES: {
    pattern: list(EXTRA_EVENT_ID_PREFIX),
    description: "Prefixes of event_id besides `evt_`, separated by commas, for example `obj_,rev_`.",
    expects:
      "prefixes such as obj_, in lower case with an underscore at the end, separated by commas without spaces",
  },
  OIDC_ISSUER: {
    pattern: `^${ADDRESS}$`,
    isValid: URL.canParse,
    description:
      "OpenID Connect provider with which people sign in to the console, as its discovery document spells `issuer`. The other OIDC settings belong to it.",
    expects: "an address such as https://login.example/realms/bank, with http:// only on this machine",
  },
  OIDC_CLIENT_ID: {
    pattern: "^[!-~]{1,255}$",
    description: "Id of this service at the provider.",
    expects: "1 to 255 visible ASCII characters",
  },
  OIDC_CLIENT_SECRET: {
    pattern: "^[!-~]{16,512}$",
    description:
      "Secret of this service at the provider. It also seals the sessions, so changing it ends them, and all processes need the same.",
    expects: "16 to 512 visible ASCII characters",
  },
  OIDC_REDIRECT_URI: {
    pattern: `^${ADDRESS.replace("(?:/[^\\s?#]*)?", "(?:/[^\\s?#]+)?")}${CALLBACK_PATH}$`,
    isValid: URL.canParse,
    description: `Where the provider sends the browser back to: the address of the console as browsers see it, followed by \`${CALLBACK_PATH}\`. The provider must know it.`,
    expects: `the address of the console followed by ${CALLBACK_PATH}, such as https://audit.example${CALLBACK_PATH}, with http:// only on this machine`,
  },
  OIDC_ROLES_CLAIM: {
    pattern: "^\\S{1,255}$",
    description:
      "Claim of the ID token that says where somebody may sign in: `tenant:role`, or a list of such texts.",
    default: "prooftrail",
    expects: "the name of a claim, without white space",
  },
} as const satisfies Readonly<Record<string, Setting>>;

export type SettingName = keyof typeof SETTINGS;

export const isSettingName = (name: string): name is SettingName => Object.hasOwn(SETTINGS, name);

export const SETTING_NAMES = Object.keys(SETTINGS).filter(isSettingName);

export const settingOf = (name: SettingName): Setting => SETTINGS[name];
