import { expect, test } from "bun:test";
import fc from "fast-check";
import { createLineSplitter } from "./line-splitter.ts";
import { createEntryReader, type Entry } from "./read-entries.ts";

const LINE_BYTES_MAX = 200;

/** Gives the input in pieces of these lengths. The last piece is the rest. */
const entriesOf = (bytes: Uint8Array, cuts: readonly number[] = []): readonly Entry[] => {
  const splitter = createLineSplitter({ offset: 0, line: 0 }, LINE_BYTES_MAX);
  const reader = createEntryReader({ isAtStart: true, objectBytesMax: LINE_BYTES_MAX });
  const entries: Entry[] = [];
  let from = 0;
  for (const length of [...cuts, bytes.length]) {
    entries.push(...reader.push(splitter.push(bytes.subarray(from, from + length))));
    from += length;
  }
  return [...entries, ...reader.push(splitter.finish()), ...reader.finish()];
};

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
const summary = (text: string) =>
  entriesOf(bytesOf(text)).map((entry) => [
    entry.line,
    entry.kind === "broken" ? entry.code : entry.kind === "event" ? entry.text : "",
  ]);

test("NDJSON is one event per line with its exact text, and blank lines are skipped", () => {
  expect(summary('{"a": 1}\n\n \t\r\n{"b":12345678901234567890}\r\n{"c":"\\u00e9"}')).toEqual([
    [1, '{"a": 1}'],
    [2, ""],
    [3, ""],
    [4, '{"b":12345678901234567890}\r'],
    [5, '{"c":"\\u00e9"}'],
  ]);
});

test("one object over several lines is one event", () => {
  const text = '\n{\n  "a": {\n    "b": [\n      1\n    ]\n  }\n}\n';
  expect(summary(text)).toEqual([
    [1, ""],
    [2, text.trim()],
  ]);
});

test.each([
  ["ends too soon", '{"a":'],
  ["ends too soon, and a blank one follows", '{"a":\n'],
  ["ends too soon, and so does the next", '{"a":\n{"a":'],
  ["is a program's own output", "{warning: starting}"],
  ["is a program's own output, and so is the next", "{warning: starting}\n{warning: started}"],
])("a first line that %s does not hold back the events of a pipe", (_, begin) => {
  const splitter = createLineSplitter({ offset: 0, line: 0 }, LINE_BYTES_MAX);
  const reader = createEntryReader({ isAtStart: true, objectBytesMax: LINE_BYTES_MAX });
  const entries = reader.push(splitter.push(bytesOf(`${begin}\n{"b":1}\n{"c":1}\n`)));
  expect(entries.flatMap((entry) => (entry.kind === "event" ? entry.text : []))).toEqual([
    '{"b":1}',
    '{"c":1}',
  ]);
});

test("an object over several lines may hold whole objects on lines of their own", () => {
  for (const text of ['{"a":\n{"b":1}\n}', '{\n"a": [\n{"b":1},\n{"b":2}\n],\n"c":\n{"d":1}\n}'])
    expect(summary(text)).toEqual([[1, text]]);
});

test("a line that would add an event to the batch, or break it, is refused alone", () => {
  expect(summary('{"a":1},{"b":2}\n{"c":1}]}\n[{"d":1}]x\n{"e":1}\n').map(([, what]) => what)).toEqual([
    "invalid_json",
    "invalid_json",
    "invalid_json",
    '{"e":1}',
  ]);
});

test("bytes that are not UTF-8, and lines longer than any event, are refused with their line number", () => {
  const broken = new Uint8Array([...bytesOf('{"a":1}\n{"b":"'), 0xff, ...bytesOf('"}\n{"c":1}\n')]);
  expect(entriesOf(broken).map(({ kind, line }) => [kind, line])).toEqual([
    ["event", 1],
    ["broken", 2],
    ["event", 3],
  ]);
  expect(summary(`{"a":1}\n{"b":"${"x".repeat(LINE_BYTES_MAX)}"}\n{"c":1}\n`)[1]).toEqual([
    2,
    "payload_too_large",
  ]);
});

test("a byte order mark is not part of the first event", () => {
  expect(summary('\ufeff{"a":1}\n')).toEqual([[1, '{"a":1}']]);
});

test("the entries are the same however the input is split, and each says where the next one begins", () => {
  const line = fc.oneof(
    fc.json().map((text) => text.replaceAll("\n", " ")),
    fc.constantFrom("", " ", "{", '{"a":', '  "b": 1', "}", "\r", "é한"),
  );
  fc.assert(
    fc.property(
      fc.array(line, { maxLength: 12 }),
      fc.array(fc.nat({ max: 30 })),
      fc.boolean(),
      (lines, cuts, isEnded) => {
        const text = lines.join("\n") + (isEnded ? "\n" : "");
        const bytes = bytesOf(text);
        const whole = entriesOf(bytes);
        expect(entriesOf(bytes, cuts)).toEqual(whole);
        expect(whole.at(-1)?.end ?? 0).toBe(bytes.length);
        // Every event is one JSON value, and its text is where the entry says.
        let offset = 0;
        for (const entry of whole) {
          if (entry.kind === "event") {
            JSON.parse(entry.text);
            const place = new TextDecoder("utf-8", { ignoreBOM: true }).decode(
              bytes.subarray(offset, entry.end),
            );
            expect(place).toContain(entry.text);
          }
          expect(entry.end).toBeGreaterThan(offset);
          offset = entry.end;
        }
      },
    ),
    { numRuns: 300 },
  );
});

test("a line of the maximum number of bytes is kept, and a longer one is not, however the input is split", () => {
  for (const pieces of [["abcd\nabcde\nx"], ["ab", "cd\nabc", "de\n", "x"]]) {
    const splitter = createLineSplitter({ offset: 0, line: 0 }, 4);
    const lines = [
      ...pieces.flatMap((piece) => splitter.push(new TextEncoder().encode(piece))),
      ...splitter.finish(),
    ];
    const texts = lines.map(({ bytes, end }) => [bytes && new TextDecoder().decode(bytes), end]);
    expect(texts).toEqual([
      ["abcd", 5],
      [undefined, 11],
      ["x", 12],
    ]);
  }
});

test("an object whose lines begin with commas is one event, up to the largest allowed size", () => {
  const objectBytesMax = 256 * 1024;
  const text = `{"event_id": "evt_1"\n,"metadata": {"rows": [\n${'{"n": 1}\n,\n'.repeat(20_000)}{"n": 2}\n]}}`;
  const splitter = createLineSplitter({ offset: 0, line: 0 }, objectBytesMax);
  const reader = createEntryReader({ isAtStart: true, objectBytesMax });
  expect([...reader.push(splitter.push(bytesOf(text))), ...reader.push(splitter.finish())]).toEqual([]);
  expect(reader.finish()).toMatchObject([{ kind: "event", text }]);
});
