/** Keys and people, retention and holds, and that each seat is shown only what it may open. */
import { expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { describeInBrowser } from "../support/browser.ts";
import { demoConsole, expectAccessible, openScreen, settled, speak } from "../support/console.ts";
import { READER, SEATS } from "../support/seats.ts";
import { until } from "../support/until.ts";

const demo = demoConsole();

const openAs = async (seat: object, path: string, width = 1280) =>
  demo.open(path, { key: await demo.makeSeat(seat), width });
const sessionOf = (key: string) => demo.service.call("/v1/session", { key });
const dialogOf = (page: Page) => page.getByRole("dialog");
const row = (page: Page, name: string) => page.getByRole("row").filter({ hasText: name });
const press = (page: Page, name: string) => page.getByRole("button", { name }).click();
const pressInDialog = (page: Page, name: string) => dialogOf(page).getByRole("button", { name }).click();
/** The part of a key that must stand nowhere. */
const secretOf = (key: string): string => key.split("_").at(-1) ?? "";

describeInBrowser("administration", () => {
  test("the navigation of each seat has what it may open", async () => {
    for (const [name, seat, screens] of SEATS) {
      await using opened = await openAs(seat, "keys");
      const { page } = opened;
      const links = page.locator(".rail nav a");
      const all = [...screens, "Verify evidence", "API", "Sandbox"];
      expect([name, ...(await links.allTextContents())]).toEqual([name, ...all]);
      const isAdmin = screens.length > READER.length;
      expect([name, await page.getByText("Roles with access: Administrator.").count()]).toEqual([
        name,
        isAdmin ? 0 : 1,
      ]);
    }
  });

  test("a seat for an auditor is made, its key is shown once, and it sees what it covers", async () => {
    await using opened = await openAs({ name: "Ada", role: "admin" }, "keys");
    const { page, complaints } = opened;
    await page.getByRole("link", { name: "Create a key or a seat" }).click();
    await page.getByLabel("Name").fill("<b>Kim</b> & Söhne");
    await page.getByLabel("Role").selectOption("auditor");
    await page.getByLabel("Person").fill("j.kim@audit.example");
    await page.getByLabel("Systems").selectOption(["consumer-credit-eu", "consumer-credit-kr"]);
    await page.getByLabel("From").fill("2026-03-01");
    await page.getByLabel("To").fill("2026-02-01");
    await page.getByLabel("Last day").fill("2020-01-01");
    await press(page, "Create");
    const invalid = page.locator("[aria-invalid=true]");
    await page.getByText("Please correct the fields above.").waitFor();
    const names = await invalid.evaluateAll((fields) => fields.map((field) => Reflect.get(field, "name")));
    expect(names).toEqual(["/covers/from"]);
    await page.getByLabel("To").fill("");
    await press(page, "Create");
    await page.locator('[name="/expires_at"][aria-invalid=true]').waitFor();
    await expectAccessible(page, "make seat");
    await page.getByLabel("Last day").fill("2099-12-31");
    await press(page, "Create");
    const key = await page.getByLabel("The key", { exact: true }).inputValue();
    await expectAccessible(page, "secret");
    await press(page, "Copy");
    await page.getByText(/^(Copied|Selected: press Ctrl\+C)$/).waitFor();
    expect((await sessionOf(key)).json.data).toMatchObject({
      tenant: "demo",
      role: "auditor",
      person: "j.kim@audit.example",
      covers: {
        asset_ids: expect.arrayContaining(["consumer-credit-eu", "consumer-credit-kr"]),
        from: expect.stringMatching(/^2026-0[23]-/),
      },
      seat_ends_at: expect.stringMatching(/^(2099-12-31|2100-01-01)T/),
    });
    await page.reload();
    await settled(page);
    expect(await page.content()).not.toContain(secretOf(key));
    await openScreen(page, `${demo.root}keys`);
    expect(await row(page, "<b>Kim</b> & Söhne").textContent()).toContain("Auditor");
    expect(await page.content()).not.toContain(secretOf(key));
    expect(complaints).toEqual([]);
  });

  test("an auditor sees what the seat looked at", async () => {
    await using opened = await openAs({ role: "auditor" }, "obligations?law=gdpr_art_22");
    const { page } = opened;
    await page.getByRole("link", { name: "What you looked at" }).click();
    await until("the last question is recorded", async () => {
      await page.reload();
      await settled(page);
      return (await page.locator("tbody").textContent())?.includes("law: gdpr_art_22");
    });
    await expectAccessible(page, "looked at");
  });

  test("a seat that covers some systems is not offered a bundle of the whole tenant", async () => {
    for (const [covers, count] of [
      [undefined, 1],
      [{ asset_ids: ["consumer-credit-kr"] }, 0],
    ] as const) {
      await using opened = await openAs({ role: "auditor", covers }, "evidence");
      expect(await opened.page.getByRole("link", { name: "Everything of the tenant" }).count()).toBe(count);
    }
  });

  test("a key is rotated, and its successor is shown once", async () => {
    const old = await demo.makeSeat({ name: "batch import", scopes: ["events:read"] });
    await using opened = await openAs({ role: "admin" }, "keys", 390);
    const { page } = opened;
    await press(page, "Rotate batch import");
    await expectAccessible(page, "rotate");
    await dialogOf(page).getByLabel("The old key ends").selectOption({ label: "at once" });
    await pressInDialog(page, "Rotate");
    const key = await page.getByLabel("The key", { exact: true }).inputValue();
    await pressInDialog(page, "Close");
    await dialogOf(page).waitFor({ state: "detached" });
    await until("the old key ends", async () => (await sessionOf(old)).status === 401);
    expect((await sessionOf(key)).json.data.key_name).toBe("batch import");
    await row(page, "batch import").filter({ hasText: "replaced" }).waitFor();
    expect(await page.content()).not.toContain(secretOf(key));
  });

  test("a key is revoked with the keyboard alone, and is refused from then on", async () => {
    const key = await demo.makeSeat({ name: "lost laptop", scopes: ["events:read"] });
    await using opened = await openAs({ role: "admin" }, "keys");
    const { page } = opened;
    const focused = () => page.evaluate<string>("document.activeElement.textContent");
    const tabTo = (text: string) =>
      until(`${text} has the focus`, async () => {
        await page.keyboard.press("Tab");
        return (await focused()) === text;
      });
    await tabTo("Revoke lost laptop");
    await page.keyboard.press("Enter");
    await page.getByText("are refused within a second").waitFor();
    await page.keyboard.press("Escape");
    await dialogOf(page).waitFor({ state: "detached" });
    expect((await sessionOf(key)).status).toBe(200);
    expect(await focused()).toBe("Revoke lost laptop");
    await page.keyboard.press("Enter");
    await dialogOf(page).waitFor();
    await tabTo("Revoke");
    await page.keyboard.press("Enter");
    await row(page, "lost laptop").getByText("revoked").waitFor();
    await until("the key is refused", async () => (await sessionOf(key)).status === 401);
  });

  test("a hold is placed on a case, and released with a reason", async () => {
    await using opened = await openAs({ role: "admin" }, "retention?view=holds");
    const { page } = opened;
    await page.locator("summary").getByText("Place a hold").click();
    await page.getByLabel("Why nothing may expire").fill("The court asked");
    await press(page, "Place a hold");
    await page.getByText("Send either asset_id or correlation_id.").waitFor();
    await page.getByLabel("Or a case").fill("case-7");
    await expectAccessible(page, "place hold");
    await press(page, "Place a hold");
    await row(page, "case-7").getByText("on hold").waitFor();
    await press(page, "Release case-7");
    await dialogOf(page).getByLabel("Why it is no longer needed").fill("The court has decided");
    await expectAccessible(page, "release");
    await pressInDialog(page, "Release");
    await row(page, "case-7").getByText("The court has decided").waitFor();
    const { json } = await demo.service.call("/v1/holds?tenant=demo");
    expect(json.data).toMatchObject([
      { correlation_id: "case-7", reason: "The court asked", released_reason: "The court has decided" },
    ]);
  });

  test("the policy is changed after it says what expires: on a phone, dark, in Korean", async () => {
    const change = "정책 변경";
    await using opened = await openAs({ role: "admin" }, "retention", 390);
    const { page, complaints } = opened;
    await page.emulateMedia({ colorScheme: "dark" });
    await speak(page, "ko");
    await openScreen(page, `${demo.root}retention`);
    const field = page.getByLabel("최대 일수").first();
    await field.fill("100");
    await press(page, change);
    await page.locator('[name="/maximum_days"][aria-invalid=true]').waitFor();
    await page.locator("small.refusal").getByText("184").waitFor();
    await expectAccessible(page, "policy refused");
    await field.fill("3000");
    await press(page, change);
    await dialogOf(page).waitFor();
    await expectAccessible(page, "policy confirm");
    await pressInDialog(page, change);
    await page.getByRole("cell", { name: "3,000일" }).first().waitFor();
    const { json } = await demo.service.call("/v1/retention?tenant=demo");
    expect(json.data.policy).toEqual({ maximum_days: 3000 });
    await page.getByRole("link", { name: "만료 예정" }).click();
    await settled(page);
    expect(await page.locator("tbody tr").count()).toBe(50);
    expect(complaints).toEqual([]);
  });
});
