/** The console as a person and as an attacker uses it: signing in, links, the five questions of an auditor, hostile data, a service that is gone. */
import { describe, expect, test } from "bun:test";
import { createHash, createHmac } from "node:crypto";
import { gzipSync } from "node:zlib";
import type { Page } from "playwright-core";
import { KNOWN_PERSON } from "../../src/cli/demo/journal.ts";
import { describeInBrowser, NAMED_HOST } from "../support/browser.ts";
import { freePorts } from "../support/cluster.ts";
import {
  demoConsole,
  expectAccessible,
  openConsole,
  openScreen,
  settled,
  signIn,
} from "../support/console.ts";
import { dataFolder } from "../support/process.ts";
import { event, fact, MADE, startTestService } from "../support/service.ts";

const demo = demoConsole();

/** A filter. The choice of columns has fields of the same names. */
const field = (page: Page, name: string) => page.locator(".filters").getByLabel(name, { exact: true });
const heading = (page: Page, name: string | RegExp) => page.getByRole("heading", { level: 1, name });
const rowsIn = (page: Page): Promise<number> => page.locator("tbody tr").count();

test("the first load is at most 100 KB of script and 20 KB of style, compressed", async () => {
  const page = await (await fetch(demo.root)).text();
  const sizes: Record<string, number> = {};
  for (const [, name = ""] of page.matchAll(/"\.\/(console\/[^"]+)"/g)) {
    const answer = await fetch(demo.root + name, { headers: { "accept-encoding": "gzip" } });
    expect(answer.headers.get("cache-control")).toContain("immutable");
    sizes[name.split(".").at(-1) ?? ""] = gzipSync(await answer.bytes()).byteLength;
  }
  expect(Object.keys(sizes).toSorted()).toEqual(["css", "js"]);
  expect(sizes.js).toBeLessThan(100 * 1024);
  expect(sizes.css).toBeLessThan(20 * 1024);
});

test("the page allows nothing inline and nothing from elsewhere", async () => {
  const answer = await fetch(`${demo.root}decisions?id=x`);
  const policy = answer.headers.get("content-security-policy") ?? "";
  expect(policy).toContain("default-src 'none'");
  expect(policy).not.toMatch(/unsafe|https?:|\*/);
  expect(await answer.text()).not.toMatch(/<script>|<style>| on\w+=|style=/);
});

test("a screen with a slash at its end leads to the one without, and keeps what was asked", async () => {
  const answer = await fetch(`${demo.root}decisions/?outcome=denied`, { redirect: "manual" });
  expect(answer.status).toBe(308);
  expect(new URL(answer.headers.get("location") ?? "", `${demo.root}decisions/`).href).toBe(
    `${demo.root}decisions?outcome=denied`,
  );
});

describeInBrowser("in a browser", () => {
  test("signing in leads to the screen that was asked for; a wrong key and a weak key say why not", async () => {
    const { root } = demo;
    await using opened = await openConsole({ root, path: "decisions?outcome=denied" });
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
    await using opened = await openConsole({ root: demo.root.replace("127.0.0.1", NAMED_HOST) });
    const { page } = opened;
    await page.getByLabel("API key").fill(demo.key);
    await page.getByRole("button", { name: "Sign in" }).click();
    const alert = page.getByRole("alert");
    await alert.getByText(/over HTTPS/).waitFor();
  });

  test("a hostile next address leads to the overview", async () => {
    const { root } = demo;
    const signInTo = (next: string): string => `sign-in?next=${encodeURIComponent(next)}`;
    await using opened = await openConsole({ root, path: signInTo("https://evil.example/") });
    const { page } = opened;
    await signIn(page, demo.key);
    expect(page.url()).toBe(root);
    for (const next of [
      "//evil.example/decisions",
      "javascript:alert(1)",
      "./v1/events",
      "./sign-in?next=./sign-in",
    ]) {
      // Who is signed in already goes on at once.
      await page.goto(root + signInTo(next));
      await page.getByRole("heading", { level: 1, name: /overdue/ }).waitFor();
      expect([next, page.url()]).toEqual([next, root]);
    }
    expect(opened.browser.foreignRequests).toEqual([]);
  });

  test("a link signs in once and leaves its key in no address", async () => {
    const { root } = demo;
    const path = `sign-in#once=${await demo.makeSeat({ scopes: ["events:read"] })}`;
    await using opened = await openConsole({ root, path });
    await opened.page.locator("header.side").waitFor();
    expect(opened.page.url()).toBe(root);
    await using again = await openConsole({ root, path });
    const alert = again.page.getByRole("alert");
    await alert.getByText(/used before/).waitFor();
    expect(again.page.url()).toBe(`${root}sign-in`);
  });

  test("a revoked key ends the session at the next question, and the screen is kept", async () => {
    const key = await demo.makeSeat({ scopes: ["events:read"] });
    await using opened = await demo.open("", { key });
    const { page } = opened;
    await demo.service.call(`/v1/keys/${key.split("_")[1]}`, { method: "DELETE" });
    await page.getByRole("link", { name: "Coverage" }).first().click();
    await page.waitForURL(`${demo.root}sign-in?next=.%2Fcoverage`);
  });

  test("each screen is an address: filters, columns, pages, back and forward", async () => {
    await using opened = await demo.open("decisions");
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
    await page.waitForURL(`${demo.root}decisions`);
    expect(await field(page, "System").inputValue()).toBe("");
  });

  test("a file has the rows that are shown", async () => {
    await using opened = await demo.open("objections?late=true");
    const { page } = opened;
    const rows = await rowsIn(page);
    const href = await page.getByRole("link", { name: "NDJSON" }).getAttribute("href");
    const { pathname, search } = new URL(href ?? "");
    const answer = await demo.service.call(pathname + search, { key: demo.key });
    expect(rows).toBeGreaterThan(0);
    expect(answer.text.trim().split("\n").length).toBe(rows);
  });

  test("a person is hashed in the browser, and the text itself goes nowhere", async () => {
    await using opened = await demo.open("decisions");
    const { page } = opened;
    const sent: string[] = [];
    page.on("request", (request) => sent.push(`${request.url()} ${request.postData()}`));
    const hash = createHash("sha256").update(KNOWN_PERSON).digest("hex");
    await field(page, "Person").fill(KNOWN_PERSON);
    await page.keyboard.press("Enter");
    await page.waitForURL(new RegExp(`subject_hash=sha256%3A${hash}`));
    await settled(page);
    expect(await rowsIn(page)).toBe(3);
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
    const path = "event?id=evt_nordbank_00100";
    await using opened = await demo.open(path);
    const { page } = opened;
    await page.getByText("✓ Verified in this browser").waitFor();
    const proof = await demo.service.call("/v1/events/evt_nordbank_00100/proof", { key: demo.key });
    const bytes = Buffer.from(proof.json.data.leaf, "base64").toString();
    expect(await page.locator("pre.bytes").textContent()).toBe(bytes);
    const changed = bytes.replace("evt_nordbank_00100", "evt_nordbank_00101");
    const leaf = Buffer.from(changed).toString("base64");
    await page.route("**/proof", (route) => route.fulfill({ json: { data: { ...proof.json.data, leaf } } }));
    await openScreen(page, demo.root + path);
    await page.getByText("✗ Not verified").waitFor();
  });

  describe("the five questions of an auditor, in at most three clicks after signing in", () => {
    /** Presses are counted in the page; a choice in a list takes two, and no driver presses them. */
    const COUNT = `
      globalThis.clicks = 0;
      addEventListener("pointerdown", () => globalThis.clicks++, true);
      addEventListener("change", ({ target }) => (globalThis.clicks += target.matches("select") ? 2 : 0), true);`;
    const askPerson = async (page: Page): Promise<void> => {
      await field(page, "Person").click();
      await page.keyboard.type(KNOWN_PERSON);
      await page.keyboard.press("Enter");
    };
    const choose = async (page: Page, name: string, label: string, query: string): Promise<void> => {
      await field(page, name).selectOption({ label });
      await page.waitForURL(`**?*${query}*`);
      await settled(page);
      expect(await rowsIn(page)).toBeGreaterThan(0);
    };

    test.each<[question: string, link: string, ask: (page: Page) => Promise<void>]>([
      [
        "which systems decided about this person last month",
        "Decisions",
        async (page) => {
          await askPerson(page);
          await page.getByText("3 in all").waitFor();
          const text = await page.locator("tbody").textContent();
          for (const system of ["Payment fraud screening", "Consumer credit, Copenhagen"])
            expect(text).toContain(system);
        },
      ],
      [
        "was each decision announced",
        "Decisions",
        async (page) => {
          await choose(page, "Missing", "Notice before the decision", "missing=notice");
          await page.locator("tbody").getByText("Notice before the decision").first().waitFor();
        },
      ],
      [
        "were objections answered in time",
        "Objections",
        (page) => choose(page, "Late", "late only", "late=true"),
      ],
      ["what is due next week", "Obligations", (page) => choose(page, "State", "due soon", "state=due_soon")],
      [
        "give me evidence for the authority",
        "Evidence",
        async (page) => {
          await askPerson(page);
          const downloaded = page.waitForEvent("download");
          await page.getByRole("button", { name: "Create the bundle" }).click();
          expect((await downloaded).suggestedFilename()).toEndWith(".zip");
        },
      ],
    ])("%s", async (_, link, ask) => {
      await using opened = await demo.open("");
      const { page } = opened;
      await heading(page, /fall due soon/).waitFor();
      await page.evaluate(COUNT);
      await page.getByRole("link", { name: link }).first().click();
      await settled(page);
      await ask(page);
      expect(await page.evaluate<number>("globalThis.clicks")).toBeWithin(1, 4);
    });
  });

  test("an obligation is waived with a reason, and shown as waived; who may only read is not asked", async () => {
    const path = "decision?id=dec-overdue";
    const key = await demo.makeSeat({ scopes: ["events:read", "obligations:waive"] });
    await using opened = await demo.open(path, { key, width: 390 });
    const { page } = opened;
    const clock = page.locator(".clock").filter({ hasText: "Explain the decision" });
    await clock.getByText("Waive").first().click();
    await clock.getByLabel(/Why it will not be met/).fill("Settled in person <b>today</b>");
    await expectAccessible(page, "waive");
    await clock.getByRole("button", { name: "Waive" }).click();
    await clock.getByText(/waived by .*: Settled in person <b>today<\/b>/).waitFor();
    await using reader = await demo.open(path);
    expect(await reader.page.getByText("Waive", { exact: true }).count()).toBe(0);
  });

  test("what customers send is text: script, right-to-left, long ids, names of members", async () => {
    const script = `<img src=x onerror="globalThis.hacked=1"><script>globalThis.hacked=1</script>`;
    const long = "x".repeat(256);
    const made = (event_id: string, asset_id: string, metadata: object) =>
      fact(event_id, MADE, metadata, { asset_id });
    const rows = [
      made(`evt_${script}`, script.slice(0, 120), { outcome: script, decision_id: script }),
      made("evt_rtl", "\u202Eredael a si siht", { outcome: "رفض", decision_id: long }),
      made(`evt_${long.slice(0, 250)}`, "constructor", { decision_id: "../../sign-in" }),
      made("evt_/../..?a#b", "__proto__", { decision_id: "a/b?c#d", reason: script }),
    ];
    const key = await demo.tenantWith("hostile", rows);
    await using opened = await demo.open("", { key, width: 390 });
    const { page, browser, complaints } = opened;
    const ids = rows.map(({ event_id }) => event_id);
    const decisions = [script, long, "../../sign-in", "a/b?c#d"];
    for (const path of [
      ...["events", "decisions", "systems", "coverage"],
      ...ids.map((id) => `event?id=${encodeURIComponent(id)}`),
      ...decisions.map((id) => `decision?id=${encodeURIComponent(id)}`),
    ]) {
      await openScreen(page, demo.root + path);
      expect([path, await page.locator(".failed").count()]).toEqual([path, 0]);
      expect([path, await page.evaluate("document.documentElement.scrollWidth - innerWidth")]).toEqual([
        path,
        0,
      ]);
      if (path.includes(encodeURIComponent("<img"))) await expectAccessible(page, path.slice(0, 20));
    }
    expect(await page.evaluate("globalThis.hacked ?? 'no'")).toBe("no");
    expect(browser.foreignRequests).toEqual([]);
    expect(complaints).toEqual([]);
  });

  test("a decision with more events than an answer has says so", async () => {
    const events = Array.from({ length: 300 }, (_, index) =>
      fact(`evt_many_${index}`, "decision.explanation_provided", { decision_id: "dec_many" }),
    );
    const key = await demo.tenantWith("many", events);
    await using opened = await demo.open("decision?id=dec_many", { key });
    const { page } = opened;
    await page.getByRole("link", { name: /There may be more events/ }).click();
    await page.getByText("300 in all").waitFor();
  });

  test("an empty tenant is shown what would fill each list", async () => {
    await using opened = await demo.open("", { key: await demo.tenantWith("empty", []), width: 390 });
    const { page } = opened;
    await heading(page, "No events yet").waitFor();
    for (const screen of ["decisions", "objections", "systems", "coverage", "obligations", "events"]) {
      await openScreen(page, demo.root + screen);
      expect([screen, await page.locator(".empty").count()]).toEqual([screen, 1]);
      await expectAccessible(page, `empty ${screen}`);
    }
  });

  test("a tenant whose events name no law sees its decisions, and nothing fails", async () => {
    const metadata = { decision_id: "dec_1", outcome: "denied" };
    const events = [event({ metadata }), fact("evt_o", "objection.received", metadata)];
    const key = await demo.tenantWith("lawless", events);
    await using opened = await demo.open("", { key, width: 390 });
    const { page, complaints } = opened;
    for (const screen of ["", "decision?id=dec_1", "letter?id=dec_1", "obligations", "coverage"]) {
      await openScreen(page, demo.root + screen);
      const found = [await page.locator("h1").count(), await page.locator(".failed").count()];
      expect([screen, ...found]).toEqual([screen, 1, 0]);
      await expectAccessible(page, `lawless ${screen}`);
    }
    expect(complaints).toEqual([]);
  });

  test("behind a path prefix", async () => {
    await using proxy = prefixProxy(demo.service.url, "/audit");
    await using opened = await openConsole({ root: proxy.root, path: "decisions" });
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
    await using opened = await openConsole({ root: `${before.url}/`, key: before.adminKey });
    const { page } = opened;
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
});

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
