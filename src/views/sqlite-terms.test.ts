import { expect, test } from "bun:test";
import fc from "fast-check";
import { wordsOfAll } from "../event/words.ts";
import { WORD_CHARACTERS_MAX } from "../limits.ts";
import { periodsOf } from "./periods.ts";
import { sqlitePacked, sqliteTermsOf, viewOf } from "./sqlite-terms.ts";
import { LABEL_CHARACTERS_MAX, labelTerm, wordTerm } from "./text-index.ts";

type Entry = Parameters<typeof sqliteTermsOf>[0];

/** The terms according to the modules that define words, labels and periods. */
const expected = ({ tenant, texts, labels, times }: Entry): readonly string[] => [
  ...wordsOfAll(texts).map((word) => wordTerm(tenant, word)),
  ...labels.map((label) => labelTerm(tenant, label)),
  ...times.flatMap(({ name, time }) => periodsOf(time).map((period) => labelTerm(tenant, [name, period]))),
];

const character = fc.oneof(
  ...[..."aZ9 _-.:=~/\t\0\u00a0é대½ß"].map((each) => fc.constant(each)),
  fc.string({ unit: "grapheme", minLength: 1, maxLength: 2 }),
  fc.string({ unit: "binary", minLength: 1, maxLength: 2 }),
);
const text = fc.oneof(
  fc.array(character, { maxLength: 12 }).map((characters) => characters.join("")),
  fc.string({ unit: "binary-ascii", maxLength: 40 }),
  fc.constantFrom(
    "dec_asset_1_13",
    "0198c0de-7000-7123-8abc-0123456789ab",
    `${"d".repeat(WORD_CHARACTERS_MAX)}9`,
    "a".repeat(WORD_CHARACTERS_MAX),
    `x-${"b".repeat(WORD_CHARACTERS_MAX + 1)}-y`,
    "c".repeat(LABEL_CHARACTERS_MAX),
  ),
);
const entry: fc.Arbitrary<Entry> = fc.record({
  tenant: fc.constantFrom("acme", "acme-2", "Acme", "대"),
  texts: fc.array(text, { maxLength: 6 }),
  labels: fc.array(fc.tuple(fc.constantFrom("type", "tag"), text, text), { maxLength: 4 }),
  times: fc.array(
    fc.record({
      name: fc.constantFrom("occurred", "a b"),
      time: fc.constantFrom(
        ...["1999-12-31T23:59:59", "2000-01-01T00:00:00", "2026-11-20T09:08:07.5", "2050-01-01T00:00:00"],
        ...["2026-11-20T09:59:00", "2026-11-20T10:00:00", "2026-11-20T09:5é:00", "2026-11-20T09:5"],
        ...["2026-é1-01T00:00:00", "2026", ""],
      ),
    }),
    { maxLength: 3 },
  ),
});

test("the terms of a row are those of its words, labels and periods, in this order", () => {
  fc.assert(fc.property(entry, (given) => expect(sqliteTermsOf(given)).toEqual([...expected(given)])));
});

test("terms use as much memory as they need, and stay as they are when the next ones are written", () => {
  const write = { kind: "index", index: { name: "words" }, tenant: "acme", labels: [], times: [] } as const;
  const packed = Array.from({ length: 300 }, (_, sequence) =>
    sqlitePacked({ ...write, sequence, texts: [`${sequence} word `.repeat(1 + sequence * 10)] }),
  );
  for (const each of packed) {
    const { sequence } = each;
    const written = decoder.decode(viewOf(each)).split(" ").slice(1);
    expect(written).toEqual(
      Array.from({ length: 1 + sequence * 10 }, () => [`acme/:${sequence}`, "acme/.word"]).flat(),
    );
  }
});

const decoder = new TextDecoder();
