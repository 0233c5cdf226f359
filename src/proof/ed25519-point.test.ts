import { expect, test } from "bun:test";
import fc from "fast-check";
import { isCurvePoint } from "./ed25519-point.ts";
import { createSigningKey } from "./signed-note.ts";

const bytesOf = (hex: string): Uint8Array => new Uint8Array(Buffer.from(hex, "hex"));
const ZEROS = "00".repeat(30);
const ONES = "ff".repeat(30);

test("the public key of every seed is a point, and remains one if its sign bit is flipped", () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), (seed) => {
      const { publicKey } = createSigningKey(seed);
      expect(isCurvePoint(publicKey)).toBe(true);
      publicKey[31] = (publicKey[31] ?? 0) ^ 0x80;
      expect(isCurvePoint(publicKey)).toBe(true);
    }),
    { numRuns: 50 },
  );
});

test("bytes that are not a point, or not its encoding of RFC 8032, are refused", () => {
  const cases = [
    [`0200${ZEROS}`, false],
    // y = 0, 1 and -1. The last two have x = 0, which has no sign.
    [`0000${ZEROS}`, true],
    [`0100${ZEROS}`, true],
    [`01${ZEROS}80`, false],
    [`ec${ONES}7f`, true],
    [`ec${ONES}ff`, false],
    // 0 and 1 again, as the prime and the prime plus one.
    [`ed${ONES}7f`, false],
    [`ee${ONES}7f`, false],
    [`ff${ONES}ff`, false],
  ] as const;
  for (const [hex, isPoint] of cases) expect([hex, isCurvePoint(bytesOf(hex))]).toEqual([hex, isPoint]);
});

test("of the first sixteen values of y, those are points that Deno's node:crypto accepts (measured on 2.9.6)", () => {
  const heights = Array.from({ length: 16 }, (_, y) => y);
  const hexOf = (y: number): string => `${y.toString(16).padStart(2, "0")}00${ZEROS}`;
  expect(heights.filter((y) => isCurvePoint(bytesOf(hexOf(y))))).toEqual([0, 1, 3, 4, 5, 6, 9, 10, 14, 15]);
});
