/**
 * The files for browsers: Swagger UI from its package with the few lines of our own that start it, the page at /sandbox, and the page that verifies. They are read
 * and made from the source at the start, the console at its first request. The executable has no folders to read from; it contains the files as they
 * were when it was built. Deno has no bundler, and takes what `bun run build:pages` made.
 */
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import type { Asset, ConsoleFiles, DocsAssets, SandboxPage, VerifyPage } from "../api/http/dependencies.ts";
import { bundleForBrowser, canBundle } from "../runtime/bundle.ts";
import { missingAs } from "../runtime/durable-file.ts";
import { type BrowserFiles, embeddedFiles } from "./embedded-files.ts";

export const loadBrowserFiles = async (): Promise<{
  docsAssets: DocsAssets;
  sandboxPage: SandboxPage;
  verifyPage: VerifyPage | undefined;
  consoleFiles: () => Promise<ConsoleFiles | undefined>;
}> => {
  const built = embeddedFiles ?? (canBundle ? undefined : await readBuiltFiles());
  const { docs, sandbox, verify } = built ?? (await readPages());
  return {
    docsAssets: new Map(Object.entries(docs).map(toAsset)),
    sandboxPage: sandbox,
    verifyPage: verify,
    consoleFiles: async () => (built ? built.console : readConsole()),
  };
};

const toAsset = ([name, text]: readonly [string, string]): [string, Asset] => {
  const mediaType = name.endsWith(".js") ? "text/javascript" : "text/css";
  return [name, { mediaType: `${mediaType}; charset=utf-8`, bytes: new TextEncoder().encode(text) }];
};

/** Built by `bun run build:pages`, for a runtime without a bundler. */
export const BUILT_FILES = "dist/pages.json";

const readBuiltFiles = async (): Promise<BrowserFiles | undefined> => {
  const text = await readFile(ours(`../../${BUILT_FILES}`), "utf8").catch(missingAs(undefined));
  return text === undefined ? undefined : JSON.parse(text);
};

const ours = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const read = (path: string): Promise<string> => readFile(path, "utf8");

/** From the source. */
export const readBrowserFiles = async (): Promise<BrowserFiles> => ({
  ...(await readPages()),
  console: await readConsole(),
});

/** The console from the source. */
export const readConsole = async (): Promise<ConsoleFiles | undefined> => {
  const script = await bundleForBrowser(ours("../console/main.tsx"));
  const embed = await bundleForBrowser(ours("../console/embed/events.ts"), "iife");
  if (script === undefined || embed === undefined) return undefined;
  return { script, style: await joined(...CONSOLE_STYLES), embed };
};

const CONSOLE_STYLES = ["../console/tokens.css", "../console/site.css", "../console/console.css"];

const joined = async (...paths: readonly string[]): Promise<string> =>
  (await Promise.all(paths.map((path) => read(ours(path))))).join("");

/** Bundling a script takes about 20 ms. */
const readPages = async (): Promise<Omit<BrowserFiles, "console">> => {
  const { resolve } = createRequire(import.meta.url);
  return {
    docs: {
      "swagger-ui-bundle.js": await read(resolve("swagger-ui-dist/swagger-ui-bundle.js")),
      "swagger-ui.css": await read(resolve("swagger-ui-dist/swagger-ui.css")),
      "page.js": await read(ours("../api/docs-page/page.js")),
      // In a layer, so that rules of ours need not outdo the vendor's.
      "page.css": `@import "./swagger-ui.css" layer(vendor);
${await joined("../console/tokens.css", "../console/site.css", "../api/docs-page/page.css")}`,
    },
    sandbox: {
      script: await bundleForBrowser(ours("../console/sandbox-page/page.ts")),
      style: await joined(...CONSOLE_STYLES, "../console/sandbox-page/page.css"),
    },
    verify: selfContained({
      page: await read(ours("../console/verify-page/page.html")),
      style: await joined("../console/tokens.css", "../console/site.css", "../console/verify-page/page.css"),
      script: await bundleForBrowser(ours("../console/verify-page/page.ts"), "iife"),
    }),
  };
};

/**
 * Puts style and script into a page, so that it needs no other file and no network, with a policy that lets a browser run these two by their
 * hashes and nothing else. The policy is in the page, for a copy on disk, and beside it, for the header of the answer.
 */
const selfContained = ({
  page,
  style,
  script,
}: {
  readonly page: string;
  readonly style: string;
  /** Undefined if this runtime has no bundler. */
  readonly script: string | undefined;
}): VerifyPage | undefined => {
  if (script === undefined) return undefined;
  // Texts that would end the element, or hide its end (HTML §4.12.1.3), can stand only in strings, where the backslash means nothing.
  const inline = script.replaceAll(/<(?=\/script|!--)/gi, "<\\");
  const policy = [
    "default-src 'none'",
    `script-src '${hashOf(inline)}'`,
    `style-src '${hashOf(style)}'`,
    // The page starts a copy of its own script.
    "worker-src blob:",
    "img-src data:",
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
  const html = page
    .replace('content="POLICY"', () => `content="${policy}"`)
    .replace("/* STYLE */", () => style)
    .replace("/* SCRIPT */", () => inline);
  return { html, policy };
};

const hashOf = (text: string): string => `sha256-${createHash("sha256").update(text).digest("base64")}`;
