/** Checks the documents against the code in both directions: nothing is missing, and nothing is said that is not true. */
import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import packageJson from "../package.json" with { type: "json" };
import { SCOPES } from "../src/access/scopes.ts";
import { SYSTEM_EVENTS } from "../src/administration/system-events.ts";
import { SAID } from "../src/cases/fact.ts";
import { PROBLEMS } from "../src/http/problem.ts";
import { REJECTION_CODES } from "../src/intake/answer.ts";
import { ADVERSE_OUTCOMES } from "../src/obligations/clocks.ts";
import { INCIDENT_DEADLINES } from "../src/obligations/incident-class.ts";
import { FLOOR_NAMES, GENERAL_FLOOR, LEGAL_FLOORS } from "../src/retention/floors.ts";
import {
  CLOSE_TIMEOUT_MS_DEFAULT,
  DEAD_LETTER_BYTES_MAX,
  MEMORY_OUTBOX_BYTES_DEFAULT,
  OUTBOX_BYTES_DEFAULT,
  SEND_TIMEOUT_MS_DEFAULT,
} from "../src/sdk/limits.ts";
import { Environment } from "../src/service/config.ts";
import { createMetrics } from "../src/telemetry/metrics.ts";
import { PERMISSIONS } from "../streams/permissions.ts";
import { topology } from "../streams/topology.ts";
import { read, root, rows, section } from "./support/documents.ts";

test("README lists every setting with its default and meaning", () => {
  const table = rows(section("README.md", "Configuration"));
  const settings = Object.entries(Environment.properties).map(([name, schema]) => [
    name,
    String(schema["x-default"]),
    String(schema.description).replaceAll("`", ""),
  ]);
  expect(table).toEqual(settings);
});

test("README lists every error code with its status and its condition", () => {
  const table = rows(section("README.md", "Errors"));
  const problems = Object.entries(PROBLEMS).map(([code, { status, when }]) => [
    String(status),
    code,
    when.replaceAll("`", ""),
  ]);
  expect(table).toEqual(problems);
  for (const code of REJECTION_CODES) expect(section("README.md", "Errors")).toContain(`\`${code}\``);
});

test("every metric in README's alerts exists", async () => {
  const metrics = createMetrics();
  const there = await metrics.registry.metrics();
  const named = read("README.md").match(/prooftrail_[a-z_]+(?=[ {[`)])/g) ?? [];
  expect(named).toContain("prooftrail_ready");
  for (const name of named) expect(there).toContain(`# HELP ${name} `);
});

test("README names every metadata key that cases and duties use, and the words that start a clock of their own", () => {
  const table = section("README.md", "Ask what an auditor asks").split("| key in `metadata` |")[1] ?? "";
  const known = [...SAID.map(([name]) => name), ...ADVERSE_OUTCOMES, ...INCIDENT_DEADLINES.keys()];
  expect(known.filter((name) => !table.includes(`\`${name}\``))).toEqual([]);
});

test("README lists every scope", () => {
  expect(rows(section("README.md", "Give each team its own key")).map(([scope]) => scope)).toEqual([
    ...SCOPES,
  ]);
});

test("README lists every event that Prooftrail writes itself, with its content", () => {
  expect(rows(section("README.md", "What Prooftrail logs about itself"))).toEqual(
    Object.entries(SYSTEM_EVENTS).map(([type, { summary, details }]) => [
      type,
      summary.replaceAll("`", ""),
      Object.keys(details.properties).join(", "),
    ]),
  );
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
    [
      "AUDIT",
      "CHECKPOINTS",
      "OBLIGATIONS",
      "SANDBOX",
      "SANDBOX_CLIENTS",
      "KV_KEYS",
      "RATES",
      "KV_RETENTION",
      "COUNTS",
    ].map((name) => [
      name,
      topology({ replicas: 1 })
        .find((stream) => stream.name === name)
        ?.settings.subjects.join(" "),
    ]),
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
  for (const path of ["README.md", "CONTRIBUTING.md", ".ci/run"]) {
    const named = [...read(path).matchAll(/bun@([\d.]+)/g)].map(([, found]) => found);
    expect(named.length).toBeGreaterThan(0);
    expect(new Set(named)).toEqual(new Set([version]));
  }
  expect(read("Dockerfile")).toContain(`oven/bun:${version}`);
});

test("a script that needs more packages than the service installs them first; start and build skip the installation", () => {
  const needing = Object.entries(packageJson.scripts).filter(([, script]) =>
    /\b(tsc|biome|bun test|sdk-package)\b/.test(script),
  );
  expect(needing.map(([name]) => name)).toEqual(["check", "test", "build:sdk", "chaos", "outage"]);
  for (const [name, script] of needing)
    expect([name, script]).toEqual([
      name,
      expect.stringMatching(/^bun install --frozen-lockfile --silent && /),
    ]);
});

test("every link inside the documents has a target", () => {
  const documents = [
    "README.md",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "streams/README.md",
    "bench/README.md",
    "bench/RESULTS.md",
    "bench/HISTORY.md",
  ];
  const broken = documents.flatMap((document) =>
    [...read(document).matchAll(/\]\((?!https?:)([^)#]+)[^)]*\)/g)]
      .map(([, link]) => link ?? "")
      .filter((link) => !existsSync(join(root, dirname(document), link)))
      .map((link) => `${document}: ${link}`),
  );
  expect(broken).toEqual([]);
});

test("ARCHITECTURE.md names only files that exist", () => {
  const named = [...read("ARCHITECTURE.md").matchAll(/`((?:src|streams|test|bench)\/[\w./-]+)`/g)].map(
    ([, path]) => path ?? "",
  );
  expect(named.length).toBeGreaterThan(20);
  expect(named.filter((path) => !existsSync(join(root, path)))).toEqual([]);
});

test("README lists every law with a retention period, with its days", () => {
  const table = rows(section("README.md", "Retention"));
  for (const name of FLOOR_NAMES) {
    const { span, days } = LEGAL_FLOORS[name];
    expect(table.map(([what, least]) => [what, least])).toContainEqual([
      `legal basis ${name}`,
      `${span} (${days} days)`,
    ]);
  }
  const { span, days } = GENERAL_FLOOR;
  expect(table[0]?.slice(0, 2)).toEqual(["every event", `${span} (${days} days)`]);
});
