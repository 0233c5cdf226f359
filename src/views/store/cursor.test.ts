import { expect, test } from "bun:test";
import fc from "fast-check";
import { readCursor, writeCursor } from "./cursor.ts";

const anyPlace = fc.array(fc.oneof(fc.maxSafeNat(), fc.string({ unit: "grapheme" })), { maxLength: 3 });

test("a cursor leads back to the end of its page for the same query", () => {
  fc.assert(
    fc.property(anyPlace, fc.string({ unit: "binary" }), (place, scope) => {
      const text = writeCursor({ place, scope });
      expect(text).toMatch(/^[A-Za-z0-9_-]+$/);
      expect(readCursor(text, scope)).toEqual({ kind: "cursor", place });
    }),
  );
});

test("a cursor of another query is refused", () => {
  fc.assert(
    fc.property(anyPlace, fc.string(), fc.string(), (place, scope, other) => {
      fc.pre(scope !== other);
      expect(readCursor(writeCursor({ place, scope }), other)).toEqual({ kind: "invalid_cursor" });
    }),
  );
});

test("any other text is refused without throwing", () => {
  const good = writeCursor({ place: [42], scope: "s" });
  const forged = Buffer.from(`[2,"${"A".repeat(12)}",1e3]`).toString("base64url");
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
