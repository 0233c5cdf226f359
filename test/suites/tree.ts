/** The view `tree`, compared with a tree that is computed here as RFC 6962 §2.1 writes it, by recursion over the leaves. Each database runs it. */

import { describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import fc from "fast-check";
import type { StoredMessage } from "../../src/log/event-log.ts";
import { verifyConsistency, verifyInclusion } from "../../src/proof/rfc6962.ts";
import { applyBatch } from "../../src/views/kit/apply-batch.ts";
import type { ViewStore } from "../../src/views/store/view-store.ts";
import { treeProjection } from "../../src/views/tree/evolve.ts";
import {
  consistencyBetween,
  inclusionAt,
  leafIndexOf,
  leavesUpTo,
  rootAt,
  tileAt,
  treeSize,
  treeSource,
} from "../../src/views/tree/queries.ts";
import { messageOf, poisonMessage, simpleEvent } from "../projections/records.ts";
import { openView } from "./opened-view.ts";
import type { ViewDatabase } from "./view-store.ts";

const sha256 = (...parts: readonly Uint8Array[]): Buffer => {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return hash.digest();
};

const leafOf = ({ payload }: StoredMessage): Buffer => sha256(Buffer.of(0), payload);

/** MTH of RFC 6962 §2.1. */
const rootOf = (leaves: readonly Buffer[]): Buffer => {
  const [only] = leaves;
  if (only === undefined) return sha256();
  if (leaves.length === 1) return only;
  const split = 2 ** Math.ceil(Math.log2(leaves.length) - 1);
  return sha256(Buffer.of(1), rootOf(leaves.slice(0, split)), rootOf(leaves.slice(split)));
};

/** In groups of these sizes; the last size repeats. */
const take = async (
  views: ViewStore,
  messages: readonly StoredMessage[],
  sizes: readonly number[],
): Promise<void> => {
  let position = await views.position(treeProjection.name);
  for (let start = 0, turn = 0; start < messages.length; turn++) {
    const size = sizes[Math.min(turn, sizes.length - 1)] ?? 1;
    const group = messages.slice(start, start + size);
    const outcome = await applyBatch({
      projections: [treeProjection],
      messages: group,
      load: views.load,
      now: "2026-11-20T12:00:00.000Z",
    });
    const to = group.at(-1)?.sequence ?? position;
    const result = await views.commit({ views: [treeProjection], from: position, to, ...outcome });
    expect(result).toEqual({ kind: "committed" });
    position = to;
    start += group.length;
  }
};

const recordsOf = (tenants: readonly string[]): readonly StoredMessage[] =>
  tenants.map((tenant, index) =>
    messageOf(index + 1, { tenant, event: simpleEvent(`evt_${index}`, { metadata: { index } }) }),
  );

const expectTree = async (
  views: ViewStore,
  tenant: string,
  messages: readonly StoredMessage[],
  sizes: readonly number[],
) => {
  const leaves = messages.map(leafOf);
  expect(await treeSize(views, tenant)).toBe(leaves.length);
  for (const size of sizes) {
    const root = rootOf(leaves.slice(0, size));
    expect([tenant, size, hex(await rootAt(views, tenant, size))]).toEqual([tenant, size, hex(root)]);
    const index = (size * 7919) % size;
    const [leaf, message] = [leaves[index], messages[index]];
    if (!(leaf && message)) throw new Error("a size is within the tree");
    expect(await leafIndexOf(views, tenant, message.sequence)).toBe(index);
    expect(await leavesUpTo(views, tenant, message.sequence)).toBe(index + 1);
    expect(await leavesUpTo(views, tenant, message.sequence - 1)).toBe(
      messages.filter(({ sequence }) => sequence < message.sequence).length,
    );
    const proof = (await inclusionAt(views, tenant, { index, size })) ?? [];
    expect(verifyInclusion({ leaf, index, size, proof, root })).toBe(true);
    const from = (size * 31) % (size + 1);
    const steps = (await consistencyBetween(views, tenant, { from, to: size })) ?? [];
    const fromRoot = rootOf(leaves.slice(0, from));
    expect(verifyConsistency({ from, to: size, fromRoot, toRoot: root, proof: steps })).toBe(true);
  }
  expect(await rootAt(views, tenant, leaves.length + 1)).toBeUndefined();
};

const hex = (bytes: Uint8Array | undefined): string | undefined =>
  bytes && Buffer.from(bytes).toString("hex");

export const treeSuite = (name: string, createDatabase: () => Promise<ViewDatabase> | ViewDatabase): void => {
  describe(`the view tree in ${name}`, () => {
    test("the view has one tree per tenant, whatever groups the records arrive in", async () => {
      const asked = fc.record({
        tenants: fc.array(fc.constantFrom("acme", "beta", "c"), { minLength: 1, maxLength: 520 }),
        sizes: fc.array(fc.integer({ min: 20, max: 300 }), { minLength: 1, maxLength: 8 }),
      });
      await fc.assert(
        fc.asyncProperty(asked, async ({ tenants, sizes }) => {
          await using opened = await openView(createDatabase, treeProjection);
          const views = opened.store;
          const messages = recordsOf(tenants);
          await take(views, messages, sizes);
          for (const tenant of new Set(tenants)) {
            const own = messages.filter((_, index) => tenants[index] === tenant);
            const sampled = [1, own.length, Math.ceil(own.length / 2), Math.min(256, own.length)];
            await expectTree(views, tenant, own, sampled);
          }
        }),
        { numRuns: 5 },
      );
    });

    test("the view tells the sealer which trees grew, in the order in which they grew", async () => {
      await using opened = await openView(createDatabase, treeProjection);
      const views = opened.store;
      await take(views, recordsOf(["acme", "beta", "acme", "c", "beta"]), [5]);
      const source = treeSource(views);
      expect(await source.grown(0, 10)).toEqual([
        { tenant: "acme", size: 2, lastSequence: 3 },
        { tenant: "c", size: 1, lastSequence: 4 },
        { tenant: "beta", size: 2, lastSequence: 5 },
      ]);
      expect(await source.grown(3, 1)).toEqual([{ tenant: "c", size: 1, lastSequence: 4 }]);
      expect(await source.grown(5, 10)).toEqual([]);
    });

    test("a tree has a leaf for every message of its tenant, even one that is not a record, and none for messages without a tenant", async () => {
      await using opened = await openView(createDatabase, treeProjection);
      const views = opened.store;
      const [first, , , fourth] = recordsOf(["acme", "acme", "acme", "acme"]);
      if (!(first && fourth)) throw new Error("four records");
      const poison = poisonMessage(2);
      await take(views, [first, poison, { ...poison, sequence: 3, subject: "x" }, fourth], [4]);
      await expectTree(views, "acme", [first, poison, fourth], [1, 2, 3]);
      expect(await leafIndexOf(views, "acme", 3)).toBeUndefined();
      expect(await views.deadLetters("tree", 0, 10)).toMatchObject([{ sequence: 3, code: "undecodable" }]);
    });

    test("no tenant finds the leaf of another tenant's record", async () => {
      await using opened = await openView(createDatabase, treeProjection);
      const views = opened.store;
      await take(views, recordsOf(["acme", "beta"]), [2]);
      expect(await leafIndexOf(views, "acme", 2)).toBeUndefined();
      expect(await rootAt(views, "c", 1)).toBeUndefined();
    });
  });
};

/** Trees of more than 65,536 leaves. */
export const largeTreeSuite = (
  name: string,
  createDatabase: () => Promise<ViewDatabase> | ViewDatabase,
): void => {
  describe(`a large view tree in ${name}`, () => {
    test("a tree grows by a level above 65,536 leaves, and each group changes only its edge", async () => {
      await using opened = await openView(createDatabase, treeProjection);
      const views = opened.store;
      const messages = recordsOf(new Array(66_100).fill("acme"));
      await take(views, messages, [1, 255, 65_279, 2, 400]);
      await expectTree(views, "acme", messages, [255, 256, 257, 65_535, 65_536, 65_537, 66_100]);
      expect((await tileAt(views, "acme", { level: 2, index: 0, width: 1 }))?.length).toBe(32);
      expect(await tileAt(views, "acme", { level: 2, index: 0, width: 2 })).toBeUndefined();
    });
  });
};
