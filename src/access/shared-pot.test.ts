import { expect, test } from "bun:test";
import { createSharedPot } from "./shared-pot.ts";

test("one holder may take half of everything, and from then on nobody may hold more than a share", () => {
  const pot = createSharedPot({ heldMax: 1000, perHolderMax: 250 });
  expect([pot.take("acme", 500), pot.take("acme", 1)]).toEqual([true, false]);
  expect([pot.take("beta", 250), pot.take("beta", 1), pot.take("gamma", 250)]).toEqual([true, false, true]);
  expect(pot.take("delta", 1)).toBe(false);
  pot.take("acme", -500);
  expect([pot.take("acme", 251), pot.take("acme", 250), pot.take("delta", 250)]).toEqual([false, true, true]);
});
