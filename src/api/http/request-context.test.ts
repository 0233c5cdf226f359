import { expect, test } from "bun:test";
import { forwardedAddress } from "./request-context.ts";

const SOCKET = "10.0.0.1";

test.each([
  [0, "203.0.113.7", SOCKET],
  [1, null, SOCKET],
  [1, "203.0.113.7", "203.0.113.7"],
  // The client wrote what is further left.
  [1, "198.51.100.1, 203.0.113.7", "203.0.113.7"],
  [2, "198.51.100.1,203.0.113.7 , 10.0.0.2", "203.0.113.7"],
  // There are fewer addresses than proxies, so no proxy has seen the client.
  [2, "203.0.113.7", SOCKET],
  [1, "203.0.113.7, ", SOCKET],
])("behind %i proxies, with X-Forwarded-For %p, the client is %s", (trustedHops, forwardedFor, expected) => {
  expect(forwardedAddress(forwardedFor, trustedHops) ?? SOCKET).toBe(expected);
});
