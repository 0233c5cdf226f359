import { expect, test } from "bun:test";
import fc from "fast-check";
import { readEvent } from "./read-event.ts";

test.each([
  ["9007199254740993", "9007199254740993"],
  ["-12345678901234567891", "-12345678901234567891"],
  ["9007199254740992", "9007199254740992"],
  ["9007199254740991", Number.MAX_SAFE_INTEGER],
  ["1234567890.1234567890", Number("1234567890.1234567890")],
  ["1e20", 1e20],
  ["123456789012345678e3", Number("123456789012345678e3")],
  ['"12345678901234567891"', "12345678901234567891"],
  ["-0", -0],
])("%s in tags, in metadata or as the name of a decision is read as %p", (sent, expected) => {
  const text = `{"n":12345678901234567891,"decision_id":${sent},"tags":{"t":${sent}},"metadata":{"m":[{"x":${sent}}],"k":1}}`;
  expect(readEvent(text)).toEqual({
    n: Number("12345678901234567891"),
    decision_id: expected,
    tags: { t: expected },
    metadata: { m: [{ x: expected }], k: 1 },
  });
});

const large = fc.bigInt({ min: -(2n ** 66n), max: 2n ** 66n }).map(Number);
const anything = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    large,
    fc.jsonValue({ maxDepth: 0 }),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(fc.string(), tie("value"), { maxKeys: 3 }),
  ),
})).value;

const asText = (_name: string, value: unknown): unknown =>
  Number.isInteger(value) && !Number.isSafeInteger(value) && !String(value).includes("e")
    ? String(value)
    : value;

test("everything else is read as JSON", () => {
  fc.assert(
    fc.property(fc.record({ tags: anything, metadata: anything, other: anything }), (event) => {
      const text = JSON.stringify(event);
      const { other } = JSON.parse(text);
      expect(readEvent(text)).toEqual({ ...JSON.parse(text, asText), other });
    }),
  );
});

test.each(["12345678901234567", "9007199254740993"])(
  "a number of many digits, %s, is found at any position",
  (digits) => {
    for (let before = 0; before < 40; before++) {
      const text = `{"tags":{"${"x".repeat(before)}":${digits}}}`;
      expect(readEvent(text).tags).toEqual({ ["x".repeat(before)]: digits });
    }
  },
);

test("a text that is not JSON is an error, and a value that is not an object has no members", () => {
  expect(() => readEvent("{")).toThrow();
  expect(Object.keys(readEvent("5"))).toEqual([]);
});
