/** The view `tree`, compared with a tree that is computed as RFC 6962 writes it, by recursion over the leaves. Each database runs it. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { StoredMessage } from "../../src/log/event-log.ts";
import { EMPTY_ROOT } from "../../src/proof/rfc6962.ts";
import { applyBatch } from "../../src/views/kit/apply-batch.ts";
import type { ViewStore } from "../../src/views/store/view-store.ts";
import { treeProjection } from "../../src/views/tree/evolve.ts";
import {
  consistencyBetween,
  inclusionAt,
  leafIndexesOf,
  leafSequences,
  leavesUpTo,
  rootAt,
  tileAt,
  treeSize,
  treeSource,
} from "../../src/views/tree/queries.ts";
import { messageOf, poisonMessage, simpleEvent } from "../projections/records.ts";
import { createNaiveTree } from "../support/naive-tree.ts";
import { openView } from "./opened-view.ts";
import type { ViewDatabase } from "./view-store.ts";

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

/** At these sizes: the root, and proofs of one leaf and of one earlier size. */
const expectTree = async (
  views: ViewStore,
  tenant: string,
  messages: readonly StoredMessage[],
  sizes: readonly number[],
) => {
  const naive = createNaiveTree((index) => messages[index]?.payload ?? new Uint8Array());
  const sequences = messages.map(({ sequence }) => sequence);
  expect(await treeSize(views, tenant)).toBe(messages.length);
  expect(await leafIndexesOf(views, tenant, sequences)).toEqual(messages.map((_, index) => index));
  for (const size of sizes) {
    const [index, from] = [(size * 7919) % size, (size * 31) % (size + 1)];
    const sequence = sequences[index] ?? 0;
    expect(await leafSequences(views, tenant, size)).toEqual(sequences.slice(0, size));
    expect(await leavesUpTo(views, tenant, sequence)).toBe(index + 1);
    expect(await leavesUpTo(views, tenant, sequence - 1)).toBe(index);
    expect([size, hex(await rootAt(views, tenant, size))]).toEqual([size, hex(naive.mth(0, size))]);
    const inclusion = await inclusionAt(views, tenant, { index, size });
    expect(inclusion?.map(hex)).toEqual(naive.path(index, size).map(hex));
    const growth = await consistencyBetween(views, tenant, { from, to: size });
    expect(growth?.proof.map(hex)).toEqual(from === 0 ? [] : naive.proof(from, size).map(hex));
    const roots = [from, size].map((at) => hex(at === 0 ? EMPTY_ROOT : naive.mth(0, at)));
    expect([growth?.fromRoot, growth?.toRoot].map(hex)).toEqual(roots);
  }
  expect(await rootAt(views, tenant, messages.length + 1)).toBeUndefined();
  expect(await leafSequences(views, tenant, messages.length + 1)).toBeUndefined();
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

    test("a tree has a leaf for every message of its tenant and of no other, even one that is not a record, and none for messages without a tenant", async () => {
      await using opened = await openView(createDatabase, treeProjection);
      const views = opened.store;
      const [first, , , fourth, fifth] = recordsOf(["acme", "acme", "acme", "acme", "beta"]);
      if (!(first && fourth && fifth)) throw new Error("five records");
      const poison = poisonMessage(2);
      await take(views, [first, poison, { ...poison, sequence: 3, subject: "x" }, fourth, fifth], [5]);
      await expectTree(views, "acme", [first, poison, fourth], [1, 2, 3]);
      expect(await leafIndexesOf(views, "acme", [3, 5])).toEqual([undefined, undefined]);
      expect(await rootAt(views, "c", 1)).toBeUndefined();
      expect(await views.deadLetters("tree", 0, 10)).toMatchObject([{ sequence: 3, code: "undecodable" }]);
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
