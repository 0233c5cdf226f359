import { expect, test } from "bun:test";
import { Type } from "@sinclair/typebox";
import { createRequestCheck } from "./check.ts";
import { expectationOf } from "./expectation.ts";

test.each([
  [Type.Boolean(), "true or false"],
  [Type.Integer({ minimum: 1, maximum: 9 }), "a whole number from 1 to 9"],
  [Type.Integer({ minimum: 1 }), "a whole number of at least 1"],
  [Type.Number({ maximum: 9 }), "a number of at most 9"],
  [Type.Number(), "a number"],
  [Type.String(), "a text"],
  [Type.String({ minLength: 1, maxLength: 9 }), "a text of 1 to 9 characters"],
  [Type.String({ maxLength: 9 }), "a text of at most 9 characters"],
  [Type.String({ pattern: "^a$", "x-expects": "the letter a" }), "the letter a"],
  [Type.Union([Type.Literal("a"), Type.Literal("b")]), "one of a, b"],
  [Type.Array(Type.String()), "an array of entries, each a text"],
  [
    Type.Array(Type.Boolean(), { minItems: 1, maxItems: 2, uniqueItems: true }),
    "an array of 1 to 2 different entries, each true or false",
  ],
  [
    Type.Object({ a: Type.String(), b: Type.Optional(Type.String()) }),
    "an object with a and, where you want them, b",
  ],
  [Type.Object({ b: Type.Optional(Type.String()) }), "an object with any of b"],
])("%p wants %s", (schema, expected) => {
  expect(expectationOf(schema)).toBe(expected);
});

test("a pattern without a description stops the program at its start, however deep it is", () => {
  const silent = Type.Object({ list: Type.Array(Type.Object({ name: Type.String({ pattern: "^a$" }) })) });
  expect(() => createRequestCheck(silent)).toThrow("nobody can put into words");
});

test("a valid request is returned as it is, and at most fifty places of an invalid one are named", () => {
  const check = createRequestCheck(Type.Object({ n: Type.Integer() }, { additionalProperties: false }));
  expect(check({ n: 7 })).toEqual({ kind: "ok", request: { n: 7 } });
  const many = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`x${index}`, 1]));
  const refused = check(many);
  expect(refused.kind === "invalid" && refused.problems.length).toBe(50);
});
