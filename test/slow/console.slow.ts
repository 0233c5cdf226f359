/**
 * Every screen of the console and every page beside it: light and dark, English and Korean, wide, on a phone, and as narrow as 400 % of 1280
 * pixels.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { SCREENS } from "../../src/console/screen-names.ts";
import { noBrowserReason, openPage, screenshotPath, startBrowser } from "../support/browser.ts";
import {
  expectAccessible,
  expectGoodScreens,
  faultsOf,
  openScreen,
  openSignedIn,
  SWAGGER_UI_BREAKS,
} from "../support/console.ts";
import { type DemoService, startDemoService } from "../support/demo-service.ts";
import { evidence, textOf, unpack } from "../support/evidence-bundle.ts";

let demo: DemoService;
let root: string;
/** May do everything, so every form and button is there. */
let key: string;
beforeAll(async () => {
  demo = await startDemoService();
  root = `${demo.service.url}/`;
  key = await demo.makeSeat({ role: "admin" });
});
afterAll(() => demo[Symbol.asyncDispose]());

const screens = SCREENS.filter((screen) => screen !== "sign-in");

const WINDOWS = [
  [1280, "light", "en"],
  [1280, "dark", "ko"],
  [390, "light", "en"],
  [390, "dark", "ko"],
  [320, "light", "en"],
] as const;

describe.skipIf(noBrowserReason !== undefined)(
  `every screen${noBrowserReason ? ` (skipped: ${noBrowserReason})` : ""}`,
  () => {
    test.each(WINDOWS)(
      "at %p pixels, %s, in %s: nothing for axe-core, nothing too wide, no complaint",
      (width, scheme, lang) => expectGoodScreens({ root, key, width, scheme, lang, screens }),
    );

    test("a decision with 10,000 events opens, and says what it leaves out", async () => {
      const of = { asset_id: "consumer-credit-eu", timestamp: "2026-11-20T10:00:00Z" };
      const named = { correlation_id: "case-large", metadata: { decision_id: "dec-large" } };
      const events = Array.from({ length: 10_000 }, (_, index) => ({
        ...of,
        ...named,
        event_id: `evt_large_${index}`,
        event_type: index === 0 ? "decision.automated_decision_made" : "decision.explanation_provided",
      }));
      let sequence = 0;
      for (let from = 0; from < events.length; from += 1000) {
        const body = { events: events.slice(from, from + 1000) };
        sequence = (await demo.service.call("/v1/events/batch", { key, body })).json.data.sequence;
      }
      await demo.service.call(`/v1/decisions?min_sequence=${sequence}&limit=1`, { key });
      await using opened = await openSignedIn({ root, key, width: 390, path: "decision?id=dec-large" });
      const { page, complaints } = opened;
      await page.getByRole("link", { name: "There may be more events: find all" }).waitFor();
      await expectAccessible(page, "decision with 10,000 events");
      await openScreen(page, `${root}event?id=evt_large_0`);
      await expectAccessible(page, "event of 10,000");
      expect(complaints).toEqual([]);
    });

    test("and the pages beside the console, with those of a bundle opened from disk", async () => {
      const files = await unpack(await evidence(demo.service, "decision_id=dec-overdue", demo.key));
      const saved = await Promise.all(
        (["verify.html", "summary.html"] as const).map(async (name) => {
          const path = join(demo.service.dataDir, name);
          await writeFile(path, textOf(files, name));
          return pathToFileURL(path).href;
        }),
      );
      await using browser = await startBrowser({ origin: demo.service.url, width: 1280 });
      const found: string[] = [];
      for (const address of [`${root}docs`, `${root}sandbox`, `${root}verify`, ...saved]) {
        const { page, complaints } = await openPage(browser, address);
        const isVendors = address === `${root}docs`;
        if (isVendors) await page.locator(".opblock").first().waitFor();
        for (const [width, colorScheme] of WINDOWS) {
          await page.setViewportSize({ width, height: 900 });
          await page.emulateMedia({ colorScheme });
          // Colours that still change have no contrast of their own.
          await page.evaluate("Promise.allSettled(document.getAnimations().map((each) => each.finished))");
          const name = `${address.split("/").at(-1)} at ${width}, ${colorScheme}`;
          const path = await screenshotPath(`${name.replaceAll(/\W+/g, "-")}.png`);
          if (path) await page.screenshot({ path });
          found.push(
            ...(await faultsOf(page, isVendors ? SWAGGER_UI_BREAKS : [])).map((fault) => `${name}: ${fault}`),
          );
        }
        found.push(...complaints);
        await page.close();
      }
      expect([...found, ...browser.foreignRequests]).toEqual([]);
    });
  },
);
