/** `bun run docs` builds the pages into dist/docs. A dead link fails the build. */
import { headingAnchor } from "../generator/heading-anchor.ts";

const howTo = [
  ["Look at a demo", "demo"],
  ["Send from TypeScript", "send-from-typescript"],
  ["Send by HTTP", "send-by-http"],
  ["Connect a client that exists already", "existing-client"],
  ["Look at everything in the console", "console"],
  ["Show events on your own page", "embed"],
  ["Read and search", "read-and-search"],
  ["Answer an auditor's ten questions", "answer-an-auditor"],
  ["Hand over and verify evidence", "evidence"],
  ["Give each team its own key", "keys"],
  ["Set retention and holds", "retention"],
  ["Follow the stream", "follow-the-stream"],
  ["Install", "install"],
  ["Run a cluster", "cluster"],
  ["Put a proxy in front", "proxy"],
  ["Monitor", "monitor"],
  ["Look after the views", "views"],
  ["Back up and restore", "back-up-and-restore"],
  ["Upgrade", "upgrade"],
] as const;

const reference = [
  ["Settings", "settings"],
  ["Limits", "limits"],
  ["Errors", "errors"],
  ["Event fields", "event-fields"],
  ["Event types", "event-types"],
  ["Metadata keys", "metadata-keys"],
  ["Obligations and legal bases", "obligations"],
  ["Scopes and administrative events", "keys"],
  ["Health reasons", "health"],
  ["Metrics", "metrics"],
  ["Streams and subjects", "subjects"],
  ["Command line", "command-line"],
] as const;

const items = (folder: string, pages: readonly (readonly [text: string, name: string])[]) =>
  pages.map(([text, name]) => ({ text, link: `/${folder}/${name}` }));

export default {
  title: "Prooftrail",
  // Tables use the width that there is, and long code breaks instead of hiding the last column; words and codes of errors stay whole.
  head: [
    [
      "style",
      {},
      ".VPDoc.has-aside .content-container { max-width: 820px } .vp-doc table { display: table; width: 100% } .vp-doc th, .vp-doc td { padding: 6px 10px } .vp-doc td code { overflow-wrap: anywhere } .vp-doc td:nth-child(-n + 2):has(> code:only-child) { min-width: 172px }",
    ],
  ],
  description: "The audit log for AI systems that can prove itself",
  srcExclude: ["generator/**"],
  outDir: "../dist/docs",
  cacheDir: "../node_modules/.cache/vitepress",
  markdown: { anchor: { slugify: headingAnchor } },
  themeConfig: {
    search: { provider: "local" },
    outline: { level: [2, 3] },
    sidebar: [
      {
        text: "Start",
        items: [
          { text: "Tutorial", link: "/tutorial" },
          { text: "Concepts", link: "/concepts" },
          { text: "Linking", link: "/linking" },
        ],
      },
      { text: "How to", items: items("how-to", howTo) },
      {
        text: "Reference",
        items: [...items("reference", reference), { text: "Outbox file of an SDK", link: "/outbox-file" }],
      },
      {
        text: "Why",
        items: [
          { text: "Guarantees", link: "/why/guarantees" },
          { text: "What no proof shows", link: "/why/what-no-proof-shows" },
          { text: "Decisions", link: "/why/decisions" },
        ],
      },
    ],
  },
};
