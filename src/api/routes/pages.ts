/** The pages: the console, the sandbox, the verifier. */
import { hash } from "node:crypto";
import { gzipSync } from "node:zlib";
import { refuse, respond, send } from "../http/answers.ts";
import type { ConsoleFiles, HttpDependencies, SandboxPage, VerifyPage } from "../http/dependencies.ts";
import { contextOf, requestUrl } from "../http/request-context.ts";
import { hidden, type Route } from "../http/route.ts";
import { WATERMARK } from "../sandbox/watermark.ts";

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

/** Nothing from other origins, and nothing inline but what is listed. */
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

interface ServedFile {
  readonly mediaType: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly zipped: Uint8Array<ArrayBuffer>;
  readonly headers: Readonly<Record<string, string>>;
}

const servedFile = (text: string, mediaType: string, headers: ServedFile["headers"]): ServedFile => {
  const bytes = new TextEncoder().encode(text);
  return { mediaType, bytes, zipped: Uint8Array.from(gzipSync(bytes, { level: 9 })), headers };
};

const PAGE = "";
/** Its address never changes; its content does with the version. */
const EMBED = "embed.js";

/** Script and style have the hash of their content in their names and may be kept. */
const filesOf = ({ script, style, embed }: ConsoleFiles, providerHost: string | undefined) => {
  const named = (text: string, ending: string): string =>
    `console.${hash("sha256", text, "hex").slice(0, 12)}.${ending}`;
  const [scriptName, styleName] = [named(script, "js"), named(style, "css")];
  const kept = { ...NOSNIFF, "cache-control": "public, max-age=31536000, immutable" };
  return new Map([
    [PAGE, servedFile(consolePage({ scriptName, styleName, providerHost }), HTML, pageHeaders())],
    [scriptName, servedFile(script, SCRIPT, kept)],
    [styleName, servedFile(style, STYLE, kept)],
    [
      EMBED,
      servedFile(embed, SCRIPT, {
        ...NOSNIFF,
        "cache-control": "public, max-age=3600",
        // It holds no one's data, and pages may name its hash (`integrity`).
        "access-control-allow-origin": "*",
        "cross-origin-resource-policy": "cross-origin",
      }),
    ],
  ]);
};

/** Every screen is a page at its own path, one level below the root, so relative addresses work behind any path prefix. */
const consoleRoutes = (
  /** Built at the first request: bundling takes a moment, and most processes serve no console. */
  files: () => Promise<ConsoleFiles | undefined>,
  /** Host of the provider with which people sign in, if there is one. */
  providerHost: string | undefined,
): readonly Route[] => {
  let prepared: Promise<ReadonlyMap<string, ServedFile> | undefined> | undefined;
  const serve = async (request: Request, name: string): Promise<Response> => {
    prepared ??= files().then((found) => found && filesOf(found, providerHost));
    const file = (await prepared)?.get(name);
    if (!file) return respond(contextOf(request), refuse("not_found", name === PAGE ? NOT_BUILT : {}));
    const isZipped = /\bgzip\b/.test(request.headers.get("accept-encoding") ?? "");
    const coding = isZipped && { "content-encoding": "gzip" };
    const headers = { ...file.headers, vary: "accept-encoding", ...coding };
    return respond(contextOf(request), send(file.mediaType, isZipped ? file.zipped : file.bytes, headers));
  };
  const screen: Route["handle"] = ({ request }) => {
    const { pathname, search } = requestUrl(request.url);
    if (pathname === "/" || !pathname.endsWith("/")) return serve(request, PAGE);
    const location = `..${pathname.slice(0, -1)}${search}`;
    const headers = { location, "x-request-id": contextOf(request).requestId };
    return new Response(null, { status: 308, headers });
  };
  return [
    hidden("/console/:name", ({ request, params }) => serve(request, params?.name || "none")),
    hidden("/embed.js", ({ request }) => serve(request, EMBED)),
    ...CONSOLE_PATHS.map((path) => hidden(path, screen)),
  ];
};

const NOT_BUILT =
  "This program has no console: run `bun run build:pages` once, or the service on Bun. The API is described at /docs.";

const PAGES = [
  ["./", "Console"],
  ["./docs", "API"],
  ["./sandbox", "Sandbox"],
  ["./verify", "Verify"],
] as const;

const siteHeader = (current: (typeof PAGES)[number][0]): string => {
  const links = PAGES.map(
    ([address, name]) =>
      `<li><a href="${address}"${address === current ? ' aria-current="page"' : ""}>${name}</a></li>`,
  );
  return `<header class="site">
      <span class="brand"><i aria-hidden="true"></i>Prooftrail</span>
      <nav aria-label="Pages"><ul>${links.join("")}</ul></nav>
    </header>`;
};

interface Page {
  readonly title: string;
  readonly style: string;
  readonly meta?: string;
  readonly body: string;
}

const pageText = ({ title, style, meta = "", body }: Page): string => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>${title}</title>${meta}
    <link rel="icon" href="data:,">
    <link rel="stylesheet" href="${style}">
  </head>
  <body>
    ${body}
  </body>
</html>
`;

export const consolePage = ({
  scriptName,
  styleName,
  providerHost,
}: {
  readonly scriptName: string;
  readonly styleName: string;
  readonly providerHost: string | undefined;
}): string =>
  pageText({
    title: "Prooftrail",
    meta: providerHost === undefined ? "" : `\n    <meta name="sign-in-provider" content="${providerHost}">`,
    style: `./console/${styleName}`,
    body: `<div id="console"><noscript>The console needs JavaScript. The API is described at <a href="./docs">/docs</a>.</noscript></div>
    <script type="module" src="./console/${scriptName}"></script>`,
  });

export const SANDBOX_PAGE = pageText({
  title: "Prooftrail sandbox",
  style: "./sandbox/page.css",
  body: `${siteHeader("./sandbox")}
    <section class="watermark" aria-label="Watermark">${WATERMARK}</section>
    <main>
      <h1>Prooftrail sandbox</h1>
      <p class="lede">Try it without a key. Test events are kept in memory for an hour, and everybody can see them. The same over HTTP: <a href="./docs">/docs</a>.</p>
      <noscript>This page needs JavaScript.</noscript>
      <section aria-labelledby="classify-heading">
        <h2 id="classify-heading">Which risk tier does a system have?</h2>
        <p id="examples-label">Examples:</p>
        <div id="examples" class="examples" role="group" aria-labelledby="examples-label"></div>
        <form id="classify">
          <label>What it is used for<select id="domain"></select></label>
          <label>Kind of AI<select id="ai_type"></select></label>
          <label>How much it decides on its own<select id="decision_autonomy"></select></label>
          <label>How much it matters to the person<select id="user_impact"></select></label>
          <label class="check"><input type="checkbox" id="processes_personal_data">It processes personal data</label>
          <button type="submit">Classify</button>
        </form>
        <div id="classification" aria-live="polite"></div>
      </section>
      <section aria-labelledby="send-heading">
        <h2 id="send-heading">Send a test event</h2>
        <form id="send">
          <label>Asset<select id="event_asset"></select></label>
          <label>What happened<select id="event_type"></select></label>
          <button type="submit" id="send_button" disabled>Send</button>
        </form>
        <div id="sent" aria-live="polite"></div>
      </section>
      <section aria-labelledby="story-heading">
        <h2 id="story-heading">Where it leads</h2>
        <div id="story" aria-live="polite"><p class="quiet">Send a decision first, then what follows it: its dossier, what falls due, and its proof appear here.</p></div>
      </section>
      <section aria-labelledby="events-heading">
        <h2 id="events-heading">Events of the last hour</h2>
        <div id="events"></div>
      </section>
    </main>
    <script type="module" src="./sandbox/page.js"></script>`,
});

export const DOCS_PAGE = pageText({
  title: "Prooftrail API",
  style: "./docs/assets/page.css",
  body: `${siteHeader("./docs")}
    <div id="swagger-ui"><noscript>This page needs JavaScript. The same document as JSON: <a href="./docs/json">/docs/json</a></noscript></div>
    <script src="./docs/assets/swagger-ui-bundle.js"></script>
    <script src="./docs/assets/page.js"></script>`,
});
