/**
 * The console. Every screen is this one page at its own path, one level below the root, so that addresses relative to it hold behind any
 * path prefix. Script and style have the hash of their content in their names and may be kept.
 */
import { hash } from "node:crypto";
import { gzipSync } from "node:zlib";
import { Elysia } from "elysia";
import { problem } from "../http/problem.ts";
import { contextOf } from "../http/request-context.ts";
import { requestUrl } from "../http/request-url.ts";

export interface ConsoleFiles {
  readonly script: string;
  readonly style: string;
  /** `<prooftrail-events>`, for pages of other origins. */
  readonly embed: string;
}

/** The paths of src/console/place.ts; a test compares them. */
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

/** `files` is asked for at the first request: bundling takes a moment, and most processes serve no console. */
export const consoleRoutes = (
  files: () => Promise<ConsoleFiles | undefined>,
  /** Host of the provider with which people sign in, if there is one. */
  providerHost: string | undefined,
) => {
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
    if (found === undefined) return problem(context, "not_found", { detail: NOT_BUILT });
    return new Response(found.page, { headers: { ...PAGE_HEADERS, "x-request-id": context.requestId } });
  };
  const serveFile = async ({
    request,
    params,
  }: {
    request: Request;
    params: { name: string };
  }): Promise<Response> => {
    const context = contextOf(request);
    const file = (await prepare())?.files.get(params.name);
    if (file === undefined) return problem(context, "not_found");
    const isZipped = /\bgzip\b/.test(request.headers.get("accept-encoding") ?? "");
    return new Response(isZipped ? file.zipped : file.bytes, {
      headers: {
        "content-type": file.mediaType,
        ...(params.name === EMBED
          ? EMBED_HEADERS
          : { "cache-control": "public, max-age=31536000, immutable" }),
        "x-content-type-options": "nosniff",
        "x-request-id": context.requestId,
        vary: "accept-encoding",
        ...(isZipped && { "content-encoding": "gzip" }),
      },
    });
  };
  const hidden = { detail: { hide: true } };
  const serveEmbed = ({ request }: { request: Request }) => serveFile({ request, params: { name: EMBED } });
  const app = new Elysia().get("/console/:name", serveFile, hidden).get("/embed.js", serveEmbed, hidden);
  for (const path of CONSOLE_PATHS) app.get(path, servePage, hidden);
  return app;
};

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

const HASH_CHARACTERS = 12;

const preparedOf = ({ script, style, embed }: ConsoleFiles, providerHost: string | undefined): Prepared => {
  const named = (text: string, ending: string): string =>
    `console.${hash("sha256", text, "hex").slice(0, HASH_CHARACTERS)}.${ending}`;
  const [scriptName, styleName] = [named(script, "js"), named(style, "css")];
  return {
    page: pageOf({ scriptName, styleName, providerHost }),
    files: new Map([
      [scriptName, servedFile(script, "text/javascript; charset=utf-8")],
      [styleName, servedFile(style, "text/css; charset=utf-8")],
      [EMBED, servedFile(embed, "text/javascript; charset=utf-8")],
    ]),
  };
};

const servedFile = (text: string, mediaType: string): ServedFile => {
  const bytes = new TextEncoder().encode(text);
  return { mediaType, bytes, zipped: Uint8Array.from(gzipSync(bytes, { level: 9 })) };
};

const NOT_BUILT =
  "The console is not part of this program: run `bun run build:pages` once, or the service on Bun. The API is described at /docs.";

/** Nothing from another origin, and nothing inline. */
const PAGE_HEADERS = {
  "content-type": "text/html; charset=utf-8",
  "cache-control": "no-store",
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
};

const pageOf = ({
  scriptName,
  styleName,
  providerHost,
}: {
  readonly scriptName: string;
  readonly styleName: string;
  readonly providerHost: string | undefined;
}): string => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Prooftrail</title>${providerHost === undefined ? "" : `\n    <meta name="sign-in-provider" content="${providerHost}">`}
    <link rel="icon" href="data:,">
    <link rel="stylesheet" href="./console/${styleName}">
  </head>
  <body>
    <div id="console"><noscript>The console needs JavaScript. The API is described at <a href="./docs">/docs</a>.</noscript></div>
    <script type="module" src="./console/${scriptName}"></script>
  </body>
</html>
`;
