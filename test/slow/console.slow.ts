/**
 * Every screen of the console and every page beside it: light and dark, English and Korean, wide, on a phone, as narrow as 400 % of 1280 pixels,
 * by Tab, and for every seat.
 */
import { beforeAll, expect, test } from "bun:test";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { SCREENS } from "../../src/console/screen-names.ts";
import { describeInBrowser, openPage, screenshotPath, startBrowser } from "../support/browser.ts";
import {
  demoConsole,
  expectAccessible,
  expectGoodScreens,
  faultsOf,
  openScreen,
  SWAGGER_UI_BREAKS,
  screenAddress,
  sendAll,
  settled,
} from "../support/console.ts";
import { evidence, textOf, unpack } from "../support/evidence-bundle.ts";
import { walkFaults } from "../support/keyboard.ts";
import { SEATS } from "../support/seats.ts";

const demo = demoConsole();
/** May do everything, so every form and button is there. */
let key: string;
beforeAll(async () => {
  key = await demo.makeSeat({ role: "admin" });
});

const screens = SCREENS.filter((screen) => screen !== "sign-in");

const WINDOWS = [
  [1280, "light", "en"],
  [1280, "dark", "ko"],
  [390, "light", "en"],
  [390, "dark", "ko"],
  [320, "light", "en"],
] as const;

describeInBrowser("every screen", () => {
  test.each(WINDOWS)(
    "at %p pixels, %s, in %s: nothing for axe-core, nothing too wide, no complaint",
    (width, scheme, lang) =>
      expectGoodScreens({ root: demo.root, key, width, scheme, lang, screens, rowsMax: 50 }),
  );

  test("by Tab from the top: each stop is seen and has a name, in the order of the page, and nothing is left out", async () => {
    await using opened = await demo.open("", { key });
    const { page } = opened;
    await page.emulateMedia({ reducedMotion: "reduce" });
    for (const screen of [...screens, "sandbox"] as const) {
      if (screen === "sandbox") await page.goto(demo.root + screen);
      else await openScreen(page, screenAddress(demo.root, screen));
      expect([screen, await walkFaults(page)]).toEqual([screen, []]);
    }
  });

  test.each(SEATS)("every entry of the navigation opens for this seat: %s", async (_, seat, names) => {
    await using opened = await demo.open("", { key: await demo.makeSeat(seat) });
    const { page } = opened;
    const refused: string[] = [];
    page.on("response", (answer) => {
      if (answer.status() === 403) refused.push(`${page.url()} ${answer.url()}`);
    });
    for (const name of names) {
      await page.locator(".rail").getByRole("link", { name, exact: true }).click();
      await settled(page);
      expect([name, await page.locator(".failed").count()]).toEqual([name, 0]);
    }
    // The names of systems are asked for on every page, and missing ones are shown by their id.
    const isUsual = (each: string): boolean => /\/v1\/(assets|activity)\?/.test(each);
    expect(refused.filter((each) => !isUsual(each))).toEqual([]);
  });

  test("a decision with 10,000 events opens, and says what it leaves out", async () => {
    const of = { asset_id: "consumer-credit-eu", timestamp: "2026-11-20T10:00:00Z" };
    const named = { correlation_id: "case-large", metadata: { decision_id: "dec-large" } };
    const events = Array.from({ length: 10_000 }, (_, index) => ({
      ...of,
      ...named,
      event_id: `evt_large_${index}`,
      event_type: index === 0 ? "decision.automated_decision_made" : "decision.explanation_provided",
    }));
    for (let from = 0; from < events.length; from += 1000)
      await sendAll(demo.service, key, events.slice(from, from + 1000));
    await using opened = await demo.open("decision?id=dec-large", { key, width: 390 });
    const { page, complaints } = opened;
    await page.getByRole("link", { name: "There may be more events: find all" }).waitFor();
    await expectAccessible(page, "decision with 10,000 events");
    await openScreen(page, `${demo.root}event?id=evt_large_0`);
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
    for (const address of [...["docs", "sandbox", "verify"].map((path) => demo.root + path), ...saved]) {
      const { page, complaints } = await openPage(browser, address);
      const isVendors = address.endsWith("/docs");
      if (isVendors) await page.locator(".opblock").first().waitFor();
      for (const [width, colorScheme] of WINDOWS) {
        await page.setViewportSize({ width, height: 900 });
        await page.emulateMedia({ colorScheme });
        const name = `${address.split("/").at(-1)} at ${width}, ${colorScheme}`;
        const path = await screenshotPath(`${name.replaceAll(/\W+/g, "-")}.png`);
        if (path) await page.screenshot({ path });
        const faults = await faultsOf(page, { except: isVendors ? SWAGGER_UI_BREAKS : [] });
        found.push(...faults.map((fault) => `${name}: ${fault}`));
      }
      found.push(...complaints);
      await page.close();
    }
    expect([...found, ...browser.foreignRequests]).toEqual([]);
  });
});
