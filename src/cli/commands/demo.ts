/** `prooftrail demo`: the service with the history of a made-up bank, to look at. */

import { SCOPES } from "../../access/scopes.ts";
import { RefusedError } from "../../runtime/refused-error.ts";
import { type CommandSpec, type Input, option } from "../command.ts";
import { consoleLink } from "../console-link.ts";
import type { Context } from "../context.ts";
import { demoHistory } from "../demo/history.ts";
import { KNOWN_PERSON } from "../demo/journal.ts";
import { DEMO_TENANT, demoKey, markDemoFolder, openDemoFolder } from "../demo-data.ts";
import { EXIT } from "../exit-codes.ts";
import { failure } from "../failure.ts";
import { jsonOption } from "../options.ts";

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
