import { expect, test } from "bun:test";
import { createMemoryQuota } from "./memory-quota.ts";

test("one holder may take half of everything, and from then on nobody may hold more than a share", () => {
  const quota = createMemoryQuota({ heldMax: 1000, perHolderMax: 250 });
  expect([quota.take("acme", 500), quota.take("acme", 1)]).toEqual([true, false]);
  expect([quota.take("beta", 250), quota.take("beta", 1), quota.take("gamma", 250)]).toEqual([
    true,
    false,
    true,
  ]);
  expect(quota.take("delta", 1)).toBe(false);
  quota.take("acme", -500);
  expect([quota.take("acme", 251), quota.take("acme", 250), quota.take("delta", 250)]).toEqual([
    false,
    true,
    true,
  ]);
});
