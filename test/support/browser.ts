/**
 * A headless Chromium that reaches nothing but one origin: the one named by CHROMIUM_BIN, one that is installed, else the one that the
 * package @sparticuz/chromium ships (Linux on x64), unpacked into a folder that goes with the process.
 */
import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { delimiter, join } from "node:path";
import packaged from "@sparticuz/chromium";
import { type BrowserContext, chromium, type Page } from "playwright-core";
import { lastingFolder, sharedByFiles } from "./lasting-folder.ts";

const NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

const installed = (): string | undefined =>
  (process.env.PATH ?? "")
    .split(delimiter)
    .flatMap((folder) => NAMES.map((name) => join(folder, name)))
    .find((path) => existsSync(path));

const hasPackaged = process.platform === "linux" && process.arch === "x64";

/** Why browser tests cannot run on this machine; undefined where they can. */
export const noBrowserReason =
  process.env.CHROMIUM_BIN || installed() || hasPackaged
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

/** Unpacking it costs more than all that a test does with it. */
const unpacked = sharedByFiles(() => unpack(lastingFolder("browser").path));

/** A process for each: the packaged one ends with its first context. */
export const startBrowser = async (options: {
  readonly origin: string;
  readonly width: number;
}): Promise<TestBrowser> => {
  const own = process.env.CHROMIUM_BIN ?? installed();
  const executablePath = own ?? (await unpacked());
  const browser = await chromium.launch({
    executablePath,
    headless: true,
    args: [
      ...(own === undefined ? packaged.args : ["--no-sandbox", "--disable-gpu"]),
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

/** The package unpacks into the folder for temporary files, and looks for it when it is asked. */
const unpack = async (folder: string): Promise<string> => {
  const before = process.env.TMPDIR;
  process.env.TMPDIR = folder;
  try {
    return await packaged.executablePath();
  } finally {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
  }
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
