import { expect, test } from "bun:test";
import { Type } from "@sinclair/typebox";
import { createRequestCheck } from "./check.ts";

test("a pattern without a description stops the program at its start, however deep it is", () => {
  const silent = Type.Object({ list: Type.Array(Type.Object({ name: Type.String({ pattern: "^a$" }) })) });
  expect(() => createRequestCheck(silent)).toThrow("without an expectation text");
});

test("a valid request is returned as it is, and at most fifty places of an invalid one are named", () => {
  const check = createRequestCheck(Type.Object({ n: Type.Integer() }, { additionalProperties: false }));
  expect(check({ n: 7 })).toEqual({ kind: "ok", request: { n: 7 } });
  const many = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`x${index}`, 1]));
  const refused = check(many);
  expect(refused.kind === "invalid" && refused.problems.length).toBe(50);
});
