/** Screens of the console over the history of the demo: what axe-core finds. test/console/walk.test.ts has the keyboard, and test/slow/console.slow.ts has all screens. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { CONSOLE_PATHS } from "../../src/api/routes/pages.ts";
import { SCREENS } from "../../src/console/screen-names.ts";
import { noBrowserReason } from "../support/browser.ts";
import { expectGoodScreens, openScreen, openSignedIn, screenAddress, settled } from "../support/console.ts";
import { type DemoService, startDemoService } from "../support/demo-service.ts";

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
      await page.getByRole("link", { name: "Sources" }).click();
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
