/** What belongs to a demo: its folder, so that a second start continues with it and nobody else's data is touched, and the key of its tenant. */
import { mkdir, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { SCOPES } from "../access/scopes.ts";
import { missingAs, writeDurably } from "../runtime/durable-file.ts";
import { type Api, createApi } from "./api.ts";
import { makeKey } from "./console-link.ts";
import { WAIVER_REASON } from "./demo/told-cases.ts";
import { Failure, failure, reasonOf } from "./failure.ts";
import { asRecord, asText, parseJson } from "./json.ts";
import { CLI_ANSWER_MS_MAX } from "./limits.ts";

export interface DemoFolder {
  readonly day: string;
  /** How many events the log got; 0 until it has them all. */
  readonly events: number;
}

const MARK = "demo.json";

/** Creates the folder if it is missing. Throws a Failure if it is not the demo's own. */
export const openDemoFolder = async (path: string, today: string): Promise<DemoFolder> => {
  const advice = "Name a folder that does not exist yet: prooftrail demo --data-dir nordbank";
  try {
    const text = await readFile(join(path, MARK), "utf8").catch(missingAs(undefined));
    if (text !== undefined) return readMark(path, text);
    await mkdir(path, { recursive: true, mode: 0o700 });
    if ((await readdir(path)).length > 0)
      throw failure("wrong_use", `${path} holds something other than a demo.`, advice);
    const made = { day: today, events: 0 };
    await markDemoFolder(path, made);
    return made;
  } catch (error) {
    if (error instanceof Failure) throw error;
    throw failure("unreadable_file", `${path} cannot be used: ${reasonOf(error)}.`, advice);
  }
};

export const markDemoFolder = (path: string, mark: DemoFolder): Promise<void> =>
  writeDurably(join(path, MARK), `${JSON.stringify(mark)}\n`);

const readMark = (path: string, text: string): DemoFolder => {
  const mark = asRecord(parseJson(text));
  const day = asText(mark?.day);
  if (day === undefined || Number.isNaN(Date.parse(`${day}T00:00:00Z`)))
    throw failure("wrong_use", `${join(path, MARK)} cannot be read.`, `Remove ${path} for a new demo.`);
  return { day, events: typeof mark?.events === "number" ? mark.events : 0 };
};

export const DEMO_TENANT = "demo";

/** Created by the first start, which also waives the obligation, and kept in the folder. */
export const demoKey = async (options: {
  readonly url: string;
  readonly dataDir: string;
  readonly waivedObligation: string;
  readonly events: number;
}): Promise<{ readonly api: Api; readonly path: string }> => {
  const { url, dataDir, waivedObligation, events } = options;
  const path = join(dataDir, "demo.key");
  const address = { url, isLoopback: true, source: "the demo" };
  const apiFor = (text: string, source: string): Api => createApi(address, { text: text.trim(), source });
  const kept = await readFile(path, "utf8").catch(missingAs(undefined));
  const adminPath = join(dataDir, "admin.key");
  const admin = apiFor(await readFile(adminPath, "utf8"), adminPath);
  const key = kept ?? (await makeKey(admin, { tenant: DEMO_TENANT, name: "demo", scopes: SCOPES })).key;
  const api = apiFor(key, path);
  await untilRead(api, events);
  if (kept !== undefined) return { api, path };
  const waive = `/v1/obligations/${encodeURIComponent(waivedObligation)}/waive`;
  await api.ask({ path: waive, body: JSON.stringify({ reason: WAIVER_REASON }) }).catch((error: unknown) => {
    // An earlier start may have ended after the waiver.
    if (!(error instanceof Failure && error.document.status === 409)) throw error;
  });
  await writeDurably(path, `${key}\n`);
  return { api, path };
};

/** Views that are being built answer 503 until they are complete, and there is no tree head before the first seal. */
const untilRead = async (api: Api, events: number): Promise<void> => {
  const giveUpAt = performance.now() + CLI_ANSWER_MS_MAX;
  for (const path of [`/v1/obligations?min_sequence=${events}`, "/v1/log/checkpoint"])
    for (;;) {
      const tried = await api.attempt({ path });
      if (tried instanceof Response && tried.ok) break;
      if (performance.now() > giveUpAt)
        throw failure(
          "unreachable",
          "The service did not read its own log in time.",
          "Start the demo again.",
        );
      await delay(POLL_MS);
    }
};

const POLL_MS = 100;
