/**
 * Whether a program is a nats-server that is new enough. The program itself is asked, because a file name says nothing about the version.
 */
import { existsSync } from "node:fs";
import { runCommand } from "./run-command.ts";
import {
  BROKER_VERSION_FLOOR,
  type BrokerVersion,
  formatBrokerVersion,
  isSupportedBrokerVersion,
  parseBrokerVersion,
} from "./version.ts";

export type Inspection =
  | { readonly kind: "usable"; readonly version: BrokerVersion }
  | { readonly kind: "absent" }
  /** One line, to be read after the program's name. */
  | { readonly kind: "unusable"; readonly reason: string };

/** A program that does not print its version in this time is not started. */
const VERSION_MS_MAX = 5000;
const LOADER_MISSING = "this machine lacks the loader or interpreter that it names";

export const inspectBroker = async (binary: string): Promise<Inspection> => {
  const outcome = await runCommand(binary, ["--version"], { timeoutMs: VERSION_MS_MAX });
  if (outcome.kind === "failed") {
    if (!outcome.isAbsent) return { kind: "unusable", reason: outcome.reason };
    // ENOENT also means that its loader is missing: a program for glibc on a system without it, such as Alpine.
    return existsSync(binary) ? { kind: "unusable", reason: LOADER_MISSING } : { kind: "absent" };
  }
  const version = parseBrokerVersion(outcome.output);
  if (version === undefined)
    return { kind: "unusable", reason: "it does not tell its version with --version" };
  if (isSupportedBrokerVersion(version)) return { kind: "usable", version };
  const floor = formatBrokerVersion(BROKER_VERSION_FLOOR);
  return { kind: "unusable", reason: `it is version ${formatBrokerVersion(version)}, older than ${floor}` };
};
