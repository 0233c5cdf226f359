/** Settings in, service up, signals out. */
import { existsSync, realpathSync } from "node:fs";
import { relative } from "node:path";
import process from "node:process";
import { STOP_MS_MAX } from "../limits.ts";
import { keepFreedMemory } from "../runtime/allocator.ts";
import { stackOf } from "../runtime/error-text.ts";
import { RefusedError } from "../runtime/refused-error.ts";
import { createLogger, type Logger } from "../telemetry/logger.ts";
import { banner } from "./banner.ts";
import { type Config, misspeltSettings, readConfig } from "./config.ts";
import type { Service } from "./service.ts";
import { version } from "./version.ts";

const EXIT = { ok: 0, failed: 1, misconfigured: 2 } as const;

/** Reads the settings, starts the service, and ends the process on a signal or a failed start. */
export const runService = async (options: {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Log lines for a person. */
  readonly isPretty: boolean;
  /** Reports that the service is up; by default the banner does. */
  readonly announce?: (service: Service) => Promise<void>;
}): Promise<void> => {
  const read = readConfig(options.environment);
  if (read.kind === "invalid") {
    const told = [...read.errors, ...misspeltSettings(options.environment)];
    process.stderr.write(
      `Prooftrail cannot start with these settings:\n${told.map((each) => `  - ${each}\n`).join("")}`,
    );
    process.exit(EXIT.misconfigured);
  }
  // A front end alone, whose peak stays bounded. A projector gives back what it needed to catch up. The service is loaded only after it.
  if (read.config.roles.join() === "api") keepFreedMemory();
  await run(read.config, options);
};

const run = async (
  config: Config,
  { environment, isPretty, announce }: Parameters<typeof runService>[0],
): Promise<void> => {
  // A closed standard error is no reason to stop serving.
  process.stderr.on("error", () => {});
  const startedAt = performance.now();
  const logger = createLogger({ level: config.logLevel, pretty: isPretty });
  for (const detail of misspeltSettings(environment))
    logger.warn("a variable may be a misspelt setting", { detail });
  let service: Service | undefined;
  let isStopping = false;
  const stop = (signal: string): void => {
    if (isStopping) return;
    isStopping = true;
    logger.info("stopping", { detail: signal });
    // Nothing was accepted yet, and our own broker ends with this process.
    if (!service) process.exit(EXIT.ok);
    void stopInTime(service, logger);
  };
  // Registered before the start, which may wait for a broker.
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => stop(signal));
  const { startService } = await import("./service.ts");
  service = await startService({ config, logger, version }).catch((error: unknown) => {
    process.stderr.write(`\nProoftrail cannot start.\n${reasonFor(error, config)}\n`);
    process.exit(EXIT.failed);
  });
  if (announce) return announce(service);
  // On standard error, so that standard output holds nothing but log lines.
  const isTerminal = process.stdout.isTTY === true && process.stderr.isTTY === true;
  const startedMs = performance.now() - startedAt;
  process.stderr.write(banner({ service, config, version, startedMs, isTerminal, now: new Date() }));
};

const stopInTime = async (service: Service, logger: Logger): Promise<void> => {
  const deadline = setTimeout(() => {
    logger.error("could not stop in time", { duration_ms: STOP_MS_MAX });
    process.exit(EXIT.failed);
  }, STOP_MS_MAX);
  await service.stop();
  clearTimeout(deadline);
  logger.info("stopped");
  process.exit(EXIT.ok);
};

/** Errors that an operator can fix have their own message. Any other error is a fault of ours and shows its stack. */
const reasonFor = (error: unknown, { dataDir }: Config): string => {
  if (error instanceof RefusedError) return error.message;
  if (isAboutFileIn(dataDir, error))
    return `${error.message}. This is in DATA_DIR, ${dataDir}: the user that runs the service must own all of it; move away what is not the service's.`;
  return stackOf(error);
};

/** The operating system refused a file in DATA_DIR, for example because an earlier start was by another user. */
const isAboutFileIn = (folder: string, error: unknown): error is Error => {
  if (!(error instanceof Error && "path" in error && typeof error.path === "string")) return false;
  const { path } = error;
  // Some paths were resolved, some begin with DATA_DIR as it was set.
  const folders = existsSync(folder) ? [folder, realpathSync(folder)] : [];
  return folders.some((each) => !relative(each, path).startsWith(".."));
};
