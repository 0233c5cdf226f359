/** What the service prints when it is up: where it is, and a first event to paste. */
import { canBundle } from "../runtime/bundle.ts";
import { checkpointKeyPath } from "./checkpoint-key.ts";
import type { Config } from "./config.ts";
import type { Service } from "./service.ts";

export const banner = (options: {
  service: Pick<Service, "url" | "broker" | "consumerUrlFile" | "adminKey">;
  config: Config;
  version: string;
  startedMs: number;
  /** Whether only a person sees it. What a container prints is kept by whoever collects its logs. */
  isTerminal: boolean;
  now: Date;
}): string => {
  const { service, config, version, startedMs, isTerminal, now } = options;
  const { url, broker, consumerUrlFile, adminKey } = service;
  const { roles, dataDir } = config;
  const hasApi = roles.includes("api");
  const signsWith =
    config.checkpointKey === undefined
      ? `${checkpointKeyPath(dataDir)}: keep a copy, and show it to nobody`
      : "the key in CHECKPOINT_KEY";
  const rows: readonly (readonly [string, string | false | undefined])[] = [
    ["listens at", url ?? "nowhere: it has no role api, and no PORT for /metrics and /health/ready"],
    [
      "console",
      hasApi && canBundle && url && `${url}/, with the admin key or the link of \`prooftrail console\``,
    ],
    ["documentation", hasApi && url && `${url}/docs`],
    ["sandbox", hasApi && canBundle && url && `${url}/sandbox, to try it without a key`],
    ["metrics", !hasApi && url && `${url}/metrics`],
    ["health", !hasApi && url && `${url}/health/ready`],
    ["broker", broker],
    ["for consumers", consumerUrlFile && `the NATS URL in ${consumerUrlFile}`],
    ["views", config.databaseUrl === undefined ? `SQLite in ${dataDir}` : "PostgreSQL"],
    ["roles", roles.join(", ")],
    ["signs with", roles.includes("sealer") && signsWith],
    ["admin key", describeAdminKey(adminKey, config, isTerminal)],
  ];
  const lines = [
    `Prooftrail ${version}, ready in ${(startedMs / 1000).toFixed(1)} s`,
    "",
    ...rows.flatMap(([name, value]) => (value ? [`${name.padEnd(14)}${value}`] : [])),
    ...(hasApi && url !== undefined ? firstEvent(url, adminKey, now) : []),
  ];
  return `\n${lines.map((line) => (line === "" ? "" : `  ${line}`)).join("\n")}\n\n`;
};

const describeAdminKey = (adminKey: Service["adminKey"], config: Config, isTerminal: boolean): string => {
  if (adminKey.kind === "made" && isTerminal)
    return `${adminKey.key}\n${" ".repeat(16)}shown only now; a copy is in ${adminKey.path}`;
  if (adminKey.kind === "made") return `created; it is in ${adminKey.path}`;
  if (config.adminApiKey !== undefined) {
    const hadOne = adminKey.kind === "replaced" && adminKey.hadOne;
    return `the one in ADMIN_API_KEY${hadOne ? "; the earlier one no longer works" : ""}`;
  }
  const path = copyOf(adminKey);
  return path === undefined
    ? "as before: the one that ADMIN_API_KEY set, or the first start created"
    : `as before; a copy is in ${path}`;
};

const copyOf = (adminKey: Service["adminKey"]): string | undefined =>
  adminKey.kind === "made" || adminKey.kind === "kept" ? adminKey.path : undefined;

/** With the time of the start: an old one would be answered with a warning. */
const firstEvent = (url: string, adminKey: Service["adminKey"], now: Date): readonly string[] => {
  const path = copyOf(adminKey);
  const key = path === undefined ? "$ADMIN_API_KEY" : `$(cat ${shellWord(path)})`;
  return [
    "",
    "Send a first event:",
    "",
    `curl ${url}/v1/events \\`,
    `  -H "Authorization: Bearer ${key}" \\`,
    `  -H 'Content-Type: application/json' \\`,
    `  -d '{"event_id":"evt_hello","timestamp":"${now.toISOString()}","asset_id":"my_model","event_type":"asset.created"}'`,
  ];
};

/** Text as one word for a shell (POSIX Shell Command Language, §2.2); unchanged if no character of it has a meaning there. */
const shellWord = (text: string): string => (PLAIN.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

const PLAIN = /^[A-Za-z0-9_@%+=:,./-]+$/;
