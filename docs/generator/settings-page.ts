import { SETTING_NAMES, settingOf } from "../../src/service/settings.ts";
import { code, page, prose } from "./markdown.ts";

export const settingsPage = (): string =>
  page(
    "Settings",
    "Settings are environment variables, read once at the start. A value that is not understood stops the start with a message that names the setting. If a variable may be a misspelt setting, a warning asks whether that setting was meant.",
    ...SETTING_NAMES.map((name) => ({ name, ...settingOf(name) })).flatMap((setting) => [
      `## ${setting.name}`,
      prose(setting.description),
      `Default: ${setting.default === undefined ? "unset" : code(setting.default)}. Must be ${prose(setting.expects)}.`,
    ]),
  );
