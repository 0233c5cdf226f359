import { expect, test } from "bun:test";
import { brokerVersionIn, compareBrokerVersions, isSupportedBrokerVersion } from "./version.ts";

test("the version is read from --version, from an INFO line and from the name of a directory", () => {
  const texts = ["nats-server: v2.15.1\n", "2.12.1", "nats-server-2.14.3", "nats-server: no version"];
  expect(texts.map(brokerVersionIn)).toEqual(["2.15.1", "2.12.1", "2.14.3", undefined]);
});

test("versions are ordered by number, and one below 2.12.1 is not supported: its atomic batches ignore message ids", () => {
  const refused = ["1.99.99", "2.9.10", "2.10.27", "2.12.0"];
  const accepted = ["2.12.1", "2.12.10", "2.15.1", "3.0.0"];
  const all = [...refused, ...accepted];
  expect(all.toReversed().sort(compareBrokerVersions)).toEqual(all);
  expect(all.filter(isSupportedBrokerVersion)).toEqual(accepted);
});
