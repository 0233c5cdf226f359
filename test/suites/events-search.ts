/** What a search over events finds. Each database runs it (test/projections/events-search.test.ts). */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { readSearchText, type SearchWords } from "../../src/event/search-query.ts";
import { eventsProjection } from "../../src/views/events/evolve.ts";
import {
  type EventFilter,
  type EventPage,
  findEvent,
  type StoredEvent,
  searchEvents,
} from "../../src/views/events/queries.ts";
import { applyBatch } from "../../src/views/kit/apply-batch.ts";
import type { ViewStore } from "../../src/views/store/view-store.ts";
import { messageOf, type RecordParts } from "../projections/records.ts";
import type { CreateDatabase } from "./view-store.ts";

/** The view of these records, in sequence from 1. */
export const projectEvents = async (views: ViewStore, records: readonly RecordParts[]): Promise<void> => {
  await views.open(eventsProjection);
  const messages = records.map((record, index) => messageOf(index + 1, record));
  const outcome = await applyBatch({ projections: [eventsProjection], messages, load: views.load, now: "" });
  expect(outcome.deadLetters).toEqual([]);
  await views.commit({ views: [eventsProjection], from: 0, to: records.length, ...outcome });
};

/** It is the same array each time: see CreateDatabase. */
const EVENTS_ALONE = [eventsProjection];

/** The view of these records in a separate database. */
export const eventsView = async (create: CreateDatabase, records: readonly RecordParts[]) => {
  const database = await create(EVENTS_ALONE);
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

export const all: EventFilter = { timeField: "timestamp", order: "asc" };

const search = async (views: ViewStore, filter: Partial<EventFilter & EventPage>, tenant = "acme") => {
  const found = await searchEvents(views, tenant, { ...all, limit: 100, ...filter });
  if (found.kind !== "page") throw new Error(found.kind);
  return found;
};

export const sequences = async (views: ViewStore, filter: Partial<EventFilter>, tenant?: string) =>
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

const again = ({ event }: (typeof manyRecords)[number]) => ({
  event: { ...event, event_id: `${event.event_id}_again` },
});

export const textOf = (q: string): SearchWords => {
  const read = readSearchText(q);
  if ("message" in read) throw new Error(read.message);
  return read.value;
};

export const eventsSearchSuite = (name: string, create: CreateDatabase): void => {
  const viewOf = (records: readonly RecordParts[]) => eventsView(create, records);

  describe(`searching events in ${name}`, () => {
    test("each filter finds the events that have the value, and no others", async () => {
      const of = (number: number, members: object, tenant = "acme") => ({
        tenant,
        event: { ...base, event_id: `evt_${number}`, ...members },
      });
      const metadata = { user_id_hash: hash("a"), legal_bases: ["y"] };
      await using at = await viewOf([
        of(1, { asset_id: "a.b c", risk_tier: "high", correlation_id: "case-1" }),
        of(2, { event_type: "decision.decision_reversed", correlation_id: "case-2" }),
        of(3, { event_type: "objection", trace_id: "T1", legal_bases: ["x", "y"] }),
        of(4, { subject_hash: hash("A"), tags: { team: "credit", n: 1, on: true } }),
        of(5, { metadata, tags: { team: "risk" } }),
        of(1, { asset_id: "a.b c", risk_tier: "high" }, "globex"),
      ]);
      const tagged = (...tags: readonly (readonly [key: string, value: string])[]): Partial<EventFilter> => ({
        tags: tags.map(([key, value]) => ({ key, value })),
      });
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
        [tagged(["team", "credit"]), [4]],
        [tagged(["n", "1"]), [4]],
        [tagged(["on", "true"], ["team", "credit"]), [4]],
        [tagged(["on", "true"], ["on", "true"]), [4]],
        [tagged(["team", "credit"], ["team", "risk"]), []],
        [{ legalBasis: "y", tags: [{ key: "team", value: "risk" }], subjectHash: hash("a") }, [5]],
        [{ eventGroup: "decision", riskTier: "high", correlationId: "case-1" }, [1]],
        [{ eventGroup: "decision", riskTier: "high", correlationId: "case-2" }, []],
        [{ tags: Array.from({ length: 100 }, (_, index) => ({ key: `k${index}`, value: "" })) }, []],
        // Also events without such a value.
        [{ noneOf: [{ riskTier: "high" }] }, [2, 3, 4, 5]],
        [{ noneOf: [{ eventGroup: "decision" }] }, [3]],
        [{ noneOf: [{ legalBasis: "x" }, { correlationId: "case-1" }] }, [2, 4, 5]],
        [{ eventGroup: "decision", noneOf: [{ subjectHash: hash("A") }] }, [1, 2]],
        [{ text: textOf("decision credit_model"), noneOf: [{ correlationId: "case-2" }] }, [4, 5]],
        [{ text: textOf("cred* decision"), noneOf: [{ eventType: "decision.decision_reversed" }] }, [4, 5]],
        [{ text: textOf("cred*"), eventGroup: "decision", noneOf: [{ subjectHash: hash("a") }] }, [2]],
        [{ from: base.timestamp, noneOf: [{ traceId: "T1" }, { assetId: "a.b c" }] }, [2, 4, 5]],
        [{ from: base.timestamp, riskTier: "high", noneOf: [{ assetId: "credit_model" }] }, [1]],
        [{ anyOf: [{ legalBasis: "x" }, { riskTier: "high" }], noneOf: [{ traceId: "T1" }] }, [1]],
        [{ assetId: "a.b c", noneOf: [{ assetId: "a.b c" }] }, []],
        [{ noneOf: [{ assetId: "nowhere" }] }, [1, 2, 3, 4, 5]],
      ];
      for (const [filter, expected] of cases) {
        expect({ filter, found: await sequences(at.views, filter) }).toEqual({ filter, found: expected });
        const backwards = await sequences(at.views, { ...filter, order: "desc" });
        expect({ filter, backwards }).toEqual({ filter, backwards: expected.toReversed() });
      }
      expect(await sequences(at.views, { assetId: "a.b c" }, "globex")).toEqual([6]);
      expect(await sequences(at.views, {}, "nobody")).toEqual([]);
    });

    test("a time range includes its beginning and excludes its end, to the last digit of any precision", async () => {
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

    test("a time with any number of digits is found and read back in full", async () => {
      const timestamp = `2026-11-20T10:00:00.${7n ** 20_000n}Z`;
      await using at = await viewOf([{ event: { ...base, event_id: "evt_1", timestamp } }]);
      const { rows } = await search(at.views, { from: timestamp });
      expect(rows[0]?.eventText).toContain(timestamp);
      expect(await sequences(at.views, { to: timestamp })).toEqual([]);
    });

    test("an event reads back exactly as it was sent", async () => {
      const sent =
        '{ "event_id" : "evt_1", "timestamp":"2026-11-20T10:00:00Z","asset_id":"a","event_type":"objection",\t"n":1.0e2,"big":12345678901234567890,"s":"\\u0000\\ud800é😀\\u001b" }';
      await using at = await viewOf([{ event: sent, receivedAt: "2026-11-20T10:00:00.120Z" }]);
      const expected = {
        sequence: 1,
        tenant: "acme",
        eventId: "evt_1",
        receivedAt: "2026-11-20T10:00:00.120Z",
        requestId: "0198c0de-0000-7000-8000-000000000000",
        eventText: sent,
      };
      expect((await search(at.views, {})).rows).toEqual([expected]);
      expect(await findEvent(at.views, "acme", "evt_1")).toEqual({ kind: "stored", ...expected });
    });

    test("an event is found by its id in the tenant that sent it, and a UUID in any letter case", async () => {
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

    test("values that no database text can hold are still distinguished", async () => {
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

    test("numbers that JavaScript would treat as equal are distinguished, as tags and as words", async () => {
      const numbers = [
        "9007199254740992",
        "9007199254740993",
        "-12345678901234567890",
        "-12345678901234567891",
      ];
      await using at = await viewOf(
        numbers.map((number, index) => ({
          event: JSON.stringify({
            ...base,
            event_id: `evt_${index}`,
            tags: { account: "a number" },
            metadata: { n: ["a number"] },
          }).replaceAll('"a number"', number),
        })),
      );
      for (const [index, number] of numbers.entries()) {
        expect(await sequences(at.views, { tags: [{ key: "account", value: number }] })).toEqual([index + 1]);
        expect(await sequences(at.views, { text: textOf(number) })).toEqual([index + 1]);
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

    test("a page of large events ends early, and the next one continues after it", async () => {
      const padding = "x".repeat(200_000);
      const large = Array.from({ length: 30 }, (_, index) => ({
        event: { ...base, event_id: `evt_large_${index}`, metadata: { padding } },
      }));
      await using at = await viewOf([...manyRecords, ...manyRecords.map(again), ...large]);
      const count = 2 * manyRecords.length;
      for (const [order, lengths] of [
        ["asc", [count + 20, 10]],
        ["desc", [20, 10 + count]],
      ] as const) {
        const paged: StoredEvent[][] = [];
        let cursor: string | null | undefined;
        while (cursor !== null) {
          const page = await search(at.views, { order, limit: 200, cursor });
          paged.push([...page.rows]);
          cursor = page.nextCursor;
        }
        expect(paged.map(({ length }) => length)).toEqual([...lengths]);
        const found = paged.flat().map(({ sequence }) => sequence);
        const all = Array.from({ length: count + 30 }, (_, index) => index + 1);
        expect(found).toEqual(order === "asc" ? all : all.reverse());
      }
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
      // Anybody may write a text in the place of the sequence; all the rest of the cursor is ours.
      const [version, scopeHash] = JSON.parse(Buffer.from(cursor, "base64url").toString());
      const forged = Buffer.from(JSON.stringify([version, scopeHash, "11"])).toString("base64url");
      expect(await searchEvents(at.views, "acme", { ...filter, cursor: forged })).toEqual({
        kind: "invalid_cursor",
      });
      expect(await searchEvents(at.views, "acme", { ...filter, cursor: "nonsense" })).toEqual({
        kind: "invalid_cursor",
      });
    });

    test("a forged cursor is refused if its place is not a sequence", async () => {
      await using at = await viewOf(manyRecords);
      const asked = { ...all, limit: 5, text: textOf("decision") };
      for (const [order, end] of [
        ["asc", Number.MAX_SAFE_INTEGER],
        ["desc", Number.MIN_SAFE_INTEGER],
      ] as const) {
        const { nextCursor } = await search(at.views, { ...asked, order });
        const [version, scopeHash] = JSON.parse(Buffer.from(nextCursor ?? "", "base64url").toString());
        for (const place of [end, 0, -1]) {
          const cursor = Buffer.from(JSON.stringify([version, scopeHash, place])).toString("base64url");
          expect(await searchEvents(at.views, "acme", { ...asked, order, cursor })).toEqual({
            kind: "invalid_cursor",
          });
        }
      }
    });

    test("the order in which tags are named does not change a cursor", async () => {
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
