/** The console in a browser: signing in, and what every screen must pass. */
import { afterAll, beforeAll, expect } from "bun:test";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";
import { screenshotPath, startBrowser, type TestBrowser } from "./browser.ts";
import { type DemoService, startDemoService } from "./demo-service.ts";
import type { TestService } from "./service.ts";

export interface OpenConsole extends AsyncDisposable {
  readonly browser: TestBrowser;
  readonly page: Page;
  /** What the page complained about, but for answers of the service: those are shown. */
  readonly complaints: readonly string[];
}

/** With a key: signed in, and `path` has nothing that is still loading. Without one: as `path` is for whoever is not signed in. */
export const openConsole = async (options: {
  /** With a slash at its end. */
  readonly root: string;
  readonly key?: string;
  readonly path?: string;
  readonly width?: number;
  readonly providers?: readonly string[];
}): Promise<OpenConsole> => {
  const { root, key, width = 1280, path = "", providers } = options;
  const browser = await startBrowser({ origin: new URL(root).origin, width, providers });
  if (key !== undefined) await signInAside(browser, root, key);
  const page = await browser.context.newPage();
  const complaints: string[] = [];
  page.on("console", (message) => {
    const isAnswer = message.text().startsWith("Failed to load resource");
    if (["error", "warning"].includes(message.type()) && !isAnswer) complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(String(error)));
  if (key === undefined) await page.goto(root + path);
  else await openScreen(page, root + path);
  return { browser, page, complaints, [Symbol.asyncDispose]: () => browser[Symbol.asyncDispose]() };
};

/** The console over the history of the demo, for all tests of a file. */
export const demoConsole = () => {
  let demo: DemoService;
  beforeAll(async () => {
    demo = await startDemoService();
  });
  afterAll(() => demo[Symbol.asyncDispose]());
  return {
    get root() {
      return `${demo.service.url}/`;
    },
    /** Of a reader. */
    get key() {
      return demo.key;
    },
    get service() {
      return demo.service;
    },
    makeSeat: (request: object) => demo.makeSeat(request),
    /** A screen for whoever has the key: a reader, by default. */
    open: (path: string, options: { readonly key?: string; readonly width?: number } = {}) =>
      openConsole({ root: `${demo.service.url}/`, path, key: demo.key, ...options }),
    /** The key of a tenant of its own, which has these events. */
    tenantWith: async (tenant: string, events: readonly object[]): Promise<string> => {
      const key = await demo.service.makeKey(tenant);
      await sendAll(demo.service, key, events);
      return key;
    },
  };
};

/** Returns when lists have them. */
export const sendAll = async (
  service: TestService,
  key: string,
  events: readonly object[],
): Promise<void> => {
  if (events.length === 0) return;
  const { text, json } = await service.call("/v1/events/batch", { key, body: { events } });
  expect([text, json.data?.accepted]).toEqual([text, events.length]);
  await service.call(`/v1/events?min_sequence=${json.data.sequence}`, { key });
};

/** As the page of signing in does it, which takes the browser longer than most tests (test/console/console.test.ts tests the page). */
const signInAside = async ({ context }: TestBrowser, root: string, key: string): Promise<void> => {
  const headers = { authorization: `Bearer ${key}` };
  const answer = await context.request.post(`${root}v1/session`, { headers });
  if (!answer.ok()) throw new Error(await answer.text());
};

export const signIn = async (page: Page, key: string): Promise<void> => {
  await page.getByLabel("API key").fill(key);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.locator("header.side").waitFor();
};

/** Opens a screen and waits until nothing of it is still loading. */
export const openScreen = async (page: Page, address: string): Promise<void> => {
  await page.goto(address);
  await settled(page);
};

export const settled = (page: Page): Promise<void> =>
  page.locator("body:has(#content):not(:has(.loading))").waitFor();

/** The next screen is in this language. */
export const speak = (page: Page, lang: "en" | "ko"): Promise<void> =>
  page.evaluate(`localStorage.setItem("prooftrail-language", "${lang}")`);

/** The script, which adds `axe` to a page. */
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

export const addAxe = async (page: Page): Promise<void> => {
  if (!(await page.evaluate<boolean>(`"axe" in globalThis`))) await page.evaluate(axe);
};

const RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

/** WCAG 2.2 AA, and that nothing is wider than the window. `except` names rules of axe-core that a page is known to break. */
export const faultsOf = async (
  page: Page,
  options: { readonly except?: readonly string[]; readonly rowsMax?: number } = {},
): Promise<readonly string[]> => {
  const { except = [], rowsMax = 1_000_000 } = options;
  await addAxe(page);
  const context = { exclude: [`tbody tr:nth-child(n + ${rowsMax + 1})`] };
  const rules = Object.fromEntries(except.map((rule) => [rule, { enabled: false }]));
  // What passes is most of the answer, and what the elements are called is most of the work: a third of the time without (measured).
  const run = { runOnly: RULES, rules, resultTypes: ["violations"], selectors: false };
  const asked = [context, run].map((each) => JSON.stringify(each)).join();
  return await page.evaluate<string[]>(`(async () => {
    // Colours that still change have no contrast of their own.
    const changing = document.getAnimations().filter(({ effect }) => Number.isFinite(effect.getComputedTiming().endTime));
    await Promise.allSettled(changing.map(({ finished }) => finished));
    const { violations } = await axe.run(${asked});
    const faults = violations.flatMap(({ id, nodes }) => nodes.slice(0, ${NODES_MAX}).map(({ html }) => id + ": " + html));
    const excess = document.documentElement.scrollWidth - innerWidth;
    return excess > 0 ? [...faults, excess + " pixels too wide"] : faults;
  })()`);
};

const NODES_MAX = 5;

/**
 * What Swagger UI's own markup breaks: the tags are `h3` below an `h1`, the button that opens an operation holds its link, and what it says
 * before its `main` is in no landmark.
 */
export const SWAGGER_UI_BREAKS = ["heading-order", "nested-interactive", "region"];

/** The rows of a list are alike: `rowsMax` of them are looked at. SCREENSHOTS=folder keeps a picture of it. */
export const expectAccessible = async (page: Page, name: string, rowsMax = 10): Promise<void> => {
  expect([name, await faultsOf(page, { rowsMax })]).toEqual([name, []]);
  const path = await screenshotPath(`console-${name.replaceAll(/\W+/g, "-")}.png`);
  if (path) await page.screenshot({ path, fullPage: true });
};

/** What a screen needs to show something. */
const PARAMETERS: Readonly<Record<string, string>> = {
  event: "id=evt_nordbank_00100",
  decision: "id=dec-overdue",
  letter: "id=dec-overdue",
  record: "what=objection.resolved&objection_id=obj-overdue&asset_id=consumer-credit-eu",
  evidence: "asset_id=consumer-credit-eu",
  system: "id=consumer-credit-eu",
  coverage: `cell=${encodeURIComponent('["consumer-credit-eu","gdpr_art_22","objection"]')}`,
  incident: "id=inc-leaked-context",
  "first-report": "id=inc-bulk-denials",
};

export const screenAddress = (root: string, screen: string): string =>
  `${root}${screen}?${PARAMETERS[screen] ?? ""}`;

/** The page of signing in, and these screens over the history of the demo. */
export const expectGoodScreens = async (asked: {
  readonly root: string;
  readonly key: string;
  readonly width: number;
  readonly scheme: "light" | "dark";
  readonly lang: "en" | "ko";
  readonly screens: readonly string[];
  readonly rowsMax?: number;
}): Promise<void> => {
  const { root, key, width, scheme, lang, screens } = asked;
  await using opened = await openConsole({ root, width });
  const { page, browser, complaints } = opened;
  await page.emulateMedia({ colorScheme: scheme });
  await page.getByLabel("API key").waitFor();
  await expectAccessible(page, "sign-in");
  await signIn(page, key);
  await speak(page, lang);
  for (const screen of screens) {
    await openScreen(page, screenAddress(root, screen));
    expect([screen, await page.locator(".failed").count()]).toEqual([screen, 0]);
    expect([screen, await page.locator("h1").count()]).toEqual([screen, 1]);
    expect(await page.evaluate("document.documentElement.lang")).toBe(lang);
    await expectAccessible(page, `${screen || "overview"} ${width} ${scheme} ${lang}`, asked.rowsMax);
  }
  expect(browser.foreignRequests).toEqual([]);
  expect(complaints).toEqual([]);
};
