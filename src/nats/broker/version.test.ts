import { expect, test } from "bun:test";
import { brokerVersionIn, compareBrokerVersions, isSupportedBrokerVersion } from "./version.ts";

test("the version is read from --version, from an INFO line and from the name of a directory", () => {
  expect(brokerVersionIn("nats-server: v2.15.1\n")).toBe("2.15.1");
  expect(brokerVersionIn("2.12.1-RC.2")).toBe("2.12.1-RC.2");
  expect(brokerVersionIn("nats-server-2.14.3")).toBe("2.14.3");
  expect(brokerVersionIn("nats-server: no version")).toBeUndefined();
});

test("a broker below 2.12.1 is not supported: its atomic batches ignore message ids", () => {
  const refused = ["2.9.10", "2.10.27", "2.12.0", "2.12.1-RC.1", "1.99.99"];
  const accepted = ["2.12.1", "2.12.10", "2.15.1", "2.15.0-RC.2", "3.0.0"];
  expect(refused.filter(isSupportedBrokerVersion)).toEqual([]);
  expect(accepted.filter((text) => !isSupportedBrokerVersion(text))).toEqual([]);
});

test("versions are ordered by number", () => {
  const ordered = ["2.9.10", "2.10.2", "2.12.1", "2.12.2"];
  const shuffled = ["2.12.1", "2.9.10", "2.12.2", "2.10.2"];
  expect(shuffled.sort(compareBrokerVersions)).toEqual(ordered);
});
