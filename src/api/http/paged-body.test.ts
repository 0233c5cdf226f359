import { expect, test } from "bun:test";
import { createResponseBackpressure } from "./paged-body.ts";

const BOUNDS = { heldMax: 1000, perHolderMax: 500 };
const TEXT = "é".repeat(150);

test("an answer counts for its tenant until its reader has taken it or gone, and separately if no key is needed", async () => {
  const backpressure = createResponseBackpressure({ ofTenants: BOUNDS, ofClients: BOUNDS });
  const ask = (tenant: string | undefined, address = "192.0.2.1") => {
    const reader = { holder: tenant ?? address, hasKey: tenant !== undefined, keepOpen: () => {} };
    return backpressure.body(reader, TEXT);
  };
  const taken = ask("acme");
  expect(ask("acme")).toBeUndefined();
  const left = ask("beta");
  expect(ask("beta")).toBeUndefined();
  const others = [ask("gamma"), ask(undefined), ask(undefined, "192.0.2.2")];
  expect(others.map((body) => body !== undefined)).toEqual([true, true, true]);
  expect([ask("delta"), ask(undefined)]).toEqual([undefined, undefined]);
  expect(await new Response(taken).text()).toBe(TEXT);
  await left?.cancel();
  expect([ask("acme"), ask("beta")].map((body) => body !== undefined)).toEqual([true, true]);
});
