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
import { type MonitorAlarm, watchLog } from "./monitor.ts";
import { createCompactRange, EMPTY_ROOT, HASH_BYTES, leafHash } from "./rfc6962.ts";
import { originOf } from "./seal.ts";
import { restoredLine } from "./sealed-head.ts";
import { signNote } from "./signed-note.ts";
import { formatCheckpoint } from "./tlog-checkpoint.ts";
import { TILE_WIDTH } from "./tlog-tiles.ts";

const HEADS = CHECKPOINTS_PER_READ + 2;

const payloadOf = (sequence: number): Uint8Array => Buffer.from(`record ${sequence}`);

const ring = (() => {
  const read = readKeyRing("11".repeat(32));
  if (read.kind === "malformed") throw new Error(read.detail);
  return read.ring;
})();

interface Head {
  readonly tenant: string;
  readonly note: string;
  readonly revision: number;
}

const headOf = (tenant: string, size: number, root: Uint8Array, extensions: readonly string[] = []): Head => {
  const origin = originOf("prooftrail", tenant);
  const note = signNote(formatCheckpoint({ origin, size, root, extensions }), ring.signers(origin));
  return { tenant, note, revision: size };
};

/** One tree head for each record. `forgedAt` is the size at which it has another root. */
const headsOf = (count: number, forgedAt?: number, extensions: readonly string[] = []): Head[] => {
  const range = createCompactRange();
  return Array.from({ length: count }, (_, index) => {
    range.append(leafHash(payloadOf(index + 1)));
    const root = index + 1 === forgedAt ? leafHash(payloadOf(0)) : range.root();
    return headOf("acme", index + 1, root, extensions);
  });
};

const HONEST = headsOf(HEADS);

const inOrder = (...heads: readonly Head[]): Head[] =>
  heads.map((head, index) => ({ ...head, revision: index + 1 }));

const startSeen = () => ({ heads: 0, records: 0, headsAheadMax: 0, rests: 0 });
type Seen = ReturnType<typeof startSeen>;

interface Watching {
  /** Until when it is watched; by default until everything is read. */
  readonly isOver?: (seen: Seen) => boolean;
  /** Records of the log. By default as many as there are tree heads. */
  readonly records?: number;
  /** Records that arrive before each look at the end of the log. */
  readonly growth?: number;
  /** Records that the log gives at once. By default as many as are asked for. */
  readonly groupMax?: number;
  /** A record that the log does not give. */
  readonly missing?: number;
  readonly viewPosition?: (seen: Seen) => number;
  /** The tenants of the records, in turn. */
  readonly tenants?: readonly string[];
  /** What the view has instead of a tile. */
  readonly tile?: (width: number) => Uint8Array;
}

const watching = async (
  heads: readonly Head[],
  {
    isOver = ({ rests }) => rests > 0,
    records = heads.length,
    growth = 0,
    groupMax,
    missing,
    viewPosition = () => 0,
    tenants = ["acme"],
    tile,
  }: Watching = {},
) => {
  let end = records - growth;
  const stopping = new AbortController();
  const seen = startSeen();
  const alarms: MonitorAlarm[] = [];
  const details: unknown[] = [];
  const look = (): void => {
    seen.headsAheadMax = Math.max(seen.headsAheadMax, seen.heads - seen.records);
    if (isOver(seen)) stopping.abort();
  };
  const messageAt = (sequence: number): StoredMessage => ({
    sequence,
    subject: `audit.${tenants[sequence % tenants.length]}.a.legacy.objection`,
    payload: payloadOf(sequence),
  });
  await watchLog(
    {
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
            const group = Array.from({ length: count }, (_, index) => messageAt(first + index));
            yield group.filter(({ sequence }) => sequence !== missing);
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
      trees: { position: async () => viewPosition(seen), tile: async (_tenant, { width }) => tile?.(width) },
      logger: { ...silentLogger, error: (_message, fields) => details.push(fields?.detail) },
      onAlarm: (kind) => alarms.push(kind),
      onRound: () => {},
      onFailure: () => {},
      onPosition: (sequence) => {
        seen.records = sequence;
        look();
      },
      pause: async (durationMs) => {
        // Only this pause is a whole second, unlike those between groups: everything is read, or the monitor waits for the view.
        if (durationMs === 1000) seen.rests++;
        look();
      },
    },
    stopping.signal,
  );
  return { ...seen, alarms, details };
};

const areAllRead = (seen: Seen): boolean => seen.heads === HEADS && seen.records === HEADS;

test("tree heads are read only as far as the log, so that memory does not grow with the number of signed ones", async () => {
  const { headsAheadMax, alarms } = await watching(HONEST, { isOver: areAllRead });
  expect(headsAheadMax).toBe(CHECKPOINTS_PER_READ);
  expect(alarms).toEqual([]);
});

test.each([1, CHECKPOINTS_PER_READ, CHECKPOINTS_PER_READ + 1, HEADS])(
  "of many tree heads a forged one is found, also head %i",
  async (forgedAt) => {
    const heads = HONEST.with(forgedAt - 1, headOf("acme", forgedAt, leafHash(payloadOf(0))));
    const { alarms } = await watching(heads, { isOver: areAllRead });
    expect(alarms).toEqual(["root_differs"]);
  },
);

const LOST = restoredLine(2, { size: 5, root: leafHash(payloadOf(0)) });
const forged = headsOf(3).map((head) => ({ ...head, note: head.note.replace("prooftrail/acme", "another") }));

/** Each kind is raised once, however many heads are wrong in that way. */
const cases: readonly [
  what: string,
  heads: () => readonly Head[],
  alarms: readonly MonitorAlarm[],
  Watching?,
][] = [
  ["heads that extend each other", () => headsOf(5), [], { groupMax: 2 }],
  ["heads that no key of ours signed", () => forged, ["unverifiable"]],
  ["a head after one that covers more", () => inOrder(...headsOf(3), ...headsOf(2)), ["behind_signed"]],
  [
    "several heads with other roots",
    () => [...headsOf(2, 2), ...headsOf(3, 3).slice(2), ...headsOf(4, 4).slice(3)],
    ["root_differs"],
  ],
  ["a head that is signed again", () => inOrder(...headsOf(3), ...headsOf(3).slice(2)), []],
  [
    "heads behind a restoration that was accepted",
    () => inOrder(...headsOf(5, 4), ...headsOf(6, undefined, [LOST]).slice(2)),
    [],
  ],
  ["a log shorter than its heads", () => headsOf(5), ["shorter_than_signed"], { records: 3 }],
  [
    "a log shorter than its heads that grows with each look",
    () => headsOf(5),
    ["shorter_than_signed"],
    {
      ...{ records: 3, growth: 1, isOver: ({ records }) => records === 200 },
      tenants: Array.from({ length: 201 }, (_, sequence) => (sequence <= 3 ? "acme" : "globex")),
    },
  ],
  ["a record that the log does not give", () => [], ["hole"], { records: 3, missing: 2 }],
  [
    "a tile whose last record the view has not read",
    () => [],
    [],
    { records: TILE_WIDTH, viewPosition: () => TILE_WIDTH - 1 },
  ],
  [
    "a tile that is gone",
    () => [],
    ["tile_differs"],
    { records: TILE_WIDTH, viewPosition: () => TILE_WIDTH },
  ],
];
test.each(cases)("%s: the alarms are right", async (_, heads, alarms, options) => {
  expect((await watching(heads(), options)).alarms).toEqual([...alarms]);
});

test("the monitor waits for a view that is far behind, so that memory does not grow with the log, and then checks all of it", async () => {
  const records = 2 * TILE_WIDTH * TILE_WIDTH;
  let readBefore = 0;
  const isOver = (seen: Seen): boolean => {
    if (seen.rests === 0) readBefore = seen.records;
    return seen.records === records && seen.rests > 1;
  };
  const viewPosition = ({ rests }: Seen): number => (rests === 0 ? 0 : records);
  const { alarms } = await watching([], { isOver, records, viewPosition });
  expect(readBefore).toBeGreaterThan(VIEW_LAG_RECORDS_MAX / 2);
  expect(readBefore).toBeLessThanOrEqual(VIEW_LAG_RECORDS_MAX + TILE_WIDTH + MONITOR_MESSAGES_MAX);
  const tilesAbove = records / TILE_WIDTH / TILE_WIDTH;
  expect(alarms).toEqual(Array(records / TILE_WIDTH + tilesAbove).fill("tile_differs"));
});

test("a bounded number of leaves of all tenants is held until a tree head arrives, and errors are still reported", async () => {
  // Each tenant has too few for a tile.
  const each = 200;
  const count = (2 * MONITOR_LEAVES_UNSIGNED_MAX) / each;
  const tenants = Array.from({ length: count }, (_, index) => `tenant-${index}`);
  const heads = inOrder(...tenants.map((tenant) => headOf(tenant, each + 1, EMPTY_ROOT)));
  const { alarms, details } = await watching(heads, {
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

/** A view that fails the first times that a tile is asked for. */
const failing = (times: number) => (): Uint8Array => {
  if (times-- > 0) throw new Error("away");
  return new Uint8Array(TILE_WIDTH * HASH_BYTES);
};

test("errors are reported even if the views are away when they are asked for their tiles", async () => {
  expect((await watching(headsOf(3, 3), { tile: failing(1) })).alarms).toEqual(["root_differs"]);
  const records = 2 * TILE_WIDTH;
  const { alarms } = await watching([], { records, viewPosition: () => records, tile: failing(3) });
  expect(alarms).toEqual(["tile_differs", "tile_differs"]);
});

test("a tile that can never be read keeps the monitor from no other", async () => {
  let asked = 0;
  const tile = (): Uint8Array => {
    asked++;
    if (asked % 2 === 1) throw new Error("no tile");
    return new Uint8Array(TILE_WIDTH * HASH_BYTES);
  };
  const records = 2 * TILE_WIDTH;
  const isOver = (): boolean => asked > 3;
  expect((await watching([], { records, viewPosition: () => records, tile, isOver })).alarms).toContain(
    "tile_differs",
  );
});
