/** The month of obligations, calendar feeds, and what is done about an incident. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFile } from "node:fs/promises";
import type { Page } from "playwright-core";
import { noBrowserReason, screenshotPath } from "../support/browser.ts";
import { expectAccessible, openConsole, openScreen, settled, signIn } from "../support/console.ts";
import { type DemoService, startDemoService } from "../support/demo-service.ts";

describe.skipIf(noBrowserReason !== undefined)(
  `deadlines${noBrowserReason ? ` (skipped: ${noBrowserReason})` : ""}`,
  () => {
    let demo: DemoService;
    let root: string;
    let manager: string;
    beforeAll(async () => {
      demo = await startDemoService();
      root = `${demo.service.url}/`;
      manager = await demo.service.makeKey("demo", ["events:read", "keys:manage"]);
    });
    afterAll(() => demo[Symbol.asyncDispose]());

    const signedIn = async (key: string, width = 1280) => {
      const opened = await openConsole({ root, width });
      await signIn(opened.page, key);
      return opened;
    };
    const look = async (page: Page, name: string): Promise<void> => {
      await expectAccessible(page, name);
      const path = await screenshotPath(`${name}.png`);
      if (path) await page.screenshot({ path, fullPage: true });
    };

    test("a month has what falls due on each day, and each day leads to its list", async () => {
      await using opened = await signedIn(demo.key);
      const { page } = opened;
      await openScreen(page, `${root}obligations?law=gdpr_art_22`);
      await page.getByRole("link", { name: "Month", exact: true }).click();
      await settled(page);
      await page.locator("table.month").waitFor();
      expect(page.url()).toContain("law=gdpr_art_22");
      const counted = await page.locator("main [role=status]").first().textContent();
      const days = await page.locator("a.day b").allTextContents();
      const sum = days.map(Number).reduce((one, other) => one + other, 0);
      expect(sum).toBeGreaterThan(0);
      expect(counted).toContain(`${sum} obligations`);
      const day = page.locator("a.day").first();
      const count = await day.locator("b").textContent();
      await day.focus();
      await page.keyboard.press("Enter");
      await page.locator("table:not(.month)").waitFor();
      expect(await page.locator("main [role=status]").first().textContent()).toBe(`${count} in all`);
      await page.goBack();
      await page.getByRole("link", { name: "Next month" }).click();
      expect(page.url()).toMatch(/month=\d{4}-\d{2}/);
      await page.reload();
      await page.locator("table.month").waitFor();
    });

    test.each([
      [1280, "light", "en"],
      [390, "dark", "ko"],
    ] as const)("at %p pixels, %s, in %s: nothing for axe-core", async (width, scheme, lang) => {
      await using opened = await signedIn(manager, width);
      const { page, complaints } = opened;
      await page.emulateMedia({ colorScheme: scheme });
      await page.evaluate(`localStorage.setItem("prooftrail-language", "${lang}")`);
      const shown = [
        ["obligations?view=month", "month"],
        ["obligations", "feed"],
        ["incident?id=inc-bulk-denials", "incident"],
        ["first-report?id=inc-bulk-denials", "report"],
      ] as const;
      for (const [path, name] of shown) {
        await openScreen(page, root + path);
        await page
          .locator(
            { month: "table.month", feed: ".feed", incident: "section > form", report: ".draft" }[name],
          )
          .waitFor();
        if (name === "feed") {
          await page.locator(".feed summary").click();
          await page.locator(".feed form").waitFor();
        }
        await look(page, `${name}-${width}-${scheme}-${lang}`);
      }
      expect(complaints).toEqual([]);
    });

    test("a feed is made with the filter of the list, shown once, and revoked", async () => {
      await using opened = await signedIn(demo.key);
      const { page } = opened;
      await openScreen(page, `${root}obligations?asset_id=consumer-credit-eu`);
      await page.getByText("Subscribe in a calendar program").click();
      await page.getByLabel("Who or what it is for").fill("Ines");
      await page.getByRole("button", { name: "Create an address" }).click();
      const address = await page.getByLabel("The address").inputValue();
      const read = () => fetch(address);
      const text = (await (await read()).text()).replaceAll("\r\n ", "");
      expect(text).toContain("consumer-credit-eu");
      expect(text).not.toContain("System: consumer-credit-kr");
      await page.getByRole("button", { name: "Revoke the feed Ines" }).click();
      await page.getByRole("button", { name: "Revoke the feed Ines" }).waitFor({ state: "detached" });
      expect((await read()).status).toBe(401);
    });

    test("a hold is placed on an incident with a reason, and released; who may not is not asked", async () => {
      await using opened = await signedIn(manager);
      const { page } = opened;
      await openScreen(page, `${root}incident?id=inc-bulk-denials`);
      await page.getByLabel("Why nothing may expire").fill("The authority asked");
      await page.getByRole("button", { name: "Place a hold" }).click();
      await page.getByText("The authority asked").waitFor();
      const holds = async () => (await demo.service.call("/v1/holds?tenant=demo")).json.data;
      expect((await holds()).map(({ reason }: { reason: string }) => reason)).toEqual([
        "The authority asked",
      ]);
      await page.getByRole("button", { name: "Release the hold" }).click();
      await page.getByRole("button", { name: "Place a hold" }).waitFor();
      expect((await holds())[0].released_at).toBeString();

      await using other = await signedIn(demo.key);
      await openScreen(other.page, `${root}incident?id=inc-bulk-denials`);
      await other.page.getByRole("link", { name: "Draft of the first report" }).waitFor();
      expect(await other.page.getByRole("button", { name: "Place a hold" }).count()).toBe(0);
    });

    test("the draft of the first report says what the log knows, leaves blanks, and is saved as it was filled in", async () => {
      await using opened = await signedIn(demo.key);
      const { page } = opened;
      await openScreen(page, `${root}incident?id=inc-bulk-denials`);
      await page.getByRole("link", { name: "Draft of the first report" }).click();
      const draft = page.getByRole("textbox", { name: "Draft of the first report" });
      const text = await draft.inputValue();
      for (const known of [
        "To the authority: Finanstilsynet",
        "Class of the incident: Widespread infringement",
        "Persons affected: 287",
        "Known since: ",
        "art. 73",
        "What happened: ______________ (to fill in)",
      ])
        expect(text).toContain(known);
      await draft.fill(
        text.replace("What happened: ______________ (to fill in)", "What happened: 287 denials"),
      );
      const [download] = await Promise.all([
        page.waitForEvent("download"),
        page.getByRole("button", { name: "Download as text" }).click(),
      ]);
      expect(await readFile(await download.path(), "utf8")).toContain("What happened: 287 denials");
      await page.getByRole("button", { name: "Copy" }).click();
      await page.getByText(/^(Copied|Selected: press Ctrl\+C)$/).waitFor();
      await page.locator(".actions").getByRole("button", { name: "한국어" }).click();
      expect(await page.locator(".draft").inputValue()).toContain("광범위한 침해");
    });
  },
);
