/** What `prooftrail doctor` checks on the machine of a service: settings, sign-in provider, broker, streams, views, disk. It changes nothing. */

import { DISK_FREE_BYTES_LOW, DISK_FREE_BYTES_MIN } from "../limits.ts";
import { isThere } from "../runtime/durable-file.ts";
import { sizeText } from "../runtime/size-text.ts";
import { brokerChecks } from "./broker-checks.ts";
import { type Check, failed, ok, unchecked, warned } from "./check.ts";
import { type Config, ENVIRONMENT_NAMES, readConfig } from "./config.ts";
import { AS_ITS_USER, closedFolder, readOnlyFolder } from "./data-folder.ts";
import { misspeltSettings } from "./misspelt-settings.ts";
import { signInCheck } from "./sign-in-check.ts";
import { closedToWriting, openToOthers } from "./view-place.ts";
import { freeBytes } from "./work-reasons.ts";

/** In the order of dependence: what depends on a failed check is unchecked. */
export async function* diagnose(
  environment: Readonly<Record<string, string | undefined>>,
): AsyncGenerator<Check> {
  const read = readConfig(environment);
  const misspelt = misspeltSettings(environment).map((detail) => warned("settings", detail, SEE_SETTINGS));
  if (read.kind === "invalid") {
    for (const detail of read.errors) yield failed("settings", detail, `Correct it; ${SEE_SETTINGS}`);
    yield* misspelt;
    yield unchecked("broker, streams, views", "the settings say where they are");
    return;
  }
  const { config } = read;
  const set = ENVIRONMENT_NAMES.filter((name) => environment[name] !== undefined);
  yield ok(
    "settings",
    `understood; ${set.length === 0 ? "none is set, all are defaults" : `set: ${set.join(", ")}`}`,
  );
  yield* misspelt;
  if (config.signIn) yield await signInCheck(config.signIn);
  const closed = await closedFolder(config);
  if (closed !== undefined) {
    yield failed("folder", closed, AS_ITS_USER);
    yield unchecked("broker, streams, views, disk", "the folder says where they are");
    return;
  }
  if (config.natsUrl === undefined && !(await isThere(config.dataDir))) {
    const detail = `there is no folder ${config.dataDir} here, and NATS_URL is not set`;
    const advice =
      "Run it in the folder of the service, or with its settings (DATA_DIR, NATS_URL, DATABASE_URL).";
    yield unchecked("broker, streams, views, disk", detail, advice);
    return;
  }
  const readOnly = await readOnlyFolder(config);
  if (readOnly !== undefined)
    yield failed(
      "folder",
      readOnly,
      `${AS_ITS_USER} If it is that user, make the folder its own, on a disk that takes writes: a start needs it.`,
    );
  yield await diskCheck(config);
  const closedViews = closedToWriting(config);
  if (closedViews) yield failed("views", closedViews.detail, closedViews.advice);
  const open = openToOthers(config);
  if (open) yield warned("views", open.detail, open.advice);
  yield* brokerChecks(config);
}

const SEE_SETTINGS = "docs/reference/settings.md has all settings.";

const diskCheck = async ({ dataDir, natsUrl }: Config): Promise<Check> => {
  if (!(await isThere(dataDir))) return unchecked("disk", `there is no folder ${dataDir} here`);
  const free = await freeBytes(dataDir);
  const detail = `${sizeText(free)} free under ${dataDir}`;
  if (free >= DISK_FREE_BYTES_LOW) return ok("disk", detail);
  const state = free < DISK_FREE_BYTES_MIN ? failed : warned;
  const why = natsUrl === undefined ? "on a full disk no event is taken" : "views cannot be written without";
  return state("disk", detail, `Make room: ${why}.`);
};
