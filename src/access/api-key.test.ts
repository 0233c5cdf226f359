import { describe, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import fc from "fast-check";
import { API_KEY_PREFIX, hashSecret, isApiKeyId, makeApiKey, parseApiKey, verifySecret } from "./api-key.ts";

const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** Any source of bytes for a key. After its end it starts again with other values. */
const randomSource = fc.infiniteStream(fc.integer({ min: 0, max: 255 })).map((stream) => (bytes: number) => {
  const drawn = new Uint8Array(bytes);
  for (let index = 0; index < bytes; index++) drawn[index] = stream.next().value ?? 0;
  return drawn;
});

describe("an API key", () => {
  test("has the documented form and reads back as its id and secret", () => {
    fc.assert(
      fc.property(randomSource, (source) => {
        const made = makeApiKey(source);
        expect(made.text).toMatch(/^ptk_[0-9A-Za-z]{12}_[0-9A-Za-z]{32}_[0-9A-Za-z]{6}$/);
        expect(parseApiKey(made.text)).toEqual({ id: made.id, secret: made.secret });
        expect(isApiKeyId(made.id)).toBe(true);
      }),
    );
  });

  test("has the prefix that it is made with, and reads back whatever that is", () => {
    const prefix = fc.stringMatching(API_KEY_PREFIX);
    fc.assert(
      fc.property(randomSource, prefix, (source, own) => {
        const made = makeApiKey(source, own);
        expect(made.text).toStartWith(`${own}${made.id}_`);
        expect(parseApiKey(made.text)).toEqual({ id: made.id, secret: made.secret });
        const other = own === "ptk_" ? "abc_" : "ptk_";
        expect(parseApiKey(made.text.replace(own, other))).toBeUndefined();
      }),
    );
  });

  test("is refused without a lookup if any one character is mistyped, lost or doubled, or swapped with the next", () => {
    const { text } = makeApiKey(randomBytes);
    const refused = (typo: string) => expect(parseApiKey(typo)).toBeUndefined();
    for (let index = 0; index < text.length; index++) {
      for (const character of `${ALPHABET}_- .é`) {
        if (character === text.charAt(index)) continue;
        const typo = text.slice(0, index) + character + text.slice(index + 1);
        refused(typo);
      }
      const [before, behind] = [text.slice(0, index), text.slice(index + 1)];
      refused(before + behind);
      refused(before + text.charAt(index) + text.slice(index));
      if (behind !== "" && behind.charAt(0) !== text.charAt(index))
        refused(before + behind.charAt(0) + text.charAt(index) + behind.slice(1));
    }
  });

  test("is not found in text that has more or less than the key", () => {
    const { text } = makeApiKey(randomBytes);
    for (const other of [
      "",
      "ptk_",
      "password",
      `${text}\n`,
      ` ${text}`,
      text.replace("ptk", "1tk"),
      text.slice(4),
    ])
      expect([other, parseApiKey(other)]).toEqual([other, undefined]);
  });

  test("has the same checksum in every version, because scanners rely on it", () => {
    // The last part was computed by another implementation: CRC-32 of Python's zlib, in base 62.
    const made = makeApiKey((bytes) => new Uint8Array(bytes).fill(1));
    expect(made.text).toBe("ptk_111111111111_11111111111111111111111111111111_3BK2sL");
  });

  test("has every character with the same probability", () => {
    // Each byte value occurs once: the 62 characters occur four times each, and the eight values above are drawn again.
    let next = 0;
    const everyByte = (bytes: number) => Uint8Array.from({ length: bytes }, () => next++ % 256);
    const counts = new Map<string, number>();
    for (let made = 0; made < 62; made++) {
      const { id, secret } = makeApiKey(everyByte);
      for (const character of id + secret) counts.set(character, (counts.get(character) ?? 0) + 1);
    }
    expect(counts.size).toBe(62);
    expect(Math.max(...counts.values()) - Math.min(...counts.values())).toBeLessThanOrEqual(1);
  });
});

describe("a secret", () => {
  test("is stored as its SHA-256 and is recognised by it", () => {
    // FIPS 180-2, appendix B.1, in base64url.
    expect(hashSecret("abc")).toBe("ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0");
    expect(verifySecret("abc", hashSecret("abc"))).toBe(true);
    expect(verifySecret("abd", hashSecret("abc"))).toBe(false);
    expect(verifySecret("abc", "")).toBe(false);
  });
});
