/** Sealing on a real stream of checkpoints: what is signed, and above all what is not signed. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { createCheckpointStream } from "../../src/nats/checkpoint-stream.ts";
import { type KeyRing, publishKeys, readKeyRing } from "../../src/proof/key-ring.ts";
import type { CheckpointStore, GrownTree, KnownHead } from "../../src/proof/ports.ts";
import { createCompactRange, leafHash } from "../../src/proof/rfc6962.ts";
import {
  createSealer,
  originOf,
  prepareHead,
  publishHead,
  type SealDependencies,
  type SealOutcome,
} from "../../src/proof/seal.ts";
import { restoredLine } from "../../src/proof/sealed-head.ts";
import {
  createVerifier,
  formatVerifierKey,
  isSignedByNobodyElse,
  keyLines,
  signNote,
} from "../../src/proof/signed-note.ts";
import { type Checkpoint, formatCheckpoint, openCheckpoint } from "../../src/proof/tlog-checkpoint.ts";
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

/** The root of a tree over letters. */
const rootOf = (leaves: string): Uint8Array => {
  const range = createCompactRange();
  for (const text of leaves) range.append(leafHash(new TextEncoder().encode(text)));
  return range.root();
};
/** A tree over letters, as the view would return it. */
const treeOf = (leaves: string) => ({
  root: async (_tenant: string, size: number) =>
    size > leaves.length ? undefined : rootOf(leaves.slice(0, size)),
});

interface Sealing {
  readonly size?: number;
  readonly known?: KnownHead | undefined;
  readonly keys?: string;
  readonly serviceName?: string;
  readonly trees?: SealDependencies["trees"];
  readonly signed?: Map<string, Checkpoint>;
}

/** What the sealer does with one tree. */
const seal = async (tenant: string, leaves: string, options: Sealing = {}): Promise<SealOutcome> => {
  const { size = leaves.length, known, keys = OLD, serviceName = "prooftrail", ...more } = options;
  const dependencies = { serviceName, keys: ringOf(keys), trees: treeOf(leaves), checkpoints, ...more };
  const prepared = await prepareHead(dependencies, { tenant, size, ...(known && { known }) });
  return prepared.kind === "signed" ? publishHead(dependencies, prepared) : prepared.outcome;
};

const sealed = (size: number): SealOutcome => ({ kind: "sealed", size });

const opened = async (tenant: string, keys = OLD) => {
  const origin = originOf("prooftrail", tenant);
  const note = (await checkpoints.last(tenant))?.note ?? "";
  return openCheckpoint(note, { origin, verifiers: ringOf(keys).verifiers(origin) });
};

test("a tree head is signed once per size, under the name of the tenant's log", async () => {
  expect(await seal("acme", "ab")).toEqual(sealed(2));
  expect(await seal("acme", "ab")).toEqual({ kind: "current" });
  expect(await seal("acme", "abc")).toEqual(sealed(3));
  const checkpoint = { origin: "prooftrail/acme", size: 3, root: rootOf("abc") };
  expect(await opened("acme")).toMatchObject({ kind: "opened", checkpoint });
});

test("a tree that does not extend the last signed head is not signed, whatever its size", async () => {
  await seal("extended", "abc");
  const before = await checkpoints.last("extended");
  const { root } = treeOf("abcd");
  /** Without the root at the size that was signed last. */
  const trees = {
    root: async (tenant: string, size: number) => (size === 3 ? undefined : root(tenant, size)),
  };
  for (const [leaves, options, outcome] of [
    ["aXc", {}, { kind: "refused", reason: "does_not_extend" }],
    ["abXd", {}, { kind: "refused", reason: "does_not_extend" }],
    ["bacd", {}, { kind: "refused", reason: "does_not_extend" }],
    ["X", {}, { kind: "view_behind" }],
    // The tree claims more leaves than its tiles hold.
    ["abc", { size: 4 }, { kind: "refused", reason: "tiles_missing" }],
    ["abcd", { trees }, { kind: "refused", reason: "tiles_missing" }],
  ] as const)
    expect([leaves, await seal("extended", leaves, options)]).toMatchObject([leaves, outcome]);
  expect(await checkpoints.last("extended")).toEqual(before);
});

test("a head that is known outside the log is extended until its loss is accepted, and later heads say so in a line", async () => {
  await seal("accepted", "a");
  const origin = originOf("prooftrail", "accepted");
  const lost = { origin, size: 3, root: rootOf("abc") };
  const known = { note: signNote(formatCheckpoint(lost), ringOf(OLD).signers(origin)), extensions: [] };
  expect(await seal("accepted", "ax", { known })).toEqual({ kind: "view_behind" });
  expect(await seal("accepted", "axy", { known })).toMatchObject({ reason: "does_not_extend" });
  const line = restoredLine(1, lost);
  expect(await seal("accepted", "ax", { known: { extensions: [line] } })).toEqual(sealed(2));
  expect(await opened("accepted")).toMatchObject({ checkpoint: { size: 2, extensions: [line] } });
  // The copy has the new head by now; without a copy the published one counts.
  for (const [leaves, note] of [
    ["axy", (await checkpoints.last("accepted"))?.note],
    ["axyz", undefined],
  ] as const) {
    const copied = note === undefined ? undefined : { note, extensions: [] };
    expect(await seal("accepted", leaves, { known: copied })).toEqual(sealed(leaves.length));
    expect(await opened("accepted")).toMatchObject({
      checkpoint: { size: leaves.length, extensions: [line] },
    });
    // A head that carries the line is not given up by it.
    const altered = await seal("accepted", "a!yzz", { known: copied });
    expect(altered).toMatchObject({ reason: "does_not_extend" });
  }
});

test("where the records alone were restored, the next head goes back behind the lost one on the stream", async () => {
  await seal("gone", "abc");
  const known = { extensions: [restoredLine(1, { size: 3, root: rootOf("abc") })] };
  expect(await seal("gone", "a")).toEqual({ kind: "view_behind" });
  expect(await seal("gone", "a", { known })).toEqual(sealed(1));
  expect(await seal("gone", "ax")).toEqual(sealed(2));
});

test("if the stream has lost what this process signed last, the next head still extends it, and the loss is reported", async () => {
  const signed = new Map<string, Checkpoint>();
  expect(await seal("kept", "ab", { signed })).toEqual(sealed(2));
  const kept = signed.get("kept");
  if (!kept) throw new Error("it is kept");
  // The stream has nothing of any of these tenants.
  for (const tenant of ["lost", "altered", "behind"]) signed.set(tenant, kept);
  expect(await seal("altered", "axc", { signed })).toMatchObject({ reason: "does_not_extend" });
  expect(await seal("behind", "a", { signed })).toEqual({ kind: "view_behind" });
  for (const tenant of ["altered", "behind"]) expect(await checkpoints.last(tenant)).toBeUndefined();
  expect(await seal("lost", "abc", { signed })).toEqual({ kind: "sealed", size: 3, isAfterLoss: true });
  expect(await seal("lost", "abcd", { signed })).toEqual(sealed(4));
});

test("no head is built upon a checkpoint that none of our keys signed", async () => {
  await seal("foreign", "a");
  for (const options of [{ keys: NEW }, { serviceName: "renamed" }])
    expect(await seal("foreign", "ab", options)).toMatchObject({ kind: "refused", reason: "unverifiable" });
  await checkpoints.write("foreign", "anything\n", (await checkpoints.last("foreign"))?.revision ?? 0);
  expect(await seal("foreign", "ab")).toMatchObject({ reason: "unverifiable" });
});

test("while a key is changed both keys sign, and heads that the old one signed stay verifiable", async () => {
  await seal("rotated", "a");
  await seal("rotated", "ab", { keys: `${NEW} # new\n${OLD}` });
  for (const trusted of [OLD, NEW])
    expect(await opened("rotated", trusted)).toMatchObject({ kind: "opened", checkpoint: { size: 2 } });
  const [retired] = ringOf(OLD).publicKeys;
  const after = `${NEW},public:${Buffer.from(retired ?? []).toString("hex")}`;
  expect(await seal("rotated", "abc", { keys: after })).toEqual(sealed(3));
  expect(await opened("rotated", OLD)).toEqual({ kind: "failed", reason: "unknown_key" });
  expect(await opened("rotated", after)).toMatchObject({ kind: "opened" });
});

test("a tree head that a new key has not signed is signed again, once, even if nothing is written any more", async () => {
  const origin = "prooftrail/idle";
  const both = `${NEW}\n${OLD}`;
  const isNewFirst = async (): Promise<boolean> => {
    const lines = keyLines(await checkpoints.publicKeys(), origin, (await checkpoints.last("idle"))?.note);
    return lines.startsWith(ringOf(NEW).signers(origin).map(formatVerifierKey).join());
  };
  await publishKeys(checkpoints, ringOf(both));
  expect([await seal("idle", "a"), await isNewFirst()]).toEqual([sealed(1), false]);
  expect([await seal("idle", "a", { keys: both }), await isNewFirst()]).toEqual([sealed(1), true]);
  for (const trusted of [OLD, NEW])
    expect(await opened("idle", trusted)).toMatchObject({ kind: "opened", checkpoint: { size: 1 } });
  // A sealer that does not know the new key does not sign it again either.
  for (const keys of [both, OLD, NEW]) expect(await seal("idle", "a", { keys })).toEqual({ kind: "current" });
});

test("of several sealers at once one is first, and one tree head exists", async () => {
  const outcomes = await Promise.all([1, 2, 3].map(() => seal("raced", "ab")));
  const kinds = outcomes.map(({ kind }) => kind);
  expect(kinds.filter((kind) => kind === "sealed")).toHaveLength(1);
  expect(kinds.filter((kind) => !["sealed", "overtaken", "current"].includes(kind))).toEqual([]);
  const stored: string[] = [];
  for await (const { tenant, note } of checkpoints.since(0)) if (tenant === "raced") stored.push(note);
  expect(stored).toHaveLength(1);
});

test("the maximum of private keys sign together under the longest names, and one more is refused at the start", async () => {
  const seeds = Array.from({ length: 51 }, (_, index) => (index + 1).toString(16).padStart(64, "0"));
  const detail = expect.stringContaining("it holds 51 private keys");
  expect(readKeyRing(seeds.join("\n"))).toMatchObject({ kind: "malformed", detail });
  const keys = seeds.slice(0, 50).join("\n");
  const longest = await seal("t".repeat(63), "a", { keys, serviceName: "s".repeat(100) });
  expect(longest).toEqual(sealed(1));
});

test("a private key that is in the ring twice signs once, so that bundles can be made", async () => {
  const keys = `${NEW}\n${OLD}\n${NEW} # once more`;
  await seal("twice", "a", { keys });
  const note = (await checkpoints.last("twice"))?.note ?? "";
  expect(isSignedByNobodyElse(note, ringOf(keys).verifiers("prooftrail/twice"))).toBe(true);
  expect(ringOf(keys).publicKeys).toEqual(ringOf(`${NEW}\n${OLD}`).publicKeys);
});

test("when several installations publish their first keys at once, one succeeds, and the others publish none", async () => {
  await using fresh = await startTestLog();
  const store = await createCheckpointStream(fresh.connection);
  const rings = [OLD, NEW, OTHER].map(ringOf);
  const published = await Promise.all(rings.map((ring) => publishKeys(store, ring)));
  expect([...published].sort()).toEqual(["published", "strangers", "strangers"]);
  const first = rings[published.indexOf("published")];
  expect(await store.publicKeys()).toEqual(first?.publicKeys.map((key) => Buffer.from(key)) ?? []);
  expect(await Promise.all(rings.map((ring) => publishKeys(store, ring)))).toEqual(published);
});

test("the seed of an old key is not published if an operator left it behind public:", async () => {
  await publishKeys(checkpoints, ringOf(OLD));
  for (const keys of [`${NEW}\npublic:${OLD}`, `${OTHER} public:${OTHER}`])
    await expect(publishKeys(checkpoints, ringOf(keys))).rejects.toThrow("the seed");
  const lines = keyLines(await checkpoints.publicKeys(), "prooftrail/acme", undefined);
  expect(lines).not.toContain(Buffer.from(`01${OLD}`, "hex").toString("base64"));
});

test("an old key stays verifiable by its line of GET /v1/log/key", () => {
  const old = ringOf(OLD);
  const checkpointKey = `${NEW},public:${old.signers("prooftrail/acme").map(formatVerifierKey).join()}`;
  expect(ringOf(checkpointKey).publicKeys).toEqual([...ringOf(NEW).publicKeys, ...old.publicKeys]);
  expect(readConfig({ CHECKPOINT_KEY: checkpointKey })).toMatchObject({
    kind: "valid",
    config: { checkpointKey },
  });
});

/** Deno could neither sign nor verify beside a public key that is no point of the curve. */
test("a key ring that cannot sign, or that has an invalid entry, is refused, and the error shows no key", () => {
  const line = ringOf(OLD).signers("prooftrail/acme").map(formatVerifierKey).join();
  const noPoint = `02${"00".repeat(31)}`;
  const publicKey = new Uint8Array(Buffer.from(noPoint, "hex"));
  const noPointLine = formatVerifierKey(createVerifier({ name: "n", publicKey }));
  for (const text of [
    ...["", "# nothing", `public:${OLD}`, OLD.slice(2), `${OLD} x`, `${OLD}\n${NEW}0`],
    `${NEW},public:${line.replace("acme", "acne")}`,
    ...[`${NEW},public:${noPoint}`, `${NEW},public:${noPointLine}`],
  ]) {
    const read = readKeyRing(text);
    expect([text, read.kind]).toEqual([text, "malformed"]);
    for (const part of [OLD, noPoint]) expect(JSON.stringify(read)).not.toContain(part.slice(0, 8));
  }
});

/** A sealer, in memory, of the trees that `grown` lists; it collects the errors. */
const sealerOf = (state: {
  grown: readonly GrownTree[];
  isOfLog?: boolean;
  /** Whether trees can be read. */
  hasTiles?: boolean;
  isOvertaken?: boolean;
  isAway?: boolean;
}) => {
  const [signed, errors, asked]: [string[], string[], number[]] = [[], [], []];
  const sealer = createSealer({
    serviceName: "s",
    keys: ringOf(OLD),
    trees: {
      grown: async (after, treesMax) => {
        asked.push(after);
        return state.grown.filter(({ lastSequence }) => lastSequence > after).slice(0, treesMax);
      },
      root: async () => ((state.hasTiles ?? true) ? new Uint8Array(32) : undefined),
    },
    checkpoints: {
      last: async () => undefined,
      write: async (tenant) => {
        if (state.isAway) throw new Error("away");
        if (!state.isOvertaken) signed.push(tenant);
        return !state.isOvertaken;
      },
    },
    isOfLog: async () => state.isOfLog ?? true,
    logger: {
      ...silentLogger,
      error: (message, fields) => errors.push(typeof fields?.code === "string" ? fields.code : message),
    },
    onOutcome: () => {},
  });
  return { sealer, signed, errors, asked };
};

const grownTree = (tenant: string, lastSequence: number): GrownTree => ({ tenant, size: 1, lastSequence });

test("the sealer seals each tree that grew, and retries a tree that it could not seal", async () => {
  const state = { grown: [grownTree("one", 1), grownTree("two", 3)], isAway: true };
  const { sealer, signed, asked } = sealerOf(state);
  await expect(sealer.look()).rejects.toThrow("away");
  expect(sealer.sealedThrough()).toBeUndefined();
  state.isAway = false;
  await sealer.look();
  await sealer.look();
  expect([signed, asked, sealer.sealedThrough()]).toEqual([["one", "two"], [0, 3, 3], 3]);
});

test("if another sealer signed first, the tree is looked at again, because the other may have signed less", async () => {
  const state = { grown: [grownTree("acme", 1)], isOvertaken: true };
  const { sealer, signed } = sealerOf(state);
  await sealer.look();
  state.isOvertaken = false;
  await sealer.look();
  expect(signed).toEqual(["acme"]);
});

test("the reason why a tree is not signed is reported once; the tree is sealed when that is repaired, without a new record", async () => {
  const state = { grown: [grownTree("acme", 1)], hasTiles: false };
  const { sealer, signed, errors } = sealerOf(state);
  await sealer.look();
  await sealer.look();
  expect([errors, signed]).toEqual([["tiles_missing"], []]);
  state.hasTiles = true;
  await sealer.look();
  expect(signed).toEqual(["acme"]);
  Object.assign(state, { hasTiles: false, grown: [grownTree("acme", 2)] });
  await sealer.look();
  expect(errors).toEqual(["tiles_missing", "tiles_missing"]);
});

test("that trees belong to another log is reported once each time, and their old trees are not signed later", async () => {
  const state = { grown: [grownTree("gone", 9)], isOfLog: false };
  const { sealer, signed, errors } = sealerOf(state);
  await sealer.look();
  await sealer.look();
  expect(errors).toHaveLength(1);
  Object.assign(state, { isOfLog: true, grown: [grownTree("acme", 1)] });
  await sealer.look();
  expect(signed).toEqual(["acme"]);
  Object.assign(state, { isOfLog: false, grown: [grownTree("acme", 2)] });
  await sealer.look();
  expect(errors).toHaveLength(2);
});
