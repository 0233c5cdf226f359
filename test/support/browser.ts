/**
 * A headless Chromium that reaches only one origin, and those of sign-in providers: the one named by CHROMIUM_BIN, an installed one, or the one
 * from a package (packaged-browser.ts).
 */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { type BrowserContext, chromium, type Page } from "playwright-core";
import { ownBrowser } from "./own-browser.ts";
import { hasPackagedBrowser, packagedBrowser, packagedBrowserArguments } from "./packaged-browser.ts";
import { WAIT_MS_MAX } from "./time-limits.ts";

/** Why browser tests cannot run on this machine; undefined if they can. */
export const noBrowserReason =
  ownBrowser(process.env) !== undefined || hasPackagedBrowser
    ? undefined
    : "no Chromium: set CHROMIUM_BIN or install one (the packaged one runs on Linux x64)";

const QUIET = [
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** This machine under a name with which pages over plain http are not a secure context, as they are with 127.0.0.1. */
export const NAMED_HOST = "audit.test";

export interface TestBrowser extends AsyncDisposable {
  readonly context: BrowserContext;
  /** The page's requests to any other origin: none, if it keeps its promise. */
  readonly foreignRequests: readonly string[];
}

/** One process each: the packaged browser ends with its first context. */
export const startBrowser = async (options: {
  readonly origin: string;
  readonly width: number;
  /** Origins where people sign in. */
  readonly providers?: readonly string[] | undefined;
}): Promise<TestBrowser> => {
  const reached = [options.origin, ...(options.providers ?? [])];
  const own = ownBrowser(process.env);
  const executablePath = own ?? (await packagedBrowser());
  const browser = await chromium.launch({
    executablePath,
    headless: true,
    timeout: WAIT_MS_MAX,
    args: [
      ...(own === undefined ? packagedBrowserArguments : ["--no-sandbox"]),
      "--disable-gpu",
      ...QUIET,
      `--host-resolver-rules=MAP ${NAMED_HOST} 127.0.0.1, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost`,
    ],
  });
  const context = await browser.newContext({ viewport: { width: options.width, height: 900 } });
  context.setDefaultTimeout(WAIT_MS_MAX);
  const foreignRequests: string[] = [];
  await context.route(
    (url) => !reached.includes(url.origin) && url.protocol.startsWith("http"),
    (route) => {
      foreignRequests.push(route.request().url());
      return route.abort();
    },
  );
  return {
    context,
    foreignRequests,
    [Symbol.asyncDispose]: () => browser.close(),
  };
};

/** A page, and all errors that it reports. */
export const openPage = async (
  browser: TestBrowser,
  url: string,
): Promise<{ readonly page: Page; readonly complaints: readonly string[] }> => {
  const page = await browser.context.newPage();
  const complaints: string[] = [];
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(String(error)));
  await page.goto(url);
  return { page, complaints };
};

/** SCREENSHOTS=folder keeps screenshots there. */
export const screenshotPath = async (name: string): Promise<string | undefined> => {
  const folder = process.env.SCREENSHOTS;
  if (folder === undefined) return undefined;
  await mkdir(folder, { recursive: true });
  return join(folder, name);
};
