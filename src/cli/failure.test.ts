import { expect, test } from "bun:test";
import { reasonOf } from "./failure.ts";

test("a reason stands within a sentence, and so ends none", () => {
  expect(reasonOf(new Error("The log could not be followed: no answer."))).toBe(
    "The log could not be followed: no answer",
  );
  expect(reasonOf("ENOSPC: no space left on device, write")).toBe("ENOSPC: no space left on device, write");
});
