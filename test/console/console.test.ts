/** The console as a person and as an attacker uses it: signing in, links, the five questions of an auditor, hostile data, a service that is gone. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createHash, createHmac } from "node:crypto";
import { gzipSync } from "node:zlib";
import type { Page } from "playwright-core";
import { KNOWN_PERSON } from "../../src/cli/demo/journal.ts";
import { NAMED_HOST, noBrowserReason } from "../support/browser.ts";
import { freePorts } from "../support/cluster.ts";
import {
  expectAccessible,
  openConsole,
  openScreen,
  openSignedIn,
  settled,
  signIn,
} from "../support/console.ts";
import { type DemoService, startDemoService } from "../support/demo-service.ts";
import { dataFolder } from "../support/process.ts";
import { event, startTestService } from "../support/service.ts";

let demo: DemoService;
let root: string;
beforeAll(async () => {
  demo = await startDemoService();
  root = `${demo.service.url}/`;
});
afterAll(() => demo[Symbol.asyncDispose]());

/** A filter. The choice of columns has fields of the same names. */
const field = (page: Page, name: string) => page.locator(".filters").getByLabel(name, { exact: true });
const heading = (page: Page, name: string | RegExp) => page.getByRole("heading", { level: 1, name });

test("the first load is at most 100 KB of script and 20 KB of style, compressed", async () => {
  const page = await (await fetch(root)).text();
  const sizes: Record<string, number> = {};
  for (const [, name = ""] of page.matchAll(/"\.\/(console\/[^"]+)"/g)) {
    const answer = await fetch(root + name, { headers: { "accept-encoding": "gzip" } });
    expect(answer.headers.get("cache-control")).toContain("immutable");
    sizes[name.split(".").at(-1) ?? ""] = gzipSync(await answer.bytes()).byteLength;
  }
  expect(Object.keys(sizes).toSorted()).toEqual(["css", "js"]);
  expect(sizes.js).toBeLessThan(100 * 1024);
  expect(sizes.css).toBeLessThan(20 * 1024);
});

test("the page allows nothing inline and nothing from elsewhere", async () => {
  const answer = await fetch(`${root}decisions?id=x`);
  const policy = answer.headers.get("content-security-policy") ?? "";
  expect(policy).toContain("default-src 'none'");
  expect(policy).not.toMatch(/unsafe|https?:|\*/);
  expect(await answer.text()).not.toMatch(/<script>|<style>| on\w+=|style=/);
});

test("a screen with a slash at its end leads to the one without, and keeps what was asked", async () => {
  const answer = await fetch(`${root}decisions/?outcome=denied`, { redirect: "manual" });
  expect(answer.status).toBe(308);
  expect(new URL(answer.headers.get("location") ?? "", `${root}decisions/`).href).toBe(
    `${root}decisions?outcome=denied`,
  );
});

describe.skipIf(noBrowserReason !== undefined)(
  `in a browser${noBrowserReason ? ` (skipped: ${noBrowserReason})` : ""}`,
  () => {
    test("signing in leads to the screen that was asked for; a wrong key and a weak key say why not", async () => {
      await using opened = await openConsole({ root, width: 1280, path: "decisions?outcome=denied" });
      const { page } = opened;
      await page.waitForURL(/sign-in\?next=/);
      for (const [key, said] of [
        ["ptk_wrong", /not valid/],
        [await demo.service.makeKey("demo", ["events:write"]), /events:read/],
      ] as const) {
        await page.getByLabel("API key").fill(key);
        await page.getByRole("button", { name: "Sign in" }).click();
        await page.getByRole("alert").getByText(said).waitFor();
      }
      await signIn(page, demo.key);
      await heading(page, "Decisions").waitFor();
      expect(page.url()).toBe(`${root}decisions?outcome=denied`);
      const kept = await page.evaluate<string>("JSON.stringify([{ ...localStorage }, document.cookie])");
      expect(kept).not.toContain(demo.key.split("_")[2]);
      await page.getByRole("button", { name: "Sign out" }).click();
      await page.getByLabel("API key").waitFor();
      await page.goBack();
      await page.getByLabel("API key").waitFor();
    });

    test("over plain HTTP from another machine it says that the browser keeps no session", async () => {
      const elsewhere = root.replace("127.0.0.1", NAMED_HOST);
      await using opened = await openConsole({ root: elsewhere, width: 1280 });
      const { page } = opened;
      await page.getByLabel("API key").fill(demo.key);
      await page.getByRole("button", { name: "Sign in" }).click();
      await page
        .getByRole("alert")
        .getByText(/over HTTPS/)
        .waitFor();
    });

    test("a hostile next address leads to the overview", async () => {
      await using opened = await openConsole({
        root,
        width: 1280,
        path: "sign-in?next=https%3A%2F%2Fevil.example%2F",
      });
      const { page } = opened;
      await signIn(page, demo.key);
      expect(page.url()).toBe(root);
      for (const next of [
        "https://evil.example/",
        "//evil.example/decisions",
        "\\\\evil.example",
        "javascript:alert(1)",
        "data:text/html,x",
        "./v1/events",
        "../../etc",
        "./sign-in?next=./sign-in",
        "http://[",
        "@evil.example",
      ]) {
        // Who is signed in already goes on at once.
        await page.goto(`${root}sign-in?next=${encodeURIComponent(next)}`);
        await page.getByRole("heading", { level: 1, name: /overdue/ }).waitFor();
        expect([next, page.url()]).toEqual([next, root]);
      }
      expect(opened.browser.foreignRequests).toEqual([]);
    });

    test("a link signs in once and leaves its key in no address", async () => {
      const key = await demo.service.makeKey("demo", ["events:read"]);
      await using opened = await openConsole({ root, width: 1280, path: `sign-in#once=${key}` });
      await opened.page.locator("header.side").waitFor();
      expect(opened.page.url()).toBe(root);
      await using again = await openConsole({ root, width: 1280, path: `sign-in#once=${key}` });
      await again.page
        .getByRole("alert")
        .getByText(/used before/)
        .waitFor();
      expect(again.page.url()).toBe(`${root}sign-in`);
    });

    test("a revoked key ends the session at the next question, and the screen is kept", async () => {
      const key = await demo.service.makeKey("demo", ["events:read"]);
      await using opened = await openSignedIn({ root, key, path: "" });
      const { page } = opened;
      await demo.service.call(`/v1/keys/${key.split("_")[1]}`, { method: "DELETE" });
      await page.getByRole("link", { name: "Coverage" }).first().click();
      await page.waitForURL(`${root}sign-in?next=.%2Fcoverage`);
    });

    test("each screen is an address: filters, columns, pages, back and forward", async () => {
      await using opened = await openSignedIn({ root, key: demo.key, path: "decisions" });
      const { page } = opened;
      await field(page, "System").selectOption({ label: "Consumer credit, Copenhagen" });
      await page.waitForURL(/asset_id=/);
      await settled(page);
      await page.getByRole("link", { name: "Next page" }).click();
      await page.waitForURL(/cursor=/);
      await settled(page);
      const second = await page.locator("tbody").textContent();
      await page.getByText("Columns").click();
      await page.getByLabel("Reversed").check();
      await page.waitForURL(/columns=/);
      await page.reload();
      await settled(page);
      expect(await page.getByRole("columnheader", { name: "Reversed" }).count()).toBe(1);
      expect((await page.locator("tbody").textContent())?.slice(0, 20)).toBe(second?.slice(0, 20));
      await page.goBack();
      await page.waitForURL((url) => !url.search.includes("cursor"));
      await settled(page);
      expect(await field(page, "System").inputValue()).not.toBe("");
      await page.goBack();
      await page.waitForURL(`${root}decisions`);
      expect(await field(page, "System").inputValue()).toBe("");
    });

    test("a file has the rows that are shown", async () => {
      await using opened = await openSignedIn({ root, key: demo.key, path: "objections?late=true" });
      const { page } = opened;
      const rows = await page.locator("tbody tr").count();
      const href = await page.getByRole("link", { name: "NDJSON" }).getAttribute("href");
      const answer = await demo.service.call(new URL(href ?? "").pathname + new URL(href ?? "").search, {
        key: demo.key,
      });
      expect(rows).toBeGreaterThan(0);
      expect(answer.text.trim().split("\n").length).toBe(rows);
    });

    test("a person is hashed in the browser, and the text itself goes nowhere", async () => {
      await using opened = await openSignedIn({ root, key: demo.key, path: "decisions" });
      const { page } = opened;
      const sent: string[] = [];
      page.on("request", (request) => sent.push(`${request.url()} ${request.postData()}`));
      const hash = createHash("sha256").update(KNOWN_PERSON).digest("hex");
      await field(page, "Person").fill(KNOWN_PERSON);
      await page.keyboard.press("Enter");
      await page.waitForURL(new RegExp(`subject_hash=sha256%3A${hash}`));
      await settled(page);
      expect(await page.locator("tbody tr").count()).toBe(3);
      const keyed = createHmac("sha256", "pepper").update(KNOWN_PERSON).digest("hex");
      await field(page, "Person").fill(KNOWN_PERSON);
      await page.getByText("HMAC", { exact: true }).click();
      await page.getByLabel(/Secret of the hash/).fill("pepper");
      await page.keyboard.press("Enter");
      await page.waitForURL(new RegExp(keyed));
      await settled(page);
      expect(sent.length).toBeGreaterThan(1);
      for (const request of sent) expect(request).not.toMatch(new RegExp(`${KNOWN_PERSON}|pepper`));
    });

    test("an event shows its exact bytes and a proof that this browser verified; a changed answer fails", async () => {
      await using opened = await openSignedIn({ root, key: demo.key, path: "event?id=evt_nordbank_00100" });
      const { page } = opened;
      await page.getByText("✓ Verified in this browser").waitFor();
      const proof = await demo.service.call("/v1/events/evt_nordbank_00100/proof", { key: demo.key });
      const bytes = Buffer.from(proof.json.data.leaf, "base64").toString();
      expect(await page.locator("pre.bytes").textContent()).toBe(bytes);
      const changed = bytes.replace("evt_nordbank_00100", "evt_nordbank_00101");
      const leaf = Buffer.from(changed).toString("base64");
      await page.route("**/proof", (route) =>
        route.fulfill({ json: { data: { ...proof.json.data, leaf } } }),
      );
      await openScreen(page, `${root}event?id=evt_nordbank_00100`);
      await page.getByText("✗ Not verified").waitFor();
    });

    describe("the five questions of an auditor, in at most three clicks after signing in", () => {
      /** Presses are counted in the page; a choice in a list takes two, and no driver presses them. */
      const COUNT = `
        globalThis.clicks = 0;
        addEventListener("pointerdown", () => globalThis.clicks++, true);
        addEventListener("change", ({ target }) => (globalThis.clicks += target.matches("select") ? 2 : 0), true);`;
      const asking = async (ask: (page: Page, click: (name: string) => Promise<void>) => Promise<void>) => {
        await using opened = await openSignedIn({ root, key: demo.key, path: "" });
        const { page } = opened;
        await page.evaluate(COUNT);
        await ask(page, async (name) => {
          await page.getByRole("link", { name }).first().click();
          await settled(page);
        });
        expect(await page.evaluate<number>("globalThis.clicks")).toBeWithin(1, 4);
      };
      const type = async (page: Page, name: string, text: string): Promise<void> => {
        await field(page, name).click();
        await page.keyboard.type(text);
      };

      test("which systems decided about this person last month", () =>
        asking(async (page, click) => {
          await click("Decisions");
          await type(page, "Person", KNOWN_PERSON);
          await page.keyboard.press("Enter");
          await page.getByText("3 in all").waitFor();
          const text = await page.locator("tbody").textContent();
          for (const system of ["Payment fraud screening", "Consumer credit, Copenhagen"])
            expect(text).toContain(system);
        }));

      test("was each decision announced", () =>
        asking(async (page, click) => {
          await click("Decisions");
          await field(page, "Missing").selectOption({ label: "Notice before the decision" });
          await page.waitForURL(/missing=notice/);
          await settled(page);
          expect(await page.locator("tbody tr").count()).toBeGreaterThan(0);
          await page.locator("tbody").getByText("Notice before the decision").first().waitFor();
        }));

      test("were objections answered in time", () =>
        asking(async (page, click) => {
          await click("Objections");
          await field(page, "Late").selectOption({ label: "late only" });
          await page.waitForURL(/late=true/);
          await settled(page);
          expect(await page.locator("tbody tr").count()).toBeGreaterThan(0);
        }));

      test("what is due next week", () =>
        asking(async (page, click) => {
          await heading(page, /fall due soon/).waitFor();
          await click("Obligations");
          await field(page, "State").selectOption({ label: "due soon" });
          await page.waitForURL(/state=due_soon/);
          await settled(page);
          expect(await page.locator("tbody tr").count()).toBeGreaterThan(0);
        }));

      test("give me evidence for the authority", () =>
        asking(async (page, click) => {
          await click("Evidence");
          await type(page, "Person", KNOWN_PERSON);
          await page.keyboard.press("Enter");
          const downloaded = page.waitForEvent("download");
          await page.getByRole("button", { name: "Create the bundle" }).click();
          expect((await downloaded).suggestedFilename()).toEndWith(".zip");
        }));
    });

    test("an obligation is waived with a reason, and shown as waived; who may only read is not asked", async () => {
      const key = await demo.service.makeKey("demo", ["events:read", "obligations:waive"]);
      await using opened = await openSignedIn({ root, key, width: 390, path: "decision?id=dec-overdue" });
      const { page } = opened;
      const clock = page.locator(".clock").filter({ hasText: "Explain the decision" });
      await clock.getByText("Waive").first().click();
      await clock.getByLabel(/Why it will not be met/).fill("Settled in person <b>today</b>");
      await expectAccessible(page, "waive");
      await clock.getByRole("button", { name: "Waive" }).click();
      await clock.getByText(/waived by .*: Settled in person <b>today<\/b>/).waitFor();
      await using reader = await openConsole({ root, width: 1280 });
      await signIn(reader.page, demo.key);
      await openScreen(reader.page, `${root}decision?id=dec-overdue`);
      expect(await reader.page.getByText("Waive", { exact: true }).count()).toBe(0);
    });

    test("what customers send is text: script, right-to-left, long ids, names of members", async () => {
      const key = await demo.service.makeKey("hostile", ["events:read", "events:write"]);
      const script = `<img src=x onerror="globalThis.hacked=1"><script>globalThis.hacked=1</script>`;
      const long = "x".repeat(256);
      const rows = [
        {
          event_id: `evt_${script}`,
          asset_id: script.slice(0, 120),
          metadata: { outcome: script, decision_id: script },
        },
        {
          event_id: "evt_rtl",
          asset_id: "\u202Eredael a si siht",
          metadata: { outcome: "رفض", decision_id: long },
        },
        {
          event_id: `evt_${long.slice(0, 250)}`,
          asset_id: "constructor",
          metadata: { decision_id: "../../sign-in" },
        },
        {
          event_id: "evt_/../..?a#b",
          asset_id: "__proto__",
          metadata: { decision_id: "a/b?c#d", reason: script },
        },
      ];
      let sequence = 0;
      for (const row of rows) {
        const sent = await demo.service.call("/v1/events", {
          key,
          body: event({ event_type: "decision.automated_decision_made", ...row }),
        });
        expect([row.event_id, sent.text, sent.status]).toEqual([row.event_id, sent.text, 202]);
        sequence = sent.json.data.sequence;
      }
      await demo.service.call(`/v1/decisions?min_sequence=${sequence}`, { key });
      await using opened = await openSignedIn({ root, key, width: 390 });
      const { page, browser, complaints } = opened;
      for (const screen of ["", "events", "decisions", "systems", "coverage"]) {
        await openScreen(page, root + screen);
        await expectAccessible(page, screen);
      }
      for (const row of rows) {
        await openScreen(page, `${root}event?id=${encodeURIComponent(row.event_id)}`);
        await expectAccessible(page, row.event_id);
        expect([row.event_id, await page.locator(".failed").count()]).toEqual([row.event_id, 0]);
        const decision = row.metadata?.decision_id;
        if (decision === undefined) continue;
        await openScreen(page, `${root}decision?id=${encodeURIComponent(decision)}`);
        expect([decision, await page.locator(".failed").count()]).toEqual([decision, 0]);
      }
      expect(await page.evaluate("globalThis.hacked ?? 'no'")).toBe("no");
      expect(browser.foreignRequests).toEqual([]);
      expect(complaints).toEqual([]);
    });

    test("a decision with more events than an answer has says so", async () => {
      const key = await demo.service.makeKey("many", ["events:read", "events:write"]);
      const metadata = { decision_id: "dec_many" };
      const events = Array.from({ length: 300 }, (_, index) =>
        event({ event_type: "decision.explanation_provided", event_id: `evt_many_${index}`, metadata }),
      );
      const sent = await demo.service.call("/v1/events/batch", { key, body: { events } });
      await demo.service.call(`/v1/decisions/dec_many?min_sequence=${sent.json.data.sequence}`, { key });
      await using opened = await openSignedIn({ root, key, path: "decision?id=dec_many" });
      const { page } = opened;
      await page.getByRole("link", { name: /There may be more events/ }).click();
      await page.getByText("300 in all").waitFor();
    });

    test("an empty tenant is shown what would fill each list", async () => {
      await using opened = await openSignedIn({
        root,
        key: await demo.service.makeKey("empty", ["events:read"]),
        width: 390,
      });
      const { page } = opened;
      await heading(page, "No events yet").waitFor();
      for (const screen of ["decisions", "objections", "systems", "coverage", "obligations", "events"]) {
        await openScreen(page, root + screen);
        expect([screen, await page.locator(".empty").count()]).toEqual([screen, 1]);
        await expectAccessible(page, screen);
      }
    });

    test("a tenant whose events name no law sees its decisions, and nothing fails", async () => {
      const key = await demo.service.makeKey("lawless", ["events:read", "events:write"]);
      const metadata = { decision_id: "dec_1", outcome: "denied" };
      const body = {
        events: [
          event({ metadata }),
          event({ event_id: "evt_o", event_type: "objection.received", metadata }),
        ],
      };
      const sent = await demo.service.call("/v1/events/batch", { key, body });
      await demo.service.call(`/v1/decisions/dec_1?min_sequence=${sent.json.data.sequence}`, { key });
      await using opened = await openSignedIn({ root, key, width: 390 });
      const { page, complaints } = opened;
      for (const screen of [
        "",
        "decisions",
        "decision?id=dec_1",
        "letter?id=dec_1",
        "obligations",
        "coverage",
      ]) {
        await openScreen(page, root + screen);
        expect([screen, await page.locator("h1").count(), await page.locator(".failed").count()]).toEqual([
          screen,
          1,
          0,
        ]);
        await expectAccessible(page, screen);
      }
      expect(complaints).toEqual([]);
    });

    test("behind a path prefix", async () => {
      const { url } = demo.service;
      await using proxy = prefixProxy(url, "/audit");
      await using opened = await openConsole({ root: proxy.root, width: 1280, path: "decisions" });
      const { page, complaints } = opened;
      await signIn(page, demo.key);
      await heading(page, "Decisions").waitFor();
      await page.getByRole("link", { name: "Coverage" }).first().click();
      await heading(page, "Coverage").waitFor();
      expect(page.url()).toBe(`${proxy.root}coverage`);
      await page.reload();
      await heading(page, "Coverage").waitFor();
      const answered: string[] = [];
      page.on("response", (response) =>
        answered.push(`${response.status()} ${new URL(response.url()).pathname}`),
      );
      await page.getByRole("link", { name: "API" }).click();
      await page.locator(".opblock").first().waitFor();
      await page.getByRole("navigation").getByRole("link", { name: "Sandbox" }).click();
      await page.getByRole("button", { name: "Help centre" }).waitFor();
      await page.getByRole("link", { name: "Verify" }).click();
      await page.getByLabel("Files to verify").waitFor();
      expect(answered).toContain("200 /audit/docs/json");
      expect(answered.filter((answer) => !answer.startsWith("200 /audit/"))).toEqual([]);
      expect(complaints).toEqual([]);
    });

    test("a service that is gone is named as such, and the page goes on when it is back", async () => {
      await using folder = await dataFolder();
      const [port] = await freePorts(1);
      const settings = { PORT: String(port), DATA_DIR: folder.path };
      const before = await startTestService(settings);
      await using opened = await openConsole({ root: `${before.url}/`, width: 1280 });
      const { page } = opened;
      await signIn(page, before.adminKey);
      await settled(page);
      await before[Symbol.asyncDispose]();
      await page.getByRole("link", { name: "Coverage" }).first().click();
      await page.getByText("The service does not answer.").waitFor();
      await expectAccessible(page, "away");
      await page.getByRole("button", { name: "Try again" }).click();
      await page.getByText("The service does not answer.").waitFor();
      await using after = await startTestService(settings);
      expect(after.url).toBe(before.url);
      // Nobody presses anything.
      await page.getByText("What no log can show").waitFor();
    });
  },
);

/** As a proxy does that shows the service below a path. */
const prefixProxy = (url: string, prefix: string): { readonly root: string } & AsyncDisposable => {
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: (request) => {
      const { pathname, search } = new URL(request.url);
      if (!pathname.startsWith(`${prefix}/`)) return new Response("nothing here", { status: 404 });
      const headers = new Headers(request.headers);
      headers.set("accept-encoding", "identity");
      return fetch(url + pathname.slice(prefix.length) + search, { method: request.method, headers });
    },
  });
  return { root: `${server.url.origin}${prefix}/`, [Symbol.asyncDispose]: () => server.stop(true) };
};
