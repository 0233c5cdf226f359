/** Which numbers of a source are missing, as the views say it: the result depends only on the set of numbers, however they arrived. */
import { expect, test } from "bun:test";
import type { StoredMessage } from "../../src/log/event-log.ts";
import { applyBatch } from "../../src/views/kit/apply-batch.ts";
import { verifyView } from "../../src/views/kit/verify.ts";
import { PROJECTIONS } from "../../src/views/registry.ts";
import { sourcesProjection } from "../../src/views/sources/evolve.ts";
import { SOURCE_GAPS, SOURCES } from "../../src/views/sources/tables.ts";
import type { Row } from "../../src/views/store/tables.ts";
import type { ViewStore } from "../../src/views/store/view-store.ts";
import { createArrayLog } from "./array-log.ts";
import { messageOf } from "./records.ts";
import { createSqliteDatabase } from "./sqlite-database.ts";

const VIEWS = PROJECTIONS.filter(({ name }) => name === "events" || name === "sources");

interface Numbered {
  readonly source: string;
  readonly number: number;
  readonly second: number;
  /** Named by a heartbeat: the event with that number is another one. */
  readonly isAnnounced?: true;
}

const timeOf = ({ second }: Numbered): string =>
  new Date(Date.UTC(2026, 10, 20) + second * 1000).toISOString().slice(0, "2026-11-20T10:00:00".length);

const messagesOf = (all: readonly Numbered[]): readonly StoredMessage[] =>
  all.map((each, index) => {
    const name = each.isAnnounced ? "last_source_sequence" : "source_sequence";
    return messageOf(index + 1, {
      event: {
        event_id: `evt_${index}`,
        timestamp: `${timeOf(each)}Z`,
        asset_id: "a",
        event_type: each.isAnnounced ? "sdk.heartbeat" : "decision.explanation_provided",
        metadata: { source_id: each.source, [name]: each.number },
      },
    });
  });

const takeAll = async (views: ViewStore, all: readonly Numbered[], size: number, from = 0): Promise<void> => {
  const stored = messagesOf(all);
  for (let start = from; start < all.length; start += size) {
    const messages = stored.slice(start, start + size);
    const outcome = await applyBatch({ projections: VIEWS, messages, load: views.load, now: "" });
    const to = start + messages.length;
    expect(await views.commit({ views: VIEWS, from: start, to, ...outcome })).toEqual({ kind: "committed" });
  }
};

const gapsIn = (views: ViewStore): Promise<readonly Row[]> =>
  views.snapshot(sourcesProjection, async ({ rows }) => {
    const found: Row[] = [];
    for await (const page of rows(SOURCE_GAPS)) found.push(...page);
    return found;
  });

/** The same, computed from the numbers themselves. */
const gapsOf = (all: readonly Numbered[]): readonly Row[] => {
  const gaps: Row[] = [];
  for (const source of new Set(all.map((each) => each.source))) {
    const earliest = new Map<number, string>();
    for (const each of all.filter((other) => other.source === source)) {
      const known = earliest.get(each.number);
      if (known === undefined || timeOf(each) < known) earliest.set(each.number, timeOf(each));
    }
    let next = 1;
    for (const [number, since] of [...earliest].sort(([one], [other]) => one - other)) {
      if (number > next)
        gaps.push({ tenant: "acme", source_id: source, first_number: next, last_number: number - 1, since });
      next = number + 1;
    }
  }
  return gaps;
};

const inOrder = (rows: readonly Row[]): readonly string[] =>
  rows.map((row) => JSON.stringify(Object.entries(row).sort())).sort();

const withViews = async (test: (views: ViewStore) => Promise<void>): Promise<void> => {
  await using database = createSqliteDatabase();
  await using views = database.connect();
  for (const view of VIEWS) await views.open(view);
  await test(views);
};

test("a view that took a number long after its gap began is verified without differences", async () => {
  const others = Array.from({ length: 8000 }, (_, index) => ({
    source: "other",
    number: index + 1,
    second: 1,
  }));
  const numbers = [1, 5].map((number) => ({ source: "one", number, second: 1 }));
  const all = [...numbers, ...others, { source: "one", number: 3, second: 2 }];
  const log = createArrayLog(messagesOf(all));
  await withViews(async (views) => {
    await takeAll(views, all, 8000);
    const dependencies = { log, views, clock: () => new Date(0), onProgress: () => {} };
    const found = await verifyView(dependencies, sourcesProjection, new AbortController().signal);
    expect(found).toMatchObject({ rows: 4, differences: [] });
  });
});

test("a source that leaves out every other number has all its gaps, however many, and none when the numbers have arrived", async () => {
  const count = 12_000;
  const every = (first: number): readonly Numbered[] =>
    Array.from({ length: count }, (_, index) => ({
      source: "one",
      number: first + index * 2,
      second: index,
    }));
  const odd = every(1);
  // Neither in order nor at random: neighbours arrive in different groups.
  const even = every(2).toSorted((one, other) => (one.number % 997) - (other.number % 997));
  // More than the numbers that arrive, so that there is a gap at the end all the while.
  const heartbeat: Numbered = { source: "one", number: 2 * count + 5, second: 0, isAnnounced: true };
  const first = [heartbeat, ...odd];
  await withViews(async (views) => {
    const atEnd = (last: number): Row => ({
      tenant: "acme",
      source_id: "one",
      first_number: last + 1,
      last_number: heartbeat.number,
      since: timeOf(heartbeat),
    });
    await takeAll(views, first, 5000);
    expect(inOrder(await gapsIn(views))).toEqual(inOrder([...gapsOf(odd), atEnd(2 * count - 1)]));
    await takeAll(views, [...first, ...even], 5000, first.length);
    expect(await gapsIn(views)).toEqual([atEnd(2 * count)]);
    const [row] = await views.load(SOURCES, [{ tenant: "acme", source_id: "one" }]);
    expect(row).toMatchObject({ received: 2 * count, missing: 5 });
  });
});
