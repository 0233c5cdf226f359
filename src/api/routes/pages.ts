/** The pages: the console, the sandbox, the verifier. */
import { hash } from "node:crypto";
import { gzipSync } from "node:zlib";
import { refuse, respond, send } from "../http/answers.ts";
import type { ConsoleFiles, HttpDependencies, SandboxPage, VerifyPage } from "../http/dependencies.ts";
import { contextOf, requestUrl } from "../http/request-context.ts";
import { hidden, type Route } from "../http/route.ts";
import { consolePage, SANDBOX_PAGE } from "./page-html.ts";

/** The paths of src/console/address.ts; a test compares them. */
export const CONSOLE_PATHS = [
  "/",
  "/sign-in",
  "/events",
  "/event",
  "/decisions",
  "/decision",
  "/letter",
  "/obligations",
  "/coverage",
  "/evidence",
  "/record",
  "/systems",
  "/system",
  "/models",
  "/notices",
  "/objections",
  "/reviews",
  "/incidents",
  "/incident",
  "/first-report",
  "/looked-at",
  "/assessments",
  "/risk-changes",
  "/sources",
  "/gaps",
  "/keys",
  "/retention",
] as const;

export const pageRoutes = (dependencies: HttpDependencies): readonly Route[] => [
  ...sandboxPageRoutes(dependencies.sandboxPage),
  ...consoleRoutes(dependencies.consoleFiles, dependencies.signIn?.settings.issuer.host),
  ...verifyPageRoutes(dependencies.verifyPage),
];

const HTML = "text/html; charset=utf-8";
const SCRIPT = "text/javascript; charset=utf-8";
const STYLE = "text/css; charset=utf-8";
const NOSNIFF = { "x-content-type-options": "nosniff" };

/** Nothing from another origin, and nothing inline but what is named. */
export const pageHeaders = (
  policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'",
) => ({
  "content-security-policy": `${policy}; frame-ancestors 'none'`,
  "referrer-policy": "no-referrer",
  ...NOSNIFF,
});

const file = (
  path: string,
  mediaType: string,
  text: string,
  headers: Readonly<Record<string, string>> = NOSNIFF,
) => hidden(path, ({ request }) => respond(contextOf(request), send(mediaType, text, headers)));

const absent = (paths: readonly string[], detail: string): readonly Route[] =>
  paths.map((path) =>
    hidden(path, ({ request }) => respond(contextOf(request), refuse("not_found", detail))),
  );

const verifyPageRoutes = (page: VerifyPage | undefined): readonly Route[] =>
  page === undefined
    ? absent(["/verify"], "This page needs the service to run on Bun. `prooftrail verify` does the same.")
    : [file("/verify", HTML, page.html, pageHeaders(page.policy))];

const sandboxPageRoutes = ({ script, style }: SandboxPage): readonly Route[] =>
  script === undefined
    ? absent(
        ["/sandbox", "/sandbox/page.js", "/sandbox/page.css"],
        "This page needs the service to run on Bun. The API is described at /docs.",
      )
    : [
        file("/sandbox", HTML, SANDBOX_PAGE, pageHeaders()),
        file("/sandbox/page.js", SCRIPT, script),
        file("/sandbox/page.css", STYLE, style),
      ];

interface Prepared {
  readonly page: string;
  readonly files: ReadonlyMap<string, ServedFile>;
}

interface ServedFile {
  readonly mediaType: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly zipped: Uint8Array<ArrayBuffer>;
}

/** Its address never changes, and its content does with the version. */
const EMBED = "embed.js";
const EMBED_HEADERS = {
  "cache-control": "public, max-age=3600",
  // It holds nothing of anybody, and pages may name its hash (`integrity`).
  "access-control-allow-origin": "*",
  "cross-origin-resource-policy": "cross-origin",
};

/**
 * Every screen is one page at its own path, one level below the root, so that addresses relative to it hold behind any path prefix. Script
 * and style have the hash of their content in their names and may be kept.
 */
const consoleRoutes = (
  /** Asked for at the first request: bundling takes a moment, and most processes serve no console. */
  files: () => Promise<ConsoleFiles | undefined>,
  /** Host of the provider with which people sign in, if there is one. */
  providerHost: string | undefined,
): readonly Route[] => {
  let prepared: Promise<Prepared | undefined> | undefined;
  const prepare = (): Promise<Prepared | undefined> => {
    prepared ??= files().then((found) => found && preparedOf(found, providerHost));
    return prepared;
  };
  const servePage = async ({ request }: { request: Request }): Promise<Response> => {
    const context = contextOf(request);
    const { pathname, search } = requestUrl(request.url);
    if (pathname.length > 1 && pathname.endsWith("/"))
      return new Response(null, {
        status: 308,
        headers: { location: `..${pathname.slice(0, -1)}${search}`, "x-request-id": context.requestId },
      });
    const found = await prepare();
    return respond(context, found ? send(HTML, found.page, pageHeaders()) : refuse("not_found", NOT_BUILT));
  };
  const serveFile = async (request: Request, name: string): Promise<Response> => {
    const context = contextOf(request);
    const found = (await prepare())?.files.get(name);
    if (found === undefined) return respond(context, refuse("not_found"));
    const isZipped = /\bgzip\b/.test(request.headers.get("accept-encoding") ?? "");
    const kept = { "cache-control": "public, max-age=31536000, immutable" };
    return respond(
      context,
      send(found.mediaType, isZipped ? found.zipped : found.bytes, {
        ...(name === EMBED ? EMBED_HEADERS : kept),
        ...NOSNIFF,
        vary: "accept-encoding",
        ...(isZipped && { "content-encoding": "gzip" }),
      }),
    );
  };
  return [
    hidden("/console/:name", ({ request, params }) => serveFile(request, params?.name ?? "")),
    hidden("/embed.js", ({ request }) => serveFile(request, EMBED)),
    ...CONSOLE_PATHS.map((path) => hidden(path, servePage)),
  ];
};

const HASH_CHARACTERS = 12;

const preparedOf = ({ script, style, embed }: ConsoleFiles, providerHost: string | undefined): Prepared => {
  const named = (text: string, ending: string): string =>
    `console.${hash("sha256", text, "hex").slice(0, HASH_CHARACTERS)}.${ending}`;
  const [scriptName, styleName] = [named(script, "js"), named(style, "css")];
  return {
    page: consolePage({ scriptName, styleName, providerHost }),
    files: new Map([
      [scriptName, servedFile(script, SCRIPT)],
      [styleName, servedFile(style, STYLE)],
      [EMBED, servedFile(embed, SCRIPT)],
    ]),
  };
};

const servedFile = (text: string, mediaType: string): ServedFile => {
  const bytes = new TextEncoder().encode(text);
  return { mediaType, bytes, zipped: Uint8Array.from(gzipSync(bytes, { level: 9 })) };
};

const NOT_BUILT =
  "The console is not part of this program: run `bun run build:pages` once, or the service on Bun. The API is described at /docs.";
