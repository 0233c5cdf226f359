/** What exports and streams cost a service that does nothing else, in its own process so that no other memory is counted. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { setTimeout as delay } from "node:timers/promises";
import { messageIdOfEvent, recordPayload } from "../../src/log/event-log.ts";
import { auditSubject } from "../../streams/subjects.ts";
import { settingsFor } from "../support/broker.ts";
import { callUntilSeen } from "../support/call-until-seen.ts";
import { openEventSource } from "../support/event-source.ts";
import { appenderOn, startTestLog, type TestLog } from "../support/log.ts";
import { dataFolder, type ServiceProcess, spawnService } from "../support/process.ts";
import { ADMIN_KEY, event } from "../support/service.ts";
import { openUntaken } from "../support/untaken-answer.ts";

/** Large events: only the bytes matter, and each further event would add work. */
const COUNT = 2_500;
const BATCH = 100;
const MB = 1_000_000;
/** Time between two measurements of the memory, which are 10 MB apart: 125 MB/s at most, a gigabit. */
const MS_PER_PART = 80;
/** Garbage is collected as on a machine with little memory; otherwise most of what is measured would be uncollected garbage: 200 to 400 MB, by chance. */
const RAM_BYTES = 64 * 1024 * 1024;
/** Measured in MB: 110 to 140 before the first request and 230 at most; without waiting for readers 500 to 4000. */
const RESIDENT_MAX = 350 * MB;
const padding = "x".repeat(100_000);
let log: TestLog;
let folder: Awaited<ReturnType<typeof dataFolder>>;
let service: ServiceProcess;

const headers = { authorization: `Bearer ${ADMIN_KEY}` };
const residentBytes = async (): Promise<number> => {
  const { text } = await service.call("/metrics");
  return Number(/^process_resident_memory_bytes (\S+)/m.exec(text)?.[1]);
};

const start = async (environment = {}): Promise<void> => {
  service = await spawnService({
    dataDir: folder.path,
    environment: { ADMIN_API_KEY: ADMIN_KEY, ...settingsFor(log.broker), ...environment },
  });
  await service.untilReady();
};

const ENVELOPE = {
  tenant: "default",
  receivedAt: "2026-11-20T10:00:00.000Z",
  requestId: "019dd0a2-5f5e-7b1c-8b7e-2f1f0f6b9a10",
};

const recordOf = (index: number) => {
  const made = event({ event_id: `evt_${index}`, asset_id: `asset_${index % 2}`, metadata: { padding } });
  return {
    tenant: "default",
    subject: auditSubject("default", made.asset_id, made.event_type),
    messageId: messageIdOfEvent("default", made.event_id),
    ...recordPayload(ENVELOPE, JSON.stringify(made)),
  };
};

/** Without a service: ingesting this much would take a tenth of the CPU time of this file, and is not measured here. */
const append = async (): Promise<void> => {
  const appender = appenderOn(log.connection);
  for (let from = 0; from < COUNT; from += BATCH) {
    const records = Array.from({ length: BATCH }, (_, index) => recordOf(from + index));
    for (const { kind } of await appender.append(records)) expect(kind).toBe("appended");
  }
};

beforeAll(async () => {
  [log, folder] = await Promise.all([startTestLog(), dataFolder()]);
  await append();
  await start();
  await callUntilSeen(service.call, `/v1/events?limit=1&min_sequence=${COUNT}`);
  // The memory that projecting used is not always released by now.
  await service[Symbol.asyncDispose]();
  await start({ BUN_JSC_forceRAMSize: String(RAM_BYTES) });
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await folder[Symbol.asyncDispose]();
  await log[Symbol.asyncDispose]();
});

test.each([
  ["ndjson", ""],
  // CSV has each event twice: in columns, and whole.
  ["csv", "&asset_id=asset_0"],
])("an export of 250 MB as %s uses memory for a small part of it", async (format, filter) => {
  const response = await fetch(`${service.url}/v1/export?format=${format}${filter}`, { headers });
  let [bytes, peak, measuredAt] = [0, 0, 0];
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes - measuredAt < 10 * MB) continue;
    measuredAt = bytes;
    peak = Math.max(peak, await residentBytes());
    // As fast as a network, so that used memory can be released.
    await delay(MS_PER_PART);
  }
  expect(bytes).toBeGreaterThan(250 * MB);
  expect(peak).toBeGreaterThan(0);
  expect(peak).toBeLessThan(RESIDENT_MAX);
});

test("thirty streams and four exports whose readers take nothing use a page each, not their whole answer", async () => {
  const paths = [
    ...Array.from({ length: 30 }, () => "/v1/events/stream?after=0"),
    ...Array.from({ length: 4 }, () => "/v1/export"),
  ];
  const answers = await Promise.all(paths.map((path) => openUntaken(service.url + path, headers)));
  const source = await openEventSource(`${service.url}/v1/events/stream?after=${COUNT - 1000}`, headers);
  await source.take(1000);
  expect(await residentBytes()).toBeLessThan(RESIDENT_MAX);
  for (const answer of answers) answer.disconnect();
  await source.disconnect();
});
