/** The page that verifies, in real Chromium: as verify.html of a bundle, from disk without a network, and at /verify. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Page } from "playwright-core";
import { factRows, findingText } from "../../src/proof/verifier/report.ts";
import {
  describeInBrowser,
  openPage,
  screenshotPath,
  startBrowser,
  type TestBrowser,
} from "../support/browser.ts";
import { faultsOf } from "../support/console.ts";
import {
  evidence,
  linesIn,
  type PackedFile,
  pack,
  textOf,
  unpack,
  verify,
  withLines,
} from "../support/evidence-bundle.ts";
import { diskFolder } from "../support/memory-folder.ts";
import { event, startTestService, type TestService } from "../support/service.ts";
import { until } from "../support/until.ts";

let service: TestService;
let acme = "";
let folder = "";
let keys = "";
let files: readonly PackedFile[] = [];
/** The bundle, and one in which an event differs from its record. */
let [bundle, tampered] = ["", ""];
let ownPage = "";

const save = async (name: string, content: string | Uint8Array): Promise<string> => {
  const path = join(folder, name);
  await writeFile(path, content);
  return path;
};

beforeAll(async () => {
  service = await startTestService({ CHECKPOINT_INTERVAL: "50ms" });
  folder = await mkdtemp(join(diskFolder(), "prooftrail-verify-"));
  acme = await service.makeKey("acme");
  const events = ["evt_0", "evt_1", "evt_2"].map((event_id) =>
    event({ event_id, metadata: { note: "<b>이력</b> \u202e" } }),
  );
  await service.call("/v1/events/batch", { key: acme, body: { events } });
  const bytes = await evidence(service, "", acme);
  files = await unpack(bytes);
  keys = textOf(files, "key");
  bundle = await save("evidence.zip", bytes);
  const lines = linesIn(files, "events.ndjson").map((line) => line.replace('"evt_1"', '"evt_l"'));
  tampered = await save("tampered.zip", pack(withLines(files, "events.ndjson", lines)));
  ownPage = await save("verify.html", textOf(files, "verify.html"));
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

const verdictOn = (page: Page, name: string): Promise<string> =>
  page.getByRole("status").getByText(name).locator("..").textContent().then(String);

describeInBrowser("the page that verifies", () => {
  test("a proof of the sandbox is INVALID, at /verify and from disk", async () => {
    const { event_id } = (
      await service.call("/v1/sandbox/events", { key: null, body: event({ event_id: "evt_sandbox" }) })
    ).json.data;
    const { text } = await service.call(`/v1/sandbox/events/${event_id}/proof`, { key: null });
    const proof = await save("proof.json", text);
    for (const [origin, address] of [
      [service.url, `${service.url}/verify`],
      ["null", pathToFileURL(ownPage).href],
    ] as const) {
      await using browser = await startBrowser({ origin, width: 1280 });
      const { page } = await openPage(browser, address);
      await page.getByLabel("Files to verify").setInputFiles(proof);
      expect(await verdictOn(page, "INVALID  proof.json")).toContain("this is a sandbox proof");
    }
  });

  test.each(["light", "dark"] as const)(
    "from disk without a network, verifies the bundle it came in and names the broken record of another, in the words of the command (%s)",
    async (colorScheme) => {
      await using browser = await startBrowser({
        origin: "null",
        width: colorScheme === "light" ? 1280 : 390,
      });
      await browser.context.setOffline(true);
      const { page, complaints } = await openPage(browser, pathToFileURL(ownPage).href);
      await page.emulateMedia({ colorScheme });
      expect(await faultsOf(page)).toEqual([]);
      await page.getByText("This page came as a file").waitFor();

      await page.getByLabel("Files to verify").setInputFiles(bundle);
      expect(await verdictOn(page, "VALID  evidence.zip")).toContain("The key is not pinned");
      await page.getByLabel("Keys that you trust").fill(keys);
      expect(await page.getByRole("status").textContent()).toBe("");
      await page.getByRole("button", { name: "Verify", exact: true }).click();
      await page.getByRole("cell", { name: "complete: every record of the log" }).waitFor();
      expect(await page.getByRole("status").textContent()).not.toContain("not pinned");
      const said = await verify(await Bun.file(bundle).bytes(), { keys });
      if (said.kind !== "valid") throw new Error(JSON.stringify(said));
      expect(await page.locator("th, td").allTextContents()).toEqual(factRows(said.facts).flat());
      expect(await faultsOf(page)).toEqual([]);
      const path = await screenshotPath(`verify-valid-${colorScheme}.png`);
      if (path) await page.screenshot({ path, fullPage: true });

      const broken = await verify(await Bun.file(tampered).bytes());
      if (broken.kind !== "invalid") throw new Error(JSON.stringify(broken));
      expect(broken.finding).toMatchObject({
        code: "event_differs",
        line: 2,
        leafIndex: 1,
        eventId: "evt_1",
      });
      await page.getByLabel("Files to verify").setInputFiles(tampered);
      expect(await verdictOn(page, "INVALID  tampered.zip")).toContain(findingText(broken.finding));
      expect(await faultsOf(page)).toEqual([]);
      const pathOfBroken = await screenshotPath(`verify-invalid-${colorScheme}.png`);
      if (pathOfBroken) await page.screenshot({ path: pathOfBroken, fullPage: true });
      expect(await page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")).toBe(true);
      expect(browser.foreignRequests).toEqual([]);
      expect(complaints).toEqual([]);
    },
  );

  let browser: TestBrowser;
  beforeAll(async () => {
    browser = await startBrowser({ origin: service.url, width: 1280 });
  });
  afterAll(() => browser[Symbol.asyncDispose]());

  test("at /verify without a key, decides about proofs and receipts, and sends nothing", async () => {
    const { data: receipt, request_id } = (
      await service.call("/v1/events", { key: acme, body: event({ event_id: "evt_later" }) })
    ).json;
    const proofPath = `/v1/events/evt_later/proof?wait=10`;
    const { text: proof } = await service.call(proofPath, { key: acme });
    const { text: file } = await service.call(`${proofPath}&format=tlog-proof`, { key: acme });
    const paths = {
      proof: await save("proof.json", proof),
      file: await save("evt_later.tlog-proof", file),
      key: await save("log.key", keys),
      receipt: await save("answer.json", JSON.stringify({ data: receipt, request_id })),
      event: await save("event.json", JSON.stringify(event({ event_id: "evt_later" }))),
      altered: await save("altered.json", proof.replace('"leaf_index":3', '"leaf_index":2')),
      nothing: await save("nothing.txt", "nothing"),
    };
    const requests: string[] = [];
    browser.context.on("request", (request) => {
      if (request.url().startsWith("http")) requests.push(request.url());
    });
    const { page, complaints } = await openPage(browser, `${service.url}/verify`);
    const given = async (picked: readonly string[], verdict: RegExp): Promise<string> => {
      const again = page.getByRole("button", { name: "Start again" });
      if (await again.isVisible()) await again.click();
      await page.getByLabel("Files to verify").setInputFiles(picked);
      await page.getByRole("status").getByText(verdict).waitFor();
      return String(await page.getByRole("status").textContent());
    };
    expect(await page.getByText("This page came as a file").isVisible()).toBe(false);
    for (const each of [paths.proof, paths.file]) {
      expect(await given([each], /^NOT DECIDED/)).toContain("give the answer of GET /v1/log/key");
      await given([each, paths.key, paths.receipt, paths.event], /^VALID/);
      await page.getByRole("cell", { name: "matches this record" }).waitFor();
      await page.getByText('"event_id":"evt_later"').waitFor();
    }
    expect(await faultsOf(page)).toEqual([]);
    expect(await given([paths.altered, paths.key], /^INVALID/)).toContain("(not_in_log)");
    expect(await given([paths.receipt], /^NOT DECIDED/)).toContain(
      `/v1/events/evt_later/proof?sequence=${receipt.sequence}`,
    );
    await page.getByLabel("Tenant").fill("acme");
    expect(await given([paths.receipt, paths.event], /^NOT DECIDED/)).toContain("byte for byte");
    expect(await given([paths.nothing], /^NOT DECIDED/)).toContain("no bundle");
    expect(await given([paths.proof, paths.file], /^NOT DECIDED/)).toContain("several files");
    const names = files.map(({ name }) => name);
    const unpacked = await Promise.all(files.map(({ name, content }) => save(name, content)));
    await given([...unpacked, paths.key], /^VALID/);
    expect(names).toContain("verify.html");
    expect(requests).toEqual([`${service.url}/verify`]);
    expect(complaints).toEqual([]);
  });

  test("is used with the keyboard alone, and says its verdict in a live region", async () => {
    const { page } = await openPage(browser, `${service.url}/verify`);
    await page.setViewportSize({ width: 390, height: 900 });
    const focused = (): Promise<string> => page.evaluate("document.activeElement.id");
    const order: string[] = [];
    for (let presses = 0; presses < 5; presses++) {
      await page.keyboard.press("Tab");
      order.push(await focused());
    }
    expect(order).toEqual(["language", "files", "keys", "tenant", "verify"]);
    await page.keyboard.press("Enter");
    await page.getByRole("status").getByText("Choose a file first.").waitFor();
    await page.keyboard.press("Shift+Tab");
    await page.keyboard.press("Shift+Tab");
    await page.keyboard.press("Shift+Tab");
    // On a busy machine Chromium may drop a key that comes while it still moves the focus.
    const chooser = await until("the chooser opens", async () => {
      const opened = page.waitForEvent("filechooser", { timeout: 2_000 }).catch(() => undefined);
      await page.keyboard.press("Enter");
      return opened;
    });
    await chooser.setFiles(tampered);
    await page.getByRole("status").getByText("INVALID").waitFor();
  });

  test("does not decide about a file that changed after it was picked", async () => {
    const path = await save("changing.zip", await Bun.file(bundle).bytes());
    const { page } = await openPage(browser, `${service.url}/verify`);
    await page.getByLabel("Files to verify").setInputFiles(path);
    await page.getByRole("status").getByText("VALID  changing.zip").waitFor();
    await save("changing.zip", "shorter");
    await page.getByRole("button", { name: "Verify", exact: true }).click();
    await page.getByRole("status").getByText("NOT DECIDED  changing.zip").waitFor();
    expect(await page.getByRole("status").textContent()).toContain("changing.zip cannot be read");
  });

  test("takes files that are dropped anywhere on it", async () => {
    const { page } = await openPage(browser, `${service.url}/verify`);
    const base64 = Buffer.from(await Bun.file(tampered).bytes()).toString("base64");
    const dataTransfer = await page.evaluateHandle(`(() => {
        const dropped = new DataTransfer();
        const bytes = Uint8Array.from(atob("${base64}"), (character) => character.charCodeAt(0));
        dropped.items.add(new File([bytes], "dropped.zip"));
        return dropped;
      })()`);
    await page.dispatchEvent("main", "drop", { dataTransfer });
    await page.getByRole("status").getByText("INVALID  dropped.zip").waitFor();
    await page.getByRole("listitem").getByText("dropped.zip").waitFor();
  });

  test("in Korean, and what the verifier says in English", async () => {
    const { page } = await openPage(browser, `${service.url}/verify?lang=ko`);
    await page.setViewportSize({ width: 320, height: 900 });
    expect(await page.evaluate("document.documentElement.lang")).toBe("ko");
    await page.getByLabel("검증할 파일").setInputFiles(tampered);
    const verdict = page.getByRole("status");
    await verdict.getByText("무효 (INVALID)").waitFor();
    expect(await verdict.locator("p").getAttribute("lang")).toBe("en");
    // Each part of the page that has words has them in Korean.
    const parts: { word: string; text: string }[] = await page.evaluate(
      "[...document.querySelectorAll('[data-word]')].map((part) => ({ word: part.dataset.word, text: part.textContent }))",
    );
    expect(parts.filter(({ text }) => !/\p{Script=Hangul}/u.test(text))).toEqual([]);
    expect(await faultsOf(page)).toEqual([]);
    expect(await page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")).toBe(true);
  });
});

test("the page is served without a key, with a policy that lets only its own script run, and fits its budget", async () => {
  const response = await fetch(`${service.url}/verify`);
  const html = await response.text();
  expect(response.status).toBe(200);
  expect(html).toBe(textOf(files, "verify.html"));
  const policy = response.headers.get("content-security-policy") ?? "";
  expect(policy).toContain("default-src 'none'; script-src 'sha256-");
  expect(policy).not.toMatch(/unsafe|https?:|\*/);
  expect(html).toContain(policy.replace("; frame-ancestors 'none'", ""));
  expect(Bun.gzipSync(html).length).toBeLessThan(40_000);
});
