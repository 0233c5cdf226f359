/** Screens of the console over the history of the demo: what axe-core finds. test/console/walk.test.ts has the keyboard, and test/slow/console.slow.ts has all screens. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { CONSOLE_PATHS } from "../../src/api/routes/pages.ts";
import { SCREENS } from "../../src/console/screen-names.ts";
import { noBrowserReason } from "../support/browser.ts";
import { expectGoodScreens, openScreen, openSignedIn, screenAddress, settled } from "../support/console.ts";
import { type DemoService, startDemoService } from "../support/demo-service.ts";
import { event } from "../support/service.ts";

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

let demo: DemoService;
let root: string;
beforeAll(async () => {
  demo = await startDemoService();
  root = `${demo.service.url}/`;
});
afterAll(() => demo[Symbol.asyncDispose]());

test("the service has a path for each screen, and for nothing else", () => {
  expect(SCREENS.map((screen) => `/${screen}`).toSorted()).toEqual([...CONSOLE_PATHS].toSorted());
});

describe.skipIf(noBrowserReason !== undefined)(
  `the screens${noBrowserReason ? ` (skipped: ${noBrowserReason})` : ""}`,
  () => {
    test.each([
      [1280, "light", "en"],
      [390, "dark", "ko"],
    ] as const)(
      "at %p pixels, %s, in %s: nothing for axe-core, nothing too wide, no complaint",
      async (width, scheme, lang) =>
        expectGoodScreens({
          root,
          key: await demo.makeSeat({ name: "Ada", role: "admin" }),
          width,
          scheme,
          lang,
          screens: [
            ...["", "decision", "coverage", "event", "events", "evidence", "first-report"],
            ...["sources", "gaps", "keys", "retention"],
          ],
        }),
    );

    test("no table cuts a word, and on a phone no column shrinks to a letter", async () => {
      for (const width of [1280, 390]) {
        await using opened = await openSignedIn({ root, key: demo.key, width });
        for (const screen of ["", "objections", "reviews", "sources"]) {
          await openScreen(opened.page, screenAddress(root, screen));
          await opened.page.locator("main td").first().waitFor();
          expect([screen, width, await opened.page.evaluate(CUT_WORDS)]).toEqual([screen, width, []]);
        }
      }
    });

    test("a time of another year has its year, and one event is not events", async () => {
      const { service } = demo;
      const key = await service.makeKey("old", ["events:write", "events:read"]);
      const old = event({ event_id: "evt_old", timestamp: "2019-09-05T12:00:00Z" });
      await service.call("/v1/events", { key, body: old });
      await service.call("/v1/events?min_sequence=1", { key });
      await using opened = await openSignedIn({ root, key, path: "events" });
      const cells = opened.page.locator("tbody tr").first().locator("time");
      expect(await cells.first().textContent()).toBe("5 Sept 2019, 12:00");
      expect(await cells.last().textContent()).not.toMatch(/\d{4}/);
      await openScreen(opened.page, `${root}events?from=2019-09-01&to=2019-09-30`);
      await opened.page.getByText(": 1 event, at most 1 in one bar (1 day).").waitFor();
    });

    test("the first Tab offers to skip the navigation, and a slash goes to the search", async () => {
      await using opened = await openSignedIn({ root, key: demo.key });
      const { page } = opened;
      await openScreen(page, screenAddress(root, "coverage"));
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
      await using opened = await openSignedIn({ root, key: demo.key });
      const { page } = opened;
      await page.getByRole("navigation").getByRole("link", { name: "Sources" }).click();
      const row = page.getByRole("row", { name: /src-payment-fraud-screening/ });
      await row.getByText("typescript 0.1.0").waitFor();
      await row.getByRole("link", { name: "7 missing" }).click();
      await page.getByRole("heading", { name: "Missing numbers", level: 1 }).waitFor();
      await settled(page);
      const cells = await page.locator("tbody tr").first().locator("td").allTextContents();
      expect(cells.slice(0, 3)).toEqual(["src-payment-fraud-screening", "72–78", "7"]);
      await openScreen(page, `${root}sources?source_id=nobody`);
      await page.getByText("Nothing matches these filters.").waitFor();
    });

    test("on a phone the navigation is in a menu, which closes when a screen is chosen", async () => {
      await using opened = await openSignedIn({ root, key: demo.key, width: 390, path: "" });
      const { page } = opened;
      await page.getByText("Menu").click();
      await page.locator(".menu").getByRole("link", { name: "Decisions" }).click();
      await page.getByRole("heading", { name: "Decisions", level: 1 }).waitFor();
      await page.locator(".menu[open]").waitFor({ state: "detached" });
    });
  },
);
