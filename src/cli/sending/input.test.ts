import { expect, test } from "bun:test";
import fc from "fast-check";
import { BATCH_EVENTS_MAX } from "../../limits.ts";
import { SEND_BATCH_CHARACTERS_MAX, SEND_LINE_BYTES_MAX } from "../limits.ts";
import { type Batch, fillEvent, type Place, readBatches } from "./input.ts";

/** Gives the input in pieces of these lengths. The last piece is the rest. */
const batchesOf = (
  input: string | Uint8Array,
  { cuts = [], from }: { readonly cuts?: readonly number[]; readonly from?: Place } = {},
): Promise<readonly Batch[]> => {
  const bytes = typeof input === "string" ? new TextEncoder().encode(input) : input;
  async function* chunks() {
    let at = 0;
    for (const length of [...cuts, bytes.length]) {
      yield bytes.subarray(at, at + length);
      at += length;
    }
  }
  return Array.fromAsync(readBatches(chunks(), from));
};
const entriesOf = async (...given: Parameters<typeof batchesOf>) =>
  (await batchesOf(...given)).flatMap(({ entries }) => entries);
const told = async (input: string | Uint8Array) =>
  (await entriesOf(input)).map((entry) => [entry.line, "code" in entry ? entry.code : entry.text]);

test.each<[string, string | Uint8Array, readonly (readonly [number, string])[]]>([
  [
    "one event per line with its exact text, and blank lines are skipped",
    '{"a": 1}\n\n \t\r\n{"b":12345678901234567890}\r\n{"c":"\\u00e9"}',
    [
      [1, '{"a": 1}'],
      [4, '{"b":12345678901234567890}\r'],
      [5, '{"c":"\\u00e9"}'],
    ],
  ],
  ["a byte order mark is not part of the first event", '\ufeff{"a":1}\n', [[1, '{"a":1}']]],
  [
    "a line that would add an event to the batch, or break it, is refused alone",
    '{"a":1},{"b":2}\n{"c":1}]}\n[{"d":1}]x\n{"e":1}\n',
    [
      [1, "invalid_json"],
      [2, "invalid_json"],
      [3, "invalid_json"],
      [4, '{"e":1}'],
    ],
  ],
  [
    "bytes that are not UTF-8 are refused",
    new Uint8Array([0x31, 0x0a, 0x22, 0xff, 0x22, 0x0a, 0x32]),
    [
      [1, "1"],
      [2, "invalid_utf8"],
      [3, "2"],
    ],
  ],
  [
    "the longest line is taken, and a longer one is refused",
    `${"1".repeat(SEND_LINE_BYTES_MAX)}\n${"1".repeat(SEND_LINE_BYTES_MAX + 1)}\n3`,
    [
      [1, "1".repeat(SEND_LINE_BYTES_MAX)],
      [2, "payload_too_large"],
      [3, "3"],
    ],
  ],
])("NDJSON: %s", async (_, input, expected) => {
  expect(await told(input)).toEqual(expected.map((each) => [...each]));
});

test("what has arrived is a batch, which ends at the service's limit of events or characters", async () => {
  const sizesOf = async (...given: Parameters<typeof batchesOf>) =>
    (await batchesOf(...given)).map(({ entries, line }) => [entries.length, line]);
  expect(await sizesOf("{}\n{}\n{}\n", { cuts: [5] })).toEqual([
    [1, 1],
    [2, 3],
  ]);
  expect(await sizesOf("{}\n".repeat(BATCH_EVENTS_MAX + 1))).toEqual([
    [BATCH_EVENTS_MAX, BATCH_EVENTS_MAX],
    [1, BATCH_EVENTS_MAX + 1],
  ]);
  const large = JSON.stringify({ text: "x".repeat(200_000) });
  const inOne = Math.ceil(SEND_BATCH_CHARACTERS_MAX / large.length);
  expect(await sizesOf(`${large}\n`.repeat(inOne + 1))).toEqual([
    [inOne, inOne],
    [1, inOne + 1],
  ]);
});

test("however the input is split it holds the same, and behind any line of it reading goes on, of that input alone", async () => {
  const line = fc.oneof(
    fc.json().map((text) => text.replaceAll("\n", " ")),
    fc.constantFrom("", " ", "{bad", "\r", "é한", '{"a":1}'),
  );
  const some = {
    lines: fc.array(line, { minLength: 1, maxLength: 10 }),
    cuts: fc.array(fc.nat({ max: 30 })),
    isEnded: fc.boolean(),
    pick: fc.nat({ max: 9 }),
  };
  await fc.assert(
    fc.asyncProperty(fc.record(some), async ({ lines, cuts, isEnded, pick }) => {
      const text = ['{"first":1}', ...lines].join("\n") + (isEnded ? "\n" : "");
      const whole = await entriesOf(text);
      expect(await entriesOf(text, { cuts })).toEqual(whole);
      const begun = `${text
        .split("\n")
        .slice(0, 1 + (pick % lines.length))
        .join("\n")}\n`;
      const from = (await batchesOf(begun)).at(-1);
      if (!from) throw new Error("the first line is an event");
      expect(await entriesOf(text, { cuts, from })).toEqual(whole.filter((entry) => entry.line > from.line));
      for (const other of [text.replace("first", "other"), '{"first":1'])
        await expect(entriesOf(other, { from })).rejects.toMatchObject({
          document: { code: "another_input" },
        });
    }),
  );
});

const make = { eventId: () => "made", timestamp: () => "now" };

test("missing members are added, and the written text stays exactly as it is", () => {
  const name = fc.constantFrom("event_id", "timestamp", "asset_id", "__proto__", "{");
  const space = fc.constantFrom("", " ", "\t\r");
  fc.assert(
    fc.property(fc.dictionary(name, fc.jsonValue()), space, (members, around) => {
      const text = around + JSON.stringify(members) + around;
      const written: Record<string, unknown> = JSON.parse(text);
      const missing = ["event_id", "timestamp"].filter((each) => !Object.hasOwn(written, each));
      const filled = fillEvent(text, make);
      const read: Record<string, unknown> = JSON.parse(filled);
      for (const each of missing) expect(read[each]).toBe(each === "event_id" ? "made" : "now");
      expect(Object.keys(read).sort()).toEqual([...Object.keys(written), ...missing].sort());
      expect(filled).toEndWith(text.slice(text.indexOf("{") + 1));
      if (missing.length === 0) expect(filled).toBe(text);
    }),
  );
});

test("text that is not an object is left alone", () => {
  for (const text of ["[]", "7", "null", '"{}"', '[{"event_id":1}]'])
    expect(fillEvent(text, make)).toBe(text);
});
