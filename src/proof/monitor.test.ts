import { expect, test } from "bun:test";
import { CHECKPOINTS_PER_READ } from "../limits.ts";
import type { StoredMessage } from "../log/event-log.ts";
import { readKeyRing } from "./key-ring.ts";
import { type MonitorAlarm, type MonitorDependencies, watchLog } from "./monitor.ts";
import { createCompactRange, leafHash } from "./rfc6962.ts";
import { originOf } from "./seal.ts";
import { signNote } from "./signed-note.ts";
import { formatCheckpoint } from "./tlog-checkpoint.ts";

const HEADS = 3 * CHECKPOINTS_PER_READ + 1;

const payloadOf = (sequence: number): Uint8Array => Buffer.from(`record ${sequence}`);

const ring = (() => {
  const read = readKeyRing("11".repeat(32));
  if (read.kind === "malformed") throw new Error(read.detail);
  return read.ring;
})();

/** One tree head for each record; `forgedAt`: the size at which it has another root. */
const headsOf = (count: number, forgedAt?: number) => {
  const origin = originOf("prooftrail", "acme");
  const range = createCompactRange();
  return Array.from({ length: count }, (_, index) => {
    range.append(leafHash(payloadOf(index + 1)));
    const root = index + 1 === forgedAt ? leafHash(payloadOf(0)) : range.root();
    const note = signNote(formatCheckpoint({ origin, size: index + 1, root }), ring.signers(origin));
    return { tenant: "acme", note, revision: index + 1 };
  });
};

/** A log of as many records as there are heads, watched until `isOver` holds of how many heads and records were read. */
const watching = async (
  heads: ReturnType<typeof headsOf>,
  isOver: (seen: { readonly heads: number; readonly records: number }) => boolean,
) => {
  const stopping = new AbortController();
  const seen = { heads: 0, records: 0, headsAheadMax: 0 };
  const alarms: MonitorAlarm[] = [];
  const look = (): void => {
    seen.headsAheadMax = Math.max(seen.headsAheadMax, seen.heads - seen.records);
    if (isOver(seen)) stopping.abort();
  };
  const dependencies: MonitorDependencies = {
    serviceName: "prooftrail",
    keys: ring,
    log: {
      read: async () => undefined,
      lastSequence: async () => heads.length,
      follow: async function* ({ from, messagesMax }) {
        for (let first = from; first <= heads.length; first += messagesMax) {
          const count = Math.min(messagesMax, heads.length - first + 1);
          yield Array.from({ length: count }, (_, index): StoredMessage => {
            const sequence = first + index;
            return { sequence, subject: "audit.acme.a.legacy.objection", payload: payloadOf(sequence) };
          });
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
    // Nothing is in the view, which is not what is looked at here.
    trees: { position: async () => 0, tile: async () => undefined },
    logger: { isEnabled: () => false, request() {}, debug() {}, info() {}, warn() {}, error() {} },
    onAlarm: (kind) => alarms.push(kind),
    onPosition: (sequence) => {
      seen.records = sequence;
      look();
    },
    pause: async () => {},
  };
  await watchLog(dependencies, stopping.signal);
  return { ...seen, alarms };
};

test("tree heads are read as far as the log is, so that memory does not grow with how many were signed", async () => {
  const { headsAheadMax, alarms } = await watching(headsOf(HEADS), ({ records }) => records === HEADS);
  expect(headsAheadMax).toBe(CHECKPOINTS_PER_READ);
  expect(alarms).toEqual([]);
});

test("each of many tree heads is held against the log", async () => {
  for (const forgedAt of [1, CHECKPOINTS_PER_READ, CHECKPOINTS_PER_READ + 1, HEADS]) {
    const heads = headsOf(HEADS, forgedAt);
    const { alarms } = await watching(heads, (seen) => seen.heads === HEADS && seen.records === HEADS);
    expect({ forgedAt, alarms }).toEqual({ forgedAt, alarms: ["root_differs"] });
  }
});

test("a tree head behind one that covers more is told: the log would have gone back, or there would be two of it", async () => {
  for (const size of [1, HEADS - 2]) {
    const heads = headsOf(HEADS);
    const { note = "" } = headsOf(size, size).at(-1) ?? {};
    const forked = heads.with(HEADS - 1, { tenant: "acme", note, revision: HEADS });
    const { alarms } = await watching(forked, (seen) => seen.heads === HEADS && seen.records === HEADS);
    expect({ size, alarms }).toEqual({ size, alarms: ["behind_signed"] });
  }
});

test("a tree head that is signed again, as for another key, is none", async () => {
  const heads = headsOf(HEADS);
  const last = heads.at(-2);
  const again = last ? heads.with(HEADS - 1, { ...last, revision: HEADS }) : heads;
  const { alarms } = await watching(again, (seen) => seen.heads === HEADS && seen.records === HEADS);
  expect(alarms).toEqual([]);
});

test("a service that stops does not wait until all tree heads are read", async () => {
  const { heads } = await watching(headsOf(HEADS), (seen) => seen.heads === 10);
  expect(heads).toBe(10);
});
