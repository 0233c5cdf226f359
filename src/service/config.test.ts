import { expect, test } from "bun:test";
import { ENVIRONMENT_NAMES, readConfig } from "./config.ts";

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
      vocabulary: { eventIdPrefixes: ["evt_"] },
    },
  });
});

test("without the role api the service listens only if a port is set", () => {
  const portOf = (variables: Record<string, string>) => {
    const result = readConfig(variables);
    return result.kind === "valid" ? result.config.port : "invalid";
  };
  expect(portOf({ ROLES: "projector,sealer" })).toBeUndefined();
  expect(portOf({ ROLES: "projector", PORT: "9090" })).toBe(9090);
  expect(portOf({ ROLES: "projector,api" })).toBe(8080);
});

test("all malformed values are named at once, with what is allowed instead, and no secret is repeated", () => {
  const result = readConfig({
    PORT: "65536",
    HOST: "",
    NATS_URL: "http://user:hunter2@host",
    ADMIN_API_KEY: "hunter2",
    API_KEY_PREFIX: "JUN_live",
    TENANT_RATE_LIMIT: "1,",
    ROLES: "api,projectr",
    LOG_LEVEL: "verbose",
    TRUST_PROXY: "yes",
    STREAM_REPLICAS: "0",
    CHECKPOINT_INTERVAL: "1",
    EXTRA_EVENT_TYPES: "sdk.heartbeat,Bad",
    EXTRA_EVENT_ID_PREFIXES: "obj",
    DATABASE_URL: "mysql://user:hunter2@host/db",
  });
  const errors = result.kind === "invalid" ? result.errors : [];
  expect(errors.map((error) => error.split(" ")[0])).toEqual([
    "HOST",
    "PORT",
    "NATS_URL",
    "DATABASE_URL",
    "ADMIN_API_KEY",
    "API_KEY_PREFIX",
    "TENANT_RATE_LIMIT",
    "ROLES",
    "LOG_LEVEL",
    "TRUST_PROXY",
    "STREAM_REPLICAS",
    "CHECKPOINT_INTERVAL",
    "EXTRA_EVENT_TYPES",
    "EXTRA_EVENT_ID_PREFIXES",
  ]);
  expect(errors[1]).toBe('PORT must be a number from 0 to 65535, not "65536".');
  expect(errors.join()).not.toContain("hunter2");
});

test("an ADMIN_API_KEY that can be guessed or cannot be sent is refused", () => {
  for (const text of [
    "",
    "short",
    "x".repeat(15),
    "x".repeat(257),
    "with a space in it",
    "with-an-ümlaut-in-it",
  ])
    expect(readConfig({ ADMIN_API_KEY: text })).toMatchObject({
      kind: "invalid",
      errors: [expect.stringMatching(/^ADMIN_API_KEY must be 16 to 256 visible ASCII characters/)],
    });
});

test("errors that no pattern finds are reported beside malformed values, unless a malformed value may explain them", () => {
  const named = (variables: Record<string, string>) => {
    const result = readConfig(variables);
    return result.kind === "invalid" ? result.errors.map((error) => error.split(" ")[0]) : [];
  };
  const wrong = { PORT: "abc", HOST: "127.0.0.1:8080", STREAM_REPLICAS: "3" };
  expect(named(wrong)).toEqual(["PORT", "HOST", "STREAM_REPLICAS"]);
  expect(named({ ...wrong, NATS_URL: "nats://h:99999" })).toEqual(["PORT", "HOST", "NATS_URL"]);
  expect(named({ ...wrong, NATS_URL: "http://h" })).toEqual(["PORT", "NATS_URL", "HOST"]);
});

test("more than one replica needs a cluster, and a broker of our own is a single server", () => {
  const result = readConfig({ STREAM_REPLICAS: "3" });
  expect(result).toEqual({
    kind: "invalid",
    errors: [
      "STREAM_REPLICAS must be 1 without NATS_URL, not 3: a broker of our own is one server. Leave it out, or set NATS_URL to a cluster of at least 3 servers.",
    ],
  });
  expect(readConfig({ STREAM_REPLICAS: "3", NATS_URL: "nats://a:4222" }).kind).toBe("valid");
  expect(readConfig({ STREAM_REPLICAS: "1" }).kind).toBe("valid");
});

test("extra event types may not be in the reserved groups system and legacy", () => {
  for (const types of ["system.key_created", "sdk.heartbeat,system.x", "legacy.objection"]) {
    const result = readConfig({ EXTRA_EVENT_TYPES: types });
    const [error = ""] = result.kind === "invalid" ? result.errors : [];
    expect(error).toStartWith("EXTRA_EVENT_TYPES must be types");
    expect(error).toContain("none of the groups system and legacy");
  }
  expect(readConfig({ EXTRA_EVENT_TYPES: "system,systems.started,sdk.system" }).kind).toBe("valid");
});

test("HOST is an address without a port, and may contain colons only in IPv6", () => {
  for (const host of ["0.0.0.0:80", "localhost:8080", "1.2.3.4::5", "[::1]:80"])
    expect(readConfig({ HOST: host })).toEqual({
      kind: "invalid",
      errors: [`HOST must be a host name or an IP address, without a port (that is PORT), not "${host}".`],
    });
  for (const host of [
    "::",
    "::1",
    "fe80::1",
    "::ffff:127.0.0.1",
    "0.0.0.0",
    "audit.example.com",
    "my_host-1",
  ])
    expect(readConfig({ HOST: host })).toMatchObject({ kind: "valid", config: { host } });
});

test.each([
  "nats://user:hunter2@host:99999",
  "nats://a:4222,nats://user:100%hunter2@b",
  "tls://[::1",
  "nats:///hunter2",
  "nats://user:4711#hunter2@host",
  "nats://user:47/hunter2@host",
  "nats://host?hunter2",
  "nats://:hunter2@host",
])("an invalid NATS URL stops the start and names the setting: %s", (url) => {
  const result = readConfig({ NATS_URL: url });
  const [error = ""] = result.kind === "invalid" ? result.errors : [];
  expect(error).toStartWith("NATS_URL must be nats://user:password@host:port");
  expect(error).not.toContain("hunter2");
  for (const right of ["nats://user:100%25@host:4222", "nats://token@[::1]:4222/", "tls://host"])
    expect(readConfig({ NATS_URL: right }).kind).toBe("valid");
});

test("a list of NATS servers uses TLS for all of them or for none", () => {
  for (const url of ["nats://a:4222,tls://b:4222", "tls://a:4222,nats://b:4222"]) {
    const result = readConfig({ NATS_PROVISION_URL: url });
    const [error = ""] = result.kind === "invalid" ? result.errors : [];
    expect(error).toStartWith("NATS_PROVISION_URL must be nats://user:password@host:port, or tls://");
  }
  for (const url of ["tls://a:4222,tls://b:4222", "nats://a:4222,nats://b:4222", "tls://a"])
    expect(readConfig({ NATS_URL: url }).kind).toBe("valid");
});

test("a list in a setting is split at its commas", () => {
  const result = readConfig({
    ROLES: "projector,api",
    EXTRA_EVENT_TYPES: "sdk.heartbeat,ping",
    EXTRA_EVENT_ID_PREFIXES: "obj_,rev_",
  });
  const config = result.kind === "valid" ? result.config : undefined;
  expect(config?.roles).toEqual(["api", "projector"]);
  expect(config?.vocabulary.eventTypes.slice(32)).toEqual(["sdk.heartbeat", "ping"]);
  expect(config?.vocabulary.eventIdPrefixes).toEqual(["evt_", "obj_", "rev_"]);
});

test("the file of rules is also read under its former name", () => {
  const fileOf = (settings: Readonly<Record<string, string>>) => {
    const result = readConfig(settings);
    return result.kind === "valid" && result.config.obligationRulesFile;
  };
  expect(fileOf({ DEADLINES_FILE: "old.json" })).toBe("old.json");
  expect(readConfig({ DEADLINES_FILE: "old.json", OBLIGATION_RULES_FILE: "new.json" })).toEqual({
    kind: "invalid",
    errors: [
      "DEADLINES_FILE is the former name of OBLIGATION_RULES_FILE: both are set. Leave DEADLINES_FILE out.",
    ],
  });
});

test.each([
  [undefined, 86_400_000],
  ["0", 0],
  ["500ms", 500],
  ["90s", 90_000],
  ["30m", 1_800_000],
  ["36h", 129_600_000],
  ["2d", 172_800_000],
])("LATE_RECORD_GRACE %p is %i milliseconds", (setting, milliseconds) => {
  const result = readConfig(setting === undefined ? {} : { LATE_RECORD_GRACE: setting });
  expect(result.kind === "valid" && result.config.lateRecordGraceMs).toBe(milliseconds);
});

test.each(["24", "1w", "-1h", "1000000s", ""])("LATE_RECORD_GRACE %p is refused", (setting) => {
  expect(readConfig({ LATE_RECORD_GRACE: setting })).toEqual({
    kind: "invalid",
    errors: [
      `LATE_RECORD_GRACE must be a time such as 30m, 24h or 2d, up to 999999 of its unit, or 0, not "${setting}".`,
    ],
  });
});

test("a tenant's limit is requests per second, and after a comma events per second", () => {
  const limitOf = (TENANT_RATE_LIMIT?: string) => {
    const result = readConfig({ TENANT_RATE_LIMIT });
    return result.kind === "valid" ? result.config.tenantRateLimit : result.errors;
  };
  expect(limitOf()).toEqual({});
  expect(limitOf("100")).toEqual({ requests: 100 });
  expect(limitOf("1,1000000")).toEqual({ requests: 1, events: 1_000_000 });
  for (const wrong of ["0", "01", "-1", "1e3", "1000001", "1,2,3", "1, 2", ",5"])
    expect(limitOf(wrong)).toEqual([
      `TENANT_RATE_LIMIT must be one or two whole numbers from 1 to 1000000 with a comma between them, such as 100 or 100,5000, not "${wrong}".`,
    ]);
});

test("new keys may begin with another prefix, which ends with an underscore", () => {
  const prefixOf = (API_KEY_PREFIX?: string) => {
    const result = readConfig({ API_KEY_PREFIX });
    return result.kind === "valid" ? result.config.apiKeyPrefix : undefined;
  };
  expect([undefined, "JUN_live_", "x_"].map(prefixOf)).toEqual(["ptk_", "JUN_live_", "x_"]);
  for (const wrong of ["", "_", "JUN_live", "1a_", "a b_", "ü_", `${"x".repeat(32)}_`])
    expect([wrong, prefixOf(wrong)]).toEqual([wrong, undefined]);
});

test("the refusal of an interval of tree heads that is too long names the longest one", () => {
  for (const longest of ["999999ms", "999999s", "9999m"])
    expect(readConfig({ CHECKPOINT_INTERVAL: longest }).kind).toBe("valid");
  for (const wrong of ["1000000ms", "1000000s", "10000m", "2h", "0s"])
    expect(readConfig({ CHECKPOINT_INTERVAL: wrong })).toEqual({
      kind: "invalid",
      errors: [
        `CHECKPOINT_INTERVAL must be a time such as 500ms, 1s or 2m, from 1ms to 999999ms, 999999s or 9999m, not "${wrong}".`,
      ],
    });
});

test("NATS_PROVISION_URL without NATS_URL is refused instead of starting a broker of our own", () => {
  const result = readConfig({ NATS_PROVISION_URL: "nats://provisioner:hunter2@h:4222" });
  expect(result.kind === "invalid" && result.errors).toEqual([
    "NATS_PROVISION_URL must not be set without NATS_URL: a broker of our own would be started, and take the events. Set NATS_URL to the same server, or leave both out.",
  ]);
  const both = { NATS_PROVISION_URL: "nats://provisioner:hunter2@h:4222", NATS_URL: "nats://h:4222" };
  expect(readConfig(both).kind).toBe("valid");
});

test("the refusal of a secret does not repeat it, but mentions white space or a line break around it", () => {
  const values = {
    ADMIN_API_KEY: "hunter2-hunter2-hunter2\n",
    CHECKPOINT_KEY: `${"ab".repeat(32)}\n`,
    DATABASE_URL: "postgres://user:hunter2@host/db\n",
    NATS_URL: " nats://user:hunter2@host",
  };
  for (const [name, value] of Object.entries(values)) {
    const result = readConfig({ [name]: value });
    const told = result.kind === "invalid" ? result.errors.join() : "";
    expect([name, told]).toEqual([
      name,
      expect.stringContaining(", without white space or a line break around it."),
    ]);
    expect(told).not.toContain("hunter2");
  }
  const result = readConfig({ ADMIN_API_KEY: "hunter2" });
  expect(result.kind === "invalid" && result.errors.join()).not.toContain("white space");
});

test("an empty setting is reported as empty, even if it is a secret", () => {
  for (const name of ENVIRONMENT_NAMES) {
    const result = readConfig({ [name]: "" });
    expect([name, result.kind === "invalid" && result.errors.join()]).toEqual([
      name,
      expect.stringContaining(', not "".'),
    ]);
  }
});

test("HEADS_COPY inside DATA_DIR is refused: a copy that is put back would bring its own heads along", () => {
  for (const [DATA_DIR, HEADS_COPY] of [
    ["/srv/data", "/srv/data/heads"],
    ["data", "./data"],
    [undefined, "data/../data/heads"],
  ] as const)
    expect(readConfig({ DATA_DIR, HEADS_COPY })).toMatchObject({
      kind: "invalid",
      errors: [expect.stringContaining("HEADS_COPY must be outside DATA_DIR")],
    });
  expect(readConfig({ DATA_DIR: "/srv/data", HEADS_COPY: "/srv/data-heads" }).kind).toBe("valid");
});
