/** The settings of this process, read from the environment once, at the start. An invalid value stops the start with the name of its setting. */
import { isAbsolute, relative, sep } from "node:path";
import { EVENT_TYPES } from "../event/event-types.ts";
import { EVENT_ID_PREFIX } from "../event/formats.ts";
import { nearest } from "../event/nearest-word.ts";
import { LOG_LEVELS } from "../telemetry/logger.ts";
import { LEGAL_BASES } from "../views/coverage/legal-bases.ts";
import { isSettingName, ROLES, SETTING_NAMES, type SettingName, settingOf } from "./settings.ts";

type Given = Partial<Readonly<Record<SettingName, string>>>;
type Variables = Readonly<Record<string, string | undefined>>;

type ConfigResult =
  | { readonly kind: "valid"; readonly config: Config }
  | { readonly kind: "invalid"; readonly errors: readonly string[] };

/** From v0.1.0. Ignoring it would silently apply the limits of the table instead. */
const FORMER = { name: "DEADLINES_FILE", now: "OBLIGATION_RULES_FILE" } as const;

export const readConfig = (variables: Variables): ConfigResult => {
  const given: Partial<Record<SettingName, string>> = {};
  const wellFormed: Partial<Record<SettingName, string>> = {};
  const malformed: string[] = [];
  for (const name of SETTING_NAMES) {
    const value = variables[name] ?? (name === FORMER.now ? variables[FORMER.name] : undefined);
    if (value === undefined) continue;
    given[name] = value;
    const { pattern, isValid, expects } = settingOf(name);
    if (new RegExp(pattern).test(value) && (isValid?.(value) ?? true)) wellFormed[name] = value;
    else malformed.push(`${name} must be ${expects}${shown(name, value)}.`);
  }
  const errors = [
    ...malformed,
    ...unfinishedSignIn(given),
    ...contradictions({ ...variables, ...given }, wellFormed),
  ];
  return errors.length > 0 ? { kind: "invalid", errors } : { kind: "valid", config: toConfig(given) };
};

const SIGN_IN = ["OIDC_ISSUER", "OIDC_CLIENT_ID", "OIDC_CLIENT_SECRET", "OIDC_REDIRECT_URI"] as const;

/** All of them or none. */
const unfinishedSignIn = (given: Given): readonly string[] => {
  const set = [...SIGN_IN, "OIDC_ROLES_CLAIM" as const].filter((name) => given[name] !== undefined);
  if (set.length === 0) return [];
  return SIGN_IN.filter((name) => given[name] === undefined).map(
    (name) =>
      `${name} must be set with ${set.join(", ")}: sign-in with OpenID Connect needs it. Set it, or leave out all of OIDC_*.`,
  );
};

/** Settings that are valid alone and contradict each other. A malformed NATS_URL still counts as set. */
const contradictions = (set: Variables, wellFormed: Given): readonly string[] => {
  const { DATA_DIR: dataDir = defaultOf("DATA_DIR"), HEADS_COPY: headsCopy } = wellFormed;
  const replicas = wellFormed.STREAM_REPLICAS ?? "1";
  const isOwnBroker = set.NATS_URL === undefined;
  return [
    ...(set[FORMER.name] !== undefined && set[FORMER.name] !== set[FORMER.now]
      ? [`${FORMER.name} is the former name of ${FORMER.now}: both are set. Leave ${FORMER.name} out.`]
      : []),
    ...(headsCopy !== undefined && isWithin(dataDir, headsCopy) ? [COPY_WITHIN] : []),
    ...(isOwnBroker && set.NATS_PROVISION_URL !== undefined
      ? [
          "NATS_PROVISION_URL must not be set without NATS_URL: our own broker would start, and receive the events. Set NATS_URL to the same server, or leave both out.",
        ]
      : []),
    ...(isOwnBroker && replicas !== "1"
      ? [
          `STREAM_REPLICAS must be 1 without NATS_URL, not ${replicas}: our own broker is one server. Leave it out, or set NATS_URL to a cluster of at least ${replicas} servers.`,
        ]
      : []),
  ];
};

export const COPY_WITHIN =
  "HEADS_COPY must be outside DATA_DIR: restoring a copy of DATA_DIR would restore its heads too.";

export const isWithin = (folder: string, path: string): boolean => {
  const [first] = relative(folder, path).split(sep);
  return first !== ".." && !isAbsolute(relative(folder, path));
};

/** Does not repeat what may be secret. But a value from a file often ends with an invisible line break, so white space around it is reported. */
const shown = (name: string, value: string): string => {
  if (value === "" || !["_URL", "_KEY", "_SECRET"].some((end) => name.endsWith(end)))
    return `, not ${JSON.stringify(value)}`;
  return value === value.trim() ? "" : ", without white space or a line break around it";
};

/** One letter of five may be wrong: `ROLE` and `PGHOST` belong to other programs. */
const MISSPELT = { lettersPerFault: 5, faultsMax: 1 };

/**
 * A sentence for each variable whose name is nearly that of a setting that is not set: a misspelt DATA_DIR, for example, means the default folder,
 * and so another log. Only a warning, because other variables of the environment may belong to anybody.
 */
export const misspeltSettings = (variables: Variables): readonly string[] => {
  const unset = SETTING_NAMES.filter((name) => variables[name] === undefined);
  return Object.keys(variables).flatMap((name) => {
    const near = nearest(
      name,
      unset.map((each) => each.toLowerCase()),
      MISSPELT,
    );
    if (near === undefined || isSettingName(name)) return [];
    return [`${name} is not a setting: did you mean ${near.toUpperCase()}, which is unset?`];
  });
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

const defaultOf = (name: SettingName): string => settingOf(name).default ?? "";

export type Config = Readonly<ReturnType<typeof toConfig>>;

/** Where a setting is unset and has no default, the value is undefined. */
const toConfig = (given: Given) => {
  const textOf = (name: SettingName): string => given[name] ?? defaultOf(name);
  const roles = ROLES.filter((role) => items(textOf("ROLES")).includes(role));
  const [requests, events] = items(given.TENANT_RATE_LIMIT).map(Number);
  return {
    host: textOf("HOST"),
    // Several processes without the role api may run on one machine, so they listen only if PORT is set.
    port: given.PORT !== undefined || roles.includes("api") ? Number(textOf("PORT")) : undefined,
    dataDir: textOf("DATA_DIR"),
    headsCopy: given.HEADS_COPY,
    natsUrl: given.NATS_URL,
    natsProvisionUrl: given.NATS_PROVISION_URL ?? given.NATS_URL,
    natsServerBinary: given.NATS_SERVER_BIN,
    databaseUrl: given.DATABASE_URL,
    adminApiKey: given.ADMIN_API_KEY,
    apiKeyPrefix: textOf("API_KEY_PREFIX"),
    tenantRateLimit: { ...(requests !== undefined && { requests }), ...(events !== undefined && { events }) },
    roles,
    logLevel: LOG_LEVELS.find((level) => level === textOf("LOG_LEVEL")) ?? "info",
    trustedHops: Number(given.TRUST_PROXY ?? 0),
    replicas: Number(textOf("STREAM_REPLICAS")),
    checkpointIntervalMs: milliseconds(textOf("CHECKPOINT_INTERVAL")),
    checkpointKey: given.CHECKPOINT_KEY,
    serviceName: textOf("SERVICE_NAME"),
    obligationRulesFile: given.OBLIGATION_RULES_FILE,
    lateRecordGraceMs: milliseconds(textOf("LATE_RECORD_GRACE")),
    vocabulary: {
      eventTypes: [...new Set([...EVENT_TYPES, ...items(given.EXTRA_EVENT_TYPES)])],
      eventIdPrefixes: [...new Set([EVENT_ID_PREFIX, ...items(given.EXTRA_EVENT_ID_PREFIXES)])],
      legalBases: LEGAL_BASES.map(({ name }) => name),
    },
    signIn: signInOf(given),
  };
};

const signInOf = (given: Given) => {
  const [issuer, clientId, clientSecret, redirectUri] = SIGN_IN.map((name) => given[name]);
  if (!issuer || !clientId || !clientSecret || !redirectUri) return undefined;
  const rolesClaim = given.OIDC_ROLES_CLAIM ?? defaultOf("OIDC_ROLES_CLAIM");
  return { clientId, clientSecret, rolesClaim, issuer: new URL(issuer), redirectUri: new URL(redirectUri) };
};
