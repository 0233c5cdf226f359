import { expect, test } from "bun:test";
import { ErrorCode, NatsError } from "nats";
import { describeApiError, describeError } from "./api-errors.ts";

test.each([
  ["no answer in time", describeError(new NatsError("", ErrorCode.Timeout))],
  ["nobody who answers", describeError(new NatsError("", ErrorCode.NoResponders))],
  [
    "no leader",
    describeApiError({ err_code: 10008, description: "JetStream system temporarily unavailable" }),
  ],
])("%s is told in words, with what to look for", (_, told) => {
  expect(told).toMatch(/more than half/);
  expect(told).not.toMatch(/TIMEOUT|^503|temporarily unavailable/);
});

test("other errors keep their description and their code", () => {
  expect(describeApiError({ err_code: 10077, description: "maximum messages exceeded" })).toBe(
    "maximum messages exceeded (10077)",
  );
  expect(describeError(new NatsError("", ErrorCode.ConnectionClosed))).toBe(ErrorCode.ConnectionClosed);
  expect(describeError(new Error("another"))).toBe("another");
});
