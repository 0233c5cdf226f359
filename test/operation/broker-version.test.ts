/** One version of nats-server: for download, image, compose, tests, and everything that is claimed to be measured. */
import { expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { BROKER_VERSION, brokerVersionIn, isSupportedBrokerVersion } from "../../src/nats/broker/version.ts";
import { testBrokerBinary } from "../support/broker.ts";

const root = join(import.meta.dir, "../..");
const read = (path: string): string => readFileSync(join(root, path), "utf8");

test("image and compose have the version of version.ts, which is a supported one", () => {
  expect(isSupportedBrokerVersion(BROKER_VERSION)).toBe(true);
  for (const path of ["Dockerfile", "compose.yaml"]) {
    const images = [...read(path).matchAll(/\bnats:([\d.]+)-alpine\b/g)].map(([, version]) => version);
    expect([path, ...images]).toEqual([path, BROKER_VERSION]);
  }
});

test.skipIf(process.env.NATS_SERVER_BIN !== undefined)("the tests run on it", async () => {
  const { stdout } = spawnSync(await testBrokerBinary(), ["--version"], { encoding: "utf8" });
  expect(brokerVersionIn(stdout)).toBe(BROKER_VERSION);
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
