import { expect, test } from "bun:test";
import { reasonOf } from "./failure.ts";

test("a reason has no full stop at its end, because it stands within a sentence", () => {
  expect(reasonOf(new Error("The log could not be followed: no answer."))).toBe(
    "The log could not be followed: no answer",
  );
  expect(reasonOf("ENOSPC: no space left on device, write")).toBe("ENOSPC: no space left on device, write");
});
