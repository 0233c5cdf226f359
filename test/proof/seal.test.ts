/** Sealing on a real stream of checkpoints: what is signed, and above all what is not signed. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { createCheckpointStream } from "../../src/nats/checkpoint-stream.ts";
import type { CheckpointStore } from "../../src/proof/checkpoint-store.ts";
import { verifierKeys } from "../../src/proof/key-lines.ts";
import { type KeyRing, publishKeys, readKeyRing } from "../../src/proof/key-ring.ts";
import type { KnownHead } from "../../src/proof/known-heads.ts";
import { restoredLine } from "../../src/proof/restored-line.ts";
import { createCompactRange, leafHash } from "../../src/proof/rfc6962.ts";
import {
  originOf,
  prepareHead,
  publishHead,
  type SealDependencies,
  type SealOutcome,
} from "../../src/proof/seal.ts";
import { createSealer } from "../../src/proof/sealer.ts";
import {
  createVerifier,
  formatVerifierKey,
  isSignedByNobodyElse,
  signNote,
} from "../../src/proof/signed-note.ts";
import { type Checkpoint, formatCheckpoint, openCheckpoint } from "../../src/proof/tlog-checkpoint.ts";
import type { GrownTree } from "../../src/proof/tree-source.ts";
import { readConfig } from "../../src/service/config.ts";
import { silentLogger } from "../support/broker.ts";
import { startTestLog, type TestLog } from "../support/log.ts";

let log: TestLog;
let checkpoints: CheckpointStore;

beforeAll(async () => {
  log = await startTestLog();
  checkpoints = await createCheckpointStream(log.connection);
});
afterAll(() => log[Symbol.asyncDispose]());

const ringOf = (text: string): KeyRing => {
  const read = readKeyRing(text);
  if (read.kind === "malformed") throw new Error(read.detail);
  return read.ring;
};
const OLD = "11".repeat(32);
const NEW = "22".repeat(32);
const OTHER = "33".repeat(32);

/** A tree over texts, as the view would return it. */
const treeOf = (leaves: readonly string[]) => ({
  root: async (_tenant: string, size: number) => {
    if (size > leaves.length) return undefined;
    const range = createCompactRange();
    for (const text of leaves.slice(0, size)) range.append(leafHash(new TextEncoder().encode(text)));
    return range.root();
  },
});

const sealing = (leaves: readonly string[], keys = ringOf(OLD), serviceName = "prooftrail") => ({
  serviceName,
  keys,
  trees: treeOf(leaves),
  checkpoints,
});

/** What the sealer does with one tree. */
const seal = async (
  dependencies: SealDependencies,
  tenant: string,
  size: number,
  known?: KnownHead,
): Promise<SealOutcome> => {
  const prepared = await prepareHead(dependencies, { tenant, size, ...(known && { known }) });
  return prepared.kind === "signed" ? publishHead(dependencies, prepared) : prepared.outcome;
};

const opened = async (tenant: string, keys: KeyRing, serviceName = "prooftrail") => {
  const origin = originOf(serviceName, tenant);
  const note = (await checkpoints.last(tenant))?.note ?? "";
  return openCheckpoint(note, { origin, verifiers: keys.verifiers(origin) });
};

test("a tree head is signed once per size, under the name of the tenant's log", async () => {
  expect(await seal(sealing(["a", "b"]), "acme", 2)).toEqual({ kind: "sealed", size: 2 });
  expect(await seal(sealing(["a", "b"]), "acme", 2)).toEqual({ kind: "current" });
  expect(await seal(sealing(["a", "b", "c"]), "acme", 3)).toEqual({ kind: "sealed", size: 3 });
  const root = await treeOf(["a", "b", "c"]).root("", 3);
  expect(await opened("acme", ringOf(OLD))).toMatchObject({
    kind: "opened",
    checkpoint: { origin: "prooftrail/acme", size: 3, root },
  });
});

test("a tree that does not extend the last signed head is not signed, whatever its size", async () => {
  await seal(sealing(["a", "b", "c"]), "extended", 3);
  const before = await checkpoints.last("extended");
  const others = [["a", "X", "c"], ["a", "b", "X", "d"], ["b", "a", "c", "d"], ["X"]];
  for (const leaves of others) {
    const outcome = await seal(sealing(leaves), "extended", leaves.length);
    expect([leaves, outcome]).toMatchObject([
      leaves,
      leaves.length < 3 ? { kind: "view_behind" } : { kind: "refused", reason: "does_not_extend" },
    ]);
  }
  // The tree claims more leaves than its tiles hold.
  expect(await seal(sealing(["a", "b", "c"]), "extended", 4)).toMatchObject({
    kind: "refused",
    reason: "tiles_missing",
  });
  // It is refused at the size that was signed last, too.
  const { root } = treeOf(["a", "b", "c", "d"]);
  const without = async (tenant: string, size: number) => (size === 3 ? undefined : root(tenant, size));
  expect(await seal({ ...sealing([]), trees: { root: without } }, "extended", 4)).toMatchObject({
    kind: "refused",
    reason: "tiles_missing",
  });
  expect(await checkpoints.last("extended")).toEqual(before);
});

test("a head that is known outside the log is extended until its loss is accepted, and later heads say so in a line", async () => {
  const ring = ringOf(OLD);
  await seal(sealing(["a"]), "accepted", 1);
  const origin = originOf("prooftrail", "accepted");
  const root = (await treeOf(["a", "b", "c"]).root("", 3)) ?? new Uint8Array();
  const lost = { origin, size: 3, root };
  const known = { note: signNote(formatCheckpoint(lost), ring.signers(origin)), extensions: [] };
  expect(await seal(sealing(["a", "x"]), "accepted", 2, known)).toEqual({ kind: "view_behind" });
  const other = await seal(sealing(["a", "x", "y"]), "accepted", 3, known);
  expect(other).toMatchObject({ reason: "does_not_extend" });
  const line = restoredLine(1, lost);
  const accepted = { extensions: [line] };
  expect(await seal(sealing(["a", "x"]), "accepted", 2, accepted)).toEqual({ kind: "sealed", size: 2 });
  expect(await opened("accepted", ring)).toMatchObject({ checkpoint: { size: 2, extensions: [line] } });
  // The copy has the new head by now; without a copy the published one counts.
  for (const [size, copied] of [
    [3, (await checkpoints.last("accepted"))?.note],
    [4, undefined],
  ] as const) {
    const head = copied === undefined ? undefined : { note: copied, extensions: [] };
    const tree = ["a", "x", "y", "z"].slice(0, size);
    expect(await seal(sealing(tree), "accepted", size, head)).toEqual({ kind: "sealed", size });
    expect(await opened("accepted", ring)).toMatchObject({ checkpoint: { size, extensions: [line] } });
    // A head that carries the line is not given up by it.
    const altered = await seal(sealing(["a", "!", "y", "z", "z"]), "accepted", 5, head);
    expect(altered).toMatchObject({ reason: "does_not_extend" });
  }
});

test("where the records alone were restored, the next head goes back behind the lost one on the stream", async () => {
  await seal(sealing(["a", "b", "c"]), "gone", 3);
  const root = (await treeOf(["a", "b", "c"]).root("", 3)) ?? new Uint8Array();
  const accepted = { extensions: [restoredLine(1, { size: 3, root })] };
  expect(await seal(sealing(["a"]), "gone", 1)).toEqual({ kind: "view_behind" });
  expect(await seal(sealing(["a"]), "gone", 1, accepted)).toEqual({ kind: "sealed", size: 1 });
  expect(await seal(sealing(["a", "x"]), "gone", 2)).toEqual({ kind: "sealed", size: 2 });
});

test("if the stream has lost what this process signed last, the next head still extends it, and the loss is reported", async () => {
  const signed = new Map<string, Checkpoint>();
  // The stream has nothing of any of the tenants.
  const sealingAs = (tenant: string, leaves: readonly string[]) =>
    seal({ ...sealing(leaves), signed }, tenant, leaves.length);
  const lose = (from: string, to: string): void => {
    const head = signed.get(from);
    if (head) signed.set(to, head);
  };
  expect(await sealingAs("kept", ["a", "b"])).toEqual({ kind: "sealed", size: 2 });
  for (const tenant of ["lost", "altered", "behind"]) lose("kept", tenant);
  expect(await sealingAs("altered", ["a", "x", "c"])).toMatchObject({ reason: "does_not_extend" });
  expect(await sealingAs("behind", ["a"])).toEqual({ kind: "view_behind" });
  for (const tenant of ["altered", "behind"]) expect(await checkpoints.last(tenant)).toBeUndefined();
  expect(await sealingAs("lost", ["a", "b", "c"])).toEqual({ kind: "sealed", size: 3, isAfterLoss: true });
  expect(await sealingAs("lost", ["a", "b", "c", "d"])).toEqual({ kind: "sealed", size: 4 });
});

test("no head is built upon a checkpoint that none of our keys signed", async () => {
  await seal(sealing(["a"], ringOf(OLD)), "foreign", 1);
  for (const [keys, name] of [
    [ringOf(NEW), "prooftrail"],
    [ringOf(OLD), "renamed"],
  ] as const) {
    expect(await seal(sealing(["a", "b"], keys, name), "foreign", 2)).toMatchObject({
      kind: "refused",
      reason: "unverifiable",
    });
  }
  await checkpoints.write("foreign", "anything\n", (await checkpoints.last("foreign"))?.revision ?? 0);
  expect(await seal(sealing(["a", "b"]), "foreign", 2)).toMatchObject({ reason: "unverifiable" });
});

test("while a key is changed both keys sign, and heads that the old one signed stay verifiable", async () => {
  await seal(sealing(["a"], ringOf(OLD)), "rotated", 1);
  await seal(sealing(["a", "b"], ringOf(`${NEW} # new\n${OLD}`)), "rotated", 2);
  for (const trusted of [OLD, NEW]) {
    const found = await opened("rotated", ringOf(trusted));
    expect(found).toMatchObject({ kind: "opened", checkpoint: { size: 2 } });
  }
  const [retired] = ringOf(OLD).publicKeys;
  const after = ringOf(`${NEW},public:${Buffer.from(retired?.bytes ?? []).toString("hex")}`);
  expect(await seal(sealing(["a", "b", "c"], after), "rotated", 3)).toEqual({ kind: "sealed", size: 3 });
  expect(await opened("rotated", ringOf(OLD))).toEqual({ kind: "failed", reason: "unknown_key" });
  expect(await opened("rotated", after)).toMatchObject({ kind: "opened" });
});

test("a tree head that a new key has not signed is signed again, once, even if nothing is written any more", async () => {
  const origin = "prooftrail/idle";
  const isBefore = async (): Promise<boolean> => {
    const note = (await checkpoints.last("idle"))?.note;
    const lines = (await verifierKeys(checkpoints, origin, note)).split("\n");
    const [old, young] = [OLD, NEW].map((seed) =>
      lines.indexOf(ringOf(seed).signers(origin).map(formatVerifierKey).join()),
    );
    return (young ?? -1) < (old ?? -1);
  };
  const both = ringOf(`${NEW}\n${OLD}`);
  await publishKeys(checkpoints, both);
  expect(await seal(sealing(["a"], ringOf(OLD)), "idle", 1)).toEqual({ kind: "sealed", size: 1 });
  expect(await isBefore()).toBe(false);
  expect(await seal(sealing(["a"], both), "idle", 1)).toEqual({ kind: "sealed", size: 1 });
  expect(await isBefore()).toBe(true);
  for (const trusted of [OLD, NEW])
    expect(await opened("idle", ringOf(trusted))).toMatchObject({ kind: "opened", checkpoint: { size: 1 } });
  // A sealer that does not know the new key does not sign it again either.
  for (const ring of [both, ringOf(OLD), ringOf(NEW)])
    expect(await seal(sealing(["a"], ring), "idle", 1)).toEqual({ kind: "current" });
});

test("a private key that is in the ring twice signs once, so that bundles can be made", async () => {
  const ring = ringOf(`${NEW}\n${OLD}\n${NEW} # once more`);
  await seal(sealing(["a"], ring), "twice", 1);
  const note = (await checkpoints.last("twice"))?.note ?? "";
  expect(isSignedByNobodyElse(note, ring.verifiers("prooftrail/twice"))).toBe(true);
  expect(ring.publicKeys).toEqual(ringOf(`${NEW}\n${OLD}`).publicKeys);
});

test("an old key stays verifiable by its line of GET /v1/log/key, and a mistyped line is refused", () => {
  const old = ringOf(OLD);
  const line = old.signers("prooftrail/acme").map(formatVerifierKey).join();
  const text = `${NEW},public:${line}`;
  expect(ringOf(text).publicKeys).toEqual([...ringOf(NEW).publicKeys, ...old.publicKeys]);
  expect(readConfig({ CHECKPOINT_KEY: text })).toMatchObject({
    kind: "valid",
    config: { checkpointKey: text },
  });
  expect(readKeyRing(text.replace("acme", "acne")).kind).toBe("malformed");
});

test("of two sealers at once one is overtaken, and one tree head exists", async () => {
  const leaves = ["a", "b"];
  const outcomes = await Promise.all([1, 2, 3].map(() => seal(sealing(leaves), "raced", 2)));
  expect(outcomes.filter(({ kind }) => kind === "sealed")).toHaveLength(1);
  expect(
    outcomes.filter(({ kind }) => kind !== "sealed" && kind !== "overtaken" && kind !== "current"),
  ).toEqual([]);
  const stored: string[] = [];
  for await (const { tenant, note } of checkpoints.since(0)) if (tenant === "raced") stored.push(note);
  expect(stored).toHaveLength(1);
});

test("the sealer seals each tree that grew, and retries a tree that it could not seal", async () => {
  const leaves = new Map([
    ["one", ["a"]],
    ["two", ["b", "c"]],
  ]);
  let isAway = true;
  const grownAsked: number[] = [];
  const outcomes: string[] = [];
  const sealer = createSealer({
    serviceName: "prooftrail",
    keys: ringOf(OLD),
    checkpoints: {
      last: checkpoints.last,
      write: (...write) => (isAway ? Promise.reject(new Error("away")) : checkpoints.write(...write)),
    },
    trees: {
      root: (tenant, size) => treeOf(leaves.get(tenant) ?? []).root(tenant, size),
      grown: async (after) => {
        grownAsked.push(after);
        const all: readonly GrownTree[] = [
          { tenant: "one", size: 1, lastSequence: 1 },
          { tenant: "two", size: 2, lastSequence: 3 },
        ];
        return all.filter(({ lastSequence }) => lastSequence > after);
      },
    },
    isOfLog: async () => true,
    logger: silentLogger,
    onOutcome: ({ kind }) => outcomes.push(kind),
  });
  await expect(sealer.look()).rejects.toThrow("away");
  isAway = false;
  await sealer.look();
  await sealer.look();
  expect(outcomes).toEqual(["sealed", "sealed"]);
  expect(grownAsked).toEqual([0, 3, 3]);
  expect(await opened("two", ringOf(OLD))).toMatchObject({ kind: "opened", checkpoint: { size: 2 } });
});

test("when several installations publish their first keys at once, one succeeds, and the others publish none", async () => {
  await using fresh = await startTestLog();
  const store = await createCheckpointStream(fresh.connection);
  const rings = [OLD, NEW, OTHER].map(ringOf);
  const published = await Promise.all(rings.map((ring) => publishKeys(store, ring)));
  expect([...published].sort()).toEqual(["published", "strangers", "strangers"]);
  const first = rings[published.indexOf("published")];
  expect(await store.publicKeys()).toEqual(first?.publicKeys.map(({ bytes }) => Buffer.from(bytes)) ?? []);
  expect(await Promise.all(rings.map((ring) => publishKeys(store, ring)))).toEqual(published);
});

test("the seed of an old key is not published if an operator left it behind public:", async () => {
  await publishKeys(checkpoints, ringOf(OLD));
  await expect(publishKeys(checkpoints, ringOf(`${NEW}\npublic:${OLD}`))).rejects.toThrow("the seed");
  await expect(publishKeys(checkpoints, ringOf(`${OTHER} public:${OTHER}`))).rejects.toThrow("the seed");
  expect(await verifierKeys(checkpoints, "prooftrail/acme", undefined)).not.toContain(
    Buffer.from(`01${OLD}`, "hex").toString("base64"),
  );
});

test("a key ring that cannot sign, or that has an invalid entry, is refused, and the error shows no key", () => {
  for (const text of ["", "# nothing", `public:${OLD}`, OLD.slice(2), `${OLD} x`, `${OLD}\n${NEW}0`]) {
    const read = readKeyRing(text);
    expect([text, read.kind]).toEqual([text, "malformed"]);
    expect(JSON.stringify(read)).not.toContain(OLD.slice(0, 8));
  }
});

/** A sealer, in memory, of the trees that `grown` lists; it collects the errors. */
const sealerOf = (state: {
  grown: readonly GrownTree[];
  isOfLog?: boolean;
  /** Whether trees can be read. */
  hasTiles?: boolean;
  isOvertaken?: boolean;
}) => {
  const [sealed, errors]: [string[], string[]] = [[], []];
  const sealer = createSealer({
    serviceName: "s",
    keys: ringOf(OLD),
    trees: {
      grown: async (after, treesMax) =>
        state.grown.filter(({ lastSequence }) => lastSequence > after).slice(0, treesMax),
      root: async () => ((state.hasTiles ?? true) ? new Uint8Array(32) : undefined),
    },
    checkpoints: {
      last: async () => undefined,
      write: async (tenant) => {
        if (state.isOvertaken) return { kind: "conflict" };
        sealed.push(tenant);
        return { kind: "written", revision: 1 };
      },
    },
    isOfLog: async () => state.isOfLog ?? true,
    logger: {
      ...silentLogger,
      error: (message, fields) => errors.push(typeof fields?.code === "string" ? fields.code : message),
    },
    onOutcome: () => {},
  });
  return { sealer, sealed, errors };
};

const grownTree = (tenant: string, lastSequence: number): GrownTree => ({ tenant, size: 1, lastSequence });

test("if another sealer signed first, the tree is looked at again, because the other may have signed less", async () => {
  const state = { grown: [grownTree("acme", 1)], isOvertaken: true };
  const { sealer, sealed } = sealerOf(state);
  await sealer.look();
  state.isOvertaken = false;
  await sealer.look();
  expect(sealed).toEqual(["acme"]);
});

test("the reason why a tree is not signed is reported once; the tree is sealed when that is mended, without a new record", async () => {
  const state = { grown: [grownTree("acme", 1)], hasTiles: false };
  const { sealer, sealed, errors } = sealerOf(state);
  await sealer.look();
  await sealer.look();
  expect([errors, sealed]).toEqual([["tiles_missing"], []]);
  state.hasTiles = true;
  await sealer.look();
  expect(sealed).toEqual(["acme"]);
  Object.assign(state, { hasTiles: false, grown: [grownTree("acme", 2)] });
  await sealer.look();
  expect(errors).toEqual(["tiles_missing", "tiles_missing"]);
});

test("that trees belong to another log is reported once each time, and their old trees are not signed later", async () => {
  const state = { grown: [grownTree("gone", 9)], isOfLog: false };
  const { sealer, sealed, errors } = sealerOf(state);
  await sealer.look();
  await sealer.look();
  expect(errors).toHaveLength(1);
  Object.assign(state, { isOfLog: true, grown: [grownTree("acme", 1)] });
  await sealer.look();
  expect(sealed).toEqual(["acme"]);
  Object.assign(state, { isOfLog: false, grown: [grownTree("acme", 2)] });
  await sealer.look();
  expect(errors).toHaveLength(2);
});

test("a public key that is not a point of the curve is refused at the start, because Deno could neither sign nor verify beside it", () => {
  const noPoint = `02${"00".repeat(31)}`;
  const read = readKeyRing(`${NEW},public:${noPoint}`);
  expect(read).toMatchObject({
    kind: "malformed",
    detail: expect.stringContaining("entry 2 is no public key"),
  });
  expect(JSON.stringify(read)).not.toContain(noPoint.slice(0, 8));
  const verifier = createVerifier({ name: "n", publicKey: new Uint8Array(Buffer.from(noPoint, "hex")) });
  expect(readKeyRing(`${NEW},public:${formatVerifierKey(verifier)}`).kind).toBe("malformed");
});

test("the maximum of private keys sign together under the longest names, and one more is refused at the start", async () => {
  const seeds = Array.from({ length: 51 }, (_, index) => (index + 1).toString(16).padStart(64, "0"));
  const read = readKeyRing(seeds.join("\n"));
  expect(read).toMatchObject({
    kind: "malformed",
    detail: expect.stringContaining("there are 51 private keys"),
  });
  const keys = ringOf(seeds.slice(0, 50).join("\n"));
  const [serviceName, tenant] = ["s".repeat(100), "t".repeat(63)];
  expect(await seal(sealing(["a"], keys, serviceName), tenant, 1)).toMatchObject({ kind: "sealed" });
});
