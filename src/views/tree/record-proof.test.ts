import { expect, test } from "bun:test";
import { awaitHead } from "./record-proof.ts";

test("requests that wait for the tree heads of one tenant ask for them together and give up in time", async () => {
  const asked: string[] = [];
  const checkpoints = {
    last: async (tenant: string) => {
      asked.push(tenant);
      return undefined;
    },
  };
  const deadline = performance.now() + 300;
  const waiting = Array.from({ length: 200 }, (_, index) =>
    awaitHead({ checkpoints }, index % 2 === 0 ? "acme" : "globex", 1, deadline),
  );
  expect(new Set(await Promise.all(waiting))).toEqual(new Set([undefined]));
  expect(new Set(asked)).toEqual(new Set(["acme", "globex"]));
  expect(asked.length).toBeGreaterThan(200);
  expect(asked.length).toBeLessThan(250);
});
