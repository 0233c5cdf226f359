/** Finds a nats-server that is new enough, and gets one into the user's cache if the machine has none (DESIGN 2). */
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { chmod, mkdir, mkdtemp, readdir, rename, rm, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { delimiter, join, resolve } from "node:path";
import type { Logger } from "../../telemetry/logger.ts";
import { unpackDebianPackage } from "./debian-package.ts";
import { CommandError, runCommand } from "./run-command.ts";
import {
  BROKER_VERSION,
  brokerVersionIn,
  compareBrokerVersions,
  BROKER_VERSION_FLOOR as FLOOR,
  isSupportedBrokerVersion,
  RELEASE_SHA256,
} from "./version.ts";

interface FindOptions {
  readonly explicitBinary: string | undefined;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly logger: Logger;
}

type FindOutcome =
  | { readonly kind: "found"; readonly binary: string; readonly version: string }
  /** The message is for the person who starts the service: what was tried, and what to do. */
  | { readonly kind: "refused"; readonly message: string };

const VERSION_MS_MAX = 5000;
/** Short, because a start must not wait for an unreachable host: the distribution's package is next. */
const ANSWER_MS_MAX = 5000;
const DOWNLOAD_MS_MAX = 120_000;
const UNPACK_MS_MAX = 30_000;

export const findBroker = async (options: FindOptions): Promise<FindOutcome> => {
  const { explicitBinary, environment, logger } = options;
  if (explicitBinary) return checkExplicit(resolve(explicitBinary));
  const { PATH = "", HOME, XDG_CACHE_HOME } = environment;
  // Absolute, because the broker runs in a folder of its own.
  const cache = resolve(XDG_CACHE_HOME || join(HOME || homedir(), ".cache"), "prooftrail");
  const tried: string[] = [];
  for (const binary of [...installedBinaries(PATH), ...(await cachedBinaries(cache))]) {
    const inspected = await inspect(binary);
    if ("version" in inspected) return { kind: "found", binary, ...inspected };
    if (inspected !== ABSENT) tried.push(`${binary}: ${inspected.reason}`);
  }
  if (tried.length === 0) tried.push("PATH, /usr/sbin and the cache: no nats-server there");
  for (const { name, get } of WAYS) {
    logger.info(`getting nats-server: ${name}`);
    try {
      const obtained = await obtain(get, cache);
      logger.info("nats-server is in the cache", { detail: obtained.binary });
      return { kind: "found", ...obtained };
    } catch (error) {
      const detail = error instanceof Error ? error.message : String(error);
      logger.warn(`getting nats-server did not work: ${name}`, { detail });
      tried.push(`${name}: ${detail}`);
    }
  }
  const lines = tried.map((line) => `  - ${line}`).join("\n");
  const message = `Prooftrail needs nats-server ${FLOOR} or newer and could neither find nor get one:\n${lines}\n${remedies(`install nats-server ${FLOOR} or newer and put it on PATH`)}`;
  return { kind: "refused", message };
};

const remedies = (first: string): string => `Any one of these helps:
  - ${first};
  - set NATS_SERVER_BIN to the path of such a nats-server;
  - run NATS yourself and set NATS_URL.`;

const checkExplicit = async (binary: string): Promise<FindOutcome> => {
  const inspected = await inspect(binary);
  if ("version" in inspected) return { kind: "found", binary, ...inspected };
  const message = `NATS_SERVER_BIN names ${binary}, which cannot be used: ${inspected.reason}.\n${remedies(`leave NATS_SERVER_BIN out: then a nats-server ${FLOOR} or newer is looked for on PATH, or fetched`)}`;
  return { kind: "refused", message };
};

/** Debian installs it in /usr/sbin, which is not on everybody's PATH. */
const installedBinaries = (path: string): readonly string[] => {
  const directories = [...path.split(delimiter).filter((directory) => directory !== ""), "/usr/sbin"];
  return [...new Set(directories)].map((directory) => resolve(directory, "nats-server"));
};

/** What earlier starts obtained, the newest first. */
const cachedBinaries = async (cache: string): Promise<readonly string[]> => {
  const names = await readdir(cache).catch(() => []);
  return names
    .filter((name) => name.startsWith("nats-server-") && brokerVersionIn(name) !== undefined)
    .sort((a, b) => compareBrokerVersions(b, a))
    .map((name) => join(cache, name, "nats-server"));
};

type Inspection = { readonly version: string } | { readonly reason: string };

const ABSENT: Inspection = { reason: "there is no such program" };

/** The program itself is asked, because a file name says nothing about the version. */
const inspect = async (binary: string): Promise<Inspection> => {
  let version: string | undefined;
  try {
    version = brokerVersionIn(await runCommand(binary, ["--version"], { timeoutMs: VERSION_MS_MAX }));
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    if (!error.isAbsent) return { reason: error.message };
    // A program for glibc on a system without it, such as Alpine.
    return existsSync(binary)
      ? { reason: "this machine lacks the loader or interpreter that it names" }
      : ABSENT;
  }
  if (version === undefined) return { reason: "it does not tell its version with --version" };
  if (isSupportedBrokerVersion(version)) return { version };
  return { reason: `it is version ${version}, older than ${FLOOR}` };
};

type Way = (directory: string) => Promise<string>;

/** Works in a directory beside its destination, and always removes it. Rejects with the reason. */
const obtain = async (get: Way, cache: string): Promise<{ binary: string; version: string }> => {
  await mkdir(cache, { recursive: true });
  const directory = await mkdtemp(join(cache, ".obtaining-"));
  try {
    const binary = await get(directory);
    const inspected = await inspect(binary);
    if ("reason" in inspected) throw new Error(inspected.reason);
    const { version } = inspected;
    const kept = join(cache, `nats-server-${version}`, "nats-server");
    await mkdir(join(cache, `nats-server-${version}`), { recursive: true });
    await chmod(binary, 0o755);
    // Atomic within one file system: two processes that obtain it at once both end with a complete program.
    await rename(binary, kept);
    return { binary: kept, version };
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
};

const officialRelease: Way = (directory) => {
  // Node's name of a processor → Go's.
  const platform = `${process.platform}-${process.arch === "x64" ? "amd64" : process.arch}`;
  const sha256 = RELEASE_SHA256[platform];
  if (sha256 === undefined) throw new Error(`none is pinned for ${platform}`);
  const name = `nats-server-v${BROKER_VERSION}-${platform}`;
  const url = `https://github.com/nats-io/nats-server/releases/download/v${BROKER_VERSION}/${name}.tar.gz`;
  return downloadRelease({ url, sha256, entry: `${name}/nats-server` }, directory);
};

const WAYS: readonly { readonly name: string; readonly get: Way }[] = [
  { name: "official release archive", get: officialRelease },
  { name: "Debian package", get: unpackDebianPackage },
];

interface ReleaseArchive {
  readonly url: string;
  readonly sha256: string;
  readonly entry: string;
}

/** Leaves the program in `directory`; its path. Nothing is unpacked before its digest is right. Rejects with the reason. */
export const downloadRelease = async (
  { url, sha256, entry }: ReleaseArchive,
  directory: string,
): Promise<string> => {
  const bytes = await download(url).catch((error: unknown) => {
    throw new Error(`${url}: ${error instanceof Error ? error.message : error}`);
  });
  const digest = createHash("sha256").update(bytes).digest("hex");
  if (digest !== sha256)
    throw new Error(`${url}: SHA-256 is ${digest}, not the pinned ${sha256}; not unpacked`);
  const archive = join(directory, "nats-server.tar.gz");
  await writeFile(archive, bytes);
  await runCommand("tar", ["-xzf", archive, "-C", directory, entry], { timeoutMs: UNPACK_MS_MAX });
  return join(directory, entry);
};

const download = async (url: string): Promise<Uint8Array> => {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(new Error("no answer in time")), ANSWER_MS_MAX);
  const signal = AbortSignal.any([late.signal, AbortSignal.timeout(DOWNLOAD_MS_MAX)]);
  const response = await fetch(url, { signal }).finally(() => clearTimeout(timer));
  if (!response.ok) throw new Error(`HTTP status ${response.status}`);
  return new Uint8Array(await response.arrayBuffer());
};
