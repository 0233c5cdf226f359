/** Transitions of duties, as your own service receives them. */
import { expect, test } from "bun:test";
import { readFile } from "node:fs/promises";
import { connectConsumer } from "../chaos/read-stream.ts";
import { table } from "../support/documents.ts";
import { asTheyArrive } from "../support/histories/chance.ts";
import { HEARTBEAT } from "../support/histories/source-life.ts";
import { makeHistory } from "../support/histories.ts";
import { allPages } from "../support/pages.ts";
import { event, startTestService, type TestService } from "../support/service.ts";
import { until } from "../support/until.ts";

const connectTo = async ({ service }: TestService) =>
  connectConsumer((await readFile(service.consumerUrlFile ?? "", "utf8")).trim());

const received = { objection_id: "o1", decision_id: "d1", objection_type: "explanation_request" };

test("a consumer receives a duty's transitions from the stream, on a subject that it can filter by", async () => {
  await using service = await startTestService();
  const nats = await connectTo(service);
  await service.call("/v1/events", {
    body: event({
      asset_id: "a.b",
      event_type: "objection.received",
      timestamp: new Date().toISOString(),
      metadata: received,
    }),
  });
  const consumer = await nats
    .jetstream()
    .consumers.get("OBLIGATIONS", { filterSubjects: "obligation.default.a%2Eb.PIPA-EXPL.*" });
  const message = await consumer.next({ expires: 10_000 });
  expect(message?.subject).toBe("obligation.default.a%2Eb.PIPA-EXPL.open");
  expect(message?.json<Record<string, unknown>>()).toMatchObject({
    tenant: "default",
    transition: "open",
    clause: expect.stringContaining("44-3"),
    started_by: { event_id: "evt_1", sequence: 1 },
    decision_id: "d1",
  });
  await nats.close();
  await until("the metrics say how far duties were told of", async () =>
    /^prooftrail_duties_position 1$/m.test((await service.call("/metrics")).text),
  );
});

type Message = Readonly<Record<string, unknown>>;

const isEvent = (value: unknown): boolean =>
  typeof value === "object" &&
  value !== null &&
  "event_id" in value &&
  typeof value.event_id === "string" &&
  "sequence" in value &&
  Number.isSafeInteger(value.sequence);

/** The types of members, by the names in streams/README.md. */
const TYPES: Readonly<Record<string, (value: unknown) => boolean>> = {
  text: (value) => typeof value === "string" && value !== "",
  time: (value) => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,64})?Z$/.test(String(value)),
  event: isEvent,
  boolean: (value) => typeof value === "boolean",
  null: (value) => value === null,
};

test("a consumer that keeps the newest message about each duty knows what the service answers, from the members that streams/README.md lists", async () => {
  await using service = await startTestService({ EXTRA_EVENT_TYPES: HEARTBEAT });
  const nats = await connectTo(service);
  const messages = await (await nats.jetstream().consumers.get("OBLIGATIONS")).consume();
  const known = new Map<unknown, Message>();
  const ids: unknown[] = [];
  const all: Message[] = [];
  const following = (async () => {
    for await (const message of messages) {
      const told = message.json<Message>();
      ids.push(message.headers?.get("Nats-Msg-Id"));
      all.push(told);
      known.set(told.obligation_id, told);
      const asset = String(told.asset_id);
      expect(message.subject).toBe(`obligation.default.${asset}.${told.rule}.${told.transition}`);
    }
  })();
  // In two parts, so that the second corrects what the first said.
  const events = asTheyArrive(makeHistory({ seed: 4, assets: 3, cases: 16 }).events, 4);
  let last = 0;
  for (const part of [events.slice(0, 150), events.slice(150)]) {
    const sent = await service.call("/v1/events/batch", { body: { events: part } });
    expect(sent.json.data.accepted).toBe(part.length);
    last = sent.json.data.sequence;
    await until("the first part is told of", () => known.size > 0);
  }
  const answered = (): Promise<readonly Message[]> =>
    allPages((cursor) => service.call(`/v1/obligations?limit=200&min_sequence=${last}${cursor}`));
  const saidOf = (duty: Message | undefined) => [
    duty?.obligation_id,
    duty?.state,
    duty?.due_at,
    duty?.clause,
  ];
  const duties = await until("what is told is what is answered", async () => {
    const found = await answered();
    const isSame = found.every((duty) => `${saidOf(known.get(duty.obligation_id))}` === `${saidOf(duty)}`);
    return isSame && found;
  });
  expect(new Set(duties.map(({ state }) => state)).size).toBeGreaterThan(2);
  expect(new Set(ids).size).toBe(ids.length);
  const [, ...members] = table("streams/README.md", "member");
  for (const told of all) {
    expect(Object.keys(told).toSorted()).toEqual(members.map(([name = ""]) => name).toSorted());
    const wrong = members.filter(
      ([name = "", type = ""]) => !type.split(" or ").some((each) => TYPES[each]?.(told[name])),
    );
    expect({ told, wrong }).toEqual({ told, wrong: [] });
  }
  await messages.close();
  await following;
  await nats.close();
});
