import { Environment } from "../../src/service/settings.ts";
import { code, page, prose } from "./markdown.ts";

export const settingsPage = (): string =>
  page(
    "Settings",
    "Settings are environment variables, read once at the start. A value that is not understood stops the start with a message that names the setting. If a variable has nearly the name of a setting, a warning asks whether that setting was meant.",
    ...Object.entries(Environment.properties).flatMap(([name, schema]) => [
      `## ${name}`,
      prose(String(schema.description)),
      `Default: ${schema["x-default"] === "unset" ? "unset" : code(String(schema["x-default"]))}. Must be ${prose(String(schema["x-expects"]))}.`,
    ]),
  );
