import { expect, test } from "bun:test";
import { type Config, misspeltSettings, readConfig } from "./config.ts";
import { SETTING_NAMES } from "./settings.ts";

type Variables = Readonly<Record<string, string | undefined>>;

const errorsOf = (variables: Variables): readonly string[] => {
  const read = readConfig(variables);
  return read.kind === "invalid" ? read.errors : [];
};
const settingOf = <Name extends keyof Config>(name: Name, variables: Variables): Config[Name] | "invalid" => {
  const read = readConfig(variables);
  return read.kind === "valid" ? read.config[name] : "invalid";
};

test("without any settings the documented defaults apply", () => {
  expect(readConfig({ PATH: "/bin" })).toMatchObject({
    kind: "valid",
    config: {
      host: "127.0.0.1",
      port: 8080,
      dataDir: "./data",
      natsUrl: undefined,
      roles: ["api", "projector", "sealer"],
      logLevel: "info",
      trustedHops: 0,
      replicas: 1,
      apiKeyPrefix: "ptk_",
      tenantRateLimit: {},
      lateRecordGraceMs: 86_400_000,
      vocabulary: { eventIdPrefixes: ["evt_"] },
    },
  });
});

test.each<readonly [keyof Config, Variables, unknown]>([
  // Without the role api the service listens only if a port is set.
  ["port", { ROLES: "projector,sealer" }, undefined],
  ["port", { ROLES: "projector", PORT: "9090" }, 9090],
  ["port", { ROLES: "projector,api" }, 8080],
  ["roles", { ROLES: "projector,api" }, ["api", "projector"]],
  ["host", { HOST: "::1" }, "::1"],
  ["host", { HOST: "::ffff:127.0.0.1" }, "::ffff:127.0.0.1"],
  ["host", { HOST: "audit.example.com" }, "audit.example.com"],
  ["replicas", { STREAM_REPLICAS: "3", NATS_URL: "nats://a:4222" }, 3],
  ["natsUrl", { NATS_URL: "nats://user:100%25@host:4222" }, "nats://user:100%25@host:4222"],
  ["natsUrl", { NATS_URL: "tls://a:4222,tls://b:4222" }, "tls://a:4222,tls://b:4222"],
  ["natsUrl", { NATS_URL: "nats://token@[::1]:4222/" }, "nats://token@[::1]:4222/"],
  ["natsProvisionUrl", { NATS_PROVISION_URL: "nats://p@h", NATS_URL: "nats://h" }, "nats://p@h"],
  ["obligationRulesFile", { DEADLINES_FILE: "old.json" }, "old.json"],
  ["tenantRateLimit", { TENANT_RATE_LIMIT: "100" }, { requests: 100 }],
  ["tenantRateLimit", { TENANT_RATE_LIMIT: "1,1000000" }, { requests: 1, events: 1_000_000 }],
  ["apiKeyPrefix", { API_KEY_PREFIX: "JUN_live_" }, "JUN_live_"],
  ["headsCopy", { DATA_DIR: "/srv/data", HEADS_COPY: "/srv/data-heads" }, "/srv/data-heads"],
  ["lateRecordGraceMs", { LATE_RECORD_GRACE: "0" }, 0],
  ["lateRecordGraceMs", { LATE_RECORD_GRACE: "500ms" }, 500],
  ["lateRecordGraceMs", { LATE_RECORD_GRACE: "90s" }, 90_000],
  ["lateRecordGraceMs", { LATE_RECORD_GRACE: "30m" }, 1_800_000],
  ["lateRecordGraceMs", { LATE_RECORD_GRACE: "2d" }, 172_800_000],
  ["checkpointIntervalMs", { CHECKPOINT_INTERVAL: "9999m" }, 599_940_000],
])("%s of %p is %p", (name, variables, value) => {
  expect<unknown>(settingOf(name, variables)).toEqual(value);
});

test("extra types and prefixes stand behind the documented ones", () => {
  const variables = { EXTRA_EVENT_TYPES: "sdk.heartbeat,ping", EXTRA_EVENT_ID_PREFIXES: "obj_,rev_" };
  const vocabulary = settingOf("vocabulary", variables);
  if (vocabulary === "invalid") throw new Error("it is valid");
  expect(vocabulary.eventTypes.slice(32)).toEqual(["sdk.heartbeat", "ping"]);
  expect(vocabulary.eventIdPrefixes).toEqual(["evt_", "obj_", "rev_"]);
});

const HOST = (host: string) =>
  `HOST must be a host name or an IP address, without a port (that is PORT), not "${host}".`;
const NATS = "NATS_URL must be nats://user:password@host:port, or tls://";
const GRACE = "LATE_RECORD_GRACE must be a time such as 30m, 24h or 2d, up to 999999 of its unit, or 0, not";
const RATE =
  "TENANT_RATE_LIMIT must be one or two whole numbers from 1 to 1000000 with a comma between them, such as 100 or 100,5000, not";
const INTERVAL =
  "CHECKPOINT_INTERVAL must be a time such as 500ms, 1s or 2m, from 1ms to 999999ms, 999999s or 9999m, not";
const ADMIN = "ADMIN_API_KEY must be 16 to 256 visible ASCII characters";
const WITHIN = "HEADS_COPY must be outside DATA_DIR";

test.each<readonly [Variables, string]>([
  [{ PORT: "65536" }, 'PORT must be a number from 0 to 65535, not "65536".'],
  ...["0.0.0.0:80", "1.2.3.4::5", "[::1]:80"].map((host) => [{ HOST: host }, HOST(host)] as const),
  ...["", "short", "x".repeat(15), "x".repeat(257), "with a space in it", "with-an-ümlaut-in-it"].map(
    (key) => [{ ADMIN_API_KEY: key }, ADMIN] as const,
  ),
  ...[
    "nats://user:hunter2@host:99999",
    "nats://a:4222,nats://user:100%hunter2@b",
    "tls://[::1",
    "nats:///hunter2",
    "nats://user:4711#hunter2@host",
    "nats://user:47/hunter2@host",
    "nats://host?hunter2",
    "nats://:hunter2@host",
    "nats://a:4222,tls://b:4222",
  ].map((url) => [{ NATS_URL: url }, NATS] as const),
  ...["24", "1w", "-1h", "1000000s", ""].map(
    (grace) => [{ LATE_RECORD_GRACE: grace }, `${GRACE} "${grace}".`] as const,
  ),
  ...["0", "01", "1e3", "1000001", "1,2,3", "1, 2", ",5"].map(
    (rate) => [{ TENANT_RATE_LIMIT: rate }, `${RATE} "${rate}".`] as const,
  ),
  ...["1000000ms", "10000m", "2h", "0s"].map(
    (time) => [{ CHECKPOINT_INTERVAL: time }, `${INTERVAL} "${time}".`] as const,
  ),
  ...["", "_", "JUN_live", "1a_", "a b_", "ü_", `${"x".repeat(32)}_`].map(
    (prefix) => [{ API_KEY_PREFIX: prefix }, "API_KEY_PREFIX must be up to 32 letters"] as const,
  ),
  ...["system.key_created", "sdk.heartbeat,system.x", "legacy.objection"].map(
    (types) => [{ EXTRA_EVENT_TYPES: types }, "EXTRA_EVENT_TYPES must be types"] as const,
  ),
  [
    { STREAM_REPLICAS: "3" },
    "STREAM_REPLICAS must be 1 without NATS_URL, not 3: our own broker is one server. Leave it out, or set NATS_URL to a cluster of at least 3 servers.",
  ],
  [
    { NATS_PROVISION_URL: "nats://provisioner:hunter2@h:4222" },
    "NATS_PROVISION_URL must not be set without NATS_URL: our own broker would start, and receive the events. Set NATS_URL to the same server, or leave both out.",
  ],
  [
    { DEADLINES_FILE: "old.json", OBLIGATION_RULES_FILE: "new.json" },
    "DEADLINES_FILE is the former name of OBLIGATION_RULES_FILE: both are set. Leave DEADLINES_FILE out.",
  ],
  // A copy that is put back would bring its own heads along.
  [{ DATA_DIR: "/srv/data", HEADS_COPY: "/srv/data/heads" }, WITHIN],
  [{ DATA_DIR: "data", HEADS_COPY: "./data" }, WITHIN],
  [{ HEADS_COPY: "data/../data/heads" }, WITHIN],
])("%p is refused, and the error says what to set instead", (variables, error) => {
  expect(errorsOf(variables)).toEqual([expect.stringMatching(new RegExp(`^${RegExp.escape(error)}`))]);
  expect(errorsOf(variables).join()).not.toContain("hunter2");
});

test("all errors are named at once, in the order of the settings, and what a malformed value may explain is left out", () => {
  const named = (variables: Variables) => errorsOf(variables).map((error) => error.split(" ")[0]);
  const malformed = {
    PORT: "65536",
    HOST: "",
    NATS_URL: "http://user:hunter2@host",
    ADMIN_API_KEY: "hunter2",
    ROLES: "api,projectr",
    LOG_LEVEL: "verbose",
    TRUST_PROXY: "yes",
    STREAM_REPLICAS: "0",
    EXTRA_EVENT_ID_PREFIXES: "obj",
    DATABASE_URL: "mysql://user:hunter2@host/db",
  };
  expect(named(malformed)).toEqual(SETTING_NAMES.filter((name) => Object.hasOwn(malformed, name)));
  expect(errorsOf(malformed).join()).not.toContain("hunter2");
  const wrong = { PORT: "abc", HOST: "127.0.0.1:8080", STREAM_REPLICAS: "3" };
  expect(named(wrong)).toEqual(["HOST", "PORT", "STREAM_REPLICAS"]);
  expect(named({ ...wrong, NATS_URL: "nats://h:99999" })).toEqual(["HOST", "PORT", "NATS_URL"]);
  expect(named({ ...wrong, NATS_URL: "http://h" })).toEqual(["HOST", "PORT", "NATS_URL"]);
});

test("the refusal of a secret does not repeat it, but mentions white space or a line break around it", () => {
  for (const [name, value] of Object.entries({
    ADMIN_API_KEY: "hunter2-hunter2-hunter2\n",
    CHECKPOINT_KEY: `${"ab".repeat(32)}\n`,
    DATABASE_URL: "postgres://user:hunter2@host/db\n",
    NATS_URL: " nats://user:hunter2@host",
  })) {
    const told = errorsOf({ [name]: value }).join();
    expect(told).toContain(", without white space or a line break around it.");
    expect(told).not.toContain("hunter2");
  }
  expect(errorsOf({ ADMIN_API_KEY: "hunter2" }).join()).not.toContain("white space");
});

test("an empty setting is reported as empty, even if it is a secret", () => {
  for (const name of SETTING_NAMES)
    expect([name, errorsOf({ [name]: "" }).join()]).toEqual([name, expect.stringContaining(', not "".')]);
});

test("a variable with nearly the name of a setting is named if that setting is not set, and no other variable is", () => {
  expect(
    misspeltSettings({ DATADIR: "/srv", DATABASE_URI: "postgres://user:hunter2@host/db", port: "90" }),
  ).toEqual([
    "DATADIR is not a setting: did you mean DATA_DIR, which is unset?",
    "DATABASE_URI is not a setting: did you mean DATABASE_URL, which is unset?",
    "port is not a setting: did you mean PORT, which is unset?",
  ]);
  for (const name of ["ADMIN_APIKEY", "NATS_URI", "NTAS_URL", "NATS_URLS", "STREAM_REPLICA"])
    expect([name, misspeltSettings({ [name]: "x" }).length]).toEqual([name, 1]);
  expect(misspeltSettings({ LOGLEVEL: "info", LOG_LEVEL: "info", DATA_DIR: "/srv" })).toEqual([]);
  const others =
    "PATH HOME HOSTNAME HOSTTYPE USER LOGNAME SHELL PWD OLDPWD LANG LC_ALL TERM TZ EDITOR MAIL TMPDIR ROLE XDG_DATA_DIRS NODE_ENV NATS_SERVICE_HOST NATS_SERVICE_PORT POSTGRES_DB PGHOST PGPORT PROOFTRAIL_URL GEMINI_API_KEY DATABASE_USER DATABASE_PORT DATABASE_DSN CHECKPOINT_URL NATS_SSL NATS_TLS DATABASE_SSL DATA_URL";
  expect(misspeltSettings(Object.fromEntries(others.split(" ").map((name) => [name, ""])))).toEqual([]);
});
