/** The timing of the live stream itself, with a view that a test moves or lets fail. */
import { expect, test } from "bun:test";
import { createLiveTail } from "../../src/api/routes/stream.ts";
import { createQuietStretches, walkEvents } from "../../src/views/events/walk.ts";
import { createPositionWatch, type PositionWatch } from "../../src/views/kit/wait-for-position.ts";
import type { Row } from "../../src/views/store/tables.ts";
import type { TenantQuery } from "../../src/views/store/tenant-query.ts";
import { until } from "../support/until.ts";

const createView = () => {
  const view = { position: 0, rows: [] as Row[], asked: 0, beforePosition: () => {} };
  return Object.assign(view, {
    views: {
      position: async () => {
        view.asked++;
        view.beforePosition();
        return view.position;
      },
      // The view is not rebuilt.
      load: async () => [],
      // The conditions of the query are the database's part, except the start: its parameter before the last two.
      select: async ({ params }: TenantQuery) => {
        const [after = 0, upTo = 0] = params.slice(-3).map(Number);
        return view.rows.filter(({ sequence }) => Number(sequence) > after && Number(sequence) <= upTo);
      },
    },
    add: (sequence: number) => {
      const named = { event_id: `evt_${sequence}`, request_id: "request" };
      view.rows.push({
        ...named,
        sequence,
        tenant: "acme",
        received_at: "2026-11-20T10:00:00Z",
        event: "{}",
      });
    },
  });
};

const openTail = (
  view: ReturnType<typeof createView>,
  parts: { after?: number; keepAliveMs?: number; watch?: PositionWatch } = {},
) => {
  const stop = new AbortController();
  const key = { isActive: true };
  const conditions = { timeField: "timestamp" } as const;
  const next = createLiveTail({
    walk: walkEvents({ views: view.views, tenant: "acme", conditions, after: parts.after ?? 0 }),
    watch: parts.watch ?? createPositionWatch({ views: view.views, projection: "events", pollMs: 25 }),
    isQuiet: (stretch) => createQuietStretches(view.views).isQuiet("acme", stretch),
    keepAliveMs: parts.keepAliveMs ?? 60_000,
    isStillAllowed: () => key.isActive,
    signal: stop.signal,
  });
  return { next, stop, key };
};

test("a quiet stream sends keep-alives with the position to resume from", async () => {
  const view = createView();
  // Nothing until the time is over, then a view that has moved, then nothing again.
  const seen = [undefined, 9, undefined];
  const { next } = openTail(view, { after: 7, watch: { beyond: async () => seen.shift() } });
  expect(await next()).toBe("retry: 2000\nid: 7\n\n");
  expect(await next()).toBe(": keep-alive\nid: 7\n\n");
  view.position = 9;
  expect(await next()).toBe("");
  expect(await next()).toBe(": keep-alive\nid: 9\n\n");
});

test("a stream whose filter matches nothing sends keep-alives too, even while the log grows", async () => {
  const view = createView();
  view.beforePosition = () => {
    view.position++;
  };
  const { next } = openTail(view, { keepAliveMs: 20 });
  await next();
  const said = await until("it says so", async () => (await next()) || undefined);
  expect(said).toMatch(/^: keep-alive\nid: [1-9]\d*\n\n$/);
});

test("a revoked key ends a quiet stream at the next keep-alive", async () => {
  const { next, key } = openTail(createView(), { keepAliveMs: 20 });
  await next();
  const waiting = next();
  key.isActive = false;
  expect(await waiting).toBeUndefined();
});

test("a rebuild of the view during a read breaks the stream off, so that there is no gap", async () => {
  const view = createView();
  view.position = 5;
  const { next } = openTail(view);
  await next();
  let asked = 0;
  view.beforePosition = () => {
    // The rows were queried, and were gone by then.
    if (++asked === 2) view.position = 0;
  };
  await expect(next()).rejects.toThrow("rebuilt");
});

test("a query without an answer, as on one of several connections that silently broke, holds no stream up", async () => {
  let looks = 0;
  const views = {
    position: () => (++looks === 1 ? new Promise<number>(() => {}) : Promise.resolve(6)),
  };
  const watch = createPositionWatch({ views, projection: "events", pollMs: 1 });
  const waiting = [1, 2].map(() => watch.beyond(5, { timeoutMs: 5000 }));
  expect(await Promise.all(waiting)).toEqual([6, 6]);
  expect(looks).toBeLessThanOrEqual(3);
});
