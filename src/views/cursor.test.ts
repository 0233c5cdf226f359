import { expect, test } from "bun:test";
import fc from "fast-check";
import { readCursor, writeCursor } from "./cursor.ts";

test("a cursor leads back to where the page ended, for the question it was given for", () => {
  fc.assert(
    fc.property(fc.maxSafeNat(), fc.string({ unit: "binary" }), (sequence, scope) => {
      const text = writeCursor({ sequence, scope });
      expect(text).toMatch(/^[A-Za-z0-9_-]+$/);
      expect(readCursor(text, scope)).toEqual({ kind: "cursor", sequence });
    }),
  );
});

test("a cursor of another question is refused", () => {
  fc.assert(
    fc.property(fc.maxSafeNat(), fc.string(), fc.string(), (sequence, scope, other) => {
      fc.pre(scope !== other);
      expect(readCursor(writeCursor({ sequence, scope }), other)).toEqual({ kind: "invalid_cursor" });
    }),
  );
});

test("any other text is refused and nothing is thrown", () => {
  const good = writeCursor({ sequence: 42, scope: "s" });
  const forged = Buffer.from(`1.1e3.${"A".repeat(12)}`).toString("base64url");
  for (const text of [
    "",
    "x",
    `${good}=`,
    ` ${good}`,
    `${good}A`,
    good.slice(1),
    `${good}\n`,
    forged,
    "💥",
  ]) {
    expect(readCursor(text, "s")).toEqual({ kind: "invalid_cursor" });
  }
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      expect(readCursor(text, "s")).toEqual({ kind: "invalid_cursor" });
    }),
  );
});
