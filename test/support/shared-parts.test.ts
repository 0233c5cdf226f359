import { expect, test } from "bun:test";
import { PROGRAM_SETTING } from "./built-program.ts";
import { BROWSER_SETTING, hasPackagedBrowser } from "./packaged-browser.ts";
import { sharedParts } from "./shared-parts.ts";

test("the packaged browser is not unpacked if tests use one of the machine", () => {
  const settingsWith = (environment: NodeJS.ProcessEnv) =>
    sharedParts(environment).map(([setting]) => setting);
  expect(settingsWith({}).includes(BROWSER_SETTING)).toBe(hasPackagedBrowser);
  expect(settingsWith({ CHROMIUM_BIN: "/usr/bin/chromium" })).not.toContain(BROWSER_SETTING);
  expect(settingsWith({ CHROMIUM_BIN: "/usr/bin/chromium" })).toContain(PROGRAM_SETTING);
});
