import { expect, test } from "bun:test";
import fc from "fast-check";
import { createNaiveTree } from "../../test/support/naive-tree.ts";
import { leafHash } from "./rfc6962.ts";
import { createSigningKey, createVerifier, signNote } from "./signed-note.ts";
import { formatCheckpoint } from "./tlog-checkpoint.ts";
import { formatTlogProof, parseTlogProof, type TlogProof, verifyTlogProof } from "./tlog-proof.ts";

const origin = "log.example/tenant-1";
const key = createSigningKey(new Uint8Array(32).fill(5));
const verifiers = [createVerifier({ name: origin, publicKey: key.publicKey })];
const data = (index: number): Uint8Array => new TextEncoder().encode(`leaf ${index}`);
const tree = createNaiveTree(data);
const checkpointOf = (size: number): string =>
  signNote(formatCheckpoint({ origin, size, root: tree.mth(0, size) }), [key.signerNamed(origin)]);
const proofOf = (index: number, size: number): TlogProof => ({
  index,
  hashes: tree.path(index, size),
  checkpoint: checkpointOf(size),
});
const failed = <Reason extends string>(reason: Reason) => ({ kind: "failed" as const, reason });
const verify = (proof: string, index: number) =>
  verifyTlogProof({ proof, leaf: leafHash(data(index)), origin, verifiers });

test("the file follows the specification: header, index, hashes, empty line, checkpoint", () => {
  const proof = proofOf(2, 3);
  const sibling = Buffer.from(tree.mth(0, 2)).toString("base64");
  expect(formatTlogProof(proof)).toBe(`c2sp.org/tlog-proof@v1\nindex 2\n${sibling}\n\n${proof.checkpoint}`);
  expect(formatTlogProof({ ...proofOf(0, 1), extra: Uint8Array.of(1, 2, 3) })).toBe(
    `c2sp.org/tlog-proof@v1\nextra AQID\nindex 0\n\n${checkpointOf(1)}`,
  );
});

test("every proof verifies from its file alone, for its own leaf and no other", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 2000 }), fc.nat(), fc.uint8Array(), (size, chance, extra) => {
      const index = chance % size;
      const text = formatTlogProof({ ...proofOf(index, size), extra });
      expect(verify(text, index)).toMatchObject({ kind: "verified", index, checkpoint: { origin, size } });
      expect(verify(text, index + 1)).toEqual(failed("not_included"));
      const { extra: read, ...rest } = parseTlogProof(text) ?? {};
      expect<object>(rest).toEqual(proofOf(index, size));
      expect(read).toEqual(extra.length === 0 ? undefined : extra);
    }),
    { numRuns: 50 },
  );
});

const TEXT = formatTlogProof({ ...proofOf(5, 9), extra: Uint8Array.of(1, 2, 3) });
const [HASH = ""] = /^[\w+/]{43}=$/m.exec(TEXT) ?? [];

test.each([
  ["nothing", ""],
  ["another version", TEXT.replace("@v1", "@v2")],
  ["no header", TEXT.slice(TEXT.indexOf("\n") + 1)],
  ["something before the header", `\n${TEXT}`],
  ["a byte order mark", `\ufeff${TEXT}`],
  ["no index", TEXT.replace("index 5\n", "")],
  ["an empty index", TEXT.replace("index 5", "index ")],
  ["a leading zero", TEXT.replace("index 5", "index 05")],
  ["two spaces", TEXT.replace("index 5", "index  5")],
  ["a space after the index", TEXT.replace("index 5", "index 5 ")],
  ["a negative index", TEXT.replace("index 5", "index -5")],
  ["an index that no number holds", TEXT.replace("index 5", "index 9007199254740992")],
  ["capitals", TEXT.replace("index", "Index")],
  ["extra data after the index", TEXT.replace("extra AQID\nindex 5", "index 5\nextra AQID")],
  ["extra data twice", TEXT.replace("extra AQID", "extra AQID\nextra AQID")],
  ["empty extra data", TEXT.replace("extra AQID", "extra ")],
  ["extra data that is not base64", TEXT.replace("AQID", "AQI")],
  ["a short hash", TEXT.replace(HASH, Buffer.alloc(31).toString("base64"))],
  ["a long hash", TEXT.replace(HASH, Buffer.alloc(33).toString("base64"))],
  ["a hash without padding", TEXT.replace(HASH, HASH.slice(0, -1))],
  ["a space before a hash", TEXT.replace(HASH, ` ${HASH}`)],
  ["carriage returns", TEXT.replaceAll("\n", "\r\n")],
  ["no empty line", TEXT.replace(`\n\n${origin}`, `\n${origin}`)],
  ["no checkpoint", TEXT.slice(0, TEXT.indexOf("\n\n") + 2)],
])("%s: the text is no proof", (_, text) => {
  expect(parseTlogProof(text)).toBeUndefined();
  expect(verify(text, 5)).toEqual(failed("malformed"));
});

test("no character can be changed except in the extra data, which nothing covers", () => {
  const codes = fc.oneof(fc.nat({ max: 127 }), fc.nat({ max: 0xffff }));
  fc.assert(
    fc.property(fc.nat({ max: TEXT.length - 1 }), codes, (at, code) => {
      const changed = `${TEXT.slice(0, at)}${String.fromCharCode(code)}${TEXT.slice(at + 1)}`;
      const isExtra = at >= TEXT.indexOf("AQID") && at < TEXT.indexOf("AQID") + 4;
      if (changed !== TEXT && !isExtra) expect(verify(changed, 5).kind).toBe("failed");
    }),
    { numRuns: 5000 },
  );
});

test("the reason why a proof fails names what is wrong with the checkpoint", () => {
  const { checkpoint, ...path } = proofOf(5, 9);
  const signed = (text: string, seed = 5): string =>
    signNote(text, [createSigningKey(new Uint8Array(32).fill(seed)).signerNamed(origin)]);
  const text = (origin: string): string => formatCheckpoint({ origin, size: 9, root: tree.mth(0, 9) });
  for (const [given, result] of [
    [checkpoint, { kind: "verified" }],
    [checkpoint.replace("\n9\n", "\n8\n"), failed("bad_signature")],
    ["no note\n", failed("malformed")],
    [signed("no checkpoint\n"), failed("malformed")],
    [signed(text(origin), 6), failed("unknown_key")],
    [signed(text("log.example/tenant-2")), failed("wrong_origin")],
  ] as const)
    expect(verify(formatTlogProof({ ...path, checkpoint: given }), 5)).toMatchObject(result);
});
