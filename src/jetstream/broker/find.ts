/** Finds a nats-server that is new enough, and gets one if the machine has none (DESIGN 2). */
import { readdir } from "node:fs/promises";
import { homedir } from "node:os";
import { delimiter, join, resolve } from "node:path";
import type { Logger } from "../../telemetry/logger.ts";
import { inspectBroker } from "./inspect.ts";
import { obtain } from "./obtain.ts";
import {
  BROKER_VERSION_FLOOR,
  type BrokerVersion,
  compareBrokerVersions,
  formatBrokerVersion,
  parseBrokerVersion,
} from "./version.ts";

interface FindOptions {
  /** NATS_SERVER_BIN. If it is set nothing else is tried. */
  readonly explicitBinary: string | undefined;
  /** PATH, HOME and XDG_CACHE_HOME are read. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly logger: Logger;
}

type FindOutcome =
  | { readonly kind: "found"; readonly binary: string; readonly version: BrokerVersion }
  /** The message is for the person who starts the service: what was tried, and what to do. */
  | { readonly kind: "refused"; readonly message: string };

const FLOOR = formatBrokerVersion(BROKER_VERSION_FLOOR);
const remedies = (first: string): string => `Any one of these helps:
  - ${first};
  - set NATS_SERVER_BIN to the path of such a nats-server;
  - run NATS yourself and set NATS_URL.`;

export const findBroker = async ({
  explicitBinary,
  environment,
  logger,
}: FindOptions): Promise<FindOutcome> => {
  if (explicitBinary !== undefined && explicitBinary !== "") return checkExplicit(explicitBinary);
  // Absolute, because the broker runs in a folder of its own.
  const cache = resolve(
    environment.XDG_CACHE_HOME || join(environment.HOME || homedir(), ".cache"),
    "prooftrail",
  );
  const tried: string[] = [];
  for (const binary of [...installedBinaries(environment.PATH), ...(await cachedBinaries(cache))]) {
    const inspected = await inspectBroker(binary);
    if (inspected.kind === "usable") return { kind: "found", binary, version: inspected.version };
    if (inspected.kind === "unusable") tried.push(`${binary}: ${inspected.reason}`);
  }
  if (tried.length === 0) tried.push("PATH, /usr/sbin and the cache: no nats-server there");
  const obtained = await obtain({ cacheDirectory: cache, logger });
  if (obtained.kind === "obtained") return { ...obtained, kind: "found" };
  const lines = [...tried, ...obtained.attempts].map((line) => `  - ${line}`).join("\n");
  const message = `Prooftrail needs nats-server ${FLOOR} or newer and could neither find nor get one:\n${lines}\n${remedies(`install nats-server ${FLOOR} or newer and put it on PATH`)}`;
  return { kind: "refused", message };
};

const checkExplicit = async (path: string): Promise<FindOutcome> => {
  const binary = resolve(path);
  const inspected = await inspectBroker(binary);
  if (inspected.kind === "usable") return { kind: "found", binary, version: inspected.version };
  const reason = inspected.kind === "absent" ? "there is no such program" : inspected.reason;
  const message = `NATS_SERVER_BIN names ${binary}, which cannot be used: ${reason}.\n${remedies(`leave NATS_SERVER_BIN out: then a nats-server ${FLOOR} or newer is looked for on PATH, or fetched`)}`;
  return { kind: "refused", message };
};

/** Debian installs it in /usr/sbin, which is not on everybody's PATH. */
const installedBinaries = (path: string | undefined): readonly string[] => {
  const directories = [...(path ?? "").split(delimiter).filter((directory) => directory !== ""), "/usr/sbin"];
  return [...new Set(directories)].map((directory) => resolve(directory, "nats-server"));
};

/** What earlier starts obtained, the newest first. */
const cachedBinaries = async (cache: string): Promise<readonly string[]> => {
  const names = await readdir(cache).catch(() => []);
  return names
    .flatMap((name) => {
      const version = name.startsWith("nats-server-") ? parseBrokerVersion(name) : undefined;
      return version === undefined ? [] : [{ name, version }];
    })
    .sort((a, b) => compareBrokerVersions(b.version, a.version))
    .map(({ name }) => join(cache, name, "nats-server"));
};
