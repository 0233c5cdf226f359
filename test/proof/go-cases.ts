/** The cases for go/verify.go, made and first checked by src/proof. Bytes are base64, as Go's JSON reads them. */
import { strict as assert } from "node:assert";
import fc from "fast-check";
import { encodeBase64 } from "../../src/proof/base64.ts";
import {
  type Consistency,
  consistencyProof,
  createCompactRange,
  HASH_BYTES,
  type Hash,
  type Inclusion,
  inclusionProof,
  leafHash,
  nodeHash,
  rootOf,
  type Subtree,
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
  TILE_WIDTH,
  type TileLevels,
  tileLevels,
  tileName,
  tileWidth,
} from "../../src/proof/tlog-tiles.ts";

/** More than 256 * 256, so that a tile of level 2 exists. */
const LEAVES = 70_000;
const RANDOM_PROOFS = 1500;
const BROKEN_OF_EACH = 20;
const RANDOM_NOTES = 60;

export const createCases = (seed: number): object => {
  const tree = createTree();
  return {
    leaves: Array.from({ length: LEAVES }, (_, index) => encodeBase64(leafData(index))),
    roots: sizes(seed).map((size) => ({ size, root: encodeBase64(rootOf(size, tree.hashOf)) })),
    notes: noteCases(seed),
    signatures: signatureCases(seed),
    inclusions: [...inclusionCases(seed, tree.hashOf), ...largeInclusionCases(seed)],
    consistencies: [...consistencyCases(seed, tree.hashOf), ...largeConsistencyCases(seed)],
    tiles: tree.tiles,
    paths: sampled(anyTile, 500, seed).map((tile) => ({ ...tile, path: formatTilePath(tile) })),
  };
};

const encoder = new TextEncoder();
const leafData = (index: number): Uint8Array => encoder.encode(`{"leaf":${index}}`);

/** Level by level, as the specification makes tiles: each hash is the root of a full tile below it. */
const createTree = (): { hashOf: SubtreeHash; tiles: readonly object[] } => {
  const bytes = new Map<string, TileLevels>();
  const tiles: object[] = [];
  let hashes: readonly Hash[] = Array.from({ length: LEAVES }, (_, index) => leafHash(leafData(index)));
  for (let level = 0; hashes.length > 0; level++) {
    const above: Hash[] = [];
    for (let index = 0; index * TILE_WIDTH < hashes.length; index++) {
      const inTile = hashes.slice(index * TILE_WIDTH, (index + 1) * TILE_WIDTH);
      const width = inTile.length;
      assert.equal(width, tileWidth({ level, index }, LEAVES));
      const data = new Uint8Array(Buffer.concat(inTile));
      bytes.set(tileName({ level, index }), tileLevels(data));
      tiles.push({ path: formatTilePath({ level, index, width }), data: encodeBase64(data) });
      if (width < TILE_WIDTH) continue;
      const range = createCompactRange();
      for (const hash of inTile) range.append(hash);
      above.push(range.root());
    }
    hashes = above;
  }
  return { hashOf: subtreeHashFrom((name) => bytes.get(name)), tiles };
};

const sampled = <Value>(arbitrary: fc.Arbitrary<Value>, count: number, seed: number): readonly Value[] =>
  fc.sample(arbitrary, { numRuns: count, seed });

const anySize = fc.oneof(
  fc.integer({ min: 1, max: LEAVES }),
  fc.integer({ min: 1, max: 70 }),
  fc.constantFrom(1, 2, 3, 255, 256, 257, 511, 512, 65_535, 65_536, 65_537, LEAVES),
);

const sizes = (seed: number): readonly number[] => sampled(anySize, 500, seed);

const anyTile = fc.record({
  level: fc.integer({ min: 0, max: 63 }),
  index: fc.oneof(fc.nat({ max: 2_000_000 }), fc.nat({ max: Number.MAX_SAFE_INTEGER })),
  width: fc.integer({ min: 1, max: TILE_WIDTH }),
});

const flipped = (bytes: Uint8Array, chance: number): Uint8Array =>
  bytes.map((byte, index) => (index === chance % bytes.length ? byte ^ (1 << (chance % 8)) : byte));

/** Ways to damage a list of hashes; each gives a different list, for any list. */
const brokenPaths = (
  path: readonly Hash[],
  chance: number,
): readonly (readonly [string, readonly Hash[]])[] => {
  const at = path.length === 0 ? 0 : chance % path.length;
  const more: readonly (readonly [string, readonly Hash[]])[] = [
    ["a hash more at the end", [...path, new Uint8Array(HASH_BYTES)]],
    ["a hash more at the beginning", [new Uint8Array(HASH_BYTES), ...path]],
  ];
  const hash = path[at];
  if (hash === undefined) return more;
  return [
    ...more,
    ["a bit changed", path.with(at, flipped(hash, chance))],
    ["a hash missing", path.toSpliced(at, 1)],
    ["a hash twice", path.toSpliced(at, 0, hash)],
    ...(path.length > 1 ? ([["the other way round", path.toReversed()]] as const) : []),
  ];
};

type InclusionCase = Omit<Inclusion, "leaf"> & { readonly data: Uint8Array };

/** Our verdict must be the expected one before Go is asked. */
const judgedInclusion = (name: string, refused: boolean, given: InclusionCase): object => {
  const { data, index, size, proof, root } = given;
  const isVerified = verifyInclusion({ leaf: leafHash(data), index, size, proof, root });
  assert.equal(isVerified, !refused, `${name}, leaf ${index} of ${size}`);
  return {
    name,
    refused,
    index,
    size,
    data: encodeBase64(data),
    path: proof.map(encodeBase64),
    root: encodeBase64(root),
  };
};

const brokenInclusions = (given: InclusionCase, chance: number): readonly object[] => [
  ...brokenPaths(given.proof, chance).map(([name, proof]) =>
    judgedInclusion(name, true, { ...given, proof }),
  ),
  judgedInclusion("another leaf", true, { ...given, data: leafData(given.index + 1) }),
  judgedInclusion("another root", true, { ...given, root: flipped(given.root, chance) }),
  judgedInclusion("the next index", true, { ...given, index: given.index + 1 }),
  judgedInclusion("an index before the first", true, { ...given, index: -1 }),
];

const inclusionCases = (seed: number, hashOf: SubtreeHash): readonly object[] =>
  sampled(fc.tuple(anySize, fc.nat()), RANDOM_PROOFS, seed).flatMap(([size, chance], at) => {
    const index = chance % size;
    const proof = inclusionProof(index, size, hashOf);
    const given = { data: leafData(index), index, size, proof, root: rootOf(size, hashOf) };
    const right = judgedInclusion("right", false, given);
    return at % BROKEN_OF_EACH === 0 ? [right, ...brokenInclusions(given, chance)] : [right];
  });

const judgedConsistency = (name: string, refused: boolean, given: Consistency): object => {
  const { from, to, fromRoot, toRoot, proof } = given;
  assert.equal(verifyConsistency(given), !refused, `${name}, from ${from} to ${to}`);
  return {
    name,
    refused,
    from,
    to,
    fromRoot: encodeBase64(fromRoot),
    toRoot: encodeBase64(toRoot),
    path: proof.map(encodeBase64),
  };
};

const brokenConsistencies = (given: Consistency, chance: number): readonly object[] => [
  ...brokenPaths(given.proof, chance).map(([name, proof]) =>
    judgedConsistency(name, true, { ...given, proof }),
  ),
  judgedConsistency("another old root", true, { ...given, fromRoot: flipped(given.fromRoot, chance) }),
  judgedConsistency("another new root", true, { ...given, toRoot: flipped(given.toRoot, chance) }),
  judgedConsistency("more before than after", true, { ...given, from: given.to + 1 }),
];

const consistencyCases = (seed: number, hashOf: SubtreeHash): readonly object[] =>
  sampled(fc.tuple(anySize, fc.nat()), RANDOM_PROOFS, seed).flatMap(([to, chance], at) => {
    const from = 1 + (chance % to);
    const proof = consistencyProof(from, to, hashOf);
    const given = { from, to, fromRoot: rootOf(from, hashOf), toRoot: rootOf(to, hashOf), proof };
    const right = judgedConsistency("right", false, given);
    return at % BROKEN_OF_EACH === 0 ? [right, ...brokenConsistencies(given, chance)] : [right];
  });

/** Trees beyond 32 bits in which all leaves but one are equal, so that a subtree's hash takes one step per level. */
const ALIKE = encoder.encode("alike");
const ODD = encoder.encode("odd");

const oddLeafTree = (oddIndex: number): SubtreeHash => {
  const alike = [leafHash(ALIKE)];
  const alikeAt = (level: number): Hash => {
    const known = alike[level];
    if (known !== undefined) return known;
    const below = alikeAt(level - 1);
    const hash = nodeHash(below, below);
    alike[level] = hash;
    return hash;
  };
  const hashOf = ({ level, index }: Subtree): Hash => {
    if (Math.floor(oddIndex / 2 ** level) !== index) return alikeAt(level);
    if (level === 0) return leafHash(ODD);
    const below = level - 1;
    return nodeHash(
      hashOf({ level: below, index: 2 * index }),
      hashOf({ level: below, index: 2 * index + 1 }),
    );
  };
  return hashOf;
};

const largeTree = fc.tuple(
  fc.oneof(
    fc.integer({ min: 2 ** 31, max: Number.MAX_SAFE_INTEGER }),
    fc.constantFrom(2 ** 31, 2 ** 32 - 1, 2 ** 32, 2 ** 32 + 1, 2 ** 52, Number.MAX_SAFE_INTEGER),
  ),
  fc.double({ min: 0, max: 0.999, noNaN: true }),
  fc.double({ min: 0, max: 0.999, noNaN: true }),
);

const largeInclusionCases = (seed: number): readonly object[] =>
  sampled(largeTree, 200, seed).map(([size, share]) => {
    const index = Math.floor(size * share);
    const hashOf = oddLeafTree(index);
    const proof = inclusionProof(index, size, hashOf);
    return judgedInclusion("large", false, { data: ODD, index, size, proof, root: rootOf(size, hashOf) });
  });

const largeConsistencyCases = (seed: number): readonly object[] =>
  sampled(largeTree, 200, seed).map(([to, share, fromShare]) => {
    const from = 1 + Math.floor((to - 1) * fromShare);
    const hashOf = oddLeafTree(Math.floor(to * share));
    const proof = consistencyProof(from, to, hashOf);
    return judgedConsistency("large", false, {
      from,
      to,
      fromRoot: rootOf(from, hashOf),
      toRoot: rootOf(to, hashOf),
      proof,
    });
  });

const signed = fc.record({
  seed: fc.uint8Array({ minLength: 32, maxLength: 32 }),
  origin: fc.stringMatching(/^[a-z0-9]{1,12}\.example\/[a-z0-9-]{1,20}$/),
  size: fc.nat({ max: Number.MAX_SAFE_INTEGER }),
  root: fc.uint8Array({ minLength: 32, maxLength: 32 }),
});

const noteCases = (seed: number): readonly object[] =>
  sampled(signed, RANDOM_NOTES, seed).flatMap(({ seed, origin, size, root }) => {
    const key = createSigningKey(seed);
    const text = formatCheckpoint({ origin, size, root });
    const note = signNote(text, [key.signerNamed(origin)]);
    const verifier = createVerifier({ name: origin, publicKey: key.publicKey });
    const other = createVerifier({ name: `${origin}x`, publicKey: key.publicKey });
    const judged = (name: string, note: string, refused: boolean, by = verifier): object => {
      assert.equal(openNote(note, [by]).kind, refused ? "failed" : "opened", name);
      return { name, verifierKey: formatVerifierKey(by), note, text, refused };
    };
    const witness = createSigningKey(root).signerNamed("witness.example");
    const base64 = note.trim().split(" ").at(-1) ?? "";
    return [
      judged("right", note, false),
      judged("with a stranger's signature", signNote(text, [witness, key.signerNamed(origin)]), false),
      judged("one key under another name", note, true, other),
      judged("another size", note.replace(`\n${size}\n`, `\n${size + 1}\n`), true),
      judged("another origin", note.replace(origin, `${origin}x`), true),
      judged("a bit of the signature changed", note.replace(base64, flippedBase64(base64)), true),
      judged("no newline at the end", note.slice(0, -1), true),
      judged("no empty line", note.replace("\n\n", "\n"), true),
      judged("a hyphen for the dash", note.replace("— ", "- "), true),
      judged("a control character", note.replace(origin, `${origin}\t`), true),
      judged("only a stranger's signature", signNote(text, [witness]), true),
      judged(
        "a forged signature",
        signNote(text, [{ ...witness, name: origin, keyId: verifier.keyId }]),
        true,
      ),
    ];
  });

/** Changes the last byte of the signature: the first ones are the key id, and changing those would make the key unknown. */
const flippedBase64 = (base64: string): string => {
  const bytes = new Uint8Array(Buffer.from(base64, "base64"));
  return encodeBase64(flipped(bytes, bytes.length - 1));
};

/** Go's form of a private key: type and seed behind the name and the key id. */
const goSignerKey = (name: string, seed: Uint8Array): string => {
  const keyId = createSigningKey(seed).signerNamed(name).keyId.toString(16).padStart(8, "0");
  return `PRIVATE+KEY+${name}+${keyId}+${encodeBase64(Buffer.from([1, ...seed]))}`;
};

/** Ed25519 has one signature for a key and a text, so Go's note must equal ours. */
const signatureCases = (seed: number): readonly object[] =>
  sampled(fc.tuple(signed, fc.string({ unit: "grapheme" })), RANDOM_NOTES, seed).map(
    ([{ seed, origin }, words]) => {
      const text = `${words.replace(/\p{Cc}/gu, "")}\n`;
      return {
        signerKey: goSignerKey(origin, seed),
        text,
        note: signNote(text, [createSigningKey(seed).signerNamed(origin)]),
      };
    },
  );
