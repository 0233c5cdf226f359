/** Keys and people, retention and holds, and that each seat is shown only what it may open. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { noBrowserReason, screenshotPath } from "../support/browser.ts";
import { expectAccessible, openConsole, openScreen, settled, signIn } from "../support/console.ts";
import { type DemoService, startDemoService } from "../support/demo-service.ts";
import { until } from "../support/until.ts";

const READER = [
  ...[
    "Overview",
    "Events",
    "Decisions",
    "Obligations",
    "Coverage",
    "Evidence",
    "Record",
    "Systems",
    "Models",
  ],
  ...["Notices", "Objections", "Human reviews", "Incidents", "Assessments", "Changes of risk", "Sources"],
] as const;
const without = (...names: readonly string[]): readonly string[] =>
  READER.filter((name) => !names.includes(name));

describe.skipIf(noBrowserReason !== undefined)(
  `administration${noBrowserReason ? ` (skipped: ${noBrowserReason})` : ""}`,
  () => {
    let demo: DemoService;
    let root: string;
    beforeAll(async () => {
      demo = await startDemoService();
      root = `${demo.service.url}/`;
    });
    afterAll(() => demo[Symbol.asyncDispose]());

    const signedIn = async (seat: object, width = 1280) => {
      const opened = await openConsole({ root, width });
      await signIn(opened.page, await demo.makeSeat(seat));
      return opened;
    };
    const sessionOf = (key: string) => demo.service.call("/v1/session", { key });
    const look = async (page: Page, name: string): Promise<void> => {
      await expectAccessible(page, name);
      const path = await screenshotPath(`${name}.png`);
      if (path) await page.screenshot({ path, fullPage: true });
    };
    const dialogOf = (page: Page) => page.getByRole("dialog");
    const row = (page: Page, name: string) => page.getByRole("row").filter({ hasText: name });

    test.each([
      ["admin", { role: "admin" }, [...READER, "Keys and people", "Retention and holds"]],
      ["officer", { role: "officer" }, READER],
      ["auditor", { role: "auditor" }, without("Record")],
      [
        "auditor of a system",
        { role: "auditor", covers: { asset_ids: ["consumer-credit-eu"] } },
        without("Record", "Sources"),
      ],
      [
        "auditor of a time",
        { role: "auditor", covers: { from: "2026-01-01T00:00:00Z" } },
        without("Record", "Sources", "Coverage", "Evidence", "Systems"),
      ],
      ["developer", { role: "developer" }, ["Overview", "Events", "Record", "Sources"]],
      ["key that only reads", { scopes: ["events:read"] }, without("Record")],
    ] as const)("%s: the navigation has what it may open, and every entry opens", async (_, seat, names) => {
      await using opened = await signedIn(seat);
      const { page } = opened;
      const refused: string[] = [];
      page.on("response", (answer) => {
        if (answer.status() === 403) refused.push(`${page.url()} ${answer.url()}`);
      });
      const more = ["Verify evidence", "API", "Sandbox"];
      const links = page.locator(".rail nav a");
      expect(await links.allTextContents()).toEqual([...names, ...more]);
      for (const name of names) {
        await page.locator(".rail").getByRole("link", { name, exact: true }).click();
        await settled(page);
        expect([name, await page.locator(".failed").count()]).toEqual([name, 0]);
      }
      if (names.some((name) => name.startsWith("Keys"))) return;
      for (const path of ["keys", "retention"]) {
        await openScreen(page, root + path);
        await page.getByText("Roles with access: Administrator.").waitFor();
      }
      // The names of systems are asked for on every page, and missing ones are shown by their id.
      expect(
        refused.filter((each) => !each.includes("/v1/assets?") && !each.includes("/v1/activity?")),
      ).toEqual([]);
    });

    test("a seat for an auditor is made, its key is shown once, and it sees what it covers", async () => {
      await using opened = await signedIn({ name: "Ada", role: "admin" });
      const { page, complaints } = opened;
      await openScreen(page, `${root}keys`);
      await page.getByRole("link", { name: "Create a key or a seat" }).click();
      await page.getByLabel("Name").fill("<b>Kim</b> & Söhne");
      await page.getByLabel("Role").selectOption("auditor");
      await page.getByLabel("Person").fill("j.kim@audit.example");
      await page.getByLabel("Systems").selectOption(["consumer-credit-eu", "consumer-credit-kr"]);
      await page.getByLabel("From").fill("2026-03-01");
      await page.getByLabel("To").fill("2026-02-01");
      await page.getByLabel("Last day").fill("2020-01-01");
      await page.getByRole("button", { name: "Create" }).click();
      const invalid = page.locator("[aria-invalid=true]");
      await page.getByText("Please correct the fields above.").waitFor();
      expect(
        await invalid.evaluateAll((fields) => fields.map((field) => Reflect.get(field, "name"))),
      ).toEqual(["/covers/from"]);
      await page.getByLabel("To").fill("");
      await page.getByRole("button", { name: "Create" }).click();
      await page.locator('[name="/expires_at"][aria-invalid=true]').waitFor();
      await look(page, "make-seat-1280");
      await page.getByLabel("Last day").fill("2099-12-31");
      await page.getByRole("button", { name: "Create" }).click();
      const key = await page.getByLabel("The key", { exact: true }).inputValue();
      await look(page, "secret-1280");
      await page.getByRole("button", { name: "Copy" }).click();
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
      expect(await page.content()).not.toContain(key.split("_").at(-1) ?? "");
      await openScreen(page, `${root}keys`);
      expect(await row(page, "<b>Kim</b> & Söhne").textContent()).toContain("Auditor");
      expect(await page.content()).not.toContain(key.split("_").at(-1) ?? "");
      expect(complaints).toEqual([]);
    });

    test("an auditor sees what the seat looked at", async () => {
      await using opened = await signedIn({ role: "auditor" });
      const { page } = opened;
      await openScreen(page, `${root}obligations?law=gdpr_art_22`);
      await page.getByRole("link", { name: "What you looked at" }).click();
      await until("the last question is recorded", async () => {
        await page.reload();
        await settled(page);
        return (await page.locator("tbody").textContent())?.includes("law: gdpr_art_22");
      });
      await expectAccessible(page, "looked-at");
    });

    test("a seat that covers some systems is not offered a bundle of the whole tenant", async () => {
      const all = "Everything of the tenant";
      for (const [covers, count] of [
        [undefined, 1],
        [{ asset_ids: ["consumer-credit-kr"] }, 0],
      ] as const) {
        await using opened = await signedIn({ role: "auditor", covers });
        await openScreen(opened.page, `${root}evidence`);
        expect(await opened.page.getByRole("link", { name: all }).count()).toBe(count);
      }
    });

    test("a key is rotated, and its successor is shown once", async () => {
      const old = await demo.makeSeat({ name: "batch import", scopes: ["events:read"] });
      await using opened = await signedIn({ role: "admin" }, 390);
      const { page } = opened;
      await openScreen(page, `${root}keys`);
      await page.getByRole("button", { name: "Rotate batch import" }).click();
      await look(page, "rotate-390");
      await dialogOf(page).getByLabel("The old key ends").selectOption({ label: "at once" });
      await dialogOf(page).getByRole("button", { name: "Rotate" }).click();
      const key = await page.getByLabel("The key", { exact: true }).inputValue();
      await look(page, "rotated-390");
      await dialogOf(page).getByRole("button", { name: "Close" }).click();
      await dialogOf(page).waitFor({ state: "detached" });
      await until("the old key ends", async () => (await sessionOf(old)).status === 401);
      expect((await sessionOf(key)).json.data.key_name).toBe("batch import");
      await row(page, "batch import").filter({ hasText: "replaced" }).waitFor();
      expect(await page.content()).not.toContain(key.split("_").at(-1) ?? "");
    });

    test("a key is revoked with the keyboard alone, and is refused from then on", async () => {
      const key = await demo.makeSeat({ name: "lost laptop", scopes: ["events:read"] });
      await using opened = await signedIn({ role: "admin" });
      const { page } = opened;
      await openScreen(page, `${root}keys`);
      const tabTo = (text: string) =>
        until(`${text} has the focus`, async () => {
          await page.keyboard.press("Tab");
          return (await page.evaluate<string>("document.activeElement.textContent")) === text;
        });
      await tabTo("Revoke lost laptop");
      await page.keyboard.press("Enter");
      await page.getByText("are refused within a second").waitFor();
      await page.keyboard.press("Escape");
      await dialogOf(page).waitFor({ state: "detached" });
      expect((await sessionOf(key)).status).toBe(200);
      expect(await page.evaluate<string>("document.activeElement.textContent")).toBe("Revoke lost laptop");
      await page.keyboard.press("Enter");
      await dialogOf(page).waitFor();
      await tabTo("Revoke");
      await page.keyboard.press("Enter");
      await row(page, "lost laptop").getByText("revoked").waitFor();
      await until("the key is refused", async () => (await sessionOf(key)).status === 401);
    });

    test("a hold is placed on a case, and released with a reason", async () => {
      await using opened = await signedIn({ role: "admin" });
      const { page } = opened;
      await openScreen(page, `${root}retention?view=holds`);
      await page.locator("summary").getByText("Place a hold").click();
      await page.getByLabel("Why nothing may expire").fill("The court asked");
      await page.getByRole("button", { name: "Place a hold" }).click();
      await page.getByText("Send either asset_id or correlation_id.").waitFor();
      await page.getByLabel("Or a case").fill("case-7");
      await look(page, "place-hold-1280");
      await page.getByRole("button", { name: "Place a hold" }).click();
      await row(page, "case-7").getByText("on hold").waitFor();
      await page.getByRole("button", { name: "Release case-7" }).click();
      await dialogOf(page).getByLabel("Why it is no longer needed").fill("The court has decided");
      await look(page, "release-1280");
      await dialogOf(page).getByRole("button", { name: "Release" }).click();
      await row(page, "case-7").getByText("The court has decided").waitFor();
      const { json } = await demo.service.call("/v1/holds?tenant=demo");
      expect(json.data).toMatchObject([
        { correlation_id: "case-7", reason: "The court asked", released_reason: "The court has decided" },
      ]);
    });

    test.each([
      [1280, "light", "en"],
      [390, "dark", "ko"],
    ] as const)(
      "the policy is changed after it says what expires: at %p pixels, %s, in %s",
      async (width, scheme, lang) => {
        const isKorean = lang === "ko";
        const maximum = isKorean ? "최대 일수" : "Maximum in days";
        const doIt = isKorean ? "정책 변경" : "Change the policy";
        await using opened = await signedIn({ role: "admin" }, width);
        const { page, complaints } = opened;
        await page.emulateMedia({ colorScheme: scheme });
        await page.evaluate(`localStorage.setItem("prooftrail-language", "${lang}")`);
        await openScreen(page, `${root}retention`);
        const field = page.getByLabel(maximum).first();
        await field.fill("100");
        await page.getByRole("button", { name: doIt }).click();
        await page.locator('[name="/maximum_days"][aria-invalid=true]').waitFor();
        await page.locator("small.refusal").getByText("184").waitFor();
        await look(page, `policy-refused-${width}-${scheme}-${lang}`);
        const days = width === 1280 ? 2000 : 3000;
        await field.fill(String(days));
        await page.getByRole("button", { name: doIt }).click();
        await dialogOf(page).waitFor();
        await look(page, `policy-confirm-${width}-${scheme}-${lang}`);
        await dialogOf(page).getByRole("button", { name: doIt }).click();
        const shown = isKorean ? "3,000일" : "2,000 days";
        await page.getByRole("cell", { name: shown }).first().waitFor();
        const { json } = await demo.service.call("/v1/retention?tenant=demo");
        expect(json.data.policy).toEqual({ maximum_days: days });
        await page.getByRole("link", { name: isKorean ? "만료 예정" : "What expires next" }).click();
        await settled(page);
        expect(await page.locator("tbody tr").count()).toBe(50);
        await look(page, `expiring-${width}-${scheme}-${lang}`);
        expect(complaints).toEqual([]);
      },
    );
  },
);
