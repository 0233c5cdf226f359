/** What `capture()` does with the values of a program. */
import assert from "node:assert/strict";
import { createHash, createHmac } from "node:crypto";
import process from "node:process";
import { test } from "node:test";
import { runInNewContext } from "node:vm";
import fc from "fast-check";
import {
  type CaptureEvent,
  createClient,
  createSandboxClient,
  createTestClient,
  type DroppedEvent,
  keyedHash,
  type Problem,
  sha256,
  type TestClient,
  withAudit,
} from "prooftrail-sdk";
import { EVENT_BYTES_MAX } from "../../../src/sdk/limits.ts";
import { uuid5, uuid7 } from "../../../src/sdk/uuid.ts";
import { event, NOWHERE } from "./events.ts";

/** A program without types may pass anything. */
const loose = (value: unknown): CaptureEvent => value as CaptureEvent;

const timeOfUuid7 = (uuid: string): number => Number.parseInt(uuid.slice(0, 8) + uuid.slice(9, 13), 16);

test("an event gets a UUIDv7, the time, and a number of its source", () => {
  const client = createTestClient({ source: "checkout" });
  const before = Date.now();
  const captured = [client.capture(event()), client.capture(event({ metadata: { decision_id: "dec_1" } }))];
  const [first, second] = client.events;
  assert.deepEqual(captured, [
    { kind: "kept", eventId: first?.event_id },
    { kind: "kept", eventId: second?.event_id },
  ]);
  assert.match(
    String(first?.event_id),
    /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
  );
  const madeMs = Date.parse(String(first?.timestamp));
  assert.ok(madeMs >= before && madeMs <= Date.now() && String(first?.timestamp).endsWith("Z"));
  assert.equal(timeOfUuid7(String(first?.event_id)), madeMs);
  const sources = client.events.map(({ metadata }) => metadata as Record<string, unknown>);
  assert.match(String(sources[0]?.source_id), /^checkout\/[0-9a-f-]{36}$/);
  assert.equal(sources[0]?.source_id, sources[1]?.source_id);
  assert.deepEqual(
    sources.map(({ source_sequence }) => source_sequence),
    [1, 2],
  );
  assert.equal(sources[1]?.decision_id, "dec_1");
});

test("members that the program sets are kept", () => {
  const client = createTestClient({ source: false });
  const given = {
    event_id: "evt_1",
    timestamp: "2026-11-20T10:00:00.123456Z",
    asset_id: "credit_model",
    event_type: "objection.received",
    legal_bases: ["pipa_37_2_kr"],
    risk_tier: "high",
    tags: { team: "credit", canary: false },
    trace_id: "t",
    metadata: { objection_type: "appeal", nested: { list: [1, null, "x"] } },
  } as const;
  client.capture({ ...given, legal_bases: [...given.legal_bases], tags: { ...given.tags } });
  assert.deepEqual(client.events, [given]);
  client.clear();
  client.capture(
    event({
      timestamp: new Date("2026-11-20T10:00:00Z"),
      metadata: { source_id: "mine", source_sequence: 7 },
    }),
  );
  assert.equal(client.events[0]?.timestamp, "2026-11-20T10:00:00.000Z");
  assert.deepEqual(client.events[0]?.metadata, { source_id: "mine", source_sequence: 7 });
  client.clear();
  const numbered = createTestClient();
  const theirs = [{ source_sequence: 7 }, { source_id: "mine" }];
  for (const metadata of theirs) numbered.capture(event({ metadata }));
  assert.deepEqual(
    numbered.events.map(({ metadata }) => metadata),
    theirs,
  );
});

test("shared members are in every event, and the event's own members override them", () => {
  const client = createTestClient({ source: false });
  const scorer = client
    .with({
      asset_id: "scorer",
      asset_version: "7",
      tags: { team: "credit" },
      metadata: { model: "scorer-7" },
    })
    .with({ risk_tier: "high", tags: { region: "kr" } });
  scorer.capture({ event_type: "ai_inference", tags: { team: "fraud" }, metadata: { tokens_in: 3 } });
  scorer.capture({ event_type: "ai_inference", asset_version: "8" });
  const [first, second] = client.events.map(({ event_id, timestamp, ...members }) => members);
  const shared = { event_type: "ai_inference", asset_id: "scorer", risk_tier: "high" };
  assert.deepEqual(first, {
    ...shared,
    asset_version: "7",
    tags: { team: "fraud", region: "kr" },
    metadata: { model: "scorer-7", tokens_in: 3 },
  });
  assert.deepEqual(second, {
    ...shared,
    asset_version: "8",
    tags: { team: "credit", region: "kr" },
    metadata: { model: "scorer-7" },
  });
});

test("identifiers are sent only as hashes", () => {
  const client = createTestClient({ source: false });
  client.capture(event({ hash: { subject: "user 42", context: new Uint8Array([1, 2]) } }));
  const sha = (value: string | Uint8Array) => `sha256:${createHash("sha256").update(value).digest("hex")}`;
  const [captured] = client.events;
  assert.deepEqual(
    [captured?.subject_hash, captured?.context_hash],
    [sha("user 42"), sha(new Uint8Array([1, 2]))],
  );
  assert.ok(!JSON.stringify(captured).includes("user 42") && captured && !("hash" in captured));
  assert.equal(sha256("user 42"), sha("user 42"));
});

test("shared identifiers are hashed too, if the event has none of its own", () => {
  const client = createTestClient({ source: false });
  const shared = client
    .with({ hash: { subject: "user 42", context: "room 7" } })
    .with({ hash: { outcome: "no" } });
  const subject_hash = `sha256:${"0".repeat(64)}`;
  shared.capture(event({ hash: { context: "room 8" } }));
  shared.capture(event({ subject_hash }));
  const [own, given] = client.events;
  const hashOf = (text: string): string => `sha256:${createHash("sha256").update(text).digest("hex")}`;
  assert.deepEqual(
    [own?.subject_hash, own?.context_hash, own?.outcome_hash, given?.subject_hash, given?.context_hash],
    [...["user 42", "room 8", "no"].map(hashOf), subject_hash, hashOf("room 7")],
  );
  for (const identifier of ["user 42", "room 7", "room 8"])
    assert.ok(!JSON.stringify(client.events).includes(identifier));
});

test("the result of a toJSON() is sent, however often it has one itself", () => {
  const client = createTestClient({ source: false, onProblem: () => {} });
  class Itself {
    readonly name = "x";
    toJSON(): this {
      return this;
    }
  }
  const when = { toJSON: () => new Date(0) };
  client.capture(loose({ ...event(), metadata: { when, date: new Date(0), itself: new Itself() } }));
  const text = "1970-01-01T00:00:00.000Z";
  assert.deepEqual(client.events[0]?.metadata, { when: text, date: text, itself: { name: "x" } });
});

test("with a key identifiers are hashed by HMAC-SHA-256", () => {
  const hashKey = "a key of sixteen bytes or more";
  const client = createTestClient({ source: false, hashKey });
  client.capture(event({ hash: { subject: "user 42" } }));
  const expected = `sha256:${createHmac("sha256", hashKey).update("user 42").digest("hex")}`;
  assert.deepEqual([client.events[0]?.subject_hash, keyedHash(hashKey)("user 42")], [expected, expected]);
  assert.throws(() => keyedHash("short"), /at least 16 bytes; this one has 5/);
});

test("bytes of another realm, such as those of TextEncoder in a test runner, can be hashed and can be a key", () => {
  const bytes: Uint8Array = runInNewContext("Uint8Array.from({ length: 16 }, (_, at) => at)");
  const [plain, keyed] = [{}, { hashKey: bytes }].map((options) =>
    createTestClient({ source: false, ...options }),
  );
  for (const client of [plain, keyed]) client?.capture(event({ hash: { subject: bytes } }));
  const here = Uint8Array.from(bytes);
  assert.deepEqual(
    [plain?.events[0]?.subject_hash, keyed?.events[0]?.subject_hash],
    [sha256(here), keyedHash(here)(here)],
  );
});

const circle: Record<string, unknown> = {};
circle.self = circle;
/** As an ORM makes them: the accessors are in the prototype. */
class Decision {
  readonly event_type = "ai_inference";
  get asset_id(): string {
    return "credit_model";
  }
}
const deep = Array.from({ length: 70 }).reduce<object>((inner) => ({ inner }), {});

for (const [what, handed, path] of [
  ["a symbol for a name of the event", loose({ ...event(), [Symbol("trace")]: "x" }), ""],
  ["NaN for a number of the event", loose({ ...event(), affected_count: Number.NaN }), "/affected_count"],
  ["undefined in a list", loose({ ...event(), legal_bases: [undefined] }), "/legal_bases/0"],
  ["an Error for tags", loose({ ...event(), tags: new Error("x") }), "/tags"],
  ["a Map for hash", loose({ ...event(), hash: new Map([["subject", "x"]]) }), "/hash"],
  ["a date that is none", event({ timestamp: new Date("nonsense") }), "/timestamp"],
  [
    "two hashes for one member",
    event({ hash: { subject: "x" }, subject_hash: sha256("y") }),
    "/hash/subject",
  ],
  ["a hash of something else", loose({ ...event(), hash: { subject: 42 } }), "/hash/subject"],
  ["a hash for a member that has none", loose({ ...event(), hash: { person: "x" } }), "/hash/person"],
  ["an event_id that is no text", loose({ ...event(), event_id: 7 }), "/event_id"],
  ["nothing", loose(undefined), ""],
  ["null", loose(null), ""],
  ["a text", loose("event"), ""],
  ["a list", loose([event()]), ""],
  ["a Map", loose(new Map(Object.entries(event()))), ""],
  ["a date", loose(new Date(0)), ""],
  ["an instance of a class, of which what is not its own would be left out", loose(new Decision()), ""],
] as const) {
  test(`${what} is refused with its path, and not sent as something else`, () => {
    const dropped: DroppedEvent[] = [];
    const client = createTestClient({ onDropped: (drop) => dropped.push(drop), onProblem: () => {} });
    const captured = client.capture(handed);
    assert.ok(captured.kind === "dropped" && captured.reason === "invalid" && captured.message !== "");
    assert.deepEqual([dropped.map((drop) => drop.path), client.events.length], [[path], 0]);
    assert.deepEqual(client.stats.dropped, { invalid: 1 });
  });
}

class Applicant {
  readonly name = "A";
  readonly #secret = "not sent";
  get length(): number {
    return this.#secret.length;
  }
}

const failure = Object.assign(new Error("no route", { cause: new TypeError("bad") }), { code: "E1" });
const list: unknown[] = [1];
list.push(list);
/** The forms that README.md documents, and where they are reported. */
for (const [what, value, form, path = "/metadata/value"] of [
  ["a BigInt is a text of its digits", 2n ** 80n, "1208925819614629174706176"],
  ["NaN is a text", Number.NaN, "NaN"],
  ["an infinite number is a text", [1, Number.NEGATIVE_INFINITY], [1, "-Infinity"], "/metadata/value/1"],
  [
    "an Error is its name, message, cause and own members",
    failure,
    { name: "Error", message: "no route", cause: { name: "TypeError", message: "bad" }, code: "E1" },
  ],
  [
    "an Error of another realm as well",
    runInNewContext("new RangeError('x')"),
    { name: "RangeError", message: "x" },
  ],
  [
    "a Map with texts for keys is an object",
    new Map([
      ["a", 1],
      ["__proto__", 2],
    ]),
    JSON.parse('{"a":1,"__proto__":2}'),
  ],
  [
    "a Map with other keys is a list of pairs",
    new Map<unknown, unknown>([
      [1, "x"],
      ["1", 2n],
    ]),
    [
      [1, "x"],
      ["1", "2"],
    ],
  ],
  ["a Set is a list", new Set(["x", "y"]), ["x", "y"]],
  ["a typed array is a list", new Float64Array([0.5, 2]), [0.5, 2]],
  ["a date that is none is a text", new Date("nonsense"), "Invalid Date"],
  ["what has a toJSON() that returns nothing is null", { toJSON: () => undefined }, null],
  ["an instance of a class is its own members", new Applicant(), { name: "A" }],
  ["an instance whose class has no name as well", Object.create(Object.create(null)), {}],
  ["undefined in a list is null", [1, undefined, 2], [1, null, 2], "/metadata/value/1"],
  ["a hole in a list is null", Array(1), [null], "/metadata/value/0"],
  ["a circle ends in a text", { list }, { list: [1, "[circular]"] }, "/metadata/value/list/1"],
  [
    "a function is a text",
    { "a/b": function score() {} },
    { "a/b": "[function score]" },
    "/metadata/value/a~1b",
  ],
  ["a symbol is a text", Symbol("x"), "Symbol(x)"],
  ["a member with a symbol for a name is left out", { age: 1, [Symbol("gt")]: 5 }, { age: 1 }],
] as const satisfies readonly (readonly [string, unknown, unknown, string?])[])
  test(`in metadata ${what}, which is reported, and the event is kept`, () => {
    const problems: Problem[] = [];
    const client = createTestClient({ source: false, onProblem: (problem) => problems.push(problem) });
    assert.equal(client.capture(loose({ ...event(), metadata: { value, after: 1 } })).kind, "kept");
    assert.deepEqual(client.events[0]?.metadata, { value: form, after: 1 });
    assert.deepEqual([problems.length, problems[0]?.kind, client.stats.dropped], [1, "converted", {}]);
    assert.ok(problems[0]?.message.includes(`: ${path}: `), JSON.stringify(problems));
  });

test("metadata that is nested too deep is cut there", () => {
  const client = createTestClient({ source: false, onProblem: () => {} });
  client.capture(loose({ ...event(), metadata: { deep } }));
  assert.match(
    JSON.stringify(client.events[0]?.metadata),
    /^(\{"(deep|inner)":){62,64}"\[nested too deep\]"\}+$/,
  );
});

test("the report of several converted values says how many there are, also for send()", async () => {
  const problems: Problem[] = [];
  const client = createTestClient({ onProblem: (problem) => problems.push(problem) });
  await client.send(loose({ ...event(), event_id: "evt_1", metadata: { a: [1n, 2n], b: Number.NaN } }));
  assert.deepEqual(
    problems.map(({ message }) => message),
    [
      "Event evt_1 was changed to fit JSON: /metadata/a/0: JSON has no BigInt: send it as a string. 2 more of its values as well.",
    ],
  );
});

/** Like a database document: its data is not in own members, and its own members are not data. */
class Document {
  readonly $internal = true;
  readonly #held: object;
  constructor(held: object) {
    this.#held = held;
  }
  toJSON(): object {
    return this.#held;
  }
}

for (const [what, captured] of [
  ["metadata", (client, value) => client.capture(loose({ ...event(), metadata: value }))],
  [
    "shared metadata",
    (client, value) =>
      client.with(loose({ metadata: value })).capture(event({ metadata: { model_id: "m" } })),
  ],
  [
    "metadata of a described call",
    (client, value) => {
      const describe = () => loose({ ...event(), metadata: value });
      withAudit(client, () => 1, { asset_id: "a", describe })();
    },
  ],
] as const satisfies readonly (readonly [string, (client: TestClient, value: unknown) => unknown])[]) {
  test(`${what} without own members is sent as its toJSON() returns, and what is no object is made one`, () => {
    const paths: (string | undefined)[] = [];
    const onProblem = ({ message }: Problem) => void paths.push(/\/metadata(?=:)/.exec(message)?.[0]);
    const client = createTestClient({ onProblem });
    captured(client, new Document({ decision_id: "dec_1" }));
    assert.deepEqual(
      Object.entries(client.events[0]?.metadata ?? {}).filter(([name]) => /decision|internal/.test(name)),
      [["decision_id", "dec_1"]],
    );
    for (const [value, members] of [
      [new Map([["decision_id", "dec_1"]]), { decision_id: "dec_1" }],
      [new Set([1]), { value: [1] }],
      [new Error("x"), { name: "Error", message: "x" }],
      [new Uint8Array(2), { value: [0, 0] }],
      ["text", { value: "text" }],
      [7n, { value: "7" }],
    ] as const) {
      client.clear();
      captured(client, value);
      const sent = new Map(Object.entries(client.events[0]?.metadata ?? {}));
      for (const [name, member] of Object.entries(members)) assert.deepEqual(sent.get(name), member);
    }
  });
}

test("an event without own members is the result of its toJSON(), also in the description of a call", () => {
  const client = createTestClient({ source: false });
  const document = new Document(event({ correlation_id: "case_1" }));
  client.capture(loose(document));
  withAudit(client, () => 1, { asset_id: "a", describe: () => loose(document) })();
  assert.deepEqual(
    client.events.map(({ asset_id, correlation_id }) => [asset_id, correlation_id]),
    Array(2).fill(["credit_model", "case_1"]),
  );
});

test("an event that is too large, or too deep or circular outside of its metadata, is dropped with the reason", () => {
  const client = createTestClient({ onProblem: () => {} });
  const members = [{ metadata: { text: "가".repeat(90_000) } }, { tags: deep }, { tags: circle }];
  const reasons = members.map((member) => {
    const captured = client.capture(loose({ ...event(), ...member }));
    return captured.kind === "dropped" ? captured.reason : captured.kind;
  });
  assert.deepEqual(reasons, ["too_large", "invalid", "invalid"]);
});

test("an event that exceeds the size limit is dropped before it is serialized, even if many references lead to the same parts", () => {
  const client = createTestClient({ onProblem: () => {} });
  // Each object is in the next one twice: as JSON it would have 2^60 parts.
  const shared = Array.from({ length: 60 }).reduce<object>((inner) => ({ left: inner, right: inner }), {});
  // If it were serialized, no string would be long enough.
  const texts = Array(2000).fill("x".repeat(1_000_000));
  for (const value of [shared, texts, Array(1_000_000).fill(1)]) {
    const captured = client.capture(loose({ ...event(), metadata: { value } }));
    assert.ok(captured.kind === "dropped" && captured.reason === "too_large", JSON.stringify(captured));
  }
  const whole = {
    ...event({ event_id: "evt_1", timestamp: "t" }),
    metadata: { text: "", n: [0, null, {}, true] },
  };
  const room = EVENT_BYTES_MAX - JSON.stringify(whole).length;
  for (const [characters, kind] of [
    [room, "kept"],
    [room + 1, "dropped"],
  ] as const) {
    const metadata = { ...whole.metadata, text: "x".repeat(characters) };
    const { with: shared } = createTestClient({ source: false, onProblem: () => {} });
    assert.equal(shared({}).capture(loose({ ...whole, metadata })).kind, kind);
  }
});

test("a callback that captures another invalid event is called once, and both events are counted", () => {
  const dropped: DroppedEvent[] = [];
  const client = createTestClient({
    onDropped: (drop) => {
      dropped.push(drop);
      client.capture(loose(undefined));
    },
    onProblem: () => {},
  });
  for (let times = 1; times <= 2; times++) {
    client.capture(loose(undefined));
    assert.deepEqual([dropped.length, client.stats.dropped], [times, { invalid: 2 * times }]);
  }
});

test("a dropped event uses up a number, so that the gap is visible at the source", () => {
  const client = createTestClient({ onProblem: () => {} });
  client.capture(event());
  client.capture(loose({ ...event(), tags: circle }));
  client.capture(event());
  assert.deepEqual(
    client.events.map(({ metadata }) => (metadata as { source_sequence: number }).source_sequence),
    [1, 3],
  );
});

test("capture never throws, keeps any metadata, and what JSON would keep as it is", () => {
  fc.assert(
    fc.property(
      fc.anything({
        withBigInt: true,
        withDate: true,
        withMap: true,
        withNullPrototype: true,
        withTypedArray: true,
        withSparseArray: true,
      }),
      (value) => {
        const problems: Problem[] = [];
        const client = createTestClient({ source: false, onProblem: (problem) => problems.push(problem) });
        const captured = client.capture(
          loose({ ...event(), event_id: "evt_1", timestamp: "t", metadata: { value } }),
        );
        assert.equal(captured.kind, "kept");
        if (problems.length > 0) return;
        assert.deepEqual(client.events[0]?.metadata, JSON.parse(JSON.stringify({ value })));
      },
    ),
    { numRuns: 200 },
  );
  const client = createTestClient({ onProblem: () => {} });
  const hostile = new Proxy(
    {},
    { get: () => assert.fail("of the program"), ownKeys: () => assert.fail("of the program") },
  );
  assert.equal(client.capture(loose(hostile)).kind, "dropped");
  assert.equal(
    client.capture(loose({ ...event(), metadata: { toJSON: () => assert.fail("of the program") } })).kind,
    "dropped",
  );
  const unreadable = () => {
    throw Object.create(null);
  };
  assert.equal(client.capture(loose({ ...event(), metadata: { toJSON: unreadable } })).kind, "dropped");
});

test("UUIDs follow RFC 9562", () => {
  // Appendix A.4: the DNS namespace and "www.example.com".
  assert.equal(
    uuid5("6ba7b810-9dad-11d1-80b4-00c04fd430c8", "www.example.com"),
    "2ed6657d-e927-568b-95e1-2665a8aea6a2",
  );
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 2 ** 48 - 1 }), (ms) => {
      const id = uuid7(ms);
      assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
      assert.equal(timeOfUuid7(id), ms);
    }),
  );
  assert.equal(new Set(Array.from({ length: 5000 }, () => uuid7(1))).size, 5000);
});

for (const [options, complaint] of [
  [{ url: "audit.example.com" }, /url is "audit.example.com"/],
  [{ url: "ftp://audit.example.com" }, /url is "ftp:/],
  [{ url: "https://user:secret@audit.example.com" }, /url holds a password/],
  [{ apiKey: "" }, /apiKey/],
  [{ apiKey: "two words" }, /apiKey/],
  [{ batch: { events: 1001 } }, /batch.events is 1001: give a whole number from 1 to 1000/],
  [{ batch: { intervalMs: 0 } }, /batch.intervalMs is 0/],
  [{ outbox: { directory: "" } }, /outbox.directory/],
  [{ outbox: { directory: "/dev/null/x" } }, /ENOTDIR|EEXIST|Not a directory/i],
  [{ outbox: { memory: true, bytesMax: 1 } }, /outbox.bytesMax is 1/],
  [
    { outbox: { memory: false, directory: "./never" } },
    /outbox.memory is not an option: the options are directory, sync, bytesMax/,
  ],
  [
    { outbox: { memory: true, directory: "./never" } },
    /outbox.directory is not an option: the options are memory, bytesMax/,
  ],
  [{ outbox: { memory: true, bytes: 1_000_000 } }, /outbox.bytes is not an option: the options are memory,/],
  [{ batch: null }, /batch is not an object: give \{ events, bytes, intervalMs \}/],
  [{ batch: { size: 1 } }, /batch.size is not an option: the options are events, bytes, intervalMs/],
  [{ requestTimeout: 5 }, /requestTimeout is not an option: the options are .*requestTimeoutMs/],
  [{ onDropped: "x" }, /onDropped is not a function/],
  [{ heartbeat: false }, /heartbeat is not an object/],
  [{ heartbeat: { asset_id: "a", interval: 5 } }, /heartbeat.interval is not an option/],
  [{ source: "" }, /source is empty/],
  [{ hashKey: "short" }, /hashKey.* at least 16 bytes/],
  [{ hashKey: 7 }, /hashKey is neither/],
  [{ heartbeat: { asset_id: "a", intervalMs: Number.NaN } }, /heartbeat.intervalMs is NaN/],
] as const) {
  test(`a client with ${JSON.stringify(options)} is not made, and the error names the wrong option`, () => {
    assert.throws(
      () =>
        Reflect.apply(createClient, undefined, [
          { url: NOWHERE, apiKey: "ptk_1", outbox: { memory: true }, ...options },
        ]),
      (error: Error) => complaint.test(error.message) && !error.message.includes("secret"),
    );
  });
}

test("the clients for the sandbox and for tests check their options too", () => {
  for (const create of [createSandboxClient, createTestClient]) {
    assert.throws(
      () => Reflect.apply(create, undefined, [{ url: NOWHERE, soruce: "a" }]),
      /soruce is not an option/,
    );
    assert.throws(
      () => Reflect.apply(create, undefined, [{ url: NOWHERE, onProblem: 1 }]),
      /onProblem is not/,
    );
  }
  assert.throws(
    () => Reflect.apply(createSandboxClient, undefined, [{ url: NOWHERE, outbox: { directory: "./never" } }]),
    /outbox.directory is not an option/,
  );
});

test("an option that is undefined counts as absent, also one of the other kind of outbox", async () => {
  const outbox = { memory: true, directory: undefined, sync: undefined } as const;
  await createClient({ url: NOWHERE, apiKey: "ptk_1", outbox }).close({ timeoutMs: 1 });
});

test("an address may end in /v1 or a slash", async () => {
  for (const url of [`${NOWHERE}/`, `${NOWHERE}/v1`, `${NOWHERE}/v1/`])
    await createSandboxClient({ url }).close({ timeoutMs: 1 });
});

test("many clients in one program cause no warning of a listener leak in Node, and a closed client leaves no listener", async () => {
  const counts = () => ["beforeExit", "exit"].map((name) => process.listenerCount(name));
  const before = counts();
  const clients = Array.from({ length: 12 }, () =>
    createClient({ url: NOWHERE, apiKey: "k", outbox: { memory: true } }),
  );
  // One of each kind for all clients: none is added if another test left a client open.
  for (const [at, count] of counts().entries()) assert.ok(count - (before[at] ?? 0) <= 1, `${count}`);
  for (const client of clients) await client.close();
  assert.deepEqual(counts(), before);
});

test("many events sent and awaited at once cause no warning of a listener leak in Node", async () => {
  const warnings: string[] = [];
  const note = ({ name }: Error) => void warnings.push(name);
  process.on("warning", note);
  const client = createClient({ url: NOWHERE, apiKey: "k", outbox: { memory: true } });
  const sent = Array.from({ length: 20 }, () => client.send(event(), { timeoutMs: 1 }));
  for (const { kind } of await Promise.all(sent)) assert.equal(kind, "unknown");
  await client.close();
  process.off("warning", note);
  assert.deepEqual(warnings, []);
});

test("a client can be made even if a test environment has replaced the runtime's AbortController", async () => {
  const { AbortController: original } = globalThis;
  const signal = { aborted: false, addEventListener: () => {}, removeEventListener: () => {} };
  Object.assign(globalThis, {
    AbortController: class {
      readonly signal = signal;
      abort(): void {}
    },
  });
  try {
    const client = createClient({ url: NOWHERE, apiKey: "k", outbox: { memory: true } });
    assert.equal((await client.close()).kind, "flushed");
  } finally {
    globalThis.AbortController = original;
  }
});
