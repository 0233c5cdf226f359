/**
 * A headless Chromium that reaches nothing but one origin: the one named by CHROMIUM_BIN, one that is installed, else the one that a
 * package ships (packaged-browser.ts).
 */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { type BrowserContext, chromium, type Page } from "playwright-core";
import { ownBrowser } from "./own-browser.ts";
import { hasPackagedBrowser, packagedBrowser, packagedBrowserArguments } from "./packaged-browser.ts";

/** Why browser tests cannot run on this machine; undefined where they can. */
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

/** This machine under a name by which pages over plain http are no secure context, as by 127.0.0.1 they are. */
export const NAMED_HOST = "audit.test";

export interface TestBrowser extends AsyncDisposable {
  readonly context: BrowserContext;
  /** What the page asked of any other origin: nothing, if it keeps its promise. */
  readonly foreignRequests: readonly string[];
}

/** A process for each: the packaged one ends with its first context. */
export const startBrowser = async (options: {
  readonly origin: string;
  readonly width: number;
}): Promise<TestBrowser> => {
  const own = ownBrowser(process.env);
  const executablePath = own ?? (await packagedBrowser());
  const browser = await chromium.launch({
    executablePath,
    headless: true,
    args: [
      ...(own === undefined ? packagedBrowserArguments : ["--no-sandbox"]),
      "--disable-gpu",
      ...QUIET,
      `--host-resolver-rules=MAP ${NAMED_HOST} 127.0.0.1, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1`,
    ],
  });
  const context = await browser.newContext({ viewport: { width: options.width, height: 900 } });
  const foreignRequests: string[] = [];
  await context.route(
    (url) => url.origin !== options.origin && url.protocol.startsWith("http"),
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

/** A page, and all that it complains about. */
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

/** SCREENSHOTS=folder keeps what was seen. */
export const screenshotPath = async (name: string): Promise<string | undefined> => {
  const folder = process.env.SCREENSHOTS;
  if (folder === undefined) return undefined;
  await mkdir(folder, { recursive: true });
  return join(folder, name);
};
