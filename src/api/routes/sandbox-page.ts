/** The page at /sandbox. Its script and style are our own; it loads nothing from other origins. */
import { Elysia } from "elysia";
import { problem } from "../http/problem.ts";
import { contextOf } from "../http/request-context.ts";
import { siteHeader } from "../http/site-header.ts";
import { WATERMARK } from "../sandbox/watermark.ts";

export interface SandboxPage {
  /** Undefined if this runtime has no bundler. */
  readonly script: string | undefined;
  readonly style: string;
}

export const sandboxPageRoutes = ({ script, style }: SandboxPage) => {
  const serve =
    (body: string, mediaType: string, headers: Readonly<Record<string, string>> = {}) =>
    ({ request }: { request: Request }): Response => {
      const context = contextOf(request);
      if (script === undefined) {
        const detail = "This page needs the service to run on Bun. The API is described at /docs.";
        return problem(context, "not_found", { detail });
      }
      return new Response(body, {
        headers: {
          "content-type": `${mediaType}; charset=utf-8`,
          "cache-control": "no-store",
          "x-request-id": context.requestId,
          "x-content-type-options": "nosniff",
          ...headers,
        },
      });
    };
  const hidden = { detail: { hide: true } };
  return new Elysia()
    .get("/sandbox", serve(PAGE, "text/html", PAGE_HEADERS), hidden)
    .get("/sandbox/page.js", serve(script ?? "", "text/javascript"), hidden)
    .get("/sandbox/page.css", serve(style, "text/css"), hidden);
};

const PAGE_HEADERS = {
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "referrer-policy": "no-referrer",
};

const PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Prooftrail sandbox</title>
    <link rel="icon" href="data:,">
    <link rel="stylesheet" href="./sandbox/page.css">
  </head>
  <body>
    ${siteHeader("./sandbox")}
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
          <label>How much it decides by itself<select id="decision_autonomy"></select></label>
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
        <div id="story" aria-live="polite"><p class="quiet">Send a decision first, then what follows it: its file, what falls due, and its proof are shown here.</p></div>
      </section>
      <section aria-labelledby="events-heading">
        <h2 id="events-heading">Events of the last hour</h2>
        <div id="events"></div>
      </section>
    </main>
    <script type="module" src="./sandbox/page.js"></script>
  </body>
</html>
`;
