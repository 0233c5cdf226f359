/** A headless Chromium that reaches only this machine: the one named by CHROMIUM_BIN, an installed one, or the one from a package (packaged-browser.ts). */
import { describe } from "bun:test";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { type BrowserContext, chromium, type Page } from "playwright-core";
import { lastingFolder, sharedByFiles } from "./lasting-folder.ts";
import { ownBrowser } from "./own-browser.ts";
import { hasPackagedBrowser, packagedBrowser, packagedBrowserArguments } from "./packaged-browser.ts";
import { WAIT_MS_MAX } from "./time-limits.ts";

/** Why browser tests cannot run on this machine; undefined if they can. */
export const noBrowserReason =
  ownBrowser(process.env) !== undefined || hasPackagedBrowser
    ? undefined
    : "no Chromium: set CHROMIUM_BIN or install one (the packaged one runs on Linux x64)";

/** `describe` for tests in the browser, with the reason in its name where they are skipped. */
export const describeInBrowser = (what: string, tests: () => void): void =>
  describe.skipIf(noBrowserReason !== undefined)(
    what + (noBrowserReason ? ` (skipped: ${noBrowserReason})` : ""),
    tests,
  );

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
  /** The page's requests to any other origin: none, if it keeps its promise. None of them leaves this machine. */
  readonly foreignRequests: readonly string[];
}

/** The browser ends when this process does, and writes to its profile until then. (Brackets, so that grep does not find itself.) */
const UNTIL_IT_ENDED = `
tries=0
while [ "$tries" -lt 100 ] && grep -qsz -- "[u]ser-data-dir=$1" /proc/[0-9]*/cmdline; do
  sleep 0.1
  tries=$((tries + 1))
done
`;

/** One process for all tests of this process; each test has its own context in it, with its own cookies, storage and cache. */
const sharedBrowser = sharedByFiles(async () => {
  const own = ownBrowser(process.env);
  const executablePath = own ?? (await packagedBrowser());
  const folder = lastingFolder("chromium", { ending: UNTIL_IT_ENDED });
  // Playwright makes the folders of a browser there, and removes them only if it is closed.
  const before = process.env.TMPDIR;
  process.env.TMPDIR = folder.path;
  try {
    return await chromium.launch({
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
  } finally {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
  }
});

export const startBrowser = async (options: {
  readonly origin: string;
  readonly width: number;
  /** Origins where people sign in. */
  readonly providers?: readonly string[] | undefined;
}): Promise<TestBrowser> => {
  const reached = [options.origin, ...(options.providers ?? [])];
  const browser = await sharedBrowser();
  const context = await browser.newContext({ viewport: { width: options.width, height: 900 } });
  context.setDefaultTimeout(WAIT_MS_MAX);
  const foreignRequests: string[] = [];
  // Only listened to: whoever intercepts requests switches the cache off, and answers the question before a request (CORS) in the service's place.
  context.on("request", (request) => {
    const { origin, protocol } = new URL(request.url());
    if (!reached.includes(origin) && protocol.startsWith("http")) foreignRequests.push(request.url());
  });
  return { context, foreignRequests, [Symbol.asyncDispose]: () => context.close() };
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
