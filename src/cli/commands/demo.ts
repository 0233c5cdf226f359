/** `prooftrail demo`: the service with the history of a made-up bank, to look at. */
import { mkdir, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { SCOPES } from "../../access/scopes.ts";
import { missingAs, writeDurably } from "../../runtime/durable-file.ts";
import { RefusedError } from "../../runtime/refused-error.ts";
import { type Api, createApi } from "../api.ts";
import { type CommandSpec, type Input, option } from "../command.ts";
import type { Context } from "../context.ts";
import { demoHistory } from "../demo/history.ts";
import { KNOWN_PERSON } from "../demo/journal.ts";
import { WAIVER_REASON } from "../demo/told-cases.ts";
import { EXIT, Failure, failure, reasonOf } from "../failure.ts";
import { asRecord, asText, parseJson } from "../json.ts";
import { CLI_ANSWER_MS_MAX } from "../limits.ts";
import { jsonOption } from "../options.ts";
import { consoleLink, makeKey } from "./console.ts";

export const DEMO: CommandSpec = {
  name: "demo",
  summary: "Run the service with three months of a made-up bank",
  description: [
    "The history is written before the service starts, in the tenant demo of a log of its own, with reception times in the past. No request can do that: a real log says when it received an event.",
    "The next start continues with the same data. Remove the folder for a history that ends today. NATS_URL, DATABASE_URL and other settings of your own service do not count here.",
  ],
  options: [
    option("--port", "number", "port to listen on, 0 for a free one; else PORT, else 8080"),
    option("--data-dir", "folder", "folder of the demo; else ./demo-data", { isFile: true }),
    jsonOption("log lines as JSON, at a terminal too"),
  ],
  examples: [
    ["a link to open", "prooftrail demo"],
    ["beside a service of your own", "prooftrail demo --port 8090"],
  ],
  exitMeanings: [
    [EXIT.ok, "stopped by a signal"],
    [EXIT.failed, "it could not start, or not stop in time"],
    [EXIT.usage, "a setting or an option that is not understood, or a folder that holds something else"],
  ],
  run: async (input, context) => {
    // Imported only here, because they load the whole service.
    const [{ readConfig }, { runService }, { writePast }] = await Promise.all([
      import("../../service/config.ts"),
      import("../../service/run-service.ts"),
      import("../../service/past-log.ts"),
    ]);
    const dataDir = input.text("--data-dir") ?? "./demo-data";
    const environment = settingsOf(input, context, dataDir);
    const read = readConfig(environment);
    if (read.kind === "invalid") throw failure("wrong_use", read.errors.join("\n"));
    const today = context.now().toISOString().slice(0, "2026-11-29".length);
    const { day, events: written } = await openDemoFolder(dataDir, today);
    const { entries, waivedObligation } = demoHistory(day);
    const events = written || entries.length;
    if (written === 0) {
      await context.err.write(`Writing ${events.toLocaleString("en-US")} events to ${dataDir} …\n`);
      await writePast({ config: read.config, tenant: DEMO_TENANT, events: entries }).catch((error) => {
        throw error instanceof RefusedError ? failure("failed", error.message) : error;
      });
      await markDemoFolder(dataDir, { day, events });
    }
    await runService({
      environment,
      isPretty: context.out.isTerminal && !input.isSet("--json"),
      announce: async ({ url = "" }) => {
        const { api, path } = await demoKey({ url, dataDir, waivedObligation, events });
        const { link } = await consoleLink(api, { url, scopes: SCOPES, now: context.now() });
        await context.err.write(readyText({ link, keyPath: path, events, day, today }));
      },
    });
    // It ends the process itself.
    return new Promise(() => {});
  },
};

/** Settings that a demo may take from the environment. Any other could lead it to the broker or the database of a real service. */
const TAKEN = ["HOST", "PORT", "LOG_LEVEL", "NATS_SERVER_BIN"] as const;

const settingsOf = (input: Input, { environment }: Context, dataDir: string): Record<string, string> => {
  const given = { ...environment, ...optionalText("PORT", input.text("--port")) };
  return {
    LOG_LEVEL: "warn",
    ...Object.fromEntries(TAKEN.flatMap((name) => Object.entries(optionalText(name, given[name])))),
    DATA_DIR: dataDir,
    // It is the first part of the origin in every tree head and bundle, so that none of them passes for a real one.
    SERVICE_NAME: "prooftrail-demo",
    EXTRA_EVENT_TYPES: "sdk.heartbeat",
  };
};

const optionalText = (name: string, value: string | undefined): Record<string, string> =>
  value === undefined ? {} : { [name]: value };

const readyText = (ready: {
  readonly link: string;
  readonly keyPath: string;
  readonly events: number;
  readonly day: string;
  readonly today: string;
}): string => {
  const { link, keyPath, events, day, today } = ready;
  const older =
    day === today
      ? ""
      : `  Its history ends with ${day}. For one that ends today, remove the folder of the demo and start again.\n`;
  return `
  Nordbank is ready: ${events.toLocaleString("en-US")} events of a bank that does not exist, in the tenant demo.

  open          ${link}
  key           in ${keyPath}
  a person      ${KNOWN_PERSON}, in the log as the SHA-256 hash of that text

${older}  Ctrl-C stops it; the next start continues with the same data.

`;
};

interface DemoFolder {
  readonly day: string;
  /** How many events the log got; 0 until it has them all. */
  readonly events: number;
}

const MARK = "demo.json";

/** Creates the folder if it is missing. Throws a Failure if it is not the demo's own. */
const openDemoFolder = async (path: string, today: string): Promise<DemoFolder> => {
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
const demoKey = async (options: {
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
