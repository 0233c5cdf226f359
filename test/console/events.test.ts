/** The screens Events and Event as a person uses them. */
import { expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { valuesIn } from "../../src/console/comma-list.ts";
import { describeInBrowser } from "../support/browser.ts";
import { runCli } from "../support/cli.ts";
import {
  demoConsole,
  expectAccessible,
  openConsole,
  openScreen,
  sendAll,
  settled,
} from "../support/console.ts";
import { event, fact, MADE } from "../support/service.ts";
import { until } from "../support/until.ts";

const demo = demoConsole();

const line = (page: Page) => page.getByRole("combobox", { name: "Query" });
const option = (page: Page, name: string | RegExp) =>
  page.getByRole("listbox", { name: "Completions" }).getByRole("option", { name });
const field = (page: Page, name: string) => page.locator(".filters").getByLabel(name, { exact: true });
const asked = (page: Page): Record<string, string> => Object.fromEntries(new URL(page.url()).searchParams);

describeInBrowser("events", () => {
  test("the line, the form and the address say the same, whichever is changed", async () => {
    await using screen = await demo.open("events?columns=time,what,filter");
    const { page, complaints } = screen;
    await line(page).fill('event_type:decision.* -asset_id:consumer-credit-eu from:2026-01-01 "denied"');
    await line(page).press("Enter");
    await page.waitForURL(/q=denied/);
    await settled(page);
    expect(asked(page)).toEqual({
      columns: "time,what,filter",
      event_type: "decision.*",
      not_asset_id: "consumer-credit-eu",
      from: "2026-01-01",
      q: "denied",
    });
    expect(await field(page, "Words").inputValue()).toBe("denied");
    expect(await field(page, "From").inputValue()).toBe("2026-01-01");
    expect(await field(page, "Not System").inputValue()).toBe("consumer-credit-eu");
    await field(page, "Words").fill("approved");
    await field(page, "Words").press("Enter");
    await page.waitForURL(/q=approved/);
    const printed = "event_type:decision.* -asset_id:consumer-credit-eu from:2026-01-01 approved";
    await until("the line says it too", async () => (await line(page).inputValue()) === printed);
    await page.goBack();
    await page.waitForURL(/q=denied/);
    await until("the line went back", async () => (await line(page).inputValue()).endsWith(" denied"));
    await page.getByRole("link", { name: /Words: denied/ }).click();
    await until(
      "the chip is out of the line",
      async () => !(await line(page).inputValue()).includes("denied"),
    );
    await expectAccessible(page, "line");
    expect(complaints).toEqual([]);
  });

  test("what cannot be read is said at the line, asks for nothing, and never puts a name into the address", async () => {
    await using screen = await demo.open("events");
    const { page } = screen;
    for (const [text, said, selected] of [
      ["risk_tier:high assets:x", "Unknown filter", "assets:x"],
      ['q "open', "is not closed", '"open'],
      ["subject_hash:Kim", "Only a hash", "subject_hash:Kim"],
      ["from:yesterday", "Write a day", "from:yesterday"],
    ] as const) {
      await line(page).fill(text);
      await line(page).press("Enter");
      await page.getByRole("alert").getByText(said).waitFor();
      expect(await page.evaluate("getSelection().toString()")).toBe(selected);
      expect(page.url()).toBe(`${demo.root}events`);
    }
    await expectAccessible(page, "wrong line");
  });

  test("names and known values are completed by the keyboard alone", async () => {
    await using screen = await demo.open("events");
    const { page } = screen;
    await line(page).focus();
    await page.keyboard.type("-ass");
    await option(page, "asset_id").waitFor();
    await expectAccessible(page, "completions");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.keyboard.type("copenhagen");
    await option(page, /Consumer credit, Copenhagen/).waitFor();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.keyboard.type("risk_tier:");
    await option(page, /^high/).waitFor();
    await page.keyboard.press("Escape");
    expect(await option(page, /./).count()).toBe(0);
    await page.keyboard.type("high");
    await page.keyboard.press("Escape");
    await page.keyboard.press("Enter");
    await page.waitForURL(/risk_tier=high/);
    expect(asked(page)).toEqual({ not_asset_id: "consumer-credit-eu", risk_tier: "high" });
  });

  test("from a row's value to only it, to all without it, and from an event's page too", async () => {
    await using screen = await demo.open("events?event_type=decision.*");
    const { page } = screen;
    const menu = page.getByRole("button", { name: /^Filter by the values of: / }).first();
    await menu.focus();
    await page.keyboard.press("Enter");
    await page.getByRole("link", { name: /^only System: / }).waitFor();
    await expectAccessible(page, "values");
    await page.keyboard.press("Tab");
    expect(await page.evaluate("document.activeElement.textContent")).toStartWith("only Type: ");
    await page.getByRole("link", { name: /^not System: / }).click();
    await page.waitForURL(/not_asset_id=/);
    await settled(page);
    const { not_asset_id = "" } = asked(page);
    const list = await demo.service.call(`/v1/events?${new URL(page.url()).searchParams}&count=true`, {
      key: demo.key,
    });
    await page
      .getByText(
        `${list.json.data.length < 50 ? list.json.data.length : list.json.count.value} in all`.replace(
          /^(\d)(\d{3})/,
          "$1,$2",
        ),
      )
      .waitFor();
    await openScreen(page, `${demo.root}event?id=evt_nordbank_00100`);
    await page.getByRole("link", { name: /^only Type: / }).click();
    await page.waitForURL(/events\?event_type=/);
    expect(Object.keys(asked(page))).toEqual(["event_type"]);
    expect(not_asset_id).not.toBe("");
  });

  test("hostile values do no harm in rows, menus, chips, the line and commands", async () => {
    const values = [
      `<img src=x onerror="globalThis.hacked=1">'$(id)`,
      "\u202Eredael, a\\,b",
      "x".repeat(256),
    ];
    const key = await demo.tenantWith(
      "hostile-events",
      values.map((value, index) =>
        event({ event_id: `evt_${index}`, asset_id: value.slice(0, 128), correlation_id: value }),
      ),
    );
    await using screen = await demo.open("events", { key, width: 390 });
    const { page, complaints, browser } = screen;
    const menus = page.getByRole("button", { name: /^Filter by the values of: / });
    for (const [index, value] of values.toReversed().entries()) {
      await openScreen(page, `${demo.root}events`);
      await menus.nth(index).click();
      await page.getByRole("link", { name: /^only Case: / }).waitFor();
      await expectAccessible(page, value);
      await page.getByRole("link", { name: /^only Case: / }).click();
      await page.getByText("1 in all").waitFor();
      expect(valuesIn(asked(page).correlation_id ?? "")).toEqual([value]);
      await line(page).press("Enter");
      expect(valuesIn(asked(page).correlation_id ?? "")).toEqual([value]);
      expect(await page.evaluate("document.documentElement.scrollWidth - innerWidth")).toBe(0);
    }
    await expectAccessible(page, "hostile chips");
    await page.getByText("As a command").click();
    const command = await page.locator(".command code").nth(1).textContent();
    expect(command).not.toContain(key);
    const words = Bun.spawnSync(["sh", "-c", `prooftrail() { printf '%s\\0' "$@"; }; ${command}`]);
    const args = words.stdout.toString().split("\0").slice(0, -1);
    const ran = await runCli([...args, "--json"], { environment: { PROOFTRAIL_API_KEY: key } });
    expect([ran.err, ran.code]).toEqual(["", 0]);
    expect(JSON.parse(ran.out).data[0].event.correlation_id).toBe(values[0]);
    expect(await page.evaluate("globalThis.hacked ?? 'no'")).toBe("no");
    expect(browser.foreignRequests).toEqual([]);
    expect(complaints).toEqual([]);
  });

  test("a part of the histogram is chosen by dragging and by the keyboard, and its number is that of the list", async () => {
    await using screen = await demo.open("events");
    const { page } = screen;
    const plot = page.getByRole("slider", { name: "Events by time" });
    const box = await plot.boundingBox();
    if (!box) throw new Error("no plot");
    const at = (part: number): readonly [number, number] => [box.x + box.width * part, box.y + 20];
    await page.mouse.move(...at(0.5));
    await page.mouse.down();
    await page.mouse.move(...at(0.6));
    await page.mouse.up();
    await page.waitForURL(/from=.*to=/);
    await settled(page);
    const said = /: ([\d,]+) events/.exec(
      (await page.locator(".histogram figcaption").textContent()) ?? "",
    )?.[1];
    await page.getByText(`${said} in all`).waitFor();
    const from = await field(page, "From").inputValue();
    expect(from).toMatch(/T00:00$/);
    await expectAccessible(page, "histogram");
    await plot.focus();
    for (const key of ["Home", "ArrowRight", "Shift+ArrowRight"]) await page.keyboard.press(key);
    expect(await plot.getAttribute("aria-valuetext")).toMatch(/ to .*: \d/);
    const before = asked(page);
    await page.keyboard.press("Enter");
    await until("the time is shorter", async () => (asked(page).from ?? "") > (before.from ?? ""));
    // The form keeps times with seconds, which its fields cannot show.
    const exact = { from: "2026-01-01T10:00:30Z", to: "2026-11-01" };
    await openScreen(page, `${demo.root}events?${new URLSearchParams(exact)}`);
    await field(page, "Words").fill("decision");
    await field(page, "Words").press("Enter");
    await page.waitForURL(/q=decision/);
    expect(asked(page)).toEqual({ ...exact, q: "decision" });
    await page.getByText("No chart: events are counted").waitFor();
  });

  test("the histogram counts what the list has, also without a type, of a tier, of types and groups", async () => {
    await using screen = await demo.open("events");
    const { page } = screen;
    const from = new Date(Date.now() - 20 * 86_400_000).toISOString().slice(0, 10);
    for (const query of [
      "not_event_type=decision.*",
      "risk_tier=high",
      "event_type=decision.*,notice&not_asset_id=consumer-credit-eu",
    ]) {
      await openScreen(page, `${demo.root}events?from=${from}&${query}`);
      const caption = page.locator(".histogram figcaption");
      await caption.waitFor();
      const said = /: ([\d,]+) events/.exec((await caption.textContent()) ?? "")?.[1];
      expect([query, await page.locator(".lede").textContent()]).toEqual([query, `${said} in all`]);
    }
    await openScreen(page, `${demo.root}events?event_type=none.*`);
    await page.getByText("0 events, at most 0 in one bar (1 day).").waitFor();
  });

  test("a view is copied as a link, and kept by name in this browser", async () => {
    await using screen = await demo.open("events?risk_tier=high&columns=time,what");
    const { page } = screen;
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.getByRole("button", { name: "Copy link of this view" }).click();
    await page.getByText("Copied").waitFor();
    const copied = new URL(await page.evaluate<string>("navigator.clipboard.readText()"));
    expect([copied.pathname, Object.fromEntries(copied.searchParams)]).toEqual(["/events", asked(page)]);
    await page.getByText("Saved views").click();
    await page.getByLabel("Name of this view").fill(`<b>"mine"</b>`);
    await page.getByRole("button", { name: "Save" }).click();
    const view = page.getByRole("link", { name: `<b>"mine"</b>` });
    await view.waitFor();
    await expectAccessible(page, "views");
    await openScreen(page, `${demo.root}events`);
    await page.getByText("Saved views").click();
    await view.click();
    await page.waitForURL(/risk_tier=high/);
    expect(asked(page)).toEqual({ risk_tier: "high", columns: "time,what" });
    await page.getByRole("button", { name: /^Delete/ }).click();
    await view.waitFor({ state: "detached" });
    await page.evaluate(`localStorage.setItem("prooftrail-views-demo", '[{"name":1},null,"x"]')`);
    await openScreen(page, `${demo.root}events`);
    expect(await page.locator(".failed").count()).toBe(0);
  });

  test("following live: what arrives during a pause waits, and a broken connection leaves a mark and no gap", async () => {
    const key = await demo.tenantWith("live-tail", []);
    const send = (events: readonly object[]) => sendAll(demo.service, key, events);
    await using proxy = brokenProxy(demo.service.url);
    await using screen = await openConsole({ root: proxy.root, key, path: "events?live=true" });
    const { page } = screen;
    const live = page.locator(".live");
    const shown = live.locator("tbody tr:not(.mark)");
    await live.getByText("Live: new events appear on top.").waitFor();
    await send([event({ event_id: "evt_a" })]);
    await until("the first is shown", async () => (await shown.count()) === 1);
    await live.getByRole("button", { name: "Pause" }).click();
    await send(Array.from({ length: 60 }, (_, index) => event({ event_id: `evt_wait_${index}` })));
    await live.getByText("Paused: 60 new events wait.").waitFor();
    expect(await shown.count()).toBe(1);
    await live.getByRole("button", { name: "Continue" }).click();
    await live.getByText("10 events left out here").waitFor();
    expect(await shown.count()).toBe(50);
    proxy.isGone(true);
    await live.getByText("Connection lost.").waitFor();
    await send([event({ event_id: "evt_meanwhile", event_type: "objection.received" })]);
    proxy.isGone(false);
    await live.getByText(/Not connected from .* The events of this time are here/).waitFor();
    expect(await shown.first().textContent()).toContain("Objection received");
    await live.getByText("Live: new events appear on top.").waitFor();
    await expectAccessible(page, "live");
    await page.getByRole("link", { name: "Stop following" }).click();
    await live.waitFor({ state: "detached" });
  });

  test("an event says what its sender was warned of, and shows the others of its case", async () => {
    const key = await demo.tenantWith("warned", [
      event({ event_id: "evt_first", correlation_id: "case, 1" }),
      fact("evt_odd", MADE, undefined, {
        correlation_id: "case, 1",
        colour: "red",
        legal_bases: ["no_such_law"],
      }),
    ]);
    await using screen = await demo.open("event?id=evt_odd", { key, width: 390 });
    const { page } = screen;
    await page.getByText("A legal basis that no rule names").waitFor();
    await page.getByText("An unknown member").waitFor();
    await page.getByText("(this event)").waitFor();
    await expectAccessible(page, "warned");
    await page.getByRole("link", { name: "All events of the case" }).click();
    await page.getByText("2 in all").waitFor();
    await openScreen(page, `${demo.root}event?id=evt_first`);
    await page.getByText("(this event)").waitFor();
    expect(await page.getByText("Accepted with warnings").count()).toBe(0);
  });

  test("of very many events the page holds one page of rows, and leads on", async () => {
    const key = await demo.tenantWith(
      "many-events",
      Array.from({ length: 1000 }, (_, index) => event({ event_id: `evt_${index}` })),
    );
    await using screen = await demo.open("events", { key });
    const { page } = screen;
    const shown = page.locator("tbody tr");
    expect(await shown.count()).toBe(50);
    await page.getByRole("link", { name: "Next page" }).click();
    await page.waitForURL(/cursor=/);
    await settled(page);
    expect(await shown.count()).toBe(50);
  });
});

/** The service, which is gone for a while: open streams break, and what answers is not the stream. */
const brokenProxy = (url: string) => {
  let isGone = false;
  const streams = new Set<AbortController>();
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    fetch: async (request) => {
      const { pathname, search } = new URL(request.url);
      const isStream = pathname.endsWith("/stream");
      if (isStream && isGone) return new Response("gone", { status: 502 });
      const headers = new Headers(request.headers);
      headers.set("accept-encoding", "identity");
      const { method, body } = request;
      const answer = await fetch(url + pathname + search, { method, headers, body });
      if (!isStream || answer.body === null) return answer;
      const controller = new AbortController();
      streams.add(controller);
      const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
      answer.body
        .pipeTo(writable, { signal: controller.signal, preventAbort: true })
        .catch(() => writable.close())
        // The page may have ended it first.
        .catch(() => undefined);
      return new Response(readable, answer);
    },
  });
  return {
    root: `${server.url.origin}/`,
    isGone: (now: boolean): void => {
      isGone = now;
      if (now) for (const stream of streams) stream.abort();
    },
    [Symbol.asyncDispose]: () => server.stop(true),
  };
};
