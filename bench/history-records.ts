/**
 * Records of histories of AI systems at work, as the log holds them, in a file: `history-records.ts <file> <events>`, run by projecting.ts in a process of
 * its own, so that what a history is made of is not in the heap of the program that is measured (it cost that a tenth of its time).
 */
import { type FileHandle, open } from "node:fs/promises";
import process from "node:process";
import type { StoredMessage } from "../src/log/event-log.ts";
import { encodeRecord } from "../src/log/record.ts";
import { CALM, makeHistory } from "../test/support/histories.ts";

export const TENANT = "acme";
export const EVENTS_PER_HISTORY = 50_000;
export const ASSETS = 20;
const SUBJECT = `audit.${TENANT}.system.decision.automated_decision_made`;
/** A CALM case has about so many events. */
const EVENTS_PER_CASE = 1.9;

/** Before each record stands its length: big-endian, as Buffer writes it. */
const LENGTH_BYTES = 4;
const READ_BYTES = 4 * 1024 * 1024;

const write = async (file: FileHandle, count: number): Promise<void> => {
  let left = count;
  for (let seed = 1; left > 0; seed++) {
    const cases = Math.ceil(EVENTS_PER_HISTORY / ASSETS / EVENTS_PER_CASE);
    const { events } = makeHistory({ seed, assets: ASSETS, cases, shares: CALM });
    const some = events.slice(0, left);
    left -= some.length;
    await file.appendFile(Buffer.concat(some.flatMap(lengthAndRecord)));
  }
};

const lengthAndRecord = (event: object): readonly Buffer[] => {
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

const [, , path, count] = process.argv;
if (import.meta.main && path !== undefined) {
  await using file = await open(path, "w");
  await write(file, Number(count));
}
