import { expect, test } from "bun:test";
import { Type } from "@sinclair/typebox";
import { createRequestCheck } from "./check.ts";
import { reasonText } from "./reason.ts";

const check = createRequestCheck(Type.Object({ reason: reasonText({ maxLength: 20, description: "Why." }) }));
const kindOf = (reason: string): string => check({ reason }).kind;

test.each([
  ["blanks", "   "],
  ["a line break", "\n"],
  ["U+00A0", "\u00A0"],
  ["U+200B", "\u200B\u200B"],
  ["U+2060, a variation selector, and the filler of Hangul", "\u2060\uFE0F\u3164"],
  ["U+E0041, an invisible tag", "\u{E0041}"],
  ["U+0000", "a\u0000b"],
  ["ESC", "\u001B[31mred"],
  ["U+009B", "\u009B31mred"],
  ["U+202E, which turns what follows round", "a\u202Eb"],
  ["U+2066", "a\u2066b"],
  ["more than the limit", "a".repeat(21)],
])("a reason of %s is refused, and the answer says why", (_, reason) => {
  const checked = check({ reason });
  expect(checked).toMatchObject({
    kind: "invalid",
    problems: [
      {
        path: "/reason",
        message: expect.stringContaining(
          "a text of 1 to 20 characters, at least one of them visible, with no control characters but line breaks, and none that change the direction of writing",
        ),
      },
    ],
  });
});

test("a reason may be in any script, and on several lines", () => {
  for (const reason of ["lost", "two\nlines", "Müll", "理由", "سبب", "नहीं", "👍", "𠀀", "x".repeat(20)])
    expect([reason, kindOf(reason)]).toEqual([reason, "ok"]);
});
