/** What a search for words finds. Each database runs it (test/projections/events-search.test.ts). */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { eventFacts } from "../../src/event/facts.ts";
import { readSearchText, type SearchWords } from "../../src/event/search-query.ts";
import { createEventWords } from "../../src/views/events/terms.ts";
import type { RecordParts } from "../projections/records.ts";
import { base, eventsView, sequences, textOf } from "./events-search.ts";
import type { CreateDatabase } from "./view-store.ts";

const TEXT_PARTS = [
  ..."aB7 _-*'\"/\\:&|!()<>\0\ud800\u0301",
  ...[
    "credit",
    "loan",
    "대출",
    "심사",
    "ß",
    "Ⅷ",
    " AND ",
    " NOT ",
    " NEAR(",
    "acme/",
    "globex/",
    "event_terms:",
    "'::tsquery",
  ],
];

/** The result that the words demand, without a database. */
const hasWords = (event: object, { words: whole, prefixes }: SearchWords): boolean => {
  const facts = eventFacts({ ...event });
  const found = new Set(facts ? createEventWords()(facts) : []);
  return (
    whole.every((word) => found.has(word)) &&
    prefixes.every((prefix) => [...found].some((word) => word.startsWith(prefix)))
  );
};

export const eventsWordsSuite = (name: string, create: CreateDatabase): void => {
  const viewOf = (records: readonly RecordParts[]) => eventsView(create, records);

  describe(`searching words in ${name}`, () => {
    test("words find an event by its asset, type, correlation, tags and values, and in no other tenant", async () => {
      await using at = await viewOf([
        { event: { ...base, event_id: "evt_1", asset_id: "credit_model.v2", correlation_id: "Loan-7" } },
        { event: { ...base, event_id: "evt_2", tags: { team: "Kredit Süd", n: 1.5, on: true } } },
        {
          event: {
            ...base,
            event_id: "evt_3",
            metadata: {
              a: { b: [{ decision_id: "dec_42" }, "scorer-7", 4711, null, false] },
              note: "대출 심사",
            },
          },
        },
        { tenant: "globex", event: { ...base, event_id: "evt_1", metadata: { note: "dec_42 loan 대출" } } },
        {
          event: {
            ...base,
            event_id: "evt_5",
            event_type: "other",
            asset_id: "x",
            metadata: { note: ["개인정보를", "審査結果を", "订单20261128", "ｸﾚｼﾞｯﾄ İZMİR"] },
          },
        },
      ]);
      for (const [q, expected] of [
        ["credit_model.v2", [1]],
        ["CREDIT v2", [1]],
        ["model_credit", []],
        ["loan-7", [1]],
        ["7 loan", [1]],
        ["automated_decision_made", [1, 2, 3]],
        ["team", [2]],
        ["SÜD kredit", [2]],
        ["true 1.5", [2]],
        ["dec_42", [3]],
        ["dec 42 scorer", [3]],
        ["4711", [3]],
        ["대출", [3]],
        ["대출* 심사", [3]],
        ["대출심사", []],
        ["출", [3]],
        ["cred*", [1, 2, 3]],
        ["credit_mo*", [1, 2, 3]],
        ["dec_4* credit", [3]],
        ["개인정보", [5]],
        ["結果", [5]],
        ["20261128", [5]],
        ["クレジット", [5]],
        ["izmir", [5]],
        ["decision_id", []],
        ["false", [3]],
        ["credit nothing", []],
      ] as const)
        expect({ q, found: await sequences(at.views, { text: textOf(q) }) }).toEqual({
          q,
          found: [...expected],
        });
      expect(await sequences(at.views, { text: textOf("dec_42") }, "globex")).toEqual([4]);
      expect(await sequences(at.views, { text: textOf("cred*") }, "globe")).toEqual([]);
    });

    /**
     * 1. Events of two tenants are made of difficult texts, in every place that words come from.
     * 2. Each text is searched for, in each tenant, whole, in part and as a prefix.
     * 3. The results equal those of a filter over the words of the tenant's own events, and nothing throws.
     */
    test("for any texts in events and questions, exactly the events with the words are found", async () => {
      const anyText = fc.oneof(
        {
          weight: 3,
          arbitrary: fc
            .array(fc.constantFrom(...TEXT_PARTS), { maxLength: 8 })
            .map((parts) => parts.join("")),
        },
        { weight: 1, arbitrary: fc.string({ unit: "binary", maxLength: 20 }) },
      );
      const anyEvent = fc.record({
        tenant: fc.constantFrom("acme", "globex"),
        asset_id: fc.constantFrom("credit_model", "a-b"),
        correlation_id: anyText,
        tags: fc.dictionary(anyText, anyText, { maxKeys: 2 }),
        metadata: fc.dictionary(
          fc.constantFrom("x", "y"),
          fc.oneof(anyText, fc.double({ noDefaultInfinity: true, noNaN: true }), fc.array(anyText)),
        ),
      });
      const cases = fc.record({
        events: fc.array(anyEvent, { minLength: 1, maxLength: 40 }),
        questions: fc.array(anyText, { minLength: 1, maxLength: 40 }),
      });
      await fc.assert(
        fc.asyncProperty(cases, async ({ events, questions }) => {
          const records = events.map(({ tenant, ...rest }, index) => ({
            tenant,
            event: { ...base, ...rest, event_id: `evt_${index}` },
          }));
          await using at = await viewOf(records);
          const texts = events.flatMap(({ correlation_id: id, metadata }) => [
            id,
            ...Object.values(metadata).flat(),
          ]);
          for (const q of [...questions, ...texts.map(String), ...questions.map((text) => `${text}*`)]) {
            const read = readSearchText(q);
            if ("message" in read) continue;
            for (const tenant of ["acme", "globex"]) {
              const expected = records.flatMap((record, index) =>
                record.tenant === tenant && hasWords(record.event, read.value) ? [index + 1] : [],
              );
              const found = await sequences(at.views, { text: read.value }, tenant);
              expect({ q, tenant, found }).toEqual({ q, tenant, found: expected });
            }
          }
        }),
        { numRuns: 8 },
      );
    });
  });
};
