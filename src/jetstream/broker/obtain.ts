/** Gets a nats-server into the user's cache, without root: the official release, else the distribution's package (DESIGN 2). */
import { chmod, mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Logger } from "../../telemetry/logger.ts";
import { unpackDebianPackage } from "./debian-package.ts";
import { downloadRelease, type ObtainAttempt } from "./download-release.ts";
import { inspectBroker } from "./inspect.ts";
import { releaseArchive } from "./release-archives.ts";
import { type BrokerVersion, formatBrokerVersion } from "./version.ts";

interface ObtainOptions {
  readonly cacheDirectory: string;
  readonly logger: Logger;
}

type ObtainOutcome =
  | { readonly kind: "obtained"; readonly binary: string; readonly version: BrokerVersion }
  /** One line per way that was tried. */
  | { readonly kind: "failed"; readonly attempts: readonly string[] };

export const obtain = async ({ cacheDirectory, logger }: ObtainOptions): Promise<ObtainOutcome> => {
  const attempts: string[] = [];
  for (const { name, get } of WAYS) {
    logger.info(`getting nats-server: ${name}`);
    const outcome = await obtainBy(get, cacheDirectory).catch((error: unknown) => String(error));
    if (typeof outcome !== "string") {
      logger.info("nats-server is in the cache", { detail: outcome.binary });
      return { kind: "obtained", ...outcome };
    }
    logger.warn(`getting nats-server did not work: ${name}`, { detail: outcome });
    attempts.push(`${name}: ${outcome}`);
  }
  return { kind: "failed", attempts };
};

type Way = (directory: string) => Promise<ObtainAttempt>;

const officialRelease: Way = async (directory) => {
  const archive = releaseArchive({ platform: process.platform, arch: process.arch });
  if (archive !== undefined) return downloadRelease(archive, directory);
  return { kind: "failed", reason: `none is pinned for ${process.platform} on ${process.arch}` };
};

const WAYS: readonly { readonly name: string; readonly get: Way }[] = [
  { name: "official release archive", get: officialRelease },
  { name: "Debian package", get: unpackDebianPackage },
];

/** Path and version of the program, or the reason why there is none. Works in a directory beside its destination and always removes it. */
const obtainBy = async (
  get: Way,
  cacheDirectory: string,
): Promise<{ binary: string; version: BrokerVersion } | string> => {
  await mkdir(cacheDirectory, { recursive: true });
  const directory = await mkdtemp(join(cacheDirectory, ".obtaining-"));
  try {
    const attempt = await get(directory);
    if (attempt.kind === "failed") return attempt.reason;
    const inspected = await inspectBroker(attempt.binary);
    if (inspected.kind === "absent") return "the program is not in it";
    if (inspected.kind === "unusable") return inspected.reason;
    const { version } = inspected;
    return { binary: await keep(attempt.binary, version, cacheDirectory), version };
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
};

/** A rename within one file system is atomic: two processes that obtain it at once both end with a complete program. */
const keep = async (binary: string, version: BrokerVersion, cacheDirectory: string): Promise<string> => {
  const home = join(cacheDirectory, `nats-server-${formatBrokerVersion(version)}`);
  const kept = join(home, "nats-server");
  await mkdir(home, { recursive: true });
  await chmod(binary, 0o755);
  await rename(binary, kept);
  return kept;
};
