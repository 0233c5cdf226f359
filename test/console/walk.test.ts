/** The console by keyboard, in forced colours and without motion. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { SCOPES } from "../../src/access/scopes.ts";
import { SCREENS } from "../../src/console/screen-names.ts";
import { noBrowserReason, screenshotPath } from "../support/browser.ts";
import {
  faultsOf,
  type OpenConsole,
  openConsole,
  openScreen,
  screenAddress,
  settled,
  signIn,
} from "../support/console.ts";
import { type DemoService, startDemoService } from "../support/demo-service.ts";
import { walkFaults } from "../support/keyboard.ts";

describe.skipIf(noBrowserReason !== undefined)(
  `the console${noBrowserReason ? ` (skipped: ${noBrowserReason})` : ""}`,
  () => {
    let demo: DemoService;
    let root: string;
    let opened: OpenConsole;
    beforeAll(async () => {
      demo = await startDemoService();
      root = `${demo.service.url}/`;
      opened = await openConsole({ root, width: 1280 });
      await signIn(opened.page, await demo.service.makeKey("demo", SCOPES));
    });
    afterAll(async () => {
      await opened[Symbol.asyncDispose]();
      await demo[Symbol.asyncDispose]();
    });

    test("by Tab from the top: each stop is seen and has a name, in the order of the page, and nothing is left out", async () => {
      const { page } = opened;
      await page.emulateMedia({ reducedMotion: "reduce" });
      const addresses = [...SCREENS.filter((screen) => screen !== "sign-in"), "sandbox", "verify"];
      const faults: Record<string, readonly string[]> = {};
      for (const screen of addresses) {
        if (["sandbox", "verify"].includes(screen)) await page.goto(root + screen);
        else await openScreen(page, screenAddress(root, screen));
        const found = await walkFaults(page);
        if (found.length > 0) faults[screen] = found;
      }
      expect(faults).toEqual({});
    });

    const hasFocus = (selector: string): Promise<boolean> =>
      opened.page.evaluate(`document.activeElement.matches(${JSON.stringify(selector)})`);

    test("another screen has the focus at its content; a filter keeps it, and Escape closes the menu of a phone", async () => {
      const { page } = opened;
      await openScreen(page, root);
      await page.getByRole("link", { name: "Decisions" }).first().press("Enter");
      await page.getByRole("heading", { name: "Decisions", level: 1 }).waitFor();
      await settled(page);
      expect(await hasFocus("main")).toBe(true);
      await page.keyboard.press("Tab");
      expect(await hasFocus("main *")).toBe(true);
      await page.locator("#filter-missing").focus();
      await page.locator("#filter-missing").selectOption("notice");
      await page.waitForURL(/missing=notice/);
      await settled(page);
      expect(await hasFocus("#filter-missing")).toBe(true);
      await page.locator("tbody a").first().press("Enter");
      await page.waitForURL(/decision\?id=/);
      expect(await hasFocus("main")).toBe(true);
      await page.goBack();
      await page.waitForURL(/missing=notice/);
      expect(await hasFocus("main")).toBe(true);
      await page.setViewportSize({ width: 390, height: 900 });
      await page.getByText("Menu").press("Enter");
      await page.keyboard.press("Tab");
      expect(await hasFocus(".menu[open] a")).toBe(true);
      await page.keyboard.press("Escape");
      expect(await hasFocus(".menu:not([open]) > summary")).toBe(true);
      await page.setViewportSize({ width: 1280, height: 900 });
    });

    test("in forced colours, states have a word and a shape of their own; with reduced motion nothing moves", async () => {
      const { page } = opened;
      await page.emulateMedia({ forcedColors: "active", reducedMotion: "reduce" });
      for (const screen of ["", "decision", "coverage", "obligations"]) {
        await openScreen(page, screenAddress(root, screen));
        const states = await page.evaluate<[string, string][]>(STATES);
        if (screen !== "decision") expect([screen, states.length > 1]).toEqual([screen, true]);
        expect(states.filter(([word, shape]) => word === "" || shape === "")).toEqual([]);
        expect([screen, await page.evaluate<string[]>(MOVING)]).toEqual([screen, []]);
        expect([screen, await faultsOf(page)]).toEqual([screen, []]);
        const path = await screenshotPath(`forced-${screen || "overview"}.png`);
        if (path) await page.screenshot({ path, fullPage: true });
      }
      await page.emulateMedia({ forcedColors: "none", reducedMotion: "no-preference" });
    });
  },
);

/** The word of each state, and its shape: all that is not a colour. */
const STATES = `[...document.querySelectorAll(".state")].map((state) => {
  const { borderRadius, borderStyle, borderWidth, outlineStyle, backgroundImage, backgroundColor } = getComputedStyle(state, "::before");
  const filled = backgroundColor !== "rgba(0, 0, 0, 0)";
  return [state.textContent, [borderRadius, borderStyle, borderWidth, outlineStyle, backgroundImage, filled].join(" ")];
})`;

const MOVING = `[
  ...document.getAnimations().map(() => "an animation"),
  ...[...document.querySelectorAll("*")]
    .filter((element) => [getComputedStyle(element).transitionDuration, getComputedStyle(element).animationDuration].some((time) => time !== "0s" && time !== "auto"))
    .map((element) => element.outerHTML.slice(0, 120)),
]`;
