import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Route } from "playwright-core";
import { SANDBOX_REQUESTS_PER_MINUTE } from "../../src/limits.ts";
import { describeInBrowser, NAMED_HOST, openPage, screenshotPath, startBrowser } from "../support/browser.ts";
import { expectAccessible } from "../support/console.ts";
import { startTestService, type TestService } from "../support/service.ts";
import { until } from "../support/until.ts";

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ TRUST_PROXY: "1" });
});
afterAll(() => service[Symbol.asyncDispose]());

const eventIdIn = (said: string | null): string => /evt_[0-9a-f]+/.exec(said ?? "")?.[0] ?? "";

describeInBrowser("the page at /sandbox, in a browser without a network", () => {
  test.each([
    [1280, "127.0.0.1"],
    [320, NAMED_HOST],
  ])(
    "classifies a system and shows an event that was sent, with the watermark visible, at %p pixels, opened at %s",
    async (width, host) => {
      const { origin } = new URL(service.url.replace("127.0.0.1", host));
      await using browser = await startBrowser({ origin, width });
      const { page, complaints } = await openPage(browser, `${origin}/sandbox`);
      const watermark = page.getByRole("region", { name: "Watermark" });
      const isInSight = async () => {
        const box = await watermark.boundingBox();
        return box !== null && box.y >= 0 && box.y < 100;
      };

      await page.getByLabel("What it is used for").selectOption("employment_recruitment");
      await page.getByLabel("Kind of AI").selectOption("emotion_recognition");
      await page.getByRole("button", { name: "Classify" }).click();
      await page.getByText("Risk tier: prohibited").waitFor();
      await page.getByRole("button", { name: "Help centre" }).click();
      await page.getByText("Risk tier: low").waitFor();
      expect(await page.getByLabel("What it is used for").inputValue()).toBe("general_chatbot");
      await page.getByRole("button", { name: "Loan eligibility assistant" }).click();
      await page.getByText("Risk tier: high").waitFor();
      const said = await page.locator("#classification").textContent();
      for (const part of [
        "Annex III",
        "Credit Information Act (Korea): 36-2",
        "pre use notice",
        "transparency.notice_shown",
      ])
        expect(said).toContain(part);
      expect(await isInSight()).toBe(true);

      await page.getByRole("button", { name: "Send" }).click();
      await page.getByText("Nothing yet. Send an objection.").waitFor();
      await page.getByText("INVALID: this is a sandbox proof").waitFor();
      await page.getByLabel("What happened").selectOption("objection.received");
      await page.getByRole("button", { name: "Send" }).click();
      await page.getByText(/due at .*; rule GDPR-12-3, GDPR art\. 12\(3\)/).waitFor();
      const eventId = eventIdIn(await page.getByText(/Accepted as evt_/).textContent());
      await page.locator("#events").getByText(eventId).waitFor();
      await page.locator("#events").scrollIntoViewIfNeeded();
      expect(await isInSight()).toBe(true);
      const path = await screenshotPath(`sandbox-${width}.png`);
      if (path) await page.screenshot({ path, fullPage: true });

      expect(await page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")).toBe(true);
      const colorScheme = width === 320 ? "dark" : "light";
      await page.emulateMedia({ colorScheme });
      await expectAccessible(page, `/sandbox, ${colorScheme}`);
      expect(browser.foreignRequests).toEqual([]);
      expect(complaints).toEqual([]);
    },
  );

  test("shows the tier of the last requested system, whichever answer arrives first", async () => {
    await using browser = await startBrowser({ origin: service.url, width: 390 });
    const { page } = await openPage(browser, `${service.url}/sandbox`);
    const held = Promise.withResolvers<Route>();
    await page.route("**/v1/sandbox/classify", (route) => held.resolve(route), { times: 1 });
    await page.getByRole("button", { name: "Help centre" }).click();
    const first = await held.promise;
    await page.getByRole("button", { name: "Loan eligibility assistant" }).click();
    await page.getByText("Risk tier: high").waitFor();
    const answered = page.waitForResponse((response) => response.request() === first.request());
    await first.continue();
    await (await answered).finished();
    await page.evaluate("new Promise((shown) => requestAnimationFrame(() => requestAnimationFrame(shown)))");
    expect(await page.locator("#classification").textContent()).toStartWith("Risk tier: high");
  });

  test("shows an event that was sent, even if the answer of an earlier list arrives after it", async () => {
    await using browser = await startBrowser({ origin: service.url, width: 390 });
    await browser.context.clock.install();
    const { page } = await openPage(browser, `${service.url}/sandbox`);
    const send = page.getByRole("button", { name: "Send" });
    const accepted = page.getByText(/Accepted as evt_/);
    await send.click();
    const before = eventIdIn(await accepted.textContent());
    const held = Promise.withResolvers<() => Promise<void>>();
    const hold = async (route: Route): Promise<void> => {
      const response = await route.fetch();
      held.resolve(() => route.fulfill({ response }));
    };
    await page.route(/\/v1\/sandbox\/events\?/, hold, { times: 1 });
    await browser.context.clock.fastForward(5_000);
    const answerFirst = await held.promise;
    await send.click();
    const eventId = eventIdIn(await accepted.filter({ hasNotText: before }).textContent());
    await page.locator("#events").getByText(eventId).waitFor();
    const answered = page.waitForEvent("requestfinished");
    await answerFirst();
    await answered;
    await page.evaluate("new Promise((shown) => requestAnimationFrame(() => requestAnimationFrame(shown)))");
    expect(await page.locator("#events").getByText(eventId).count()).toBe(1);
  });

  test("at the rate limit it says when to retry, disables sending, and recovers by itself", async () => {
    const headers = { "x-forwarded-for": "192.0.2.1" };
    await using browser = await startBrowser({ origin: service.url, width: 390 });
    await browser.context.setExtraHTTPHeaders(headers);
    // Only the page's clock: the service counts in real minutes, and lets requests through again while the page loads.
    await browser.context.clock.install();
    const ping = () => service.call("/v1/sandbox/ping", { key: null, headers });
    const { page } = await openPage(browser, `${service.url}/sandbox`);
    await until("the page is refused", async () => {
      await Promise.all(Array.from({ length: SANDBOX_REQUESTS_PER_MINUTE }, ping));
      await page.reload();
      const examples = page.locator("#examples").filter({ hasText: /./ });
      return /Try again in \d+ s\.$/.test((await examples.textContent()) ?? "");
    });
    const send = page.getByRole("button", { name: "Send" });
    expect(await send.isDisabled()).toBe(true);
    await browser.context.setExtraHTTPHeaders({ "x-forwarded-for": "192.0.2.2" });
    await browser.context.clock.fastForward(5_000);
    await page.getByRole("button", { name: "Help centre" }).waitFor();
    await send.click();
    await page.getByText(/Accepted as evt_/).waitFor();
  });
});
