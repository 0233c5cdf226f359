import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { TypeCompiler } from "@sinclair/typebox/compiler";
import { nanos } from "nats";
import { answerSchema } from "../../src/api/http/openapi.ts";
import { dossierSchema } from "../../src/api/routes/cases.ts";
import { proofSchema } from "../../src/api/routes/proof.ts";
import { SANDBOX_PONG, sandboxAccepted, sandboxAsset, sandboxEvent } from "../../src/api/routes/sandbox.ts";
import goldenCases from "../../src/law/classification/classification-cases.json" with { type: "json" };
import { Classification } from "../../src/law/classification/request.ts";
import { verifyProof } from "../../src/proof/evidence/verify-proof.ts";
import { leafHash, verifyInclusion } from "../../src/proof/rfc6962.ts";
import { SANDBOX_PROOF } from "../../src/proof/sealed-head.ts";
import { createSigningKey, formatVerifierKey } from "../../src/proof/signed-note.ts";
import { checkpointIn } from "../../src/proof/tlog-checkpoint.ts";
import { formatTlogProof } from "../../src/proof/tlog-proof.ts";
import { settingsFor, startTestBroker, type TestBroker } from "../support/broker.ts";
import { runCli } from "../support/cli.ts";
import { connectAs } from "../support/log.ts";
import { brokerPid, dataFolder, standStill } from "../support/process.ts";
import {
  type Answer,
  type CallOptions,
  event,
  startTestService,
  type TestService,
} from "../support/service.ts";
import { until } from "../support/until.ts";

let broker: TestBroker;
let front: TestService;
let other: TestService;
beforeAll(async () => {
  broker = await startTestBroker();
  const start = () =>
    startTestService({
      ...settingsFor(broker),
      TRUST_PROXY: "1",
    });
  front = await start();
  other = await start();
});
afterAll(async () => {
  await other[Symbol.asyncDispose]();
  await front[Symbol.asyncDispose]();
  await broker[Symbol.asyncDispose]();
});

const WATERMARK = "SANDBOX — NOT FOR PRODUCTION";
let clients = 0;
/** A client that has sent no request yet. */
const newClient = (): string => `203.0.113.${++clients}`;

const ask = (
  service: TestService,
  path: string,
  { from = newClient(), ...options }: CallOptions & { from?: string } = {},
): Promise<Answer> =>
  service.call(`/v1/sandbox${path}`, {
    key: null,
    ...options,
    headers: { ...options.headers, "x-forwarded-for": from },
  });

const expectWatermark = (answer: Answer): void => {
  expect(answer.headers.get("x-sandbox-watermark")).toContain("NOT FOR PRODUCTION");
  if (answer.text !== "") expect(answer.json._sandbox_watermark).toBe(WATERMARK);
};

const PROFILE = {
  ai_type: "llm",
  domain: "finance_credit_evaluation",
  decision_autonomy: "full_auto",
  user_impact: "high",
  processes_personal_data: true,
};

describe("every answer under /v1/sandbox carries the watermark", () => {
  const json = { "content-type": "application/json" };
  test.each([
    [200, "/ping", {}],
    [200, "/classify", { body: PROFILE }],
    [202, "/events", { body: event({ event_id: "evt_marked" }), from: "203.0.113.250" }],
    [200, "/events", {}],
    [200, "/assets", {}],
    [400, "/classify", { body: { ai_type: 7 } }],
    [400, "/events", { body: "{" }],
    [400, "/events?limit=0", {}],
    [400, "/events?limt=5", {}],
    [400, "/classify?jurisdictions=kr", { body: PROFILE }],
    [400, "/events?resent=true", { body: event() }],
    [400, "/events", { body: event(), headers: { "idempotency-key": "a b" } }],
    [404, "/nothing", {}],
    [404, "/decisions/nobody", {}],
    [404, "/events/evt_nobody/proof", {}],
    [400, "/events/evt_marked/proof?sequence=0", {}],
    [400, "/decisions/dec_1?min_sequence=1", {}],
    [404, "", {}],
    [405, "/classify", { method: "DELETE" }],
    [204, "/ping", { method: "OPTIONS" }],
    [200, "/ping", { method: "HEAD" }],
    [409, "/events", { body: event({ event_id: "evt_marked", asset_id: "other" }), from: "203.0.113.250" }],
    [413, "/events", { body: "x".repeat(2_000_000) }],
    [415, "/events", { body: "{}", headers: { "content-type": "text/plain" } }],
    [415, "/classify", { body: "{}", headers: { ...json, "content-encoding": "br" } }],
  ] as const)("%d %s", async (status, path, options) => {
    const answer = await ask(front, path, options);
    expect(answer.status).toBe(status);
    expectWatermark(answer);
  });

  test("answers elsewhere do not carry it", async () => {
    for (const path of ["/v1/events", "/health/live", "/v1/sandboxes"]) {
      const answer = await front.call(path);
      expect(answer.headers.get("x-sandbox-watermark")).toBeNull();
      expect(answer.text).not.toContain(WATERMARK);
    }
  });
});

test("answers match the document", async () => {
  const answers = [
    [answerSchema({ gives: SANDBOX_PONG }, true), await ask(front, "/ping")],
    [answerSchema({ gives: Classification }, true), await ask(front, "/classify", { body: PROFILE })],
    [
      answerSchema({ gives: sandboxAccepted }, true),
      await ask(front, "/events", { body: event({ event_id: "evt_shape" }) }),
    ],
    [answerSchema({ gives: sandboxEvent, isList: true }, true), await ask(front, "/events")],
    [answerSchema({ gives: sandboxAsset, isList: true }, true), await ask(front, "/assets")],
  ] as const;
  for (const [schema, answer] of answers)
    expect([answer.text, TypeCompiler.Compile(schema).Check(answer.json)]).toEqual([answer.text, true]);
});

describe("a test event leads to", () => {
  const decisionId = "dec-told";
  const tell = async (event_id: string, event_type: string, metadata: object): Promise<number> => {
    const body = event({
      ...{
        event_id,
        event_type,
        asset_id: "sandbox_credit_chatbot",
        subject_hash: `sha256:${"c".repeat(64)}`,
      },
      timestamp: new Date().toISOString(),
      legal_bases: ["pipa_37_2_kr", "gdpr_art_22"],
      metadata: { decision_id: decisionId, ...metadata },
    });
    return (await ask(front, "/events", { body })).json.data.sequence;
  };
  let sequence = 0;
  beforeAll(async () => {
    sequence = await tell("evt_told_decision", "decision.automated_decision_made", { outcome: "denied" });
    await tell("evt_told_objection", "objection.received", { reason: "no" });
  });

  test("the dossier of its decision, with what falls due, by which rule and article", async () => {
    const answer = await ask(other, `/decisions/${decisionId}`);
    expectWatermark(answer);
    expect(TypeCompiler.Compile(answerSchema({ gives: dossierSchema }, true)).Check(answer.json)).toBe(true);
    const { data } = answer.json;
    expect(data).toMatchObject({
      decision_id: decisionId,
      outcome: "denied",
      asset_id: "sandbox_credit_chatbot",
    });
    expect(data.timeline.map(({ event }: { event: { event_id: string } }) => event.event_id)).toEqual([
      "evt_told_decision",
      "evt_told_objection",
    ]);
    const due = data.obligations.find(({ rule }: { rule: string }) => rule === "GDPR-12-3");
    expect(due).toMatchObject({ clause: "GDPR art. 12(3)", started_by: "evt_told_objection" });
    expect(Date.parse(due.due_at)).toBeGreaterThan(Date.now());
  });

  test("a proof that says it is of the sandbox, of which every verifier says that it is invalid", async () => {
    const answer = await ask(front, `/events/evt_told_decision/proof?sequence=${sequence}`);
    expectWatermark(answer);
    expect(TypeCompiler.Compile(answerSchema({ gives: proofSchema }, true)).Check(answer.json)).toBe(true);
    const { leaf, leaf_hash, leaf_index, inclusion_proof, checkpoint } = answer.json.data;
    // It is a proof by its arithmetic, so that nothing but its origin makes it invalid.
    const head = checkpointIn(checkpoint);
    if (head === undefined) throw new Error("it has a tree head");
    const bytes = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, "base64"));
    expect(
      verifyInclusion({
        leaf: leafHash(bytes(leaf)),
        index: leaf_index,
        size: head.size,
        proof: inclusion_proof.map(bytes),
        root: head.root,
      }),
    ).toBe(true);
    expect(head.extensions).toEqual([WATERMARK]);
    const file = formatTlogProof({
      extra: bytes(leaf),
      index: leaf_index,
      hashes: inclusion_proof.map(bytes),
      checkpoint,
    });
    for (const proof of [answer.text, file])
      expect(verifyProof({ proof })).toEqual({
        kind: "invalid",
        finding: { code: "sandbox_proof", detail: SANDBOX_PROOF, leafIndex: leaf_index },
      });
    expect(leaf_hash).toBe(Buffer.from(leafHash(bytes(leaf))).toString("base64"));
    await using folder = await dataFolder();
    const path = join(folder.path, "proof.json");
    await writeFile(path, answer.text);
    const said = await runCli(["verify", path]);
    expect([said.code, said.out]).toEqual([1, expect.stringContaining("this is a sandbox proof")]);
  });

  test("and a proof under the name of a real log has no signature of that log", async () => {
    const { json } = await ask(front, "/events/evt_told_decision/proof");
    const checkpoint = json.data.checkpoint.replaceAll("SANDBOX-NOT-FOR-PRODUCTION", "prooftrail");
    const key = formatVerifierKey(createSigningKey(new Uint8Array(32)).signerNamed("prooftrail/sandbox"));
    const proof = JSON.stringify({ data: { ...json.data, checkpoint } });
    expect(verifyProof({ proof, keys: key })).toMatchObject({ finding: { code: "unknown_key" } });
  });
});

test("the five assets are golden cases of the classification, with the tiers in their descriptions", async () => {
  const { json } = await ask(front, "/assets");
  for (const [index, id] of ["G01", "G07", "G19", "G33", "G35"].entries()) {
    const golden = goldenCases.cases.find((one) => one.id === id);
    const asset = json.data[index];
    expect(asset.profile).toEqual(golden?.input);
    expect([...asset.legal_bases].sort()).toEqual([...(golden?.expected.legal_bases ?? [])]);
  }
  expect(
    json.data.map((asset: { asset_id: string; risk_tier: string }) => [asset.asset_id, asset.risk_tier]),
  ).toEqual([
    ["sandbox_credit_chatbot", "high"],
    ["sandbox_hiring_scorer", "high"],
    ["sandbox_medtriage", "high"],
    ["sandbox_content_gen", "limited"],
    ["sandbox_general_chatbot", "low"],
  ]);
});

describe("a test event", () => {
  test("is in the very next list of any front end, newest first, as it was sent", async () => {
    for (let round = 0; round < 10; round++) {
      const text = `{ "n":12345678901234567890, ${JSON.stringify(event({ event_id: `evt_list_${round}` })).slice(1)}`;
      const sent = await ask(front, "/events", { body: text });
      expect(sent.status).toBe(202);
      const lifetime = Date.parse(sent.json.data.expires_at) - Date.parse(sent.json.data.received_at);
      expect(lifetime).toBe(3_600_000);
      const list = await ask(other, "/events?limit=1");
      expect(list.text).toContain(`"event":${text}}`);
      expect(list.json.data).toHaveLength(1);
    }
  });

  test("is stored once if it is sent again, and is not an event of the real log", async () => {
    const body = event({ event_id: "evt_sandbox_twice" });
    const from = newClient();
    const first = await ask(front, "/events", { body, from });
    const again = await ask(other, "/events", { body, from });
    expect(again.json.data).toEqual({ ...first.json.data, duplicate: true });
    expect((await front.call("/v1/events/evt_sandbox_twice")).status).toBe(404);
    const real = await front.call("/v1/events", { body });
    expect(real.json.data.duplicate).toBe(false);
  });

  test("does not reserve its event_id: everybody can send the example", async () => {
    const body = event({ event_id: "evt_sample_001" });
    const [one, another] = [newClient(), newClient()];
    expect((await ask(front, "/events", { body, from: one })).status).toBe(202);
    const changed = { ...body, asset_id: "changed" };
    const theirs = await ask(other, "/events", { body: changed, from: another });
    expect([theirs.status, theirs.json.data.duplicate]).toEqual([202, false]);
    const own = await ask(other, "/events", { body: changed, from: one });
    expect([own.status, own.json.code]).toEqual([409, "event_id_conflict"]);
  });

  test("is known by its event_id alone, whatever Idempotency-Key is sent, and the document says so", async () => {
    const from = newClient();
    const headers = { "idempotency-key": "one" };
    for (const event_id of ["evt_keyed_1", "evt_keyed_2"]) {
      const { status, json } = await ask(front, "/events", { body: event({ event_id }), headers, from });
      expect([status, json.data.duplicate]).toEqual([202, false]);
    }
    const { json } = await front.call("/docs/json");
    const { parameters } = json.paths["/v1/sandbox/events"].post;
    expect(parameters).toContainEqual(
      expect.objectContaining({
        name: "Idempotency-Key",
        description: expect.stringContaining("has no effect here"),
      }),
    );
  });

  test("is refused with the same errors as a real event if it is not valid", async () => {
    const body = { ...event(), risk_tier: "extreme", event_id: "x" };
    const [sandbox, real] = [await ask(front, "/events", { body }), await front.call("/v1/events", { body })];
    expect(sandbox.status).toBe(400);
    expect(sandbox.json.errors).toEqual(real.json.errors);
  });
});

describe("the limit", () => {
  const mix = (index: number): [string, CallOptions] => {
    const kinds: [string, CallOptions][] = [
      ["/ping", {}],
      ["/classify", { body: PROFILE }],
      ["/events", {}],
      ["/assets", {}],
      ["/events", { body: event({ event_id: `evt_limit_${index}` }) }],
      ["/classify", { body: {} }],
    ];
    return kinds[index % kinds.length] ?? ["/ping", {}];
  };

  test("applies to one client over two front ends: of 130 requests of any kind at once exactly 100 pass, and others are not affected", async () => {
    const from = newClient();
    const startedAt = performance.now();
    const answers = await Promise.all(
      Array.from({ length: 130 }, (_, index) => {
        const [path, options] = mix(index);
        return ask(index % 2 === 0 ? front : other, path, { ...options, from });
      }),
    );
    const limited = answers.filter(({ status }) => status === 429);
    expect(answers.filter(({ status }) => status === 503)).toEqual([]);
    // One more passes with each 600 ms that they take.
    const further = Math.ceil((performance.now() - startedAt) / 600);
    expect(limited.length).toBeWithin(30 - further, 31);
    for (const answer of limited) {
      expectWatermark(answer);
      expect(answer.json.code).toBe("rate_limited");
      expect(Number(answer.headers.get("retry-after"))).toBeWithin(1, 121);
      expect(answer.headers.get("ratelimit-policy")).toBe('"sandbox";q=100;w=60');
    }
    expect((await ask(front, "/ping")).status).toBe(200);
    // What a client writes into the header itself stands to the left of what the proxy saw.
    expect((await ask(front, "/ping", { from: `198.51.100.7, ${from}` })).status).toBe(429);
  });

  test("counts an IPv6 network as one client", async () => {
    const statuses = await Promise.all(
      Array.from({ length: 101 }, (_, index) =>
        ask(front, "/ping", { from: `2001:db8:1:2:${index.toString(16)}::1` }),
      ),
    );
    expect(statuses.filter(({ status }) => status === 429)).toHaveLength(1);
    expect((await ask(front, "/ping", { from: "2001:db8:1:3::1" })).status).toBe(200);
  });
});

test("sandbox events are not counted with the events of the log", async () => {
  const sent = await ask(front, "/events", {
    body: event({ event_id: "evt_misspelt", timestamp: new Date().toISOString(), risk_teir: "high" }),
  });
  expect(sent.json.data.warnings).toMatchObject([{ path: "/risk_teir" }]);
  const metrics = await front.call("/metrics");
  expect(metrics.text).toContain("\nprooftrail_unknown_fields_total 0\n");
});

test("a list of large events ends early, and begins with the newest", async () => {
  const text = "x".repeat(250_000);
  const send = (event_id: string) =>
    ask(front, "/events", { body: event({ event_id, metadata: { text } }), from: "198.51.100.1" });
  for (let index = 0; index < 17; index++) await send(`evt_long_${index}`);
  const list = await ask(front, "/events?limit=200");
  expectWatermark(list);
  // In pieces, so that the test knows when the reader has it.
  expect(list.headers.get("content-length")).toBeNull();
  expect(list.json.data.map((row: { event: { event_id: string } }) => row.event.event_id)).toEqual(
    Array.from({ length: 16 }, (_, index) => `evt_long_${16 - index}`),
  );
  // More than one client may run at once: each counts only while it runs.
  const from = newClient();
  for (let index = 0; index < 5; index++) {
    const head = await ask(front, "/events?limit=200", { method: "HEAD", from });
    expect([head.status, head.text]).toEqual([200, ""]);
    expectWatermark(head);
  }
});

test("an event that was removed to make room can be sent again at once, and is known again", async () => {
  const provisioner = await connectAs(broker, "provisioner");
  const { streams } = await provisioner.jetstreamManager({ checkAPI: false });
  const { config } = await streams.info("SANDBOX");
  // The stream's setting is 256 MiB.
  await streams.update("SANDBOX", { max_bytes: 500_000 });
  const from = newClient();
  const send = (event_id: string, text = "") =>
    ask(front, "/events", { body: event({ event_id, metadata: { text } }), from });
  for (let round = 0; round < 2; round++) {
    const sent = await send("evt_mine");
    expect([sent.status, sent.json.data.duplicate]).toEqual([202, false]);
    const again = await send("evt_mine");
    expect([again.status, again.json.data]).toEqual([202, { ...sent.json.data, duplicate: true }]);
    for (let index = 0; index < 3; index++) await send(`evt_large_${round}_${index}`, "x".repeat(200_000));
  }
  await streams.update("SANDBOX", { max_bytes: config.max_bytes });
  await provisioner.close();
});

test("events expire by themselves", async () => {
  const provisioner = await connectAs(broker, "provisioner");
  const { streams } = await provisioner.jetstreamManager({ checkAPI: false });
  await ask(front, "/events", { body: event({ event_id: "evt_short" }) });
  expect((await ask(front, "/events")).text).toContain("evt_short");
  // The stream's setting is an hour; here it is shorter.
  await streams.update("SANDBOX", { max_age: nanos(500), duplicate_window: nanos(500) });
  await until("the list is empty", async () => (await ask(front, "/events")).json.data.length === 0);
  await provisioner.close();
});

test("without the broker what stores or reads answers 503 with the watermark, the rest goes on, and it recovers", async () => {
  await using service = await startTestService({ TRUST_PROXY: "1" });
  const pid = brokerPid(service.dataDir);
  await ask(service, "/events", { body: event({ event_id: "evt_before" }) });
  await standStill(pid);
  const requests: [string, CallOptions][] = [
    ["/ping", {}],
    ["/classify", { body: PROFILE }],
    ["/events", { body: event({ event_id: "evt_meanwhile" }) }],
    ["/events", {}],
    ["/assets", {}],
  ];
  const answers = requests.map(async ([path, options]) => ({
    path,
    answer: await ask(service, path, options),
  }));
  for (const { path, answer } of await Promise.all(answers)) {
    expectWatermark(answer);
    const { status } = answer;
    expect([path, status]).toEqual([path, path === "/events" ? 503 : 200]);
    if (status === 503)
      expect([answer.json.code, answer.headers.get("retry-after")]).toEqual(["log_unavailable", "1"]);
  }
  // Other clients go on sending while it is killed and comes back.
  let isOver = false;
  const statuses = new Set<number>();
  const others = Array.from({ length: 8 }, async (_, sender) => {
    for (let index = 0; !isOver; index++) {
      const [path, options] = requests[(sender + index) % requests.length] ?? ["/ping", {}];
      // So many that none reaches its limit, however fast the machine is.
      const from = `10.${sender}.${Math.floor(index / 250) % 250}.${index % 250}`;
      const answer = await ask(service, path, { ...options, from });
      expectWatermark(answer);
      statuses.add(answer.status);
    }
  });
  process.kill(pid, "SIGKILL");
  await until("an event is accepted again", async () => {
    const answer = await ask(service, "/events", { body: event({ event_id: "evt_after" }) });
    expectWatermark(answer);
    return answer.status === 202;
  });
  await until("the others are answered as well", () => statuses.has(200) && statuses.has(202));
  isOver = true;
  await Promise.all(others);
  expect([...statuses].filter((status) => ![200, 202, 503].includes(status))).toEqual([]);
  // The stream is in memory: what it held before the broker ended is gone.
  const list = await ask(service, "/events?limit=200");
  expect(list.text).toContain("evt_after");
  expect(list.text).not.toContain("evt_before");
});
