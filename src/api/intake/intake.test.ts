/** The answer for each outcome of a record, without HTTP and without a broker. A healthy broker does not give these outcomes. */
import { expect, spyOn, test } from "bun:test";
import { EVENT_TYPES } from "../../event/event-types.ts";
import { createEventValidator } from "../../event/validate.ts";
import {
  BATCH_EVENTS_MAX,
  EVENT_BYTES_MAX,
  EVENT_DEPTH_MAX,
  INTAKE_TURN_MS_MAX,
  PROBLEMS_PER_BATCH_MAX,
  PROBLEMS_PER_EVENT_MAX,
  WARNING_INDEXES_MAX,
  WARNINGS_MAX,
} from "../../limits.ts";
import {
  type LogReader,
  LogUnavailableError,
  type OutgoingRecord,
  type StoredMessage,
  wholeText,
} from "../../log/event-log.ts";
import type { Outcome } from "../../log/outcome.ts";
import { answerBatch } from "./answer.ts";
import { createIntake, type FoundEarlier, type JudgedRequest, type Refusal } from "./intake.ts";

const encoder = new TextEncoder();

const setUp = () => {
  const ids = new Map<string, number>();
  const messages: StoredMessage[] = [];
  const told = { accepted: [] as number[], unknownFields: 0, reads: 0 };
  /** The outcomes of the next records. Records after them are stored. */
  const scripted: Outcome[] = [];
  const state: { isAway: boolean; earlier: FoundEarlier } = {
    isAway: false,
    earlier: { kind: "found", sequences: new Map() },
  };
  const store = (record: OutgoingRecord): Outcome => {
    const { messageId, subject } = record;
    const known = ids.get(messageId);
    if (known !== undefined) return { kind: "duplicate", sequence: known };
    const sequence = messages.length + 1;
    messages.push({ sequence, subject, payload: encoder.encode(wholeText(record)) });
    ids.set(messageId, sequence);
    return { kind: "appended", sequence };
  };
  const reader: Pick<LogReader, "read"> = {
    read: async (sequence) => {
      told.reads++;
      if (state.isAway) throw new LogUnavailableError("away");
      return messages[sequence - 1];
    },
  };
  const intake = createIntake({
    appender: { append: async (records) => records.map((record) => scripted.shift() ?? store(record)) },
    reader,
    earlier: { find: async () => state.earlier },
    validate: createEventValidator({
      eventTypes: EVENT_TYPES,
      eventIdPrefixes: ["evt_"],
      legalBases: ["gdpr_art_22", "pipa_37_2_kr"],
    }),
    subjectOf: () => "audit.acme",
    now: () => new Date("2026-11-20T10:00:00.000Z"),
    onAccepted: ({ events }) => void told.accepted.push(events),
    onUnknownFields: (count) => {
      told.unknownFields += count;
    },
  });
  const asked = { tenant: "acme", requestId: "0198c0de-0000-7000-8000-000000000000" };
  /** As a caller does that allows everything. */
  const append = async <Answer>(
    judged: JudgedRequest | Refusal,
    isResent: boolean | undefined,
    then: (request: JudgedRequest, earlier?: ReadonlyMap<string, number>) => Promise<Answer>,
  ) => {
    if (judged.kind !== "judged") return judged;
    const found = isResent ? await intake.findEarlier(judged) : undefined;
    return found === undefined || found.kind === "found" ? then(judged, found?.sequences) : found;
  };
  const raw = async (body: string, { isResent }: { readonly isResent?: boolean } = {}) =>
    append(await intake.judgeBatch({ ...asked, text: body }), isResent, (request, earlier) =>
      intake.append(request, { wantsReceipts: false, earlier }).then((settled) => {
        const answer = answerBatch(request, settled, false);
        return answer.kind === "answered" ? { kind: answer.kind, ...answer.data } : answer;
      }),
    );
  return {
    told,
    state,
    scripted,
    raw,
    batch: (events: readonly object[], more: { readonly isResent?: boolean } = {}) =>
      raw(JSON.stringify({ events }), more),
    one: (
      event: object,
      more: { readonly tenant?: string; readonly isResent?: boolean; readonly idempotencyKey?: string } = {},
    ) => {
      const { isResent, idempotencyKey, ...whose } = more;
      const text = JSON.stringify(event);
      return append(
        intake.judgeOne({ ...asked, ...whose, text }, idempotencyKey),
        isResent,
        async (request, earlier) => {
          const [settled] = await intake.append(request, { wantsReceipts: true, earlier });
          if (!settled) throw new Error("each event is settled");
          return settled;
        },
      );
    },
  };
};

const event = (id: number, members: object = {}) => ({
  event_id: `evt_${id}`,
  timestamp: "2026-11-20T10:00:00Z",
  asset_id: "a",
  event_type: "ai_inference",
  ...members,
});

const OVERLOADED: Outcome = { kind: "refused", reason: "overloaded", detail: "Too many." };
const AWAY: Outcome = { kind: "refused", reason: "unavailable", detail: "Away." };
const UNKNOWN: Outcome = { kind: "unknown", detail: "No answer." };

test("the answer to a batch has its highest sequence, even if a repeat of an older event is last", async () => {
  const { batch, told } = setUp();
  await batch([event(1)]);
  expect(await batch([event(2), event(1)])).toMatchObject({ accepted: 2, duplicates: 1, sequence: 2 });
  expect(await batch([event(1), event(2)])).toMatchObject({ accepted: 2, duplicates: 2, sequence: 2 });
  // Events that were stored before are not counted again.
  expect(told.accepted).toEqual([1, 1]);
});

test("a batch has one warning for each place and kind, with how many events it is about and the first of them", async () => {
  const { batch, told } = setUp();
  const extra = Object.fromEntries(Array.from({ length: 8 }, (_, index) => [`sdk_${index}`, 1]));
  const events = Array.from({ length: BATCH_EVENTS_MAX }, (_, id) => event(id, extra));
  events[500] = event(500, { ...extra, risk_teir: "high" });
  events[7] = event(7, { ...extra, legal_bases: ["gdpr_art22"] });
  events[9] = event(9, { ...extra, legal_bases: ["pipa_37_2"] });
  const answer = await batch(events);
  const warnings = answer.kind === "answered" ? (answer.warnings ?? []) : [];
  expect(warnings.slice(0, 2)).toEqual([
    {
      index: 7,
      path: "/legal_bases/0",
      code: "unknown_legal_basis",
      message:
        'Kept as sent, but no rule here names this legal basis: did you mean "gdpr_art_22"? Kept as sent, but no rule here names this legal basis: did you mean "pipa_37_2_kr"?',
      count: 2,
      indexes: [7, 9],
    },
    {
      index: 500,
      path: "/risk_teir",
      code: "unknown_field",
      message: 'Kept as sent, but it has no meaning here: did you mean "risk_tier"?',
      count: 1,
      indexes: [500],
    },
  ]);
  expect(warnings.slice(2)).toEqual(
    Object.keys(extra).map((name) => ({
      index: 0,
      path: `/${name}`,
      code: "unknown_field",
      message: "Kept as sent, but it has no meaning here.",
      count: BATCH_EVENTS_MAX,
      indexes: Array.from({ length: WARNING_INDEXES_MAX }, (_, index) => index),
    })),
  );
  expect(told.unknownFields).toBe(8 * BATCH_EVENTS_MAX + 3);
});

test("the warnings of a batch are never cut in silence", async () => {
  const { batch, raw } = setUp();
  const events = Array.from({ length: BATCH_EVENTS_MAX }, (_, id) => event(id, { [`own_${id}`]: 1 }));
  events.push(event(BATCH_EVENTS_MAX, { risk_teir: "high" }));
  const answer = await batch(events.slice(1));
  const warnings = answer.kind === "answered" ? (answer.warnings ?? []) : [];
  expect(warnings).toHaveLength(WARNINGS_MAX);
  expect(warnings[0]).toMatchObject({ index: BATCH_EVENTS_MAX - 1, path: "/risk_teir", count: 1 });
  expect(warnings.at(-1)).toEqual({
    path: "",
    code: "unknown_field",
    message: "There are 951 more warnings.",
  });
  // What stands beside the events has no index, and is not counted with the same member of an event.
  const beside = await raw(JSON.stringify({ sent_at: "now", events: [event(7000, { sent_at: "now" })] }));
  expect(beside).toMatchObject({
    warnings: [
      { path: "/sent_at", message: expect.stringContaining("Not kept") },
      { index: 0, path: "/sent_at", count: 1 },
    ],
  });
});

test("the rest may be sent again if something was stored, and the whole request if nothing was", async () => {
  const { batch, scripted } = setUp();
  scripted.push({ kind: "appended", sequence: 7 }, OVERLOADED, UNKNOWN);
  expect(await batch([event(1), event(2), event(3)])).toMatchObject({
    kind: "answered",
    accepted: 1,
    errors: [
      { index: 1, code: "overloaded", retryable: true },
      { index: 2, code: "log_unavailable", retryable: true },
    ],
  });
  for (const [outcome, kind] of [
    [OVERLOADED, "overloaded"],
    [AWAY, "unavailable"],
    [UNKNOWN, "unavailable"],
  ] as const) {
    scripted.push(outcome, outcome);
    expect((await batch([event(4), event(5)])).kind).toBe(kind);
    scripted.push(outcome);
    expect((await batch([event(4), event(5, { event_type: "nonsense" })])).kind).toBe("answered");
  }
});

test("a repeat may be sent again, and is no conflict, if the log has another event there, as after it was replaced", async () => {
  const { batch, one, scripted } = setUp();
  await one(event(1));
  await one(event(1), { tenant: "other" });
  const ofAnother: Outcome = { kind: "duplicate", sequence: 1 };
  const ofAnotherTenant: Outcome = { kind: "duplicate", sequence: 2 };
  for (const outcome of [ofAnother, ofAnotherTenant]) {
    scripted.push(outcome);
    expect(await one(event(2))).toMatchObject({ kind: "unavailable" });
    scripted.push(outcome);
    expect(await batch([event(2), event(3)])).toMatchObject({
      accepted: 1,
      errors: [{ index: 0, code: "log_unavailable", retryable: true }],
    });
  }
  scripted.push(ofAnotherTenant, ofAnotherTenant);
  expect(await one(event(1))).toMatchObject({ kind: "unavailable" });
  expect(await one(event(1), { idempotencyKey: "k" })).toMatchObject({ kind: "unavailable" });
  scripted.push(ofAnother, ofAnother);
  expect(await one(event(1))).toMatchObject({ kind: "stored", receipt: { sequence: 1, duplicate: true } });
  expect(await one(event(1, { asset_id: "b" }))).toEqual({ kind: "conflict", identity: "event_id" });
});

/** An event of exactly this many bytes, filled with this character. */
const eventOfBytes = (bytes: number, fill: string) => {
  const room = bytes - encoder.encode(JSON.stringify(event(1, { metadata: { x: "" } }))).length;
  const width = encoder.encode(fill).length;
  const x = fill.repeat(Math.floor(room / width)) + "x".repeat(room % width);
  return event(1, { metadata: { x } });
};

test.each(["x", "\u00e9", "\uac00"])(
  "an event of the maximum number of bytes is accepted, and one byte more is refused (%s)",
  async (fill) => {
    const { one, batch } = setUp();
    expect((await one(eventOfBytes(EVENT_BYTES_MAX, fill))).kind).toBe("stored");
    expect(await batch([eventOfBytes(EVENT_BYTES_MAX, fill)])).toMatchObject({ accepted: 1 });
    expect((await one(eventOfBytes(EVENT_BYTES_MAX + 1, fill))).kind).toBe("event_too_large");
    expect(await batch([eventOfBytes(EVENT_BYTES_MAX + 1, fill)])).toMatchObject({
      errors: [{ index: 0, code: "payload_too_large" }],
    });
  },
);

test("an event of the maximum depth is accepted, and a repeated member is refused at any depth", async () => {
  const { raw } = setUp();
  const nested = (levels: number, inner: string) =>
    JSON.stringify(event(levels, { metadata: {} })).replace(
      '"metadata":{}',
      `"metadata":${'{"a":'.repeat(levels - 2)}${inner}${"}".repeat(levels - 2)}`,
    );
  const texts = [
    nested(EVENT_DEPTH_MAX, "{}"),
    nested(EVENT_DEPTH_MAX, '{"b":1,"b":2}'),
    nested(EVENT_DEPTH_MAX + 1, "{}"),
  ];
  expect(await raw(`{"events":[${texts.join()}]}`)).toMatchObject({
    accepted: 1,
    errors: [
      { index: 1, errors: [{ code: "duplicate_member" }] },
      { index: 2, errors: [{ code: "too_deep" }] },
    ],
  });
});

test("a batch may have a limited number of members beside its events, and its events only once", async () => {
  const { raw } = setUp();
  const beside = (count: number) => Array.from({ length: count }, (_, index) => `"x${index}":1`).join();
  const events = `"events":[${JSON.stringify(event(1))}]`;
  expect(await raw(`{${beside(WARNINGS_MAX)},${events}}`)).toMatchObject({ accepted: 1 });
  for (const [body, path] of [
    [`{${beside(WARNINGS_MAX + 1)},${events}}`, ""],
    [`{${events},${events}}`, "/events"],
  ] as const)
    expect(await raw(body)).toMatchObject({ kind: "invalid_request", problems: [{ path }] });
});

test("the answer to a batch of only mistakes has one problem for each event, all of the first events, and the total number", async () => {
  const { batch } = setUp();
  const tags = Object.fromEntries(Array.from({ length: 59 }, (_, index) => [`k${index}`, null]));
  const answer = await batch(Array.from({ length: BATCH_EVENTS_MAX }, (_, id) => event(id, { tags })));
  if (answer.kind !== "answered") throw new Error("a batch is answered event by event");
  const counts = answer.errors.map(({ errors }) => errors.length);
  expect(counts.reduce((sum, count) => sum + count, 0)).toBe(BATCH_EVENTS_MAX + PROBLEMS_PER_BATCH_MAX);
  expect(counts).toHaveLength(BATCH_EVENTS_MAX);
  expect(counts[0]).toBe(PROBLEMS_PER_EVENT_MAX);
  expect(Math.min(...counts)).toBe(1);
  for (const { message } of answer.errors) expect(message).toBe("The event has 60 problems; see errors.");
});

test("others get a turn while large repeats that are written differently are compared with the log", async () => {
  const { raw, told } = setUp();
  const numbers = '{"a":[1,1,1]}';
  const body = (space: string) => {
    const texts = Array.from({ length: 20 }, (_, id) =>
      JSON.stringify(event(id, { metadata: "here" })).replace('"here"', space + numbers),
    );
    return `{"events":[${texts.join(",")}]}`;
  };
  expect(await raw(body(""))).toMatchObject({ accepted: 20, duplicates: 0 });
  // Each look at the clock is a turn later than the one before: the comparisons count as long ones on every machine.
  let nowMs = 0;
  using _clock = spyOn(performance, "now").mockImplementation(() => {
    nowMs += INTAKE_TURN_MS_MAX + 1;
    return nowMs;
  });
  const turns = { count: 0, isOver: false };
  const look = (): void => {
    if (told.reads > 0) turns.count++;
    if (!turns.isOver) setImmediate(look);
  };
  look();
  expect(await raw(body(" "))).toMatchObject({ accepted: 20, duplicates: 20 });
  turns.isOver = true;
  expect(turns.count).toBeGreaterThan(5);
});
