/** What the service prints when it is up: where it is, and a first event to paste. */
import type { AdminKeySetup } from "../access/admin-key.ts";
import { canBundle } from "../runtime/bundle.ts";
import { shellWord } from "../runtime/shell-word.ts";
import { checkpointKeyPath } from "./checkpoint-key.ts";
import type { Config } from "./config.ts";
import type { Service } from "./service.ts";

export const banner = (options: {
  service: Service;
  config: Config;
  version: string;
  startedMs: number;
  /** Whether only a person sees it. What a container prints is kept by whoever collects its logs. */
  isTerminal: boolean;
  now: Date;
}): string => {
  const { service, config, version, startedMs, isTerminal, now } = options;
  const { url, broker, consumerUrlFile, adminKey } = service;
  const lines = [
    `Prooftrail ${version}, ready in ${(startedMs / 1000).toFixed(1)} s`,
    "",
    row("listens at", url ?? "nowhere: it has no role api, and no PORT for /metrics and /health/ready"),
    ...placesAt(url, config),
    row("broker", broker),
    ...(consumerUrlFile === undefined ? [] : [row("for consumers", `the NATS URL in ${consumerUrlFile}`)]),
    row("views", config.databaseUrl === undefined ? `SQLite in ${config.dataDir}` : "PostgreSQL"),
    row("roles", config.roles.join(", ")),
    ...(config.roles.includes("sealer") ? [row("signs with", describeSigningKey(config))] : []),
    row("admin key", describeAdminKey(adminKey, config, isTerminal)),
    ...(hasApi(config) && url !== undefined ? firstEvent(url, keyText(adminKey), now) : []),
  ];
  return `\n${lines.map((line) => (line === "" ? "" : `  ${line}`)).join("\n")}\n\n`;
};

const hasApi = ({ roles }: Config): boolean => roles.includes("api");

const placesAt = (url: string | undefined, config: Config): readonly string[] => {
  if (url === undefined) return [];
  return hasApi(config)
    ? [
        row("documentation", `${url}/docs`),
        ...(canBundle ? [row("sandbox", `${url}/sandbox, to try it without a key`)] : []),
      ]
    : [row("metrics", `${url}/metrics`), row("health", `${url}/health/ready`)];
};

const describeSigningKey = ({ checkpointKey, dataDir }: Config): string =>
  checkpointKey === undefined
    ? `${checkpointKeyPath(dataDir)}: keep a copy, and show it to nobody`
    : "the key in CHECKPOINT_KEY";

const row = (name: string, value: string): string => `${name.padEnd(14)}${value}`;

const describeAdminKey = (adminKey: AdminKeySetup, config: Config, isTerminal: boolean): string => {
  switch (adminKey.kind) {
    case "made":
      return isTerminal
        ? `${adminKey.key}\n${" ".repeat(16)}shown only now; a copy is in ${adminKey.path}`
        : `made; it is in ${adminKey.path}`;
    case "replaced":
      return `the one in ADMIN_API_KEY${adminKey.hadOne ? "; the earlier one no longer works" : ""}`;
    default: {
      if (config.adminApiKey !== undefined) return "the one in ADMIN_API_KEY";
      const path = copyOf(adminKey);
      if (path !== undefined) return `as before; a copy is in ${path}`;
      const known =
        "as before: the one that ADMIN_API_KEY set, or the first start made, with a copy in its DATA_DIR/admin.key";
      if (adminKey.kind !== "kept" || adminKey.otherKeyPath === undefined) return known;
      return `${known}\n${" ".repeat(16)}what is in ${adminKey.otherKeyPath} now is another key, which opens nothing here`;
    }
  }
};

const keyText = (adminKey: AdminKeySetup): string => {
  const path = copyOf(adminKey);
  return path === undefined ? "$ADMIN_API_KEY" : `$(cat ${shellWord(path)})`;
};

const copyOf = (adminKey: AdminKeySetup): string | undefined =>
  adminKey.kind === "made" || adminKey.kind === "kept" ? adminKey.path : undefined;

/** With the time of the start: an old one would be answered with a warning. */
const firstEvent = (url: string, key: string, now: Date): readonly string[] => [
  "",
  "Send a first event:",
  "",
  `curl ${url}/v1/events \\`,
  `  -H "Authorization: Bearer ${key}" \\`,
  `  -H 'Content-Type: application/json' \\`,
  `  -d '{"event_id":"evt_hello","timestamp":"${now.toISOString()}","asset_id":"my_model","event_type":"asset.created"}'`,
];
