/** What client libraries in the field send, which goes beyond the specification. */
import { expect, test } from "bun:test";
import { event, startTestService } from "../support/service.ts";

const ULID = "01JD3Z5V8K9M2N4P6Q8R0S1T2V";
const envelope = {
  input_hash: `sha256:${"1".repeat(64)}`,
  output_hash: `sha256:${"2".repeat(64)}`,
  sdk_version: "1.2.1",
  sdk_language: "go",
  environment: "production",
  region: "kr",
  host: { runtime: "go1.23", os: "linux" },
};
/** Nine fraction digits, as Go prints a time. */
const timestamp = new Date().toISOString().replace("Z", "456789Z");
const legal_bases = ["pipa_37_2_kr", "ai_basic_law_kr"];

const sent = [
  event({
    ...envelope,
    timestamp,
    event_id: `evt_${ULID}`,
    metadata: { decision_id: "d1", outcome: "denied", user_id_hash: `sha256:${"3".repeat(64)}`, legal_bases },
  }),
  event({
    ...envelope,
    timestamp,
    event_id: `obj_${ULID}`,
    event_type: "objection",
    metadata: { decision_id: "d1", reason: "r" },
  }),
  event({
    ...envelope,
    timestamp,
    event_id: `rev_${ULID}`,
    event_type: "human_review",
    metadata: { reviewer_id: "p", outcome: "upheld" },
  }),
  event({
    ...envelope,
    timestamp,
    event_id: `evt_${ULID}1`,
    event_type: "sdk.heartbeat",
    metadata: { queue_depth: 0, outbox_depth: 3, circuit_state: "closed" },
  }),
  event({
    ...envelope,
    timestamp,
    event_id: `evt_${ULID}2`,
    event_type: "transparency.notice_shown",
    metadata: {
      legal_bases: ["ai_basic_law_kr", "eu_ai_act_art_50"],
      notice_channel: "in_app",
      locale: "ko-KR",
    },
  }),
];

test("if the operator admits its ids, such a batch is accepted whole, kept exactly, and answered with warnings", async () => {
  await using service = await startTestService({
    EXTRA_EVENT_TYPES: "sdk.heartbeat",
    EXTRA_EVENT_ID_PREFIXES: "obj_,rev_",
  });
  const headers = { "user-agent": "junyul-go/1.2.1" };
  const answer = await service.call("/v1/events/batch", { body: { events: sent }, headers });
  expect(answer.status).toBe(202);
  expect(answer.json.data).toMatchObject({ accepted: 5, rejected: 0, duplicates: 0, errors: [] });
  const warned = answer.json.data.warnings.map(
    ({ path, code, count }: { path: string; code: string; count: number }) => `${path} ${code} ${count}`,
  );
  expect(warned.sort()).toEqual(
    Object.keys(envelope)
      .map((name) => `/${name} unknown_field ${sent.length}`)
      .sort(),
  );

  const list = await service.call(`/v1/events?order=asc&min_sequence=${answer.json.data.sequence}`);
  const texts = list.text.split(/"event":(?=\{)/).slice(1);
  expect(texts.map((text, index) => text.startsWith(JSON.stringify(sent[index])))).toEqual(
    sent.map(() => true),
  );
  const byBasis = await service.call("/v1/events?legal_basis=eu_ai_act_art_50");
  expect(byBasis.json.data).toHaveLength(1);
  const metrics = await service.call("/metrics");
  expect(metrics.text).toContain(
    `prooftrail_unknown_fields_total ${sent.length * Object.keys(envelope).length}`,
  );
});

test("otherwise the specification applies, and only the events that break it are refused", async () => {
  await using service = await startTestService();
  const answer = await service.call("/v1/events/batch", { body: { events: sent } });
  expect(answer.json.data).toMatchObject({
    accepted: 2,
    rejected: 3,
    errors: [
      { index: 1, errors: [{ path: "/event_id" }] },
      { index: 2, errors: [{ path: "/event_id" }] },
      { index: 3, errors: [{ path: "/event_type", code: "unknown_event_type" }] },
    ],
  });
});
