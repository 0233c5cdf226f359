import { expect, test } from "bun:test";
import { silentLogger } from "../../test/support/broker.ts";
import {
  CHECKPOINTS_PER_READ,
  MONITOR_LEAVES_UNSIGNED_MAX,
  MONITOR_MESSAGES_MAX,
  VIEW_LAG_RECORDS_MAX,
} from "../limits.ts";
import type { StoredMessage } from "../log/event-log.ts";
import { readKeyRing } from "./key-ring.ts";
import { type MonitorAlarm, type MonitorDependencies, watchLog } from "./monitor.ts";
import { restoredLine } from "./restored-line.ts";
import { createCompactRange, EMPTY_ROOT, HASH_BYTES, leafHash } from "./rfc6962.ts";
import { originOf } from "./seal.ts";
import { signNote } from "./signed-note.ts";
import { formatCheckpoint } from "./tlog-checkpoint.ts";
import { TILE_WIDTH } from "./tlog-tiles.ts";

const HEADS = 3 * CHECKPOINTS_PER_READ + 1;

const payloadOf = (sequence: number): Uint8Array => Buffer.from(`record ${sequence}`);

const ring = (() => {
  const read = readKeyRing("11".repeat(32));
  if (read.kind === "malformed") throw new Error(read.detail);
  return read.ring;
})();

/** One tree head for each record. `forgedAt` is the size at which it has another root. */
const headsOf = (count: number, forgedAt?: number, extensions: readonly string[] = []) => {
  const origin = originOf("prooftrail", "acme");
  const range = createCompactRange();
  return Array.from({ length: count }, (_, index) => {
    range.append(leafHash(payloadOf(index + 1)));
    const root = index + 1 === forgedAt ? leafHash(payloadOf(0)) : range.root();
    const note = signNote(
      formatCheckpoint({ origin, size: index + 1, root, extensions }),
      ring.signers(origin),
    );
    return { tenant: "acme", note, revision: index + 1 };
  });
};

interface Watching {
  /** Records of the log. By default as many as there are tree heads. */
  readonly records?: number;
  /** Records that arrive before each look at the end of the log. */
  readonly growth?: number;
  /** Records that the log gives at once. By default as many as are asked for. */
  readonly groupMax?: number;
  /** A record that the log does not give. */
  readonly missing?: number;
  /** The position of the view, which has no tiles. */
  readonly viewPosition?: number | ((seen: { readonly rests: number }) => number);
  /** The tenants of the records, in turn. */
  readonly tenants?: readonly string[];
  /** What the view has instead of a tile. */
  readonly tile?: (width: number) => Uint8Array;
}

/** A log with as many records as there are tree heads, watched until `isOver` is true for the number of tree heads and records read. */
const watching = async (
  heads: ReturnType<typeof headsOf>,
  isOver: (seen: { readonly heads: number; readonly records: number; readonly rests: number }) => boolean,
  {
    records = heads.length,
    growth = 0,
    groupMax,
    missing,
    viewPosition = 0,
    tenants = ["acme"],
    tile,
  }: Watching = {},
) => {
  let end = records - growth;
  const stopping = new AbortController();
  const seen = { heads: 0, records: 0, headsAheadMax: 0, rests: 0, pauses: 0 };
  const alarms: MonitorAlarm[] = [];
  const details: unknown[] = [];
  const look = (): void => {
    seen.headsAheadMax = Math.max(seen.headsAheadMax, seen.heads - seen.records);
    if (isOver(seen)) stopping.abort();
  };
  const dependencies: MonitorDependencies = {
    serviceName: "prooftrail",
    keys: ring,
    log: {
      read: async () => undefined,
      lastSequence: async () => {
        end += growth;
        return end;
      },
      follow: async function* ({ from, messagesMax }) {
        const step = groupMax ?? messagesMax;
        for (let first = from; first <= end; first += step) {
          const count = Math.min(step, end - first + 1);
          const all = Array.from({ length: count }, (_, index): StoredMessage => {
            const sequence = first + index;
            const subject = `audit.${tenants[sequence % tenants.length]}.a.legacy.objection`;
            return { sequence, subject, payload: payloadOf(sequence) };
          });
          yield all.filter(({ sequence }) => sequence !== missing);
        }
      },
    },
    checkpoints: {
      since: async function* (revision) {
        for (const head of heads.slice(revision)) {
          seen.heads = Math.max(seen.heads, head.revision);
          look();
          yield head;
        }
      },
    },
    trees: {
      position: async () => (typeof viewPosition === "number" ? viewPosition : viewPosition(seen)),
      tile: async (_tenant, { width }) => tile?.(width),
    },
    logger: { ...silentLogger, error: (_message, fields) => details.push(fields?.detail) },
    onAlarm: (kind) => alarms.push(kind),
    onRound: () => {},
    onFailure: () => {},
    onPosition: (sequence) => {
      seen.records = sequence;
      look();
    },
    pause: async (durationMs) => {
      seen.pauses++;
      // Only this pause is a whole second, unlike those between groups: everything is read, or the monitor waits for the view.
      if (durationMs === 1000) seen.rests++;
      look();
    },
  };
  await watchLog(dependencies, stopping.signal);
  return { ...seen, alarms, details };
};

test("tree heads are read only as far as the log, so that memory does not grow with the number of signed ones", async () => {
  const { headsAheadMax, alarms } = await watching(headsOf(HEADS), ({ records }) => records === HEADS);
  expect(headsAheadMax).toBe(CHECKPOINTS_PER_READ);
  expect(alarms).toEqual([]);
});

test("every one of many tree heads is compared with the log", async () => {
  for (const forgedAt of [1, CHECKPOINTS_PER_READ, CHECKPOINTS_PER_READ + 1, HEADS]) {
    const heads = headsOf(HEADS, forgedAt);
    const { alarms } = await watching(heads, (seen) => seen.heads === HEADS && seen.records === HEADS);
    expect({ forgedAt, alarms }).toEqual({ forgedAt, alarms: ["root_differs"] });
  }
});

test("a tree head after one that covers more is reported: the log has gone back, or there are two logs", async () => {
  for (const size of [1, HEADS - 2]) {
    const heads = headsOf(HEADS);
    const { note = "" } = headsOf(size, size).at(-1) ?? {};
    const forked = heads.with(HEADS - 1, { tenant: "acme", note, revision: HEADS });
    const { alarms } = await watching(forked, (seen) => seen.heads === HEADS && seen.records === HEADS);
    expect({ size, alarms }).toEqual({ size, alarms: ["behind_signed"] });
  }
});

test("a tree head that is signed again, for example for another key, is not reported", async () => {
  const heads = headsOf(HEADS);
  const last = heads.at(-2);
  const again = last ? heads.with(HEADS - 1, { ...last, revision: HEADS }) : heads;
  const { alarms } = await watching(again, (seen) => seen.heads === HEADS && seen.records === HEADS);
  expect(alarms).toEqual([]);
});

test("heads behind a restoration that was accepted are no alarm, and the lost ones are not compared", async () => {
  const lost = headsOf(5, 4);
  const line = restoredLine(2, { size: 5, root: leafHash(payloadOf(0)) });
  const later = headsOf(6, undefined, [line]).slice(2);
  const heads = [...lost, ...later].map((head, index) => ({ ...head, revision: index + 1 }));
  expect((await watching(heads, isAllRead)).alarms).toEqual([]);
});

const isAllRead = ({ rests }: { readonly rests: number }): boolean => rests > 0;

test("a log shorter than its tree heads is reported once, after all of it is read", async () => {
  const { alarms } = await watching(headsOf(5), isAllRead, { records: 3 });
  expect(alarms).toEqual(["shorter_than_signed"]);
  expect((await watching(headsOf(5), isAllRead, { groupMax: 2 })).alarms).toEqual([]);
});

test("a log shorter than its tree heads is reported even if it grows with each look", async () => {
  const many = 200;
  const tenants = Array.from({ length: many + 1 }, (_, sequence) => (sequence <= 3 ? "acme" : "globex"));
  const isOver = ({ records }: { readonly records: number }): boolean => records === many;
  const { alarms } = await watching(headsOf(5), isOver, { records: 3, growth: 1, tenants });
  expect(alarms).toEqual(["shorter_than_signed"]);
});

test("only the first of several tree heads that are wrong in the same way is reported", async () => {
  const others = headsOf(4, 4).slice(3);
  const [first, second, third] = headsOf(3);
  const forged = [first, second, third].flatMap((head) =>
    head ? [{ ...head, note: head.note.replace("prooftrail/acme", "another") }] : [],
  );
  expect((await watching(forged, isAllRead)).alarms).toEqual(["unverifiable"]);
  const back = [...headsOf(3), ...headsOf(2)].map((head, index) => ({ ...head, revision: index + 1 }));
  expect((await watching(back, isAllRead)).alarms).toEqual(["behind_signed"]);
  const differing = [...headsOf(2, 2), ...headsOf(3, 3).slice(2), ...others];
  expect((await watching(differing, isAllRead)).alarms).toEqual(["root_differs"]);
});

test("a record that the log does not give is reported", async () => {
  const { alarms } = await watching([], isAllRead, { records: 3, missing: 2 });
  expect(alarms).toEqual(["hole"]);
});

test("a tile is looked for once the view has read its last record, and not before", async () => {
  for (const [viewPosition, expected] of [
    [TILE_WIDTH - 1, []],
    [TILE_WIDTH, ["tile_differs"]],
  ] as const) {
    const { alarms } = await watching([], isAllRead, { records: TILE_WIDTH, viewPosition });
    expect({ viewPosition, alarms }).toEqual({ viewPosition, alarms: [...expected] });
  }
});

test("the monitor waits for a view that is far behind, so that memory does not grow with the log, and then checks all of it", async () => {
  const records = 2 * TILE_WIDTH * TILE_WIDTH;
  let readBefore = 0;
  const isOver = (seen: { readonly records: number; readonly rests: number }): boolean => {
    if (seen.rests === 0) readBefore = seen.records;
    return seen.records === records && seen.rests > 1;
  };
  const viewPosition = ({ rests }: { readonly rests: number }): number => (rests === 0 ? 0 : records);
  const { alarms } = await watching([], isOver, { records, viewPosition });
  expect(readBefore).toBeGreaterThan(VIEW_LAG_RECORDS_MAX / 2);
  expect(readBefore).toBeLessThanOrEqual(VIEW_LAG_RECORDS_MAX + TILE_WIDTH + MONITOR_MESSAGES_MAX);
  const tilesAbove = records / TILE_WIDTH / TILE_WIDTH;
  expect(alarms).toEqual(Array(records / TILE_WIDTH + tilesAbove).fill("tile_differs"));
});

test("a bounded number of leaves of all tenants is held until a tree head arrives, and errors are still reported", async () => {
  // Each tenant has too few for a tile.
  const each = 200;
  const tenants = Array.from(
    { length: (2 * MONITOR_LEAVES_UNSIGNED_MAX) / each },
    (_, index) => `tenant-${index}`,
  );
  const heads = tenants.map((tenant, index) => {
    const origin = originOf("prooftrail", tenant);
    const text = formatCheckpoint({ origin, size: each + 1, root: EMPTY_ROOT });
    return { tenant, note: signNote(text, ring.signers(origin)), revision: index + 1 };
  });
  const { alarms, details } = await watching(heads, isAllRead, {
    records: each * tenants.length,
    tenants,
    tile: (width) => new Uint8Array(width * HASH_BYTES),
  });
  expect(alarms).toEqual(tenants.map(() => "shorter_than_signed"));
  // The report names the first leaf that is held.
  const held = details.map((detail) => each - Number(/leaf (\d+)$/.exec(String(detail))?.[1]));
  expect(held.reduce((sum, leaves) => sum + leaves, 0)).toBeLessThanOrEqual(MONITOR_LEAVES_UNSIGNED_MAX);
  expect(Math.min(...held)).toBeGreaterThan(0);
});

test("errors are reported even if the views are away when they are asked for their tiles", async () => {
  let asked = 0;
  const tile = (): Uint8Array => {
    asked++;
    if (asked > 1) return new Uint8Array(TILE_WIDTH * HASH_BYTES);
    throw new Error("away");
  };
  expect((await watching(headsOf(3, 3), isAllRead, { tile })).alarms).toEqual(["root_differs"]);
  asked = 0;
  const { alarms } = await watching([], isAllRead, { records: TILE_WIDTH, viewPosition: TILE_WIDTH, tile });
  expect(alarms).toEqual(["tile_differs"]);
  // A tile that can never be read keeps the monitor from nothing else.
  let looks = 0;
  const unreadable = (): Uint8Array => {
    looks++;
    if (looks > 2) return new Uint8Array(TILE_WIDTH * HASH_BYTES);
    throw new Error("no tile");
  };
  const records = 2 * TILE_WIDTH;
  const more = await watching([], isAllRead, { records, viewPosition: records, tile: unreadable });
  expect(more.alarms).toEqual(["tile_differs"]);
});
