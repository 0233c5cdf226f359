/** What exports and streams cost a service that does nothing else, in a process of its own so that nobody else's memory is counted. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { setTimeout as delay } from "node:timers/promises";
import { openEventSource } from "../support/event-source.ts";
import { ADMIN_KEY, dataFolder, type ServiceProcess, spawnService } from "../support/process.ts";
import { event } from "../support/service.ts";
import { openUntaken } from "../support/untaken-answer.ts";

/** Large events: what counts is the bytes, and each event would cost some work besides. */
const COUNT = 2_500;
const BATCH = 100;
const MB = 1_000_000;
/** Between two readings of the memory, 10 MB apart: 125 MB/s at most, a gigabit. */
const MS_PER_PART = 80;
const padding = "x".repeat(100_000);
let folder: Awaited<ReturnType<typeof dataFolder>>;
let service: ServiceProcess;

const headers = { authorization: `Bearer ${ADMIN_KEY}` };
const residentBytes = async (): Promise<number> => {
  const { text } = await service.call("/metrics");
  return Number(/^process_resident_memory_bytes (\S+)/m.exec(text)?.[1]);
};

beforeAll(async () => {
  folder = await dataFolder();
  service = await spawnService({ dataDir: folder.path, environment: { ADMIN_API_KEY: ADMIN_KEY } });
  await service.untilReady();
  let sequence = 0;
  for (let from = 0; from < COUNT; from += BATCH) {
    const events = Array.from({ length: BATCH }, (_, index) =>
      event({ event_id: `evt_${from + index}`, asset_id: `asset_${index % 2}`, metadata: { padding } }),
    );
    sequence = (await service.call("/v1/events/batch", { body: { events } })).json.data.sequence;
    const seen = await service.call(`/v1/events?limit=1&min_sequence=${sequence}`);
    if (seen.status !== 200) throw new Error(seen.text);
  }
  expect(sequence).toBe(COUNT);
}, 120_000);
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await folder[Symbol.asyncDispose]();
});

test.each([
  ["ndjson", ""],
  // It has each event twice: in columns, and whole.
  ["csv", "&asset_id=asset_0"],
])(
  "an export of 250 MB as %s takes a small part of its size",
  async (format, filter) => {
    const before = await residentBytes();
    const response = await fetch(`${service.url}/v1/export?format=${format}${filter}`, { headers });
    let [bytes, peak, measuredAt] = [0, 0, 0];
    for await (const chunk of response.body ?? []) {
      bytes += chunk.length;
      if (bytes - measuredAt < 10 * MB) continue;
      measuredAt = bytes;
      peak = Math.max(peak, await residentBytes());
      // As quick as a network, so that what was used can be given back: at the speed of memory it is not (228 MB once, of which nothing was kept).
      await delay(MS_PER_PART);
    }
    expect(bytes).toBeGreaterThan(250 * MB);
    expect(peak).toBeGreaterThan(0);
    expect(peak - before).toBeLessThan(200 * MB);
  },
  60_000,
);

test("thirty streams and four exports whose readers take nothing cost a page each, not all that there is", async () => {
  const before = await residentBytes();
  const paths = [
    ...Array.from({ length: 30 }, () => "/v1/events/stream?after=0"),
    ...Array.from({ length: 4 }, () => "/v1/export"),
  ];
  const answers = await Promise.all(paths.map((path) => openUntaken(service.url + path, headers)));
  const source = await openEventSource(`${service.url}/v1/events/stream?after=${COUNT - 1000}`, headers);
  await source.take(1000);
  expect((await residentBytes()) - before).toBeLessThan(300 * MB);
  for (const answer of answers) answer.disconnect();
  await source.disconnect();
}, 60_000);
