import { expect, test } from "bun:test";
import { createInMemoryView, type InMemoryView } from "../../../test/projections/in-memory-view.ts";
import { messageOf, simpleEvent } from "../../../test/projections/records.ts";
import type { StoredMessage } from "../../log/event-log.ts";
import { eventsProjection } from "./evolve.ts";
import { EVENTS } from "./tables.ts";

const hash = (digit: string): string => `sha256:${digit.repeat(64)}`;
const stateOf = (view: InMemoryView) => ({
  rows: view.rows(EVENTS),
  words: new Map(view.words()),
  labels: new Map(view.labels()),
});

/** Rows after `given` and then `when`, each read as one group, and the dead letters of `when`. */
const project = async (given: readonly StoredMessage[], when: readonly StoredMessage[]) => {
  const view = createInMemoryView(eventsProjection);
  await view.take(given);
  const before = stateOf(view);
  const deadLetters = await view.take(when);
  return { view, before, after: stateOf(view), deadLetters };
};

test("an event becomes one row with everything it can be searched by, and its text as sent", async () => {
  const eventText = `{ "event_id": "0198C0DE-1111-7111-8111-11111111111A", "timestamp": "2026-11-20T09:00:00.120+00:00",
    "asset_id": "credit_model", "event_type": "objection.received", "risk_tier": "high", "correlation_id": "loan-7",
    "trace_id": "T", "subject_hash": "${hash("A")}", "legal_bases": ["pipa_37_2_kr"], "tags": {"n": 1.50, "b": false},
    "metadata": { "amount": 12345678901234567890 } }`;
  const message = messageOf(7, { event: eventText, receivedAt: "2026-11-20T10:00:00.500Z" });
  const { view, deadLetters } = await project([], [message]);
  expect(deadLetters).toEqual([]);
  expect(view.rows(EVENTS)).toEqual([
    {
      tenant: "acme",
      event_id: "0198c0de-1111-7111-8111-11111111111a",
      sequence: 7,
      received_at: "2026-11-20T10:00:00.500Z",
      request_id: "0198c0de-0000-7000-8000-000000000000",
      received: "2026-11-20T10:00:00.5",
      occurred: "2026-11-20T09:00:00.12",
      retention_class: "high/",
      counted_from: "2026-11-20T10:00:00.5",
      expired_at: null,
      event: eventText,
    },
  ]);
  expect(view.labels().get("event_words 7")).toEqual([
    ...["asset=credit_model", "type=objection.received", "group=objection"],
    ...["tier=high", "type.tier=objection.received=high", "group.tier=objection=high"],
    ...["correlation=loan-7", `subject=${hash("a")}`, "trace=T"],
    ...["tag=n=1.5", "tag=b=false", "basis=pipa_37_2_kr"],
    ...["type.basis=objection.received=pipa_37_2_kr", "group.basis=objection=pipa_37_2_kr"],
    ...["occurred=2026-11-20T09:00:00.12", "received=2026-11-20T10:00:00.5"],
  ]);
});

test("the words of an event are indexed once with its row, and no repeat or conflict indexes them again", async () => {
  const { view } = await project(
    [],
    [messageOf(1, { event: simpleEvent("evt_1", { tags: { team: "Credit" } }) })],
  );
  const expected = [
    "automated",
    "automated_decision",
    "credit",
    "credit_model",
    "decision",
    "decision_automated",
  ];
  expected.push("decision_made", "made", "model", "team");
  expect(view.words()).toEqual(new Map([["event_words 1", expected]]));
  const again = simpleEvent("evt_1", { tags: { team: "Credit" } });
  const conflict = simpleEvent("evt_1", { asset_id: "other" });
  await view.take([messageOf(2, { event: again }), messageOf(3, { event: conflict })]);
  expect([...view.words().keys()]).toEqual(["event_words 1"]);
});

test("each event has the time of its own request", async () => {
  const times = ["2026-11-20T10:00:00.100Z", "2026-11-20T10:00:00.100Z", "2026-11-20T10:00:00.200Z"];
  const messages = times.map((receivedAt, index) =>
    messageOf(index + 1, { event: simpleEvent(`evt_${index + 1}`), receivedAt }),
  );
  const { view } = await project([], messages);
  const keys = ["2026-11-20T10:00:00.1", "2026-11-20T10:00:00.1", "2026-11-20T10:00:00.2"];
  expect(view.rows(EVENTS).map(({ received }) => received)).toEqual(keys);
  expect([...view.labels().values()].map((labels) => labels.at(-1))).toEqual(
    keys.map((key) => `received=${key}`),
  );
});

test("a legacy event type belongs to the group legacy", async () => {
  const { view } = await project(
    [],
    [messageOf(1, { event: simpleEvent("evt_1", { event_type: "ai_inference" }) })],
  );
  const labels = ["type=ai_inference", "group=legacy"];
  expect(view.labels().get("event_words 1")).toEqual(expect.arrayContaining(labels));
});

const first = messageOf(1, {
  event:
    '{"event_id":"evt_1","timestamp":"2026-11-20T09:00:00Z","asset_id":"a","event_type":"objection","n":1}',
});
const rewritten =
  '{ "n": 1.0, "event_type": "objection", "asset_id": "\\u0061", "timestamp": "2026-11-20T09:00:00Z", "event_id": "evt_1" }';

test("a repeat of an event changes nothing, however it is written", async () => {
  const { before, after, deadLetters } = await project([first], [messageOf(2, { event: rewritten })]);
  expect(after).toEqual(before);
  expect(deadLetters).toEqual([]);
});

test("other content under the same event_id is a conflict: the first event stays, and the second is a dead letter", async () => {
  const other = messageOf(2, { event: rewritten.replace("1.0", "2") });
  const { before, after, deadLetters } = await project([first], [other]);
  expect(after).toEqual(before);
  expect(deadLetters).toEqual([
    {
      projection: "events",
      sequence: 2,
      tenant: "acme",
      eventId: "evt_1",
      code: "event_id_conflict",
      detail: "the event at sequence 1 has the same event_id and other content",
      recordedAt: "2026-11-20T12:00:00.000Z",
    },
  ]);
});

test("repeats and conflicts are also found within one group", async () => {
  const messages = [
    first,
    messageOf(2, { event: rewritten }),
    messageOf(3, { event: rewritten.replace("1.0", "2") }),
  ];
  const { view, deadLetters } = await project([], messages);
  expect(view.rows(EVENTS)).toHaveLength(1);
  expect(deadLetters.map(({ sequence, code }) => ({ sequence, code }))).toEqual([
    { sequence: 3, code: "event_id_conflict" },
  ]);
});

test("a UUID in other case is the same event_id, but a text id in other case is a different one", async () => {
  const uuid = "0198c0de-1111-7111-8111-11111111111a";
  const at = async (one: string, other: string) => {
    const { view, deadLetters } = await project(
      [messageOf(1, { event: simpleEvent(one) })],
      [messageOf(2, { event: simpleEvent(other, { asset_id: "another" }) })],
    );
    return [view.rows(EVENTS).length, deadLetters.length];
  };
  expect(await at(uuid, uuid.toUpperCase())).toEqual([1, 1]);
  expect(await at("evt_a", "evt_A")).toEqual([2, 0]);
});

test("two tenants may use the same event_id", async () => {
  const event = simpleEvent("evt_1");
  const { view, deadLetters } = await project(
    [messageOf(1, { event })],
    [messageOf(2, { event: { ...event, asset_id: "other" }, tenant: "globex" })],
  );
  expect(view.rows(EVENTS)).toMatchObject([{ tenant: "acme" }, { tenant: "globex" }]);
  expect(deadLetters).toEqual([]);
});

test("a record whose event lacks what a row needs is a dead letter, and the other records are read", async () => {
  const messages = [
    messageOf(1, { event: {} }),
    messageOf(2, { event: { ...simpleEvent("evt_2"), timestamp: "yesterday" } }),
    messageOf(3, { event: simpleEvent("evt_3") }),
  ];
  const { view, deadLetters } = await project([], messages);
  expect(deadLetters).toMatchObject([
    { sequence: 1, tenant: "acme", eventId: null, code: "invalid_event" },
    { sequence: 2, tenant: "acme", eventId: "evt_2", code: "invalid_event" },
  ]);
  expect(view.rows(EVENTS)).toMatchObject([{ event_id: "evt_3" }]);
});
