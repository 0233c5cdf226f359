import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { createPauses } from "../../../runtime/pauses.ts";
import { inspect } from "./inspect.ts";
import { type JsonSlice, memberTexts, sliceBatch, sliceBody } from "./slice.ts";

const white = fc.stringMatching(/^[ \t\n\r]{0,3}$/);

/** JSON text in many spellings: white space anywhere, escapes, and numbers that no double holds. */
const jsonText: fc.Arbitrary<string> = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.constantFrom("null", "true", "false", "0", "-0", "1.0", "12345678901234567890", "1e400", "-1.5E-7"),
    fc.string({ unit: "binary" }).map((text) => JSON.stringify(text)),
    fc.constantFrom('"\\u0000"', '"\\ud800"', '"\\"\\\\"', '"}],:{["', '"\\\\"'),
    fc
      .array(fc.tuple(white, tie("value"), white), { maxLength: 4 })
      .map((items) => `[${items.map((item) => item.join("")).join(",")}]`),
    fc
      .uniqueArray(fc.tuple(fc.string({ maxLength: 6 }), white, tie("value")), {
        maxLength: 4,
        selector: ([name]) => name,
      })
      .map(
        (members) =>
          `{${members.map(([name, space, value]) => `${JSON.stringify(name)}${space}:${value}`).join(",")}}`,
      ),
  ),
})).value;

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

/** Texts that are nearly JSON: a valid one with a character inserted, removed or changed. */
const nearJson = fc
  .tuple(
    jsonText,
    fc.nat(),
    fc.constantFrom("", ",", ":", "}", "]", "{", "[", '"', "\\", "x", "0", ".", "\u0001", " "),
    fc.nat({ max: 1 }),
  )
  .map(([text, at, insert, remove]) => {
    const index = at % (text.length + 1);
    return text.slice(0, index) + insert + text.slice(index + remove);
  });

describe("a body", () => {
  test("is accepted exactly when JSON.parse accepts it, and its text is kept exactly", () => {
    fc.assert(
      fc.property(fc.oneof(jsonText, nearJson, fc.string()), white, (text, space) => {
        const sliced = sliceBody(space + text + space);
        expect(sliced.kind).toBe(isJson(text) ? "slice" : "invalid_json");
        if (sliced.kind !== "slice") return;
        expect(sliced.slice.text).toBe(text.replace(/^[ \t\n\r]+|[ \t\n\r]+$/g, ""));
        // A text with one changed character may well have a repeated member.
        const exact = inspect(sliced.slice.text);
        expect(sliced.slice.duplicateMembers).toEqual(exact.kind === "valid" ? exact.duplicateMembers : []);
      }),
      { numRuns: 2000 },
    );
  });

  test("is judged the same by the exact reading and the fast one", () => {
    fc.assert(
      fc.property(fc.oneof(jsonText, nearJson, fc.string()), (text) => {
        expect(inspect(text).kind).toBe(isJson(text) ? "valid" : "invalid");
      }),
      { numRuns: 2000 },
    );
  });

  test("has its depth counted, however deep it is", () => {
    const nested = (depth: number) => `${"[".repeat(depth)}${"]".repeat(depth)}`;
    for (const depth of [1, 64, 65, 100_000, 1_000_000]) {
      const sliced = sliceBody(nested(depth));
      expect(sliced.kind === "slice" && sliced.slice.depth).toBe(depth);
    }
    expect(sliceBody("[".repeat(100_000)).kind).toBe("invalid_json");
    expect(sliceBody('"a"')).toMatchObject({ slice: { depth: 0 } });
  });

  test.each([
    ['{"a":1,"a":2}', ["/a"]],
    ['{"a":{"b":[0,{"c":1,"c":1}]}}', ["/a/b/1/c"]],
    ['{"a":1,"\\u0061":2}', ["/a"]],
    ['{"a/b":1,"a/b":2}', ["/a~1b"]],
    ['{"__proto__":1,"__proto__":2}', ["/__proto__"]],
    ['{"__proto__":1,"a":[":"]}', []],
  ])("%s: repeated members are named", (text, expected) => {
    const sliced = sliceBody(text);
    expect(sliced.kind === "slice" && sliced.slice.duplicateMembers).toEqual(expected);
  });

  test.each([
    ["", "a value expected at line 1, column 1"],
    ['{"a":1,}', "a member name in double quotes expected at line 1, column 8"],
    ['{\n  "a" 1}', '":" expected at line 2, column 7'],
    ['{"a":1', '"," or "}" expected at line 1, column 7'],
    ["{} x", "the end expected at line 1, column 4"],
  ])("%j is refused with the place of the error", (text, where) => {
    const sliced = sliceBody(text);
    expect(sliced.kind === "invalid_json" && sliced.detail).toContain(where);
  });
});

const readBatch = async (text: string, eventsMax: number) => {
  const events: JsonSlice[] = [];
  const take = (slice: JsonSlice): void => void events.push(slice);
  return { sliced: await sliceBatch({ text, eventsMax, pause: createPauses(10), take }), events };
};

describe("a batch", () => {
  test("gives the exact text of each event", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(white, jsonText, white)), white, async (items, space) => {
        const body = `${space}{${space}"events"${space}:${space}[${items.map((item) => item.join("")).join(",")}${space}]${space}}`;
        const { sliced, events } = await readBatch(body, 1000);
        expect(sliced.kind).toBe("batch");
        expect(events.map(({ text }) => text)).toEqual(items.map((item) => item[1]));
      }),
      { numRuns: 1000 },
    );
  });

  test("is never accepted if JSON.parse refuses the body", async () => {
    const body = fc
      .array(fc.oneof(jsonText, nearJson), { maxLength: 3 })
      .map((items) => `{"events":[${items.join(",")}]}`);
    await fc.assert(
      fc.asyncProperty(fc.oneof(body, nearJson), async (text) => {
        expect((await readBatch(text, 1000)).sliced.kind === "invalid_json").toBe(!isJson(text));
      }),
      { numRuns: 2000 },
    );
  });

  test.each([
    ["[]", { kind: "not_a_batch", path: "", reason: "type" }],
    ["7", { kind: "not_a_batch", path: "", reason: "type" }],
    ["{}", { kind: "not_a_batch", path: "/events", reason: "missing" }],
    ['{"events":{}}', { kind: "not_a_batch", path: "/events", reason: "type" }],
    ['{"events":null}', { kind: "not_a_batch", path: "/events", reason: "type" }],
    ['{"events":[],"events":[]}', { kind: "not_a_batch", path: "/events", reason: "duplicate" }],
    ['{"events":[1,2,3]}', { kind: "not_a_batch", path: "/events", reason: "count" }],
    [
      `{${Array.from({ length: 60 }, (_, index) => `"m${index}":1`).join(",")}}`,
      { kind: "not_a_batch", path: "", reason: "members" },
    ],
    ['{"sent_at":"now","events":[]}', { kind: "batch", otherMembers: ["sent_at"] }],
  ] as const)("%s", async (text, expected) =>
    expect((await readBatch(text, 2)).sliced).toEqual(expected as never),
  );
});

test("the texts of an object's members are exactly those that were written", () => {
  const members = fc.uniqueArray(fc.tuple(fc.string({ unit: "binary" }), white, jsonText, white), {
    maxLength: 5,
    selector: ([name]) => name,
  });
  fc.assert(
    fc.property(members, white, (list, space) => {
      const written = list.map(
        ([name, one, value, two]) => `${space}${JSON.stringify(name)}${one}:${two}${value}${one}`,
      );
      const texts = memberTexts(`${space}{${written.join(",") || space}}`);
      expect([...texts]).toEqual(list.map(([name, , value]) => [name, value]));
    }),
  );
  for (const text of ["", "[]", "1", "{", '{"a"', "{]"]) expect(memberTexts(text).size).toBe(0);
});
