/** Finds a nats-server that is new enough, and gets one into the user's cache if the machine has none (DESIGN 2). */
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { chmod, mkdir, mkdtemp, readdir, rename, rm, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { messageOf } from "../../runtime/error-text.ts";
import type { Logger } from "../../telemetry/logger.ts";
import { BrokerRefusedError } from "../connection.ts";
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

interface FoundBroker {
  readonly binary: string;
  readonly version: string;
}

const VERSION_MS_MAX = 5000;
/** Short, because a start must not wait for an unreachable host: the distribution's package is next. */
const ANSWER_MS_MAX = 5000;
const DOWNLOAD_MS_MAX = 120_000;
const UNPACK_MS_MAX = 30_000;

/** Throws BrokerRefusedError with what was tried, and what to do. */
export const findBroker = async (options: FindOptions): Promise<FoundBroker> => {
  const { explicitBinary, environment, logger } = options;
  const tried: string[] = [];
  const attempt = async (name: string, get: () => Promise<FoundBroker | undefined>) => {
    try {
      return await get();
    } catch (error) {
      tried.push(`${name}: ${messageOf(error)}`);
      return undefined;
    }
  };
  if (explicitBinary) return checkExplicit(resolve(explicitBinary));
  const { PATH = "", HOME, XDG_CACHE_HOME } = environment;
  // Absolute, because the broker runs in a folder of its own.
  const cache = resolve(XDG_CACHE_HOME || join(HOME || homedir(), ".cache"), "prooftrail");
  for (const binary of [...installedBinaries(PATH), ...(await cachedBinaries(cache))]) {
    const found = await attempt(binary, () => inspect(binary));
    if (found) return found;
  }
  if (tried.length === 0) tried.push("PATH, /usr/sbin and the cache: no nats-server there");
  for (const { name, get } of WAYS) {
    logger.info(`getting nats-server: ${name}`);
    const found = await attempt(name, () => obtain(get, cache));
    if (found) {
      logger.info("nats-server is in the cache", { detail: found.binary });
      return found;
    }
    logger.warn("could not get nats-server", { detail: tried.at(-1) ?? "" });
  }
  const lines = tried.map((line) => `  - ${line}`).join("\n");
  throw new BrokerRefusedError(
    `Prooftrail needs nats-server ${FLOOR} or newer and could neither find nor get one:\n${lines}\n${remedies(`install nats-server ${FLOOR} or newer and put it on PATH`)}`,
  );
};

const remedies = (first: string): string => `Any one of these helps:
  - ${first};
  - set NATS_SERVER_BIN to the path of such a nats-server;
  - run NATS yourself and set NATS_URL.`;

const checkExplicit = async (binary: string): Promise<FoundBroker> => {
  const found = await inspect(binary).catch((error: Error) => error.message);
  if (typeof found === "object") return found;
  throw new BrokerRefusedError(
    `NATS_SERVER_BIN names ${binary}, which cannot be used: ${found ?? "there is no such program"}.\n${remedies(`leave out NATS_SERVER_BIN to use a nats-server ${FLOOR} or newer on PATH, or download one`)}`,
  );
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

/** The program itself is asked, because a file name says nothing about the version. Undefined if there is none; rejects with why it cannot be used. */
const inspect = async (binary: string): Promise<FoundBroker | undefined> => {
  const said = await runCommand(binary, ["--version"], { timeoutMs: VERSION_MS_MAX }).catch((error) => {
    if (!(error instanceof CommandError && error.isAbsent)) throw error;
    if (existsSync(binary)) throw new Error("this machine lacks the loader or interpreter that it names");
  });
  if (said === undefined) return undefined;
  const version = brokerVersionIn(said);
  if (version === undefined) throw new Error("it does not print its version for --version");
  if (!isSupportedBrokerVersion(version)) throw new Error(`it is version ${version}, older than ${FLOOR}`);
  return { binary, version };
};

type Way = (directory: string) => Promise<string>;

/** Works in a directory beside its destination, and always removes it. Rejects with the reason. */
const obtain = async (get: Way, cache: string): Promise<FoundBroker> => {
  await mkdir(cache, { recursive: true });
  const directory = await mkdtemp(join(cache, ".obtaining-"));
  try {
    const binary = await get(directory);
    const found = await inspect(binary);
    if (!found) throw new Error("it has no nats-server");
    const kept = join(cache, `nats-server-${found.version}`);
    await mkdir(kept, { recursive: true });
    await chmod(binary, 0o755);
    // Atomic within one file system: two processes that obtain it at once both end with a complete program.
    await rename(binary, join(kept, "nats-server"));
    return { ...found, binary: join(kept, "nats-server") };
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
    throw new Error(`${url}: ${messageOf(error)}`);
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
