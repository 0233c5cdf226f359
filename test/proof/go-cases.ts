/** The cases for go/verify.go, made and first checked by src/proof. Bytes are base64, as Go's JSON reads them. */
import { strict as assert } from "node:assert";
import fc from "fast-check";
import { encodeBase64 } from "../../src/proof/base64.ts";
import {
  consistencyProof,
  HASH_BYTES,
  type Hash,
  inclusionProof,
  leafHash,
  perfectRoot,
  rootOf,
  type SubtreeHash,
  verifyConsistency,
  verifyInclusion,
} from "../../src/proof/rfc6962.ts";
import {
  createSigningKey,
  createVerifier,
  formatVerifierKey,
  openNote,
  signNote,
} from "../../src/proof/signed-note.ts";
import { formatCheckpoint } from "../../src/proof/tlog-checkpoint.ts";
import {
  formatTilePath,
  subtreeHashFrom,
  TILE_BYTES,
  TILE_WIDTH,
  type TileLevels,
  tileLevels,
  tileName,
} from "../../src/proof/tlog-tiles.ts";
import { oddLeafTree } from "../support/naive-tree.ts";

/** More than 256 * 256, so that a tile of level 2 exists. */
const LEAVES = 70_000;
const BROKEN_OF_EACH = 20;

const encoder = new TextEncoder();
const [ALIKE, ODD] = [encoder.encode("alike"), encoder.encode("odd")];
const leafData = (index: number): Uint8Array => encoder.encode(`{"leaf":${index}}`);

export const createCases = (seed: number): object => {
  const sampled = <Value>(arbitrary: fc.Arbitrary<Value>, count: number): readonly Value[] =>
    fc.sample(arbitrary, { numRuns: count, seed });
  const { hashOf, tiles } = createTree();
  const proofs = sampled(fc.tuple(anySize, fc.nat(), fc.nat()), 1500).flatMap(
    ([size, chance, fromChance], at) => {
      const parts = { size, index: chance % size, from: 1 + (fromChance % size), hashOf, leafData };
      return proofCases(parts, at % BROKEN_OF_EACH === 0 ? chance : undefined);
    },
  );
  /** Beyond 32 bits. */
  const large = sampled(fc.tuple(largeSize, share, share), 200).flatMap(([size, oddShare, fromShare]) => {
    const [index, from] = [Math.floor(size * oddShare), 1 + Math.floor((size - 1) * fromShare)];
    return proofCases({ size, index, from, hashOf: oddLeafTree(ALIKE, ODD, index), leafData: () => ODD });
  });
  const all = [...proofs, ...large];
  return {
    leaves: Array.from({ length: LEAVES }, (_, index) => encodeBase64(leafData(index))),
    roots: sampled(anySize, 500).map((size) => ({ size, root: encodeBase64(rootOf(size, hashOf)) })),
    notes: sampled(anyKey, 60).flatMap(noteCases),
    signatures: sampled(fc.tuple(anyKey, fc.string({ unit: "grapheme" })), 60).map(signatureCase),
    inclusions: all.flatMap(({ inclusions }) => inclusions),
    consistencies: all.flatMap(({ consistencies }) => consistencies),
    tiles,
    paths: sampled(anyTile, 500).map((tile) => ({ ...tile, path: formatTilePath(tile) })),
  };
};

const anySize = fc.oneof(
  fc.integer({ min: 1, max: LEAVES }),
  fc.integer({ min: 1, max: 70 }),
  fc.constantFrom(1, 2, 3, 255, 256, 257, 511, 512, 65_535, 65_536, 65_537, LEAVES),
);
const largeSize = fc.oneof(
  fc.integer({ min: 2 ** 31, max: Number.MAX_SAFE_INTEGER }),
  fc.constantFrom(2 ** 31, 2 ** 32 - 1, 2 ** 32, 2 ** 32 + 1, 2 ** 52, Number.MAX_SAFE_INTEGER),
);
const share = fc.double({ min: 0, max: 0.999, noNaN: true });
const anyTile = fc.record({
  level: fc.integer({ min: 0, max: 63 }),
  index: fc.oneof(fc.nat({ max: 2_000_000 }), fc.nat({ max: Number.MAX_SAFE_INTEGER })),
  width: fc.integer({ min: 1, max: TILE_WIDTH }),
});
const bytes32 = fc.uint8Array({ minLength: 32, maxLength: 32 });
const anyKey = fc.record({
  seed: bytes32,
  origin: fc.stringMatching(/^[a-z0-9]{1,12}\.example\/[a-z0-9-]{1,20}$/),
  size: fc.nat({ max: Number.MAX_SAFE_INTEGER }),
  root: bytes32,
});

/** Level by level, as the specification makes tiles: each hash is the root of a full tile below it. */
const createTree = (): { hashOf: SubtreeHash; tiles: readonly object[] } => {
  const loaded = new Map<string, TileLevels>();
  const tiles: object[] = [];
  let hashes = Buffer.concat(Array.from({ length: LEAVES }, (_, index) => leafHash(leafData(index))));
  for (let level = 0; hashes.length > 0; level++) {
    const above: Hash[] = [];
    for (let index = 0; index * TILE_BYTES < hashes.length; index++) {
      const data = new Uint8Array(hashes.subarray(index * TILE_BYTES, (index + 1) * TILE_BYTES));
      const path = formatTilePath({ level, index, width: data.length / HASH_BYTES });
      tiles.push({ path, data: encodeBase64(data) });
      loaded.set(tileName({ level, index }), tileLevels(data));
      if (data.length === TILE_BYTES) above.push(perfectRoot(data));
    }
    hashes = Buffer.concat(above);
  }
  return { hashOf: subtreeHashFrom((name) => loaded.get(name)), tiles };
};

const flipped = (bytes: Uint8Array, chance: number): Uint8Array =>
  bytes.map((byte, index) => (index === chance % bytes.length ? byte ^ (1 << (chance % 8)) : byte));

/** Ways to damage a list of hashes; each gives a different list, for any list. */
const brokenPaths = (path: readonly Hash[], chance: number): Record<string, readonly Hash[]> => {
  const at = path.length === 0 ? 0 : chance % path.length;
  const hash = path[at];
  return {
    "a hash more at the end": [...path, new Uint8Array(HASH_BYTES)],
    "a hash more at the beginning": [new Uint8Array(HASH_BYTES), ...path],
    ...(hash && {
      "a bit changed": path.with(at, flipped(hash, chance)),
      "a hash missing": path.toSpliced(at, 1),
      "a hash twice": path.toSpliced(at, 0, hash),
    }),
    ...(path.length > 1 && { "the other way round": path.toReversed() }),
  };
};

interface ProofParts {
  readonly size: number;
  readonly index: number;
  readonly from: number;
  readonly hashOf: SubtreeHash;
  readonly leafData: (index: number) => Uint8Array;
}

/** An inclusion and a consistency proof; with `chance` broken ones too. Our verdict must be the expected one before Go is asked. */
const proofCases = ({ size, index, from, hashOf, leafData }: ProofParts, chance?: number) => {
  const root = rootOf(size, hashOf);
  const inclusion = { data: leafData(index), index, size, proof: inclusionProof(index, size, hashOf), root };
  const included = (name: string, changes: Partial<typeof inclusion> = {}): object => {
    const { proof, data, ...given } = { ...inclusion, ...changes };
    const refused = name !== "right";
    assert.equal(
      verifyInclusion({ ...given, proof, leaf: leafHash(data) }),
      !refused,
      `${name}, ${index} of ${size}`,
    );
    return { name, refused, ...inBase64({ ...given, data, path: proof }) };
  };
  const fromRoot = rootOf(from, hashOf);
  const growth = { from, to: size, fromRoot, toRoot: root, proof: consistencyProof(from, size, hashOf) };
  const consistent = (name: string, changes: Partial<typeof growth> = {}): object => {
    const { proof, ...given } = { ...growth, ...changes };
    const refused = name !== "right";
    assert.equal(verifyConsistency({ ...given, proof }), !refused, `${name}, from ${from} to ${size}`);
    return { name, refused, ...inBase64({ ...given, path: proof }) };
  };
  if (chance === undefined) return { inclusions: [included("right")], consistencies: [consistent("right")] };
  const brokenBy = (
    path: readonly Hash[],
    broken: (name: string, changes: { proof: readonly Hash[] }) => object,
  ) => Object.entries(brokenPaths(path, chance)).map(([name, proof]) => broken(name, { proof }));
  return {
    inclusions: [
      included("right"),
      ...brokenBy(inclusion.proof, included),
      included("another leaf", { data: leafData(index + 1) }),
      included("another root", { root: flipped(root, chance) }),
      included("the next index", { index: index + 1 }),
      included("an index before the first", { index: -1 }),
    ],
    consistencies: [
      consistent("right"),
      ...brokenBy(growth.proof, consistent),
      consistent("another old root", { fromRoot: flipped(fromRoot, chance) }),
      consistent("another new root", { toRoot: flipped(root, chance) }),
      consistent("more before than after", { from: size + 1 }),
    ],
  };
};

const inBase64 = (given: object): object =>
  Object.fromEntries(
    Object.entries(given).map(([name, value]) => [
      name,
      value instanceof Uint8Array
        ? encodeBase64(value)
        : Array.isArray(value)
          ? value.map(encodeBase64)
          : value,
    ]),
  );

type AnyKey = typeof anyKey extends fc.Arbitrary<infer Key> ? Key : never;

const noteCases = ({ seed, origin, size, root }: AnyKey): readonly object[] => {
  const key = createSigningKey(seed);
  const signer = key.signerNamed(origin);
  const text = formatCheckpoint({ origin, size, root });
  const note = signNote(text, [signer]);
  const judged = (name: string, note: string, refused: boolean, keyName = origin): object => {
    const by = createVerifier({ name: keyName, publicKey: key.publicKey });
    assert.equal(openNote(note, [by]).kind, refused ? "failed" : "opened", name);
    return { name, verifierKey: formatVerifierKey(by), note, text, refused };
  };
  const witness = createSigningKey(root).signerNamed("witness.example");
  const signature = Buffer.from(note.trim().split(" ").at(-1) ?? "", "base64");
  // The last byte: the first ones are the key id, and changing those would make the key unknown.
  const changed = encodeBase64(flipped(signature, signature.length - 1));
  return [
    judged("right", note, false),
    judged("with a stranger's signature", signNote(text, [witness, signer]), false),
    judged("one key under another name", note, true, `${origin}x`),
    judged("another size", note.replace(`\n${size}\n`, `\n${size + 1}\n`), true),
    judged("another origin", note.replace(origin, `${origin}x`), true),
    judged("a bit of the signature changed", note.replace(encodeBase64(signature), changed), true),
    judged("no newline at the end", note.slice(0, -1), true),
    judged("no empty line", note.replace("\n\n", "\n"), true),
    judged("a hyphen for the dash", note.replace("— ", "- "), true),
    judged("a control character", note.replace(origin, `${origin}\t`), true),
    judged("only a stranger's signature", signNote(text, [witness]), true),
    judged("a forged signature", signNote(text, [{ ...witness, name: origin, keyId: signer.keyId }]), true),
  ];
};

/** Ed25519 has one signature for a key and a text, so Go's note must equal ours. */
const signatureCase = ([{ seed, origin }, words]: [AnyKey, string]): object => {
  const signer = createSigningKey(seed).signerNamed(origin);
  const text = `${words.replace(/\p{Cc}/gu, "")}\n`;
  // Go's form of a private key: type and seed behind the name and the key id.
  const keyId = signer.keyId.toString(16).padStart(8, "0");
  const signerKey = `PRIVATE+KEY+${origin}+${keyId}+${encodeBase64(Buffer.from([1, ...seed]))}`;
  return { signerKey, text, note: signNote(text, [signer]) };
};
