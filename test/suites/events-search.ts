/** What a search over events finds. Each database runs it (test/projections/events-search.test.ts). */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { eventFacts } from "../../src/event/facts.ts";
import { readSearchText, type SearchWords } from "../../src/event/search-text.ts";
import { eventsProjection } from "../../src/projections/events/evolve.ts";
import {
  type EventFilter,
  type EventPage,
  findEvent,
  searchEvents,
} from "../../src/projections/events/queries.ts";
import { eventWords } from "../../src/projections/events/words.ts";
import { evolveGroup } from "../../src/projections/evolve-group.ts";
import type { ViewStore } from "../../src/views/view-store.ts";
import { messageOf, type RecordParts } from "../projections/records.ts";
import type { ViewDatabase } from "./view-store.ts";

/** The view of these records, in sequence from 1. */
export const projectEvents = async (views: ViewStore, records: readonly RecordParts[]): Promise<void> => {
  await views.open(eventsProjection);
  const messages = records.map((record, index) => messageOf(index + 1, record));
  const outcome = await evolveGroup({ projections: [eventsProjection], messages, load: views.load, now: "" });
  expect(outcome.deadLetters).toEqual([]);
  await views.commit({ views: [eventsProjection], from: 0, to: records.length, ...outcome });
};

export const all: EventFilter = { timeField: "timestamp", order: "asc" };

const search = async (views: ViewStore, filter: Partial<EventFilter & EventPage>, tenant = "acme") => {
  const found = await searchEvents(views, tenant, { ...all, limit: 100, ...filter });
  if (found.kind !== "page") throw new Error(found.kind);
  return found;
};

const sequences = async (views: ViewStore, filter: Partial<EventFilter>, tenant?: string) =>
  (await search(views, filter, tenant)).rows.map(({ sequence }) => sequence);

export const base = {
  timestamp: "2026-11-20T10:00:00Z",
  asset_id: "credit_model",
  event_type: "decision.automated_decision_made",
};
export const hash = (digit: string): string => `sha256:${digit.repeat(64)}`;

const assets = ["a", "b"];
export const manyRecords = Array.from({ length: 57 }, (_, index) => ({
  event: {
    ...base,
    event_id: `evt_${index}`,
    asset_id: assets[index % 2],
    tags: { third: index % 3 === 0 },
    legal_bases: index % 5 === 0 ? ["x"] : [],
  },
}));

const textOf = (q: string): SearchWords => {
  const read = readSearchText(q);
  if ("message" in read) throw new Error(read.message);
  return read.value;
};

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
    "event_words:",
    "'::tsquery",
  ],
];

/** As the words say, without a database. */
const hasWords = (event: object, { words: whole, prefixes }: SearchWords): boolean => {
  const facts = eventFacts({ ...event });
  const found = new Set(facts ? eventWords(facts) : []);
  return (
    whole.every((word) => found.has(word)) &&
    prefixes.every((prefix) => [...found].some((word) => word.startsWith(prefix)))
  );
};

export const eventsSearchSuite = (name: string, create: () => Promise<ViewDatabase> | ViewDatabase): void => {
  const viewOf = async (records: readonly RecordParts[]) => {
    const database = await create();
    const views = database.connect();
    await projectEvents(views, records);
    return {
      views,
      [Symbol.asyncDispose]: async () => {
        await views.close();
        await database[Symbol.asyncDispose]();
      },
    };
  };

  describe(`searching events in ${name}`, () => {
    test("each filter finds the events that have the value, and no others", async () => {
      await using at = await viewOf([
        {
          event: {
            ...base,
            event_id: "evt_1",
            asset_id: "a.b c",
            risk_tier: "high",
            correlation_id: "case-1",
          },
        },
        {
          event: {
            ...base,
            event_id: "evt_2",
            event_type: "decision.decision_reversed",
            correlation_id: "case-2",
          },
        },
        {
          event: {
            ...base,
            event_id: "evt_3",
            event_type: "objection",
            trace_id: "T1",
            legal_bases: ["x", "y"],
          },
        },
        {
          event: {
            ...base,
            event_id: "evt_4",
            subject_hash: hash("A"),
            tags: { team: "credit", n: 1, on: true },
          },
        },
        {
          event: {
            ...base,
            event_id: "evt_5",
            metadata: { user_id_hash: hash("a"), legal_bases: ["y"] },
            tags: { team: "risk" },
          },
        },
        { tenant: "globex", event: { ...base, event_id: "evt_1", asset_id: "a.b c", risk_tier: "high" } },
      ]);
      const cases: readonly (readonly [Partial<EventFilter>, number[]])[] = [
        [{}, [1, 2, 3, 4, 5]],
        [{ assetId: "a.b c" }, [1]],
        [{ assetId: "A.B C" }, []],
        [{ eventType: "decision.automated_decision_made" }, [1, 4, 5]],
        [{ eventGroup: "decision" }, [1, 2, 4, 5]],
        [{ eventGroup: "legacy" }, [3]],
        [{ riskTier: "high" }, [1]],
        [{ correlationId: "case-2" }, [2]],
        [{ traceId: "T1" }, [3]],
        [{ legalBasis: "x" }, [3]],
        [{ legalBasis: "y" }, [3, 5]],
        [{ subjectHash: hash("a") }, [4, 5]],
        [{ subjectHash: hash("A") }, [4, 5]],
        [{ tags: [{ key: "team", value: "credit" }] }, [4]],
        [{ tags: [{ key: "n", value: "1" }] }, [4]],
        [
          {
            tags: [
              { key: "on", value: "true" },
              { key: "team", value: "credit" },
            ],
          },
          [4],
        ],
        [
          {
            tags: [
              { key: "on", value: "true" },
              { key: "on", value: "true" },
            ],
          },
          [4],
        ],
        [
          {
            tags: [
              { key: "team", value: "credit" },
              { key: "team", value: "risk" },
            ],
          },
          [],
        ],
        [{ legalBasis: "y", tags: [{ key: "team", value: "risk" }], subjectHash: hash("a") }, [5]],
        [{ eventGroup: "decision", riskTier: "high", correlationId: "case-1" }, [1]],
        [{ eventGroup: "decision", riskTier: "high", correlationId: "case-2" }, []],
        [{ tags: Array.from({ length: 100 }, (_, index) => ({ key: `k${index}`, value: "" })) }, []],
      ];
      for (const [filter, expected] of cases) {
        expect({ filter, found: await sequences(at.views, filter) }).toEqual({ filter, found: expected });
        const backwards = await sequences(at.views, { ...filter, order: "desc" });
        expect({ filter, backwards }).toEqual({ filter, backwards: expected.toReversed() });
      }
      expect(await sequences(at.views, { assetId: "a.b c" }, "globex")).toEqual([6]);
      expect(await sequences(at.views, {}, "nobody")).toEqual([]);
    });

    test("a time range takes its beginning in and leaves its end out, to the last digit of any precision", async () => {
      const times = ["00:00Z", "00:00.1Z", "00:00.120Z", "00:00.1200001Z", "00:00.12000010+00:00", "00:01Z"];
      await using at = await viewOf(
        times.map((time, index) => ({
          event: { ...base, event_id: `evt_${index}`, timestamp: `2026-11-20T10:${time}` },
          receivedAt: `2026-11-20T11:00:00.${index}00Z`,
        })),
      );
      const on = (time: string): string => `2026-11-20T10:${time}`;
      expect(await sequences(at.views, { from: on("00:00.12Z") })).toEqual([3, 4, 5, 6]);
      expect(await sequences(at.views, { to: on("00:00.12Z") })).toEqual([1, 2]);
      expect(await sequences(at.views, { from: on("00:00.12000005Z"), to: on("00:00.120000100Z") })).toEqual(
        [],
      );
      expect(await sequences(at.views, { from: on("00:00.1200001Z"), to: on("00:00.12000011Z") })).toEqual([
        4, 5,
      ]);
      const received: Partial<EventFilter> = { timeField: "received_at" };
      expect(
        await sequences(at.views, {
          ...received,
          from: "2026-11-20T11:00:00.2Z",
          to: "2026-11-20T11:00:00.4Z",
        }),
      ).toEqual([3, 4]);
      expect(await sequences(at.views, { ...received, from: "2026-11-20T11:00:00.2001Z" })).toEqual([
        4, 5, 6,
      ]);
    });

    test("an event reads back exactly as it was sent", async () => {
      const sent =
        '{ "event_id" : "evt_1", "timestamp":"2026-11-20T10:00:00Z","asset_id":"a","event_type":"objection",\t"n":1.0e2,"big":12345678901234567890,"s":"\\u0000\\ud800é😀\\u001b" }';
      await using at = await viewOf([{ event: sent, receivedAt: "2026-11-20T10:00:00.120Z" }]);
      const expected = {
        sequence: 1,
        tenant: "acme",
        receivedAt: "2026-11-20T10:00:00.120Z",
        eventText: sent,
      };
      expect((await search(at.views, {})).rows).toEqual([expected]);
      expect(await findEvent(at.views, "acme", "evt_1")).toEqual(expected);
    });

    test("an event is found by its id in the tenant that sent it, a UUID in any case", async () => {
      const id = "0198C0DE-1111-7111-8111-11111111111A";
      await using at = await viewOf([
        { event: { ...base, event_id: id } },
        { event: { ...base, event_id: "evt_1" } },
      ]);
      expect((await findEvent(at.views, "acme", id))?.sequence).toBe(1);
      expect((await findEvent(at.views, "acme", id.toLowerCase()))?.sequence).toBe(1);
      expect((await findEvent(at.views, "acme", "evt_1"))?.sequence).toBe(2);
      expect(await findEvent(at.views, "acme", "EVT_1")).toBeUndefined();
      expect(await findEvent(at.views, "globex", id)).toBeUndefined();
    });

    test("words find an event in its asset, type, correlation, tags and values, and in no other tenant", async () => {
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
        ["cred*", [1, 2, 3]],
        ["credit_mo*", [1, 2, 3]],
        ["dec_4* credit", [3]],
        ["decision_id", []],
        ["false", []],
        ["credit nothing", []],
      ] as const)
        expect({ q, found: await sequences(at.views, { text: textOf(q) }) }).toEqual({
          q,
          found: [...expected],
        });
      expect(await sequences(at.views, { text: textOf("dec_42") }, "globex")).toEqual([4]);
      expect(await sequences(at.views, { text: textOf("cred*") }, "globe")).toEqual([]);
    });

    test("words and every other filter together find what each of them finds", async () => {
      const metadata = { note: "rare", legal_bases: ["y"], user_id_hash: hash("a") };
      const same = {
        event_type: "objection",
        risk_tier: "high",
        correlation_id: "c-1 x",
        trace_id: "t",
        metadata,
      };
      const many = Object.fromEntries(
        Array.from({ length: 16 }, (_, index) => [`k${index}`, `v ${index}.a-b-c-d-e`]),
      );
      await using at = await viewOf([
        { event: { ...base, ...same, event_id: "evt_1", tags: many } },
        // More words than an event is found by: those of the filters are kept before all others.
        {
          event: {
            ...base,
            ...same,
            event_id: "evt_2",
            tags: many,
            metadata: {
              ...metadata,
              more: Array.from({ length: 5000 }, (_, index) => `w${index}`).join(" "),
            },
          },
        },
        { event: { ...base, event_id: "evt_3", metadata: { note: "rare" } } },
      ]);
      const filters: Partial<EventFilter>[] = [
        { assetId: base.asset_id, eventType: "objection", correlationId: "c-1 x" },
        { eventGroup: "legacy" },
        { riskTier: "high", legalBasis: "y", subjectHash: hash("A"), traceId: "t" },
        { tags: Object.entries(many).map(([key, value]) => ({ key, value })) },
        { from: base.timestamp, eventGroup: "legacy", tags: [{ key: "k3", value: "v 3.a-b-c-d-e" }] },
      ];
      for (const filter of filters) {
        expect(await sequences(at.views, { ...filter, text: textOf("rare") })).toEqual([1, 2]);
        expect(await sequences(at.views, { ...filter, text: textOf("none") })).toEqual([]);
      }
      expect(await sequences(at.views, { text: textOf("w1") })).toEqual([2]);
      expect(await sequences(at.views, { text: textOf("rare w4999") })).toEqual([]);
      expect(await sequences(at.views, { eventGroup: "decision", text: textOf("rare") })).toEqual([3]);
    });

    /**
     * 1. Events of two tenants are made of difficult texts, at any place where words come from.
     * 2. Each is asked for, in each tenant, whole, in part and as prefix.
     * 3. What is found is what a filter over the words of the tenant's own events finds, and nothing throws.
     */
    test("whatever texts events and questions hold, exactly the events with the words are found", async () => {
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

    test("values that no database text can hold are still told apart", async () => {
      await using at = await viewOf(
        ["\0", "a\0b", "a", "\ud800", "\ud801", "\ufffd"].map((odd, index) => ({
          event: { ...base, event_id: `evt_${index}`, correlation_id: odd, tags: { [odd]: odd } },
        })),
      );
      for (const [index, odd] of ["\0", "a\0b", "a", "\ud800", "\ud801", "\ufffd"].entries()) {
        expect(await sequences(at.views, { correlationId: odd })).toEqual([index + 1]);
        expect(await sequences(at.views, { tags: [{ key: odd, value: odd }] })).toEqual([index + 1]);
      }
    });

    test("pages of any size, in both orders, hold every event once and end with no cursor", async () => {
      await using at = await viewOf(manyRecords);
      const filters: Partial<EventFilter>[] = [
        {},
        { assetId: "a" },
        { tags: [{ key: "third", value: "true" }], legalBasis: "x" },
        { text: textOf("true cred*"), assetId: "a" },
        { text: textOf("third") },
      ];
      await fc.assert(
        fc.asyncProperty(
          fc.constantFrom(...filters),
          fc.constantFrom("asc", "desc"),
          fc.integer({ min: 1, max: 60 }),
          async (filter, order, limit) => {
            const whole = await sequences(at.views, { ...filter, order });
            const paged: number[] = [];
            let cursor: string | null | undefined;
            while (cursor !== null) {
              const page = await search(at.views, { ...filter, order, limit, cursor });
              expect(page.rows.length).toBeLessThanOrEqual(limit);
              paged.push(...page.rows.map(({ sequence }) => sequence));
              cursor = page.nextCursor;
            }
            expect(paged).toEqual(whole);
          },
        ),
      );
    });

    test("a cursor works with another page size, and is refused with another filter, order or tenant", async () => {
      await using at = await viewOf(manyRecords);
      const tags = [
        { key: "third", value: "true" },
        { key: "x", value: "y" },
      ];
      const filter = { ...all, assetId: "a", limit: 5 };
      const { nextCursor } = await search(at.views, filter);
      const cursor = nextCursor ?? "";
      expect((await search(at.views, { ...filter, limit: 7, cursor })).rows[0]?.sequence).toBe(11);
      for (const other of [
        { assetId: "b" },
        { order: "desc" },
        { tags },
        { from: base.timestamp },
        { assetId: undefined },
        { text: textOf("credit") },
      ] as const) {
        expect(await searchEvents(at.views, "acme", { ...filter, ...other, cursor })).toEqual({
          kind: "invalid_cursor",
        });
      }
      expect(await searchEvents(at.views, "globex", { ...filter, cursor })).toEqual({
        kind: "invalid_cursor",
      });
      expect(await searchEvents(at.views, "acme", { ...filter, cursor: "nonsense" })).toEqual({
        kind: "invalid_cursor",
      });
    });

    test("the order in which tags are named does not make a cursor another one", async () => {
      await using at = await viewOf(
        manyRecords.map(({ event }) => ({ event: { ...event, tags: { p: 1, q: 2 } } })),
      );
      const tags = [
        { key: "q", value: "2" },
        { key: "p", value: "1" },
      ];
      const { nextCursor } = await search(at.views, { tags, limit: 2 });
      const next = await search(at.views, { tags: tags.toReversed(), limit: 2, cursor: nextCursor ?? "" });
      expect(next.rows.map(({ sequence }) => sequence)).toEqual([3, 4]);
    });
  });
};
