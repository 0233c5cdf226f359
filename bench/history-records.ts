/**
 * Writes records of histories of AI systems, as the log contains them, to a file: `history-records.ts <file> <events> <order>`. projecting.ts runs it
 * in a separate process, so that the data from which histories are made is not in the heap of the measured program (that took a tenth of its time).
 */
import { readSync } from "node:fs";
import { type FileHandle, open, rm } from "node:fs/promises";
import process from "node:process";
import type { StoredMessage } from "../src/log/event-log.ts";
import { encodeRecord } from "../src/log/record.ts";
import { uuid7 } from "../src/sdk/uuid.ts";
import type { HistoryEvent } from "../test/support/histories/known-history.ts";
import { CALM, makeHistory } from "../test/support/histories.ts";

export const TENANT = "acme";
export const EVENTS_PER_HISTORY = 50_000;
export const ASSETS = 20;
/**
 * `live`: all systems work at the same time, and their events are in the order of their times. `imported`: half a year of one group of systems, then
 * the next group: cases and ids that belong together are near each other.
 */
export const HISTORY_ORDERS = ["live", "imported"] as const;
export type HistoryOrder = (typeof HISTORY_ORDERS)[number];

const SUBJECT = `audit.${TENANT}.system.decision.automated_decision_made`;
/** The approximate number of events of a CALM case. */
const EVENTS_PER_CASE = 1.9;
/** Most persons have a few decisions each. */
const PERSONS = 10_000;

/** Length of the big-endian number before each record, which is the record's length. */
const LENGTH_BYTES = 4;
const READ_BYTES = 4 * 1024 * 1024;

/** Histories with about EVENTS_PER_HISTORY events each, of ASSETS assets. */
export const historyEvents = (seed: number): readonly HistoryEvent[] => {
  const cases = Math.ceil(EVENTS_PER_HISTORY / ASSETS / EVENTS_PER_CASE);
  const { events } = makeHistory({ seed, assets: ASSETS, cases, persons: PERSONS, shares: CALM });
  return withSdkIds(seed % 2 === 0 ? withSdkCorrelations(events) : events);
};

/** Bodies of batches: histories side by side, in the order of their times. */
export const batchBodies = (count: number, batchEvents: number): readonly string[] => {
  const events: { readonly event: HistoryEvent; readonly at: number }[] = [];
  for (let seed = 1; events.length < count; seed++)
    for (const event of historyEvents(seed)) events.push({ event, at: Date.parse(event.timestamp) });
  events.sort((one, other) => one.at - other.at);
  const bodies: string[] = [];
  for (let start = 0; start < count; start += batchEvents) {
    const some = events.slice(start, Math.min(start + batchEvents, count));
    bodies.push(JSON.stringify({ events: some.map(({ event }) => event) }));
  }
  return bodies;
};

/** UUIDv7 by the time of the event, as the SDK makes ids by default. All other ids are a system's own, in no order. */
const withSdkIds = (events: readonly HistoryEvent[]): readonly HistoryEvent[] =>
  events.map((event) => ({ ...event, event_id: uuid7(Date.parse(event.timestamp)) }));

/** As the SDK's plugins make them for requests without one. */
const withSdkCorrelations = (events: readonly HistoryEvent[]): readonly HistoryEvent[] => {
  const made = new Map<string, string>();
  return events.map((event) => {
    const { correlation_id: own, timestamp } = event;
    if (typeof own !== "string") return event;
    const correlation_id = made.get(own) ?? uuid7(Date.parse(timestamp));
    made.set(own, correlation_id);
    return { ...event, correlation_id };
  });
};

/** Writes one history after another; returns the time of each event, in milliseconds since 1970, and the offset of its record. */
const writeImported = async (file: FileHandle, count: number) => {
  const times = new Float64Array(count);
  const starts = new Float64Array(count + 1);
  let written = 0;
  for (let seed = 1; written < count; seed++) {
    const parts: Buffer[] = [];
    for (const event of historyEvents(seed).slice(0, count - written)) {
      const [length, record] = lengthAndRecord(event);
      parts.push(length, record);
      times[written] = Date.parse(event.timestamp);
      starts[written + 1] = (starts[written] ?? 0) + length.length + record.length;
      written++;
    }
    await file.appendFile(Buffer.concat(parts));
  }
  return { times, starts };
};

const writeLive = async (file: FileHandle, count: number, besidePath: string): Promise<void> => {
  try {
    await using imported = await open(besidePath, "w+");
    const { times, starts } = await writeImported(imported, count);
    const inOrder = Uint32Array.from(times.keys()).sort(
      (one, other) => (times[one] ?? 0) - (times[other] ?? 0) || one - other,
    );
    for (let start = 0; start < count; start += EVENTS_PER_HISTORY) {
      const parts: Buffer[] = [];
      for (const event of inOrder.subarray(start, start + EVENTS_PER_HISTORY)) {
        const [from = 0, to = 0] = [starts[event], starts[event + 1]];
        const part = Buffer.alloc(to - from);
        readSync(imported.fd, part, 0, part.length, from);
        parts.push(part);
      }
      await file.appendFile(Buffer.concat(parts));
    }
  } finally {
    await rm(besidePath, { force: true });
  }
};

const lengthAndRecord = (event: object): readonly [length: Buffer, record: Buffer] => {
  const record = Buffer.from(
    encodeRecord({
      tenant: TENANT,
      receivedAt: "2026-11-20T10:00:00.000Z",
      requestId: "0198c0de-0000-7000-8000-000000000000",
      eventText: JSON.stringify({ ...event, tags: { team: "credit", canary: false } }),
    }),
  );
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt32BE(record.length);
  return [length, record];
};

/** From sequence 1 on, in groups of `messagesMax`; the last may be smaller. */
export async function* readHistoryRecords(
  path: string,
  messagesMax: number,
): AsyncGenerator<readonly StoredMessage[]> {
  await using file = await open(path);
  let [offset, sequence] = [0, 0];
  let messages: StoredMessage[] = [];
  for (;;) {
    const { buffer, bytesRead } = await file.read(Buffer.allocUnsafeSlow(READ_BYTES), 0, READ_BYTES, offset);
    let at = 0;
    while (at + LENGTH_BYTES <= bytesRead) {
      const end = at + LENGTH_BYTES + buffer.readUInt32BE(at);
      if (end > bytesRead) break;
      const payload = new Uint8Array(buffer.buffer, at + LENGTH_BYTES, end - at - LENGTH_BYTES);
      messages.push({ sequence: ++sequence, subject: SUBJECT, payload });
      at = end;
      if (messages.length < messagesMax) continue;
      yield messages;
      messages = [];
    }
    if (at === 0) break;
    offset += at;
  }
  if (messages.length > 0) yield messages;
}

const [, , path, count, order] = process.argv;
if (import.meta.main && path !== undefined) {
  await using file = await open(path, "w");
  if (order === ("imported" satisfies HistoryOrder)) await writeImported(file, Number(count));
  else await writeLive(file, Number(count), `${path}.imported`);
}
