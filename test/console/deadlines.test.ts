/** The month of obligations, calendar feeds, and what is done about an incident. */
import { expect, test } from "bun:test";
import { readFile } from "node:fs/promises";
import { describeInBrowser } from "../support/browser.ts";
import { demoConsole, expectAccessible, openScreen, settled, speak } from "../support/console.ts";

const demo = demoConsole();
const INCIDENT = "incident?id=inc-bulk-denials";

describeInBrowser("deadlines", () => {
  test("a month has what falls due on each day, and each day leads to its list", async () => {
    await using opened = await demo.open("obligations?law=gdpr_art_22");
    const { page } = opened;
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

  test("the month and the form of a feed have nothing for axe-core, in English and on a phone in Korean", async () => {
    for (const [width, scheme, lang] of [
      [1280, "light", "en"],
      [390, "dark", "ko"],
    ] as const) {
      await using opened = await demo.open("obligations?view=month", { width });
      const { page, complaints } = opened;
      await page.emulateMedia({ colorScheme: scheme });
      await speak(page, lang);
      await openScreen(page, `${demo.root}obligations?view=month`);
      await page.locator("table.month").waitFor();
      await expectAccessible(page, `month ${lang}`);
      await openScreen(page, `${demo.root}obligations?state=overdue`);
      await page.locator(".feed summary").click();
      await page.locator(".feed form").waitFor();
      await expectAccessible(page, `feed ${lang}`);
      expect(complaints).toEqual([]);
    }
  });

  test("a feed is made with the filter of the list, shown once, and revoked", async () => {
    await using opened = await demo.open("obligations?asset_id=consumer-credit-eu");
    const { page } = opened;
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
    const key = await demo.makeSeat({ scopes: ["events:read", "keys:manage"] });
    await using opened = await demo.open(INCIDENT, { key });
    const { page } = opened;
    await page.getByLabel("Why nothing may expire").fill("The authority asked");
    await page.getByRole("button", { name: "Place a hold" }).click();
    await page.getByText("The authority asked").waitFor();
    const holds = async () => (await demo.service.call("/v1/holds?tenant=demo")).json.data;
    expect(await holds()).toMatchObject([{ reason: "The authority asked" }]);
    await page.getByRole("button", { name: "Release the hold" }).click();
    await page.getByRole("button", { name: "Place a hold" }).waitFor();
    expect((await holds())[0].released_at).toBeString();

    await using other = await demo.open(INCIDENT);
    await other.page.getByRole("link", { name: "Draft of the first report" }).waitFor();
    expect(await other.page.getByRole("button", { name: "Place a hold" }).count()).toBe(0);
  });

  test("the draft of the first report says what the log knows, leaves blanks, and is saved as it was filled in", async () => {
    await using opened = await demo.open(INCIDENT);
    const { page } = opened;
    await page.getByRole("link", { name: "Draft of the first report" }).click();
    const draft = page.getByRole("textbox", { name: "Draft of the first report" });
    const text = await draft.inputValue();
    const blank = "What happened: ______________ (to fill in)";
    for (const known of [
      "To the authority: Finanstilsynet",
      "Class of the incident: Widespread infringement",
      "Persons affected: 287",
      "Known since: ",
      "art. 73",
      blank,
    ])
      expect(text).toContain(known);
    await draft.fill(text.replace(blank, "What happened: 287 denials"));
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
});
