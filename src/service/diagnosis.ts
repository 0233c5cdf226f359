/** What `prooftrail doctor` checks on the machine of a service: settings, broker, streams, views, disk. It changes nothing. */

import { statfs } from "node:fs/promises";
import { isThere } from "../files/durable-file.ts";
import { DISK_FREE_BYTES_LOW, DISK_FREE_BYTES_MIN } from "../limits.ts";
import { sizeText } from "../terminal/size-text.ts";
import { brokerChecks } from "./broker-checks.ts";
import { type Check, unchecked } from "./check.ts";
import { type Config, ENVIRONMENT_NAMES, readConfig } from "./config.ts";
import { AS_ITS_USER, closedFolder, readOnlyFolder } from "./data-folder.ts";
import { misspeltSettings } from "./misspelt-settings.ts";
import { closedToWriting, openToOthers } from "./view-place.ts";

/** In the order of dependence: what depends on a failed check is unchecked. */
export async function* diagnose(
  environment: Readonly<Record<string, string | undefined>>,
): AsyncGenerator<Check> {
  const read = readConfig(environment);
  const misspelt = misspeltSettings(environment).map(
    (detail): Check => ({
      name: "settings",
      state: "warning",
      detail,
      advice: "docs/reference/settings.md has all settings.",
    }),
  );
  if (read.kind === "invalid") {
    for (const detail of read.errors)
      yield {
        name: "settings",
        state: "failed",
        detail,
        advice: "Correct it; docs/reference/settings.md has all settings.",
      };
    yield* misspelt;
    yield unchecked("broker, streams, views", "the settings say where they are");
    return;
  }
  const { config } = read;
  const set = ENVIRONMENT_NAMES.filter((name) => environment[name] !== undefined);
  yield {
    name: "settings",
    state: "ok",
    detail: `understood; ${set.length === 0 ? "none is set, all are defaults" : `set: ${set.join(", ")}`}`,
  };
  yield* misspelt;
  const closed = await closedFolder(config);
  if (closed !== undefined) {
    yield { name: "folder", state: "failed", detail: closed, advice: AS_ITS_USER };
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
    yield {
      name: "folder",
      state: "failed",
      detail: readOnly,
      advice: `${AS_ITS_USER} If it is that user, make the folder its own, on a disk that takes writes: a start needs it.`,
    };
  yield* diskChecks(config);
  const closedViews = closedToWriting(config);
  if (closedViews) yield { name: "views", state: "failed", ...closedViews };
  const open = openToOthers(config);
  if (open) yield { name: "views", state: "warning", ...open };
  yield* brokerChecks(config);
}

async function* diskChecks({ dataDir, natsUrl }: Config): AsyncGenerator<Check> {
  if (!(await isThere(dataDir))) {
    yield unchecked("disk", `there is no folder ${dataDir} here`);
    return;
  }
  const { bavail, bsize } = await statfs(dataDir);
  const free = bavail * bsize;
  const detail = `${sizeText(free)} free under ${dataDir}`;
  if (free >= DISK_FREE_BYTES_LOW) yield { name: "disk", state: "ok", detail };
  else
    yield {
      name: "disk",
      state: free < DISK_FREE_BYTES_MIN ? "failed" : "warning",
      detail,
      advice: `Make room: ${natsUrl === undefined ? "on a full disk no event is taken" : "views cannot be written without"}.`,
    };
}
