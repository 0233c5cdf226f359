/**
 * Whatever is sent to the two ingestion endpoints, there is no 5xx, no hang, no unhandled rejection and no error line.
 * A failure prints the seed; `fc.assert(…, { seed, path })` repeats it.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import fc from "fast-check";
import { EVENT_TYPES } from "../../src/event/event-types.ts";
import { event, startTestService, type TestService } from "../support/service.ts";

let service: TestService;
const unhandled: unknown[] = [];
const note = (reason: unknown): void => void unhandled.push(reason);

beforeAll(async () => {
  process.on("unhandledRejection", note);
  service = await startTestService();
});
afterAll(async () => {
  process.off("unhandledRejection", note);
  await service[Symbol.asyncDispose]();
});

const path = fc.constantFrom("/v1/events", "/v1/events/batch");
/** 503 `overloaded` could be right under load, but the load here is small. */
const isAnswered = (status: number): boolean => [202, 400, 409, 413, 415, 422].includes(status);

const never5xx = async (
  target: string,
  body: string | Uint8Array<ArrayBuffer>,
  headers = {},
): Promise<void> => {
  const answer = await service.call(target, { body, headers });
  if (!isAnswered(answer.status)) throw new Error(`${answer.status}: ${answer.text}`);
  if (answer.status !== 202) expect(answer.json.code).toBeString();
};

const member = fc.constantFrom(
  "event_id",
  "timestamp",
  "asset_id",
  "event_type",
  "legal_bases",
  "risk_tier",
  "subject_hash",
  "correlation_id",
  "trace_id",
  "span_id",
  "asset_version",
  "tags",
  "metadata",
  "__proto__",
  "constructor",
  "toString",
  "",
);
const nearEvent = fc
  .tuple(
    fc.uuid({ version: 7 }),
    fc.constantFrom(...EVENT_TYPES),
    fc.dictionary(member, fc.jsonValue({ maxDepth: 3, stringUnit: "binary" }), { maxKeys: 4 }),
  )
  .map(([event_id, event_type, changes]) => ({ ...event({ event_id, event_type }), ...changes }));

const headers = fc
  .tuple(
    fc.constantFrom("idempotency-key", "content-type", "content-encoding", "x-request-id", "x-forwarded-for"),
    fc.string({ unit: "grapheme-ascii", maxLength: 300 }).map((text) => text.trim()),
  )
  .map((pair) => Object.fromEntries([pair]));

test.each<readonly [string, fc.Arbitrary<string | Uint8Array<ArrayBuffer>>, fc.Arbitrary<object>]>([
  ["bytes", fc.uint8Array({ maxLength: 2000 }).map((array) => Uint8Array.from(array)), fc.constant({})],
  ["JSON", fc.json({ maxDepth: 6, stringUnit: "binary" }), fc.constant({})],
  ["nearly valid events", nearEvent.map((body) => JSON.stringify(body)), fc.constant({})],
  ["header values", fc.constant('{"events":[]}'), headers],
])("arbitrary %s are accepted or refused with a code, and never cause an error", async (_, body, sent) => {
  await fc.assert(fc.asyncProperty(path, body, sent, never5xx), { numRuns: 300 });
});

test("a batch of such events has a result for every index", async () => {
  const batch = fc.array(fc.oneof(nearEvent, fc.jsonValue({ stringUnit: "binary" })), { maxLength: 30 });
  await fc.assert(
    fc.asyncProperty(batch, async (events) => {
      const answer = await service.call("/v1/events/batch", { body: JSON.stringify({ events }) });
      expect(answer.status).toBe(202);
      const { accepted, rejected, errors } = answer.json.data;
      expect(accepted + rejected).toBe(events.length);
      expect(errors).toHaveLength(rejected);
      expect(new Set(errors.map(({ index }: { index: number }) => index)).size).toBe(rejected);
    }),
    { numRuns: 200 },
  );
});

test("no rejection was left unhandled, nothing failed internally, and the service still works", async () => {
  expect(unhandled).toEqual([]);
  expect(
    service.lines.filter(({ level, message }) => level === "error" || message === "a request failed"),
  ).toEqual([]);
  const answer = await service.call("/v1/events", { body: event({ event_id: "evt_still_here" }) });
  const read = await service.call(`/v1/events/evt_still_here?min_sequence=${answer.json.data.sequence}`);
  expect(read.status).toBe(200);
});
