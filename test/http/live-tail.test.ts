/** The timing of the live stream itself, with a view that a test moves or lets fail. */
import { expect, test } from "bun:test";
import { pagedBody } from "../../src/api/http/paged-body.ts";
import { createLiveTail } from "../../src/api/routes/stream.ts";
import { createQuietStretches, type QuietStretches, walkEvents } from "../../src/views/events/walk.ts";
import { createPositionWatch, type PositionWatch } from "../../src/views/kit/position-watch.ts";
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
  const { next } = createLiveTail({
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

test("a stop of the service ends a waiting stream at once", async () => {
  const { next, stop } = openTail(createView());
  await next();
  const waiting = next();
  stop.abort();
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

test("waiting streams share one query for the position, and no query runs while none waits", async () => {
  const view = createView();
  const watch = createPositionWatch({ views: view.views, projection: "events", pollMs: 25 });
  const { signal } = new AbortController();
  const waiting = Array.from({ length: 100 }, () => watch.beyond(0, { timeoutMs: 60_000, signal }));
  const asked = view.asked;
  await until("it was looked at some times more", () => view.asked >= asked + 3);
  expect(view.asked).toBeLessThan(asked + 100);
  view.position = 1;
  expect(new Set(await Promise.all(waiting))).toEqual(new Set([1]));
  const failing = watch.beyond(1, { timeoutMs: 60_000, signal });
  view.beforePosition = () => {
    throw new Error("the database has gone");
  };
  await expect(failing).rejects.toThrow("has gone");
});

test("a stream that begins to wait during a query gets the next result, because the view may be rebuilt in between", async () => {
  const looks: ((position: number) => void)[] = [];
  const views = { position: () => new Promise<number>((resolve) => void looks.push(resolve)) };
  const watch = createPositionWatch({ views, projection: "events", pollMs: 1 });
  const first = watch.beyond(5, { timeoutMs: 60_000 });
  const second = watch.beyond(5, { timeoutMs: 60_000 });
  looks[0]?.(10);
  expect(await first).toBe(10);
  await until("it is looked at again", () => looks.length === 2);
  looks[1]?.(3);
  await until("it is looked at once more", () => looks.length === 3);
  looks[2]?.(6);
  expect(await second).toBe(6);
});

test("a stream that begins to wait during a query that then fails, as on a lost connection, gets the next result", async () => {
  const looks: ReturnType<typeof Promise.withResolvers<number>>[] = [];
  const views = {
    position: () => {
      const look = Promise.withResolvers<number>();
      looks.push(look);
      return look.promise;
    },
  };
  const watch = createPositionWatch({ views, projection: "events", pollMs: 1 });
  const first = watch.beyond(5, { timeoutMs: 60_000 });
  const second = watch.beyond(5, { timeoutMs: 60_000 });
  looks[0]?.reject(new Error("the connection was lost"));
  await expect(first).rejects.toThrow("was lost");
  await until("it is looked at again", () => looks.length === 2);
  looks[1]?.resolve(6);
  expect(await second).toBe(6);
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

/** Streams of one tenant that share their queries. Asks each for its next page. */
const openTails = (
  count: number,
  shared: {
    readonly views: ReturnType<typeof createView>["views"];
    readonly watch: PositionWatch;
    readonly quiet: QuietStretches;
  },
) => {
  const { views, watch, quiet } = shared;
  const { signal } = new AbortController();
  const tails = Array.from({ length: count }, () =>
    createLiveTail({
      walk: walkEvents({ views, tenant: "acme", conditions: { timeField: "timestamp" }, after: 0 }),
      watch,
      isQuiet: (stretch) => quiet.isQuiet("acme", stretch),
      keepAliveMs: 60_000,
      isStillAllowed: () => true,
      signal,
    }),
  );
  return () => Promise.all(tails.map(({ next }) => next()));
};

test("of many waiting streams of a tenant without new events one queries for all, and each reads on from there", async () => {
  const view = createView();
  let looks = 0;
  const views = {
    ...view.views,
    select: (query: TenantQuery) => {
      looks++;
      return view.views.select(query);
    },
  };
  const watch = createPositionWatch({ views, projection: "events", pollMs: 25 });
  const quiet = createQuietStretches(views);
  const all = openTails(100, { views, watch, quiet });
  await all();
  view.position = 100_000;
  expect(new Set(await all())).toEqual(new Set([""]));
  // The first stream, which queried before the others waited, and one of the others.
  expect(looks).toBe(2);
  view.add(100_001);
  view.position = 100_001;
  for (const text of await all()) expect(text).toStartWith("id: 100001\n");
  // A replayed dead letter appears at a position that was empty.
  view.add(50);
  expect(await quiet.isQuiet("acme", { after: 0, upTo: 100_000 })).toBe(false);
});

test.each<[string, () => Promise<never>]>([
  ["fails", () => Promise.reject(new Error("the connection was lost"))],
  ["has no answer", () => new Promise(() => {})],
])(
  "a shared query of a tenant's streams that %s breaks none of them off: each queries by itself",
  async (_, broken) => {
    const view = createView();
    let looks = 0;
    const views = {
      ...view.views,
      select: (query: TenantQuery) => (++looks === 1 ? broken() : view.views.select(query)),
    };
    const watch = createPositionWatch({ views, projection: "events", pollMs: 1 });
    const all = openTails(2, { views, watch, quiet: createQuietStretches(views) });
    await all();
    view.add(1);
    view.position = 1;
    for (const text of await all()) expect(text).toStartWith("id: 1\n");
  },
);

test("a reader that takes nothing gets one page, the other reader gets all, and the end is reported once", async () => {
  const made: [number, number] = [0, 0];
  const closed: number[] = [];
  const bodyOf = (reader: 0 | 1) =>
    pagedBody({
      next: async () => (made[reader] === 50 ? undefined : `${++made[reader]}`),
      closed: () => closed.push(reader),
      failed: () => {},
      keepOpen: () => {},
    });
  const [idle, busy] = [bodyOf(0).getReader(), bodyOf(1)];
  expect(new TextDecoder().decode((await idle.read()).value)).toBe("1");
  expect(await new Response(busy).text()).toEndWith("4950");
  expect(made).toEqual([1, 50]);
  await idle.cancel();
  expect(closed).toEqual([1, 0]);
});
