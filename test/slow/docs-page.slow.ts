/** The page at /docs on wide and narrow screens, and which of its forms may be sent. What it shows and sends: test/http/docs.test.ts. */
import { expect, test } from "bun:test";
import { describeInBrowser, openPage, screenshotPath, startBrowser } from "../support/browser.ts";
import { faultsOf, SWAGGER_UI_BREAKS } from "../support/console.ts";
import { startTestService } from "../support/service.ts";
import { until } from "../support/until.ts";

describeInBrowser("the page at /docs", () => {
  test("has nothing for axe-core, light and dark, and lets nobody write an example into the real log", async () => {
    await using service = await startTestService();
    const { paths } = (await service.call("/docs/json", { key: null })).json;
    await using browser = await startBrowser({ origin: service.url, width: 1280 });
    const { page, complaints } = await openPage(browser, `${service.url}/docs`);
    await page.waitForSelector(".opblock");
    for (const width of [1280, 390]) {
      await page.setViewportSize({ width, height: 900 });
      expect(await page.locator("button.authorize").isVisible()).toBe(true);
      await page.emulateMedia({ colorScheme: width === 390 ? "dark" : "light", reducedMotion: "reduce" });
      expect([width, await faultsOf(page, { except: SWAGGER_UI_BREAKS })]).toEqual([width, []]);
    }
    await page.locator("#operations-Ingestion-sendEvent .opblock-summary-control").click();
    await page.waitForSelector("#operations-Ingestion-sendEvent .responses-table");
    const opened = await page.locator("#operations-Ingestion-sendEvent").textContent();
    for (const said of ["evt_sample_001", "Idempotency-Key", "event_id_conflict", "log_unavailable"])
      expect(opened).toContain(said);
    for (const width of [1280, 390]) {
      await page.setViewportSize({ width, height: 900 });
      const open = await screenshotPath(`docs-${width}-open.png`);
      if (open) await page.screenshot({ path: open });
      expect(await page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")).toBe(true);
    }
    expect([...browser.foreignRequests, ...complaints]).toEqual([]);

    // A search, which only reads, may be tried out.
    const writing = Object.entries<object>(paths).flatMap(([path, methods]) =>
      Object.keys(methods).flatMap((method) => (method === "get" ? [] : [path])),
    );
    const others = ".opblock:not(.opblock-get)";
    // The first is open already.
    await page.evaluate(
      `document.querySelectorAll("${others}:not(.is-open) .opblock-summary-control").forEach((control) => control.click())`,
    );
    const sections = page.locator(`${others}:has(.opblock-section)`);
    await until("all are open", async () => (await sections.count()) === writing.length);
    const tryable = await page.$$eval(others, (blocks) =>
      blocks.flatMap((block) =>
        block.querySelector(".try-out__btn")
          ? (block.querySelector("[data-path]")?.getAttribute("data-path") ?? "")
          : [],
      ),
    );
    const isHarmless = (path: string) => path.startsWith("/v1/sandbox/") || path === "/v1/classify";
    expect(tryable.toSorted()).toEqual(writing.filter(isHarmless).toSorted());
    expect(tryable.length).toBeGreaterThan(1);
  });
});
