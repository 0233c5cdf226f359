/** The screen Evidence as a person uses it. */
import { expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { KNOWN_PERSON } from "../../src/cli/demo/journal.ts";
import { describeInBrowser } from "../support/browser.ts";
import { runCli } from "../support/cli.ts";
import { demoConsole, expectAccessible, openConsole, openScreen } from "../support/console.ts";
import { manifestOf, textOf, unpack } from "../support/evidence-bundle.ts";
import { dataFolder } from "../support/process.ts";
import { until } from "../support/until.ts";

const demo = demoConsole();

const make = (page: Page) => page.getByRole("button", { name: "Create the bundle" }).click();

describeInBrowser("evidence", () => {
  test("a bundle by person is previewed, made, saved under its name, listed, and verified", async () => {
    await using folder = await dataFolder();
    await using opened = await demo.open("evidence");
    const { page } = opened;
    await page.getByText("No bundles yet.").waitFor();
    const requests: string[] = [];
    page.on("request", (request) => requests.push(request.url() + (request.postData() ?? "")));
    await page.locator(".filters").getByLabel("Person", { exact: true }).fill(KNOWN_PERSON);
    await page.keyboard.press("Enter");
    const said = (await page.getByText(/of the .* sealed records/).textContent()) ?? "";
    const downloaded = page.waitForEvent("download");
    await make(page);
    const file = await downloaded;
    expect(file.suggestedFilename()).toMatch(/^evidence-demo-sha256-.*\.zip$/);
    await page.getByText(`Saved as ${file.suggestedFilename()}`).waitFor();
    const row = page.locator("tbody tr");
    await until("the bundle is listed", async () => (await row.count()) === 1);
    const hash = (await row.locator("code.breaks").last().textContent()) ?? "";
    await expectAccessible(page, "evidence");
    const path = join(folder.path, "evidence.zip");
    await file.saveAs(path);
    const verdict = await runCli(["verify", path]);
    expect([verdict.code, verdict.out]).toEqual([0, expect.stringContaining("VALID")]);
    const files = await unpack(await Bun.file(path).bytes());
    expect(said).toStartWith(`${manifestOf(files).records} of the `);
    const manifest = textOf(files, "manifest.json");
    expect(createHash("sha256").update(manifest).digest("hex")).toBe(hash);
    expect(requests.join("\n")).not.toContain(KNOWN_PERSON);
  });

  test("what cannot be a bundle says why, and offers none", async () => {
    await using opened = await demo.open("evidence", { width: 390 });
    const { page } = opened;
    for (const [query, said] of [
      ["decision_id=none", /nothing to prove/],
      ["decision_id=dec-overdue&correlation_id=x", /Send correlation_id without/],
    ] as const) {
      await openScreen(page, `${demo.root}evidence?${query}`);
      await page.getByText(said).waitFor();
      expect(await page.getByRole("button", { name: "Create the bundle" }).count()).toBe(0);
      await expectAccessible(page, query);
    }
  });

  test("a connection that breaks in the middle saves nothing and says so; a slow one can be given up", async () => {
    await using proxy = interruptedProxy(demo.service.url);
    const path = "evidence?decision_id=dec-overdue";
    await using opened = await openConsole({ root: proxy.root, key: demo.key, path });
    const { page } = opened;
    const saved: string[] = [];
    page.on("download", (download) => saved.push(download.suggestedFilename()));
    await make(page);
    await page.getByText(/Received .*go on working/).waitFor();
    // Another screen does not end it.
    await page.getByRole("link", { name: "Coverage" }).first().click();
    await page.goBack();
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.getByText(/Received .*go on working/).waitFor({ state: "detached" });
    await make(page);
    await page.getByText(/Received .*go on working/).waitFor();
    proxy.breakOff();
    await page
      .getByRole("alert")
      .getByText(/lost after .*Nothing was saved/)
      .waitFor();
    expect(saved).toEqual([]);
  });
});

/** Sends the first bytes of a bundle, and the rest never. */
const interruptedProxy = (
  url: string,
): { readonly root: string; readonly breakOff: () => void } & AsyncDisposable => {
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    fetch: async (request) => {
      const { pathname, search } = new URL(request.url);
      const headers = new Headers(request.headers);
      headers.set("accept-encoding", "identity");
      const answer = await fetch(url + pathname + search, { method: request.method, headers });
      if (pathname !== "/v1/evidence") return answer;
      const bytes = (await answer.bytes()).subarray(0, 4096);
      const body = new ReadableStream<Uint8Array>({
        start: (controller) => controller.enqueue(bytes),
      });
      return new Response(body, { headers: answer.headers });
    },
  });
  return {
    root: `${server.url.origin}/`,
    breakOff: () => server.stop(true),
    [Symbol.asyncDispose]: () => server.stop(true),
  };
};
