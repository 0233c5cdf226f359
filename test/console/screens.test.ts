/**
 * Screens of the console over the history of the demo: what axe-core finds, the keyboard, forced colours, and reduced motion. All screens:
 * test/slow/console.slow.ts.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { CONSOLE_PATHS } from "../../src/api/routes/pages.ts";
import { SCREENS } from "../../src/console/screen-names.ts";
import { describeInBrowser } from "../support/browser.ts";
import {
  demoConsole,
  expectAccessible,
  expectGoodScreens,
  type OpenConsole,
  openScreen,
  screenAddress,
  settled,
} from "../support/console.ts";
import { walkFaults } from "../support/keyboard.ts";
import { event } from "../support/service.ts";

const demo = demoConsole();

test("the service has a path for each screen, and for nothing else", () => {
  expect(SCREENS.map((screen) => `/${screen}`).toSorted()).toEqual([...CONSOLE_PATHS].toSorted());
});

describeInBrowser("the screens", () => {
  /** Of somebody who may do everything, so that every form and button is there. */
  let opened: OpenConsole;
  let key: string;
  beforeAll(async () => {
    key = await demo.makeSeat({ name: "Ada", role: "admin" });
    opened = await demo.open("", { key });
  });
  afterAll(() => opened[Symbol.asyncDispose]());

  test.each([
    [1280, "light", "en", ["", "events", "evidence", "first-report", "keys"]],
    [390, "dark", "ko", ["decision", "coverage", "event", "sources", "gaps", "retention"]],
  ] as const)(
    "at %p pixels, %s, in %s: nothing for axe-core, nothing too wide, no complaint",
    (width, scheme, lang, screens) =>
      expectGoodScreens({ root: demo.root, key, width, scheme, lang, screens }),
  );

  test("no table cuts a word, and on a phone no column shrinks to a letter", async () => {
    for (const width of [1280, 390]) {
      await using sized = await demo.open("", { width });
      for (const screen of ["", "objections", "reviews", "sources"]) {
        await openScreen(sized.page, screenAddress(demo.root, screen));
        await sized.page.locator("main td").first().waitFor();
        expect([screen, width, await sized.page.evaluate(CUT_WORDS)]).toEqual([screen, width, []]);
      }
    }
  });

  test("a time of another year has its year, and one event is not events", async () => {
    const old = event({ event_id: "evt_old", timestamp: "2019-09-05T12:00:00Z" });
    const oldKey = await demo.tenantWith("old", [old]);
    await using tenant = await demo.open("events", { key: oldKey });
    const cells = tenant.page.locator("tbody tr").first().locator("time");
    expect(await cells.first().textContent()).toBe("5 Sept 2019, 12:00");
    expect(await cells.last().textContent()).not.toMatch(/\d{4}/);
    await openScreen(tenant.page, `${demo.root}events?from=2019-09-01&to=2019-09-30`);
    await tenant.page.getByText(": 1 event, at most 1 in one bar (1 day).").waitFor();
  });

  test("the first Tab offers to skip the navigation, and a slash goes to the search", async () => {
    const { page } = opened;
    await openScreen(page, screenAddress(demo.root, "coverage"));
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    expect(await page.evaluate("document.activeElement.id")).toBe("content");
    await page.keyboard.press("/");
    await page.keyboard.type("dec-overdue");
    await page.keyboard.press("Enter");
    await page.waitForURL(/events\?q=dec-overdue$/);
    await settled(page);
    expect(await page.locator("tbody tr").count()).toBeGreaterThan(0);
  });

  test("a source with missing numbers leads to which they are, and a wrong name says that nothing matches", async () => {
    const { page } = opened;
    await openScreen(page, `${demo.root}sources`);
    const row = page.getByRole("row", { name: /src-payment-fraud-screening/ });
    await row.getByText("typescript 0.1.0").waitFor();
    await row.getByRole("link", { name: "7 missing" }).click();
    await page.getByRole("heading", { name: "Missing numbers", level: 1 }).waitFor();
    await settled(page);
    const cells = await page.locator("tbody tr").first().locator("td").allTextContents();
    expect(cells.slice(0, 3)).toEqual(["src-payment-fraud-screening", "72–78", "7"]);
    await openScreen(page, `${demo.root}sources?source_id=nobody`);
    await page.getByText("Nothing matches these filters.").waitFor();
  });

  test("on a phone the navigation is in a menu, which closes when a screen is chosen", async () => {
    await using phone = await demo.open("", { width: 390 });
    const { page } = phone;
    await page.getByText("Menu").click();
    await page.locator(".menu").getByRole("link", { name: "Decisions" }).click();
    await page.getByRole("heading", { name: "Decisions", level: 1 }).waitFor();
    await page.locator(".menu[open]").waitFor({ state: "detached" });
  });

  test("by Tab from the top: each stop is seen and has a name, in the order of the page, and nothing is left out", async () => {
    const { page } = opened;
    await page.emulateMedia({ reducedMotion: "reduce" });
    for (const screen of ["record", "verify"]) {
      if (screen === "verify") await page.goto(demo.root + screen);
      else await openScreen(page, screenAddress(demo.root, screen));
      expect([screen, await walkFaults(page)]).toEqual([screen, []]);
    }
  });

  const hasFocus = (selector: string): Promise<boolean> =>
    opened.page.evaluate(`document.activeElement.matches(${JSON.stringify(selector)})`);

  test("another screen has the focus at its content; a filter keeps it, and Escape closes the menu of a phone", async () => {
    const { page } = opened;
    await openScreen(page, demo.root);
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
    for (const screen of ["", "decision", "coverage"]) {
      await openScreen(page, screenAddress(demo.root, screen));
      const states = await page.evaluate<[string, string][]>(STATES);
      if (screen !== "decision") expect([screen, states.length > 1]).toEqual([screen, true]);
      expect(states.filter(([word, shape]) => word === "" || shape === "")).toEqual([]);
      expect([screen, await page.evaluate<string[]>(MOVING)]).toEqual([screen, []]);
      await expectAccessible(page, `forced ${screen}`);
    }
    await page.emulateMedia({ forcedColors: "none", reducedMotion: "no-preference" });
  });
});

/** Words of cells that stand on more than one line. Hyphens and dots are good places to end a line. */
const CUT_WORDS = `[...document.querySelectorAll("main td")].flatMap((cell) => {
  const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
  const cut = [];
  for (let text = texts.nextNode(); text; text = texts.nextNode())
    for (const word of text.data.matchAll(/[\\p{L}\\p{N}]+/gu)) {
      const range = document.createRange();
      range.setStart(text, word.index);
      range.setEnd(text, word.index + word[0].length);
      if (new Set([...range.getClientRects()].map(({ top }) => top)).size > 1) cut.push(word[0]);
    }
  return cut;
})`;

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
