/** Every screen of the console: light and dark, English and Korean, wide, on a phone, and as narrow as 400 % of 1280 pixels. */
import { afterAll, beforeAll, describe, test } from "bun:test";
import { SCREENS } from "../../src/console/screen-names.ts";
import { noBrowserReason } from "../support/browser.ts";
import { expectGoodScreens } from "../support/console.ts";
import { type DemoService, startDemoService } from "../support/demo-service.ts";

let demo: DemoService;
beforeAll(async () => {
  demo = await startDemoService();
});
afterAll(() => demo[Symbol.asyncDispose]());

const screens = SCREENS.filter((screen) => screen !== "sign-in");

describe.skipIf(noBrowserReason !== undefined)(
  `every screen${noBrowserReason ? ` (skipped: ${noBrowserReason})` : ""}`,
  () => {
    test.each([
      [1280, "light", "en"],
      [1280, "dark", "ko"],
      [390, "light", "en"],
      [390, "dark", "ko"],
      [320, "light", "en"],
    ] as const)(
      "at %p pixels, %s, in %s: nothing for axe-core, nothing too wide, no complaint",
      async (width, scheme, lang) =>
        expectGoodScreens({
          root: `${demo.service.url}/`,
          key: await demo.makeSeat({ role: "admin" }),
          ...{ width, scheme, lang, screens },
        }),
    );
  },
);
