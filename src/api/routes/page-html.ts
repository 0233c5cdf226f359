import { WATERMARK } from "../sandbox/watermark.ts";

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

const page = ({ title, style, meta = "", body }: Page): string => `<!doctype html>
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
  page({
    title: "Prooftrail",
    meta: providerHost === undefined ? "" : `\n    <meta name="sign-in-provider" content="${providerHost}">`,
    style: `./console/${styleName}`,
    body: `<div id="console"><noscript>The console needs JavaScript. The API is described at <a href="./docs">/docs</a>.</noscript></div>
    <script type="module" src="./console/${scriptName}"></script>`,
  });

export const SANDBOX_PAGE = page({
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
    <script type="module" src="./sandbox/page.js"></script>`,
});

export const DOCS_PAGE = page({
  title: "Prooftrail API",
  style: "./docs/assets/page.css",
  body: `${siteHeader("./docs")}
    <div id="swagger-ui"><noscript>This page needs JavaScript. The same document as JSON: <a href="./docs/json">/docs/json</a></noscript></div>
    <script src="./docs/assets/swagger-ui-bundle.js"></script>
    <script src="./docs/assets/page.js"></script>`,
});
