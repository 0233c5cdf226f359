/** The console in a browser: signing in, and what every screen must pass. */
import { expect } from "bun:test";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";
import { screenshotPath, startBrowser, type TestBrowser } from "./browser.ts";
import { until } from "./until.ts";

export interface OpenConsole extends AsyncDisposable {
  readonly browser: TestBrowser;
  readonly page: Page;
  /** What the page complained about, but for answers of the service: those are shown. */
  readonly complaints: readonly string[];
}

export const openConsole = async (options: {
  /** With a slash at its end. */
  readonly root: string;
  readonly width: number;
  readonly path?: string;
  readonly providers?: readonly string[];
}): Promise<OpenConsole> => {
  const { root, width, path = "", providers } = options;
  const browser = await startBrowser({ origin: new URL(root).origin, width, providers });
  const page = await browser.context.newPage();
  const complaints: string[] = [];
  page.on("console", (message) => {
    const isAnswer = message.text().startsWith("Failed to load resource");
    if (["error", "warning"].includes(message.type()) && !isAnswer) complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(String(error)));
  await page.goto(root + path);
  return { browser, page, complaints, [Symbol.asyncDispose]: () => browser[Symbol.asyncDispose]() };
};

export const signIn = async (page: Page, key: string): Promise<void> => {
  await page.getByLabel("API key").fill(key);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.locator("header.side").waitFor();
};

/** Signed in, and at the screen of `path` if it is given. */
export const openSignedIn = async (options: {
  readonly root: string;
  readonly key: string;
  readonly width?: number;
  readonly path?: string;
}): Promise<OpenConsole> => {
  const { root, key, width = 1280, path } = options;
  const opened = await openConsole({ root, width });
  await signIn(opened.page, key);
  if (path !== undefined) await openScreen(opened.page, root + path);
  return opened;
};

/** Opens a screen and waits until nothing of it is still loading. */
export const openScreen = async (page: Page, address: string): Promise<void> => {
  await page.goto(address);
  await settled(page);
};

export const settled = async (page: Page): Promise<void> => {
  await page.locator("#content").waitFor();
  await until("the screen is there", async () => (await page.locator(".loading").count()) === 0);
};

/** The script, which adds `axe` to a page. */
export const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly html: string }[];
}

/** WCAG 2.2 AA, and that nothing is wider than the window. `except` names rules of axe-core that a page is known to break. */
export const faultsOf = async (page: Page, except: readonly string[] = []): Promise<readonly string[]> => {
  await page.evaluate(axe);
  const rules = Object.fromEntries(except.map((rule) => [rule, { enabled: false }]));
  const { violations } = await page.evaluate<{ violations: Violation[] }>(
    `axe.run(${JSON.stringify({ runOnly: RULES, rules })})`,
  );
  const excess = await page.evaluate<number>("document.documentElement.scrollWidth - window.innerWidth");
  return [
    ...violations.flatMap(({ id, nodes }) => nodes.slice(0, NODES_MAX).map(({ html }) => `${id}: ${html}`)),
    ...(excess > 0 ? [`${excess} pixels too wide`] : []),
  ];
};

const NODES_MAX = 5;

/**
 * What Swagger UI's own markup breaks: the tags are `h3` below an `h1`, the button that opens an operation holds its link, and what it says
 * before its `main` is in no landmark.
 */
export const SWAGGER_UI_BREAKS = ["heading-order", "nested-interactive", "region"];

export const expectAccessible = async (page: Page, name: string): Promise<void> => {
  expect([name, await faultsOf(page)]).toEqual([name, []]);
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
}): Promise<void> => {
  const { root, key, width, scheme, lang, screens } = asked;
  await using opened = await openConsole({ root, width });
  const { page, browser, complaints } = opened;
  await page.emulateMedia({ colorScheme: scheme });
  await page.getByLabel("API key").waitFor();
  await expectAccessible(page, "sign-in");
  await signIn(page, key);
  await page.evaluate(`localStorage.setItem("prooftrail-language", "${lang}")`);
  for (const screen of screens) {
    await openScreen(page, screenAddress(root, screen));
    expect([screen, await page.locator(".failed").count()]).toEqual([screen, 0]);
    expect([screen, await page.locator("h1").count()]).toEqual([screen, 1]);
    expect(await page.evaluate("document.documentElement.lang")).toBe(lang);
    await expectAccessible(page, screen);
    const path = await screenshotPath(`console-${screen || "overview"}-${width}-${scheme}-${lang}.png`);
    if (path) await page.screenshot({ path, fullPage: true });
  }
  expect(browser.foreignRequests).toEqual([]);
  expect(complaints).toEqual([]);
};
