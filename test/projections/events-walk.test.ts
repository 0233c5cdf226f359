import { expect, test } from "bun:test";
import { DatabaseSync } from "node:sqlite";
import { eventsProjection } from "../../src/views/events/evolve.ts";
import type { EventConditions } from "../../src/views/events/queries.ts";
import { EVENT_WORDS, EVENTS } from "../../src/views/events/tables.ts";
import { createQuietStretches, ViewRemadeError, walkEvents } from "../../src/views/events/walk.ts";
import { WALK_PAGE_CHARACTERS } from "../../src/views/kit/limits.ts";
import type { RowOf } from "../../src/views/store/tables.ts";
import type { ViewStore, Write } from "../../src/views/store/view-store.ts";
import { createSqliteDatabase } from "./sqlite-database.ts";

interface Given {
  readonly sequence: number;
  readonly tenant: string;
  readonly assetId: string;
  readonly text: string;
}

const given = (sequence: number, parts: Partial<Given> = {}): Given => ({
  sequence,
  tenant: "acme",
  assetId: "credit_model",
  text: "{}",
  ...parts,
});

const eventRow = ({ sequence, tenant, text }: Given): RowOf<typeof EVENTS> => ({
  tenant,
  event_id: `evt_${sequence}`,
  sequence,
  received_at: "2026-11-20T10:00:00Z",
  occurred: "a",
  request_id: "0198c0de-0000-7000-8000-000000000000",
  retention_class: "unknown/",
  counted_from: "a",
  expired_at: "",
  event: text,
});

/** A view that holds these events and has processed everything up to `position`. */
const viewAt = async (position: number, events: readonly Given[]) => {
  const database = createSqliteDatabase();
  const views = database.connect();
  await views.open(eventsProjection);
  const writes = events.flatMap((event): Write[] => [
    { kind: "insert", table: EVENTS, row: eventRow(event) },
    {
      kind: "index",
      index: EVENT_WORDS,
      tenant: event.tenant,
      sequence: event.sequence,
      words: [],
      labels: [["asset", event.assetId]],
      times: [],
    },
  ]);
  await views.commit({ views: [eventsProjection], from: 0, to: position, writes, deadLetters: [] });
  const direct = new DatabaseSync(database.path);
  return {
    views,
    direct,
    [Symbol.asyncDispose]: async () => {
      direct.close();
      await views.close();
      await database[Symbol.asyncDispose]();
    },
  };
};

const all: EventConditions = { timeField: "timestamp" };

const walkTo = async (views: ViewStore, end: number, conditions = all) => {
  const walk = walkEvents({ views, tenant: "acme", conditions, after: 0 });
  const pages: number[][] = [];
  while (walk.position() < end) pages.push((await walk.next(end)).map(({ sequence }) => sequence));
  return pages;
};

test("every match up to the end is returned once, in order, and none beyond it", async () => {
  const rows = Array.from({ length: 3000 }, (_, index) =>
    given(index + 1, {
      tenant: index % 3 === 0 ? "acme" : "other",
      ...(index % 2 === 0 && { assetId: "x" }),
    }),
  );
  await using at = await viewAt(3000, rows);
  const own = rows.filter(({ tenant }) => tenant === "acme").map(({ sequence }) => sequence);
  for (const end of [0, 1, 2, 16, 2997, 3000]) {
    expect((await walkTo(at.views, end)).flat()).toEqual(own.filter((sequence) => sequence <= end));
  }
  const few = rows.filter(({ tenant, assetId }) => tenant === "acme" && assetId === "x");
  expect((await walkTo(at.views, 3000, { ...all, assetId: "x" })).flat()).toEqual(
    few.map(({ sequence }) => sequence),
  );
});

test("a page is bounded even if large events follow many small ones, so an unread stream keeps only one page in memory", async () => {
  const rows = Array.from({ length: 2500 }, (_, index) =>
    given(index + 1, index < 2000 ? {} : { text: "x".repeat(20_000) }),
  );
  await using at = await viewAt(2500, rows);
  const walk = walkEvents({ views: at.views, tenant: "acme", conditions: all, after: 0 });
  const sequences: number[] = [];
  while (walk.position() < 2500) {
    const page = await walk.next(2500);
    sequences.push(...page.map(({ sequence }) => sequence));
    const characters = page.reduce((sum, { eventText }) => sum + eventText.length, 0);
    expect(characters).toBeLessThanOrEqual(WALK_PAGE_CHARACTERS);
  }
  expect(sequences).toEqual(rows.map(({ sequence }) => sequence));
});

test("a view that was rebuilt meanwhile is noticed: its missing rows do not count as the end", async () => {
  await using at = await viewAt(10, [given(7)]);
  const walk = walkEvents({ views: at.views, tenant: "acme", conditions: all, after: 0 });
  at.direct.exec("DELETE FROM events; UPDATE views SET position = 0");
  await expect(walk.next(10)).rejects.toThrow(ViewRemadeError);
  expect(walk.position()).toBe(0);
});

test("events that a just remade view does not have yet are neither skipped nor taken as absent", async () => {
  await using at = await viewAt(10, [given(9)]);
  /** Another view replaces it before the rows are read, and has caught up when they have been. */
  const behindOnce = (): Pick<ViewStore, "select" | "position" | "load"> => {
    let isBehind = true;
    return {
      ...at.views,
      select: async (query) => {
        if (!isBehind) return at.views.select(query);
        isBehind = false;
        at.direct.exec(
          "UPDATE events SET sequence = 1009; INSERT INTO view_revisions (name, revisions) VALUES ('events', 1) ON CONFLICT DO UPDATE SET revisions = revisions + 1",
        );
        const rows = await at.views.select(query);
        at.direct.exec("UPDATE events SET sequence = 9");
        return rows;
      },
    };
  };
  const walk = walkEvents({ views: behindOnce(), tenant: "acme", conditions: all, after: 0 });
  expect((await walk.next(10)).map(({ sequence }) => sequence)).toEqual([9]);
  expect(walk.position()).toBe(10);
  expect(await createQuietStretches(behindOnce()).isQuiet("acme", { after: 0, upTo: 10 })).toBe(false);
  expect(await createQuietStretches(at.views).isQuiet("acme", { after: 0, upTo: 8 })).toBe(true);
});
