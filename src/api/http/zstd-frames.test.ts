import { expect, test } from "bun:test";
import { constants, zstdCompressSync } from "node:zlib";
import fc from "fast-check";
import { areWholeFrames } from "./zstd-frames.ts";

/** What a client may send: contents that compress well or not at all, with and without checksum and size. */
const frame = fc
  .record({
    content: fc.oneof(
      fc.uint8Array({ maxLength: 400 }),
      fc.nat({ max: 300_000 }).map((length) => new Uint8Array(length)),
    ),
    checksum: fc.nat({ max: 1 }),
    contentSize: fc.nat({ max: 1 }),
    level: fc.integer({ min: 1, max: 12 }),
  })
  .map(({ content, checksum, contentSize, level }) =>
    zstdCompressSync(content, {
      params: {
        [constants.ZSTD_c_checksumFlag]: checksum,
        [constants.ZSTD_c_contentSizeFlag]: contentSize,
        [constants.ZSTD_c_compressionLevel]: level,
      },
    }),
  );
const skippable = fc
  .tuple(fc.nat({ max: 15 }), fc.uint8Array({ maxLength: 20 }))
  .map(([digit, bytes]) => Buffer.from([0x50 + digit, 0x2a, 0x4d, 0x18, bytes.length, 0, 0, 0, ...bytes]));
const frames = fc.array(fc.oneof(frame, skippable), { minLength: 1, maxLength: 4 });

test("whole frames are found, and a cut is found wherever it is, unless it is between two of them", () => {
  fc.assert(
    fc.property(frames, fc.nat(), (all, anywhere) => {
      const bytes = Buffer.concat(all);
      const ends = new Set<number>();
      for (let index = 1; index <= all.length; index++)
        ends.add(Buffer.concat(all.slice(0, index)).byteLength);
      const cut = anywhere % bytes.byteLength;
      expect(areWholeFrames(bytes)).toBe(true);
      expect([cut, areWholeFrames(bytes.subarray(0, cut))]).toEqual([cut, ends.has(cut)]);
    }),
  );
});

test("other bytes are no frames, and the search for an end always ends", () => {
  expect(areWholeFrames(new Uint8Array(0))).toBe(false);
  const magic = Buffer.from([0x28, 0xb5, 0x2f, 0xfd]);
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
      areWholeFrames(Buffer.concat([magic, bytes]));
      expect(areWholeFrames(Buffer.concat([Uint8Array.of(0), bytes]))).toBe(false);
    }),
  );
});
