/** One version of nats-server: for download, image, compose, tests, and everything that is claimed to be measured. */
import { expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { releaseArchive } from "../../src/jetstream/broker/release-archives.ts";
import {
  BROKER_VERSION,
  formatBrokerVersion,
  isSupportedBrokerVersion,
  parseBrokerVersion,
} from "../../src/jetstream/broker/version.ts";
import { testBrokerBinary } from "../support/broker.ts";

const root = join(import.meta.dir, "../..");
const read = (path: string): string => readFileSync(join(root, path), "utf8");

test("download, image and compose have the version of version.ts, which is a supported one", () => {
  const version = parseBrokerVersion(BROKER_VERSION);
  expect(version && isSupportedBrokerVersion(version)).toBe(true);
  expect(releaseArchive({ platform: "linux", arch: "x64" })?.url).toContain(`/v${BROKER_VERSION}/`);
  for (const path of ["Dockerfile", "compose.yaml"]) {
    const images = [...read(path).matchAll(/\bnats:([\d.]+)-alpine\b/g)].map(([, version]) => version);
    expect([path, ...images]).toEqual([path, BROKER_VERSION]);
  }
});

test.skipIf(process.env.NATS_SERVER_BIN !== undefined)("the tests run on it", async () => {
  const { stdout } = spawnSync(await testBrokerBinary(), ["--version"], { encoding: "utf8" });
  const version = parseBrokerVersion(stdout);
  expect(version && formatBrokerVersion(version)).toBe(BROKER_VERSION);
});

test("nothing in code or documents is claimed to be measured on another one", () => {
  const sources = ["src", "streams"].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
      .filter((name) => /\.(ts|md)$/.test(name) && !name.endsWith(".test.ts"))
      .map((name) => join(folder, name)),
  );
  const named = /measured[^.;()]* on (?:three brokers of |nats-server )?(2\.\d+(?:\.\d+)?)/g;
  const claims = [...sources, "README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "compose.yaml"].flatMap(
    (path) => [...read(path).matchAll(named)].map(([, version]) => `${path}: ${version}`),
  );
  expect(claims.length).toBeGreaterThan(10);
  expect(claims.filter((claim) => !claim.endsWith(` ${BROKER_VERSION}`))).toEqual([]);
});
