/** `prooftrail serve`: the service itself, as `bun start` runs it once everything is installed. */
import { type CommandSpec, option } from "../command.ts";
import { EXIT } from "../failure.ts";
import { jsonOption } from "../options.ts";

const SETTINGS = { "--host": "HOST", "--port": "PORT", "--data-dir": "DATA_DIR" } as const;

export const SERVE: CommandSpec = {
  name: "serve",
  summary: "Run the service until Ctrl-C",
  description: [
    "Settings are environment variables (docs/reference/settings.md); these options win over them. Log lines go to standard output, the messages of the start to standard error.",
  ],
  options: [
    option("--host", "address", "address to listen on; else HOST, else 127.0.0.1"),
    option("--port", "number", "port to listen on, 0 for a free one; else PORT, else 8080"),
    option("--data-dir", "folder", "folder for all data; else DATA_DIR, else ./data", { isFile: true }),
    jsonOption("log lines as JSON, at a terminal too"),
  ],
  examples: [
    [
      "on another port, with its data elsewhere",
      "prooftrail serve --port 9090 --data-dir /var/lib/prooftrail",
    ],
  ],
  exitMeanings: [
    [EXIT.ok, "stopped by a signal"],
    [EXIT.failed, "it could not start, or not stop in time"],
    [EXIT.usage, "a setting or an option that is not understood"],
  ],
  run: async (input, { environment, out }) => {
    // Imported only here, because it loads the whole service.
    const { runService } = await import("../../service/run-service.ts");
    const given = Object.entries(SETTINGS).flatMap(([flag, name]) => {
      const value = input.text(flag);
      return value === undefined ? [] : [[name, value] as const];
    });
    await runService({
      environment: { ...environment, ...Object.fromEntries(given) },
      isPretty: out.isTerminal && !input.isSet("--json"),
    });
    // It ends the process itself.
    return new Promise(() => {});
  },
};
