import { expect, test } from "bun:test";
import {
  compareBrokerVersions,
  formatBrokerVersion,
  isSupportedBrokerVersion,
  parseBrokerVersion,
} from "./version.ts";

const parsed = (text: string) => {
  const version = parseBrokerVersion(text);
  if (version === undefined) throw new Error(`${text} is not a version`);
  return version;
};

test("the version is read from --version, from an INFO line and from the name of a directory", () => {
  expect(formatBrokerVersion(parsed("nats-server: v2.15.1\n"))).toBe("2.15.1");
  expect(formatBrokerVersion(parsed("2.12.1-RC.2"))).toBe("2.12.1-RC.2");
  expect(formatBrokerVersion(parsed("nats-server-2.14.3"))).toBe("2.14.3");
  expect(parseBrokerVersion("nats-server: no version")).toBeUndefined();
});

test("a broker below 2.12.1 is not supported: its atomic batches ignore message ids", () => {
  const refused = ["2.9.10", "2.10.27", "2.12.0", "2.12.1-RC.1", "1.99.99"];
  const accepted = ["2.12.1", "2.12.10", "2.15.1", "2.15.0-RC.2", "3.0.0"];
  expect(refused.filter((text) => isSupportedBrokerVersion(parsed(text)))).toEqual([]);
  expect(accepted.filter((text) => !isSupportedBrokerVersion(parsed(text)))).toEqual([]);
});

test("versions are ordered by number, and a release comes after its release candidates", () => {
  const ordered = ["2.9.10", "2.10.2", "2.12.1-RC.2", "2.12.1-RC.10", "2.12.1", "2.12.2"];
  const shuffled = ["2.12.1", "2.9.10", "2.12.1-RC.10", "2.12.2", "2.10.2", "2.12.1-RC.2"].map(parsed);
  expect(shuffled.sort(compareBrokerVersions).map(formatBrokerVersion)).toEqual(ordered);
});
