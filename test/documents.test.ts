/** Checks the documents against the code: the reference is generated from it, links lead somewhere, and names exist. */
import { expect, test } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import siteConfig from "../docs/.vitepress/config.ts";
import { headingAnchor } from "../docs/generator/heading-anchor.ts";
import { withEvent } from "../docs/generator/readme-event.ts";
import { referencePages } from "../docs/generator/reference-pages.ts";
import packageJson from "../package.json" with { type: "json" };
import { SYSTEM_EVENTS } from "../src/access/administration/system-events.ts";
import { SCOPES } from "../src/access/scopes.ts";
import { PROBLEMS } from "../src/api/http/problem.ts";
import { REJECTION_CODES } from "../src/api/intake/intake.ts";
import { EVENT_MEMBERS } from "../src/event/audit-event.ts";
import { EVENT_TYPES } from "../src/event/event-types.ts";
import { METADATA_KEYS } from "../src/event/metadata-keys.ts";
import { WARNING_CODES } from "../src/event/warnings.ts";
import { ADVERSE_OUTCOMES } from "../src/law/obligations/clocks.ts";
import { DEADLINE_IDS } from "../src/law/obligations/deadline-table.ts";
import { INCIDENT_DEADLINES } from "../src/law/obligations/incident-class.ts";
import * as limits from "../src/limits.ts";
import {
  CLOSE_TIMEOUT_MS_DEFAULT,
  DEAD_LETTER_BYTES_MAX,
  MEMORY_OUTBOX_BYTES_DEFAULT,
  OUTBOX_BYTES_DEFAULT,
  SEND_TIMEOUT_MS_DEFAULT,
} from "../src/sdk/limits.ts";
import { SETTING_NAMES } from "../src/service/settings.ts";
import { createMetrics } from "../src/telemetry/metrics.ts";
import { PERMISSIONS } from "../streams/permissions.ts";
import { topology } from "../streams/topology.ts";
import { read, root, rows, section } from "./support/documents.ts";

const PAGES = readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".md"))
  .map((name) => `docs/${name}`)
  .sort();
const WRITTEN_PAGES = PAGES.filter((path) => !path.startsWith("docs/reference/"));
const OTHER_DOCUMENTS = [
  "README.md",
  "ARCHITECTURE.md",
  "CHANGELOG.md",
  "CONTRIBUTING.md",
  "SECURITY.md",
  "bench/README.md",
  "bench/RESULTS.md",
  "examples/README.md",
  "streams/README.md",
];

const codeSpans = (path: string): ReadonlySet<string> =>
  new Set([...read(path).matchAll(/`([^`\n]+)`/g)].map(([, text]) => text ?? ""));

const metricNames = async (): Promise<readonly string[]> => {
  const metrics = createMetrics();
  return metrics.registry.getMetricsAsArray().map(({ name }) => name);
};

test("docs/reference and README's part are what the code says: `bun run docs:reference` changes nothing", () => {
  expect(withEvent(read("README.md"))).toBe(read("README.md"));
  const pages = referencePages();
  expect(readdirSync(join(root, "docs/reference")).toSorted()).toEqual(Object.keys(pages).toSorted());
  for (const [name, text] of Object.entries(pages))
    expect([name, read(`docs/reference/${name}`)]).toEqual([name, text]);
});

test("the reference names every setting, error, limit, event type, field, rule, scope, administrative event, metric and stream", async () => {
  const settings = [...read("docs/reference/settings.md").matchAll(/^## (\w+)$/gm)].map(([, name]) => name);
  expect(settings).toEqual(SETTING_NAMES);
  const catalogues = {
    errors: [...Object.keys(PROBLEMS), ...REJECTION_CODES, ...WARNING_CODES],
    limits: Object.keys(limits),
    "event-types": EVENT_TYPES,
    "event-fields": EVENT_MEMBERS,
    keys: [...SCOPES, ...Object.keys(SYSTEM_EVENTS)],
    metrics: (await metricNames()).filter((name) => name.startsWith("prooftrail_")),
    subjects: topology({ replicas: 1 }).map(({ name }) => name),
    "metadata-keys": [
      ...METADATA_KEYS.flatMap(({ name, also = [] }) => [name, ...also]),
      ...ADVERSE_OUTCOMES,
      ...INCIDENT_DEADLINES.keys(),
    ],
  };
  for (const [page, names] of Object.entries(catalogues)) {
    const named = codeSpans(`docs/reference/${page}.md`);
    expect([page, names.filter((name) => !named.has(name))]).toEqual([page, []]);
  }
  const headings = [...read("docs/reference/obligations.md").matchAll(/^### (.+)$/gm)].map(([, id]) => id);
  expect(headings).toEqual([...DEADLINE_IDS]);
});

test("every metric that a page names exists", async () => {
  const there = await metricNames();
  const named = PAGES.flatMap((path) => read(path).match(/prooftrail_[a-z_]+(?=[ {[`)])/g) ?? []);
  expect(named).toContain("prooftrail_ready");
  expect([...new Set(named)].filter((name) => !there.includes(name))).toEqual([]);
});

test("README has at most 200 lines and ARCHITECTURE 350, and pages say obligation and not duty", () => {
  expect(read("ARCHITECTURE.md").split("\n").length).toBeLessThanOrEqual(350);
  expect(read("README.md").trimEnd().split("\n").length).toBeLessThanOrEqual(200);
  const others = ["README.md", ...WRITTEN_PAGES].flatMap((path) =>
    (read(path).match(/\bdut(?:y|ies)\b/gi) ?? []).map((word) => `${path}: ${word}`),
  );
  expect(others).toEqual([]);
});

/** Undefined if there is no bound. */
const sizeOf = (bytes: number): string | undefined => {
  if (bytes < 0) return undefined;
  const mib = bytes / 1024 ** 2;
  return mib < 1024 ? `${mib} MiB` : `${mib / 1024} GiB`;
};

test("streams/README.md lists every stream with its subjects and its bound, and every broker user", () => {
  const streams = rows(read("streams/README.md").split("\n## ")[0] ?? "");
  expect(streams.map(([name, , , subjects]) => [name, subjects])).toEqual(
    ["AUDIT", "CHECKPOINTS", "OBLIGATIONS", "SANDBOX", "KV_KEYS", "RATES", "KV_RETENTION", "COUNTS"].map(
      (name) => [
        name,
        topology({ replicas: 1 })
          .find((stream) => stream.name === name)
          ?.settings.subjects.join(" "),
      ],
    ),
  );
  expect(streams).toHaveLength(topology({ replicas: 1 }).length);
  const sizes = streams.map(([name, , kept]) => [name, /at most (\d+ [KMG]iB)/.exec(kept ?? "")?.[1]]);
  const bounds = topology({ replicas: 1 }).map(({ name, settings }) => [name, sizeOf(settings.max_bytes)]);
  expect(sizes.toSorted()).toEqual(bounds.toSorted());
  const users = rows(section("streams/README.md", "Permissions")).map(([user]) => user);
  expect(users).toEqual(Object.keys(PERMISSIONS));
});

test("src/sdk/README.md says what an outbox holds and how long its client waits", () => {
  const mib = (bytes: number): string => `${bytes / 1024 ** 2} MiB`;
  for (const said of [
    `(\`bytesMax\`, ${mib(OUTBOX_BYTES_DEFAULT)}; in memory ${mib(MEMORY_OUTBOX_BYTES_DEFAULT)})`,
    `When that file has ${mib(DEAD_LETTER_BYTES_MAX)}`,
    `It tries for ${SEND_TIMEOUT_MS_DEFAULT / 1000} s`,
    `Both wait for ${CLOSE_TIMEOUT_MS_DEFAULT / 1000} s`,
  ])
    expect(read("src/sdk/README.md")).toContain(said);
});

test("all files name the same version of Bun", () => {
  const version = packageJson.packageManager.replace("bun@", "");
  expect(packageJson.engines.bun).toBe(version);
  const named = ["README.md", "CONTRIBUTING.md", ".ci/run", ...PAGES].flatMap((path) =>
    [...read(path).matchAll(/bun@([\d.]+)/g)].map(([, found]) => found),
  );
  expect(new Set(named)).toEqual(new Set([version]));
  expect(read("Dockerfile")).toContain(`oven/bun:${version}`);
});

test("a script that needs more packages than the service installs them first; start and build skip the installation", () => {
  const needing = Object.entries(packageJson.scripts).filter(([, script]) =>
    /\b(tsc|biome|bun test|sdk-package|vitepress)\b/.test(script),
  );
  expect(needing.map(([name]) => name)).toEqual([
    "check",
    "test:unit",
    "test",
    "test:slow",
    "build:sdk",
    "docs",
    "pictures",
    "chaos",
    "outage",
  ]);
  for (const [name, script] of needing)
    expect([name, script]).toEqual([
      name,
      expect.stringMatching(/^bun install --frozen-lockfile --silent && /),
    ]);
});

const anchorsOf = (path: string): ReadonlySet<string> =>
  new Set([...read(path).matchAll(/^#+ (.+)$/gm)].map(([, heading]) => headingAnchor(heading ?? "")));

/** Code blocks and code spans hold no links. */
const linksIn = (path: string): readonly string[] =>
  [
    ...read(path)
      .replace(/^```[\s\S]*?^```$/gm, "")
      .replace(/`[^`\n]*`/g, "")
      .matchAll(/\]\((?!https?:)([^)]+)\)/g),
  ].map(([, link]) => link ?? "");

test("every link inside the documents has a target, and its heading exists", () => {
  const broken = [...PAGES, ...OTHER_DOCUMENTS].flatMap((document) =>
    linksIn(document)
      .filter((link) => {
        const [file = "", anchor] = link.split("#");
        const target = file === "" ? document : join(dirname(document), file);
        if (!existsSync(join(root, target))) return true;
        return anchor !== undefined && !anchorsOf(target).has(anchor);
      })
      .map((link) => `${document}: ${link}`),
  );
  expect(broken).toEqual([]);
});

test("pages link to pages and pictures only, because the built site has nothing else", () => {
  const outside = PAGES.flatMap((document) =>
    linksIn(document)
      .map((link) => link.split("#")[0] ?? "")
      .filter((file) => file !== "" && !/^\.\.\/pictures\/\w+\.png$/.test(file))
      .filter((file) => !PAGES.includes(join(dirname(document), file)))
      .map((link) => `${document}: ${link}`),
  );
  expect(outside).toEqual([]);
});

test("every page is in the contents and in the sidebar", () => {
  const sidebar = JSON.stringify(siteConfig.themeConfig.sidebar);
  for (const page of PAGES.filter((path) => path !== "docs/index.md")) {
    const link = page.slice("docs".length, -".md".length);
    expect([page, sidebar.includes(`"${link}"`)]).toEqual([page, true]);
    expect([page, read("docs/index.md").includes(`(${link.slice(1)}.md)`)]).toEqual([page, true]);
  }
});

test("ARCHITECTURE.md names only files that exist", () => {
  const named = [...read("ARCHITECTURE.md").matchAll(/`((?:src|streams|test|bench)\/[\w./-]+)`/g)].map(
    ([, path]) => path ?? "",
  );
  expect(named.length).toBeGreaterThan(20);
  expect(named.filter((path) => !existsSync(join(root, path)))).toEqual([]);
});
