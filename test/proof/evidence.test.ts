/** Evidence bundles as a client receives them, and the verifier's verdicts. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { text } from "node:stream/consumers";
import type { EvidenceFilter } from "../../src/api/evidence/found.ts";
import { selectRecords } from "../../src/api/evidence/selection.ts";
import { isRefusal } from "../../src/api/http/answers.ts";
import { DEADLINES_VERSION } from "../../src/law/obligations/deadline-table.ts";
import { STANDARD_RULES } from "../../src/law/obligations/overrides.ts";
import { EVIDENCE_SUMMARY_ROWS_MAX } from "../../src/limits.ts";
import { LISTED_FILES } from "../../src/proof/evidence/manifest.ts";
import type { Verdict } from "../../src/proof/evidence/verdict.ts";
import { createSqliteViews } from "../../src/views/store/sqlite.ts";
import {
  linesIn,
  manifestOf,
  pack,
  textOf,
  unpack,
  verify,
  withManifest,
} from "../support/evidence-bundle.ts";
import { diskFolder } from "../support/memory-folder.ts";
import { RUNTIMES } from "../support/process.ts";
import { type Answer, event, fact, MADE, startTestService, type TestService } from "../support/service.ts";
import { writeZip } from "../support/zip.ts";

let service: TestService;
let acme = "";
let folder = "";

const HASH = `sha256:${"a".repeat(64)}`;
const CASE = { correlation_id: "case-17", legal_bases: ["pipa_37_2_kr"], subject_hash: HASH };
const HISTORY = [
  fact(
    "evt_made",
    "asset.created",
    { name: "Credit", owner: "Credit <b>risk</b> team" },
    { timestamp: "2026-01-01T00:00:00Z" },
  ),
  fact(
    "evt_decided",
    MADE,
    { decision_id: "dec_1", outcome: "denied" },
    { timestamp: "2026-02-01T00:00:00Z", ...CASE },
  ),
  fact(
    "evt_objected",
    "objection.received",
    { decision_id: "dec_1", objection_id: "obj_1", objection_type: "explanation_request" },
    { timestamp: "2026-02-02T00:00:00Z", ...CASE },
  ),
  fact(
    "evt_review",
    "decision.human_review_triggered",
    { decision_id: "dec_1" },
    { timestamp: "2026-02-03T00:00:00Z" },
  ),
  event({ event_id: "evt_other", asset_id: "=chat <script>", timestamp: "2026-03-01T00:00:00Z" }),
];

const send = async (key: string, events: readonly object[]): Promise<void> => {
  const answer = await service.call("/v1/events/batch", { key, body: { events } });
  if (answer.json.data.accepted !== events.length) throw new Error(answer.text);
};

beforeAll(async () => {
  service = await startTestService({ CHECKPOINT_INTERVAL: "50ms" });
  folder = await mkdtemp(join(diskFolder(), "prooftrail-evidence-"));
  acme = await service.makeKey("acme");
  await send(acme, HISTORY);
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

const request = (key: string, query: string): Promise<Response> =>
  fetch(`${service.url}/v1/evidence?${query}`, { headers: { authorization: `Bearer ${key}` } });

/** A bundle as a client has it, with the facts that the verifier gives without a key. */
const bundle = async (key: string, query = "") => {
  const response = await request(key, query);
  if (response.status !== 200) throw new Error(await response.text());
  const bytes = new Uint8Array(await response.arrayBuffer());
  const files = await unpack(bytes);
  const ids: string[] = linesIn(files, "events.ndjson").map((line) => JSON.parse(line).event.event_id);
  return { bytes, files, ids, facts: factsOf(await verify(bytes)), headers: response.headers };
};

const factsOf = (verdict: Verdict) => {
  if (verdict.kind !== "valid") throw new Error(JSON.stringify(verdict));
  return verdict.facts;
};

const refusal = (query: string, key = acme): Promise<Answer> =>
  service.call(`/v1/evidence?${query}`, { key });

describe("a bundle", () => {
  test("a tenant's bundle holds every record and says that it is complete", async () => {
    const { bytes, files, ids, headers } = await bundle(acme);
    expect(headers.get("content-type")).toBe("application/zip");
    expect(headers.get("content-disposition")).toMatch(
      /^attachment; filename="evidence-acme-all-\d{8}T\d{6}Z\.zip"$/,
    );
    const { text: keys } = await service.call("/v1/log/key", { key: acme });
    const { text: checkpoint } = await service.call("/v1/log/checkpoint", { key: acme });
    const facts = factsOf(await verify(bytes, { keys, tenant: "acme", checkpoint }));
    expect(facts).toMatchObject({
      tenant: "acme",
      origin: "prooftrail/acme",
      records: HISTORY.length,
      isComplete: true,
      checkpoint_size: HISTORY.length,
      isKeyPinned: true,
      heldCheckpoint: "same",
      keys: keys.split("\n").slice(0, -1),
    });
    expect(ids).toEqual(HISTORY.map(({ event_id }) => event_id));
    expect(textOf(files, "checkpoint")).toBe(checkpoint);
    expect(textOf(files, "key")).toBe(keys);
  });

  test("an asset's bundle holds its events, as exports give them", async () => {
    const { files, facts } = await bundle(acme, "asset_id=credit_model");
    expect(facts).toMatchObject({ isComplete: false, isKeyPinned: false, records: 4 });
    for (const [format, name] of [
      ["ndjson", "events.ndjson"],
      ["csv", "events.csv"],
    ] as const) {
      const { text } = await service.call(`/v1/export?format=${format}&asset_id=credit_model`, { key: acme });
      // Reading a body as text removes the byte order mark.
      expect(textOf(files, name).replace(/^\uFEFF/, "")).toBe(text);
    }
  });

  test("if an event came under two identities, a tenant's bundle holds both records, and an asset's bundle the first", async () => {
    const key = await service.makeKey("repeating");
    const body = event({ event_id: "evt_twice" });
    const first = await service.call("/v1/events", { key, body });
    const headers = { "idempotency-key": "another" };
    const second = await service.call("/v1/events", { key, body, headers });
    const sequencesIn = async (query: string): Promise<number[]> => {
      const { files } = await bundle(key, query);
      return linesIn(files, "records.ndjson").map((line) => JSON.parse(line).sequence);
    };
    const sequences = [first, second].map(({ json }) => json.data.sequence);
    expect(await sequencesIn("")).toEqual(sequences);
    expect(await sequencesIn("asset_id=credit_model")).toEqual(sequences.slice(0, 1));
    const { description } = (await service.call("/docs/json")).json.paths["/v1/evidence"].get;
    expect(description).toContain("of an event that is in the log more than once, the first record");
  });

  test("a case's bundle holds everything that is connected with the case, and its duties", async () => {
    const { files, facts, ids } = await bundle(acme, "correlation_id=case-17");
    expect(facts).toMatchObject({ correlation_id: "case-17", records: 3 });
    expect(ids).toEqual(["evt_decided", "evt_objected", "evt_review"]);
    const duties = textOf(files, "obligations.csv");
    expect(duties).toContain("pipa_37_2_kr");
    expect(duties).toContain(`${DEADLINES_VERSION},overdue`);
  });

  test("the bundle of a decision has its timeline and its duties, and nothing else of its case", async () => {
    const key = await service.makeKey("decisions");
    const of = (decision_id: string) => ({ correlation_id: "shared", metadata: { decision_id } });
    await send(key, [
      event({ event_id: "evt_one", legal_bases: ["gdpr_art_22"], ...of("one") }),
      event({ event_id: "evt_two", ...of("two") }),
      event({ event_id: "evt_review", event_type: "decision.human_review_triggered", ...of("one") }),
      event({ event_id: "evt_review_two", event_type: "decision.human_review_triggered", ...of("two") }),
    ]);
    const { files, facts, ids, headers } = await bundle(key, "decision_id=one");
    expect(facts).toMatchObject({ decision_id: "one", records: 2, isComplete: false });
    expect(headers.get("content-disposition")).toContain("evidence-decisions-one-");
    expect(ids).toEqual(["evt_one", "evt_review"]);
    const duties = textOf(files, "obligations.csv");
    expect([duties.includes("HR-CLOSE"), duties.includes("evt_review_two")]).toEqual([true, false]);
    expect(textOf(files, "summary.html")).toContain("decision one");
    const unknown = await refusal("decision_id=three", key);
    expect([unknown.status, unknown.json.code]).toEqual([404, "not_found"]);
  });

  test("the bundle of a person has what names the person, and what belongs to the person's decisions and objections", async () => {
    const key = await service.makeKey("persons");
    const other = `sha256:${"b".repeat(64)}`;
    const about = (decision_id: string, asset_id: string, subject_hash = HASH) =>
      event({ event_id: `evt_${decision_id}`, asset_id, subject_hash, metadata: { decision_id } });
    await send(key, [
      about("first", "credit_model"),
      about("second", "fraud_model"),
      about("foreign", "credit_model", other),
      fact("evt_explained", "decision.explanation_provided", { decision_id: "first" }),
      fact("evt_objected", "objection.received", { objection_id: "o" }, { subject_hash: HASH }),
      fact("evt_resolved", "objection.resolved", { objection_id: "o" }),
      fact("evt_notice", "transparency.notice_shown", undefined, {
        subject_hash: HASH,
        timestamp: "2026-01-01T00:00:00Z",
      }),
      event({ event_id: "evt_nobody", event_type: "asset.updated" }),
    ]);
    const { files, facts, ids } = await bundle(
      key,
      `subject_hash=${HASH.toUpperCase().replace("SHA256", "sha256")}`,
    );
    expect(facts).toMatchObject({ subject_hash: HASH, records: 6 });
    const own = ["first", "second", "explained", "objected", "resolved", "notice"];
    expect(ids).toEqual(own.map((name) => `evt_${name}`));
    expect(textOf(files, "obligations.csv")).toContain("OBJ-ACK");
    const some = await bundle(key, `subject_hash=${HASH}&asset_id=fraud_model`);
    expect(some.facts).toMatchObject({ subject_hash: HASH, asset_id: "fraud_model" });
    expect(some.ids).toEqual(["evt_second"]);
    const early = await bundle(key, `subject_hash=${HASH}&to=2026-02-01T00:00:00Z`);
    expect(early.ids).toEqual(["evt_notice"]);
    const nobody = await refusal(`subject_hash=sha256:${"c".repeat(64)}`, key);
    expect([nobody.status, nobody.json.code]).toEqual([404, "not_found"]);
  });

  test("the bundle of several systems has one proof, and a record of another system in it is found", async () => {
    const key = await service.makeKey("systems");
    await send(
      key,
      ["a,b", "c", "d", "c"].map((asset_id, index) => event({ event_id: `evt_${index}`, asset_id })),
    );
    const { files, facts, ids, headers } = await bundle(key, `asset_id=${encodeURIComponent("a\\,b,c")}`);
    expect(facts).toMatchObject({ asset_id: null, asset_ids: ["a,b", "c"], records: 3 });
    expect(ids).toEqual(["evt_0", "evt_1", "evt_3"]);
    expect(headers.get("content-disposition")).toContain("a-b-c");
    expect(manifestOf(files)).toMatchObject({ asset_id: null, asset_ids: ["a,b", "c"] });
    const narrowed = withManifest(files, { asset_ids: ["a,b", "x"] });
    expect(await verify(pack(narrowed))).toMatchObject({
      kind: "invalid",
      finding: { code: "outside_filter" },
    });
  });

  /** The content of a bundle if `meanwhile` is sent after its views were read and before its records are. */
  const selectedWhile = async (parts: {
    readonly tenant: string;
    readonly key: string;
    readonly filter: EvidenceFilter;
    readonly meanwhile: readonly object[];
  }) => {
    const { tenant, key, filter, meanwhile } = parts;
    const before = await bundle(key);
    const note = textOf(before.files, "checkpoint");
    await using views = createSqliteViews({ path: join(service.dataDir, "views.sqlite") });
    const noRecord = () => {
      throw new Error("its records are in the views");
    };
    const selection = await selectRecords(
      {
        views,
        log: { lastSequence: () => views.position("events"), read: noRecord },
        checkpoints: {
          last: async () => {
            await send(key, meanwhile);
            await bundle(key);
            return { note, revision: 1 };
          },
        },
        rules: STANDARD_RULES,
        now: () => new Date("2026-03-01"),
      },
      { tenant, filter, waitMs: 1000 },
    );
    if (isRefusal(selection)) throw new Error(selection.code);
    const told = selection.obligations.shown;
    const [, ...dutyRows] = textOf(before.files, "obligations.csv").trim().split("\r\n");
    const dutiesBefore = dutyRows.map((row) => row.split(",")[0] ?? "");
    return { selection, told, before: { ...before, dutiesBefore, last: manifestOf(before.files).last } };
  };

  const objection = (id: string, type: string, timestamp: string) =>
    fact(
      `evt_${id}_${type}`,
      `objection.${type}`,
      { objection_id: id, objection_type: "explanation_request" },
      { timestamp, correlation_id: "case", legal_bases: ["pipa_37_2_kr"] },
    );
  const created = (id: string, asset_id: string, owner: string) =>
    fact(`evt_${id}`, "asset.created", { owner }, { asset_id, correlation_id: "case" });
  const decided = (id: string) => fact(`evt_${id}`, MADE, { decision_id: id }, { correlation_id: "case" });
  const notice = (id: string) =>
    fact(
      `evt_notice_${id}`,
      "transparency.notice_shown",
      { decision_id: id },
      {
        timestamp: "2026-01-01T00:00:00Z",
      },
    );

  test.each<[about: string, filter: EvidenceFilter]>([
    ["asset", { assetIds: ["credit_model"] }],
    ["tenant", {}],
    ["case", { correlationId: "case" }],
  ])(
    "the bundle of a growing %s names duties, decisions and contacts as they were where the bundle ends",
    async (about, filter) => {
      const tenant = `growing-${about}`;
      const key = await service.makeKey(tenant);
      await send(key, [
        created("made", "credit_model", "First team"),
        decided("dec_early"),
        objection("first", "received", "2026-02-01T00:00:00Z"),
      ]);
      const { selection, told, before } = await selectedWhile({
        ...{ tenant, key, filter },
        meanwhile: [
          objection("first", "resolved", "2026-02-02T00:00:00Z"),
          objection("second", "received", "2026-02-03T00:00:00Z"),
          // The event is of an earlier day, so the duty of the first begins with it.
          { ...objection("first", "received", "2026-01-31T00:00:00Z"), event_id: "evt_first_earlier" },
          notice("dec_early"),
          decided("dec_late"),
          created("remade", "credit_model", "Second team"),
          created("another", "another_model", "Third team"),
        ],
      });
      const ofObjections = told.filter(({ objection_id }) => objection_id !== null);
      expect(ofObjections).not.toEqual([]);
      for (const duty of ofObjections)
        expect(duty).toMatchObject({ objection_id: "first", stopped_at: null });
      const ids = told.map(({ obligation_id }) => String(obligation_id));
      expect(ids.toSorted()).toEqual(before.dutiesBefore.toSorted());
      const { assets, decisions } = selection.subjects;
      expect(decisions).toMatchObject([
        { decision_id: "dec_early", missing: expect.arrayContaining(["notice"]) },
      ]);
      expect(assets).toMatchObject([{ asset_id: "credit_model", owner: "First team" }]);
      expect(selection.records).toHaveLength(3);
      if (about === "case") expect(selection.case).toMatchObject({ events: 3 });
      expect(selection.records.at(-1)?.sequence).toBe(before.last.sequence);
      expect(selection.end).toBeGreaterThanOrEqual(before.last.sequence);
      expect(textOf(before.files, "summary.html")).toMatch(/as of sequence \d+ of the log/);
    },
  );

  test("the bundle of a period holds the events whose own time lies in it", async () => {
    const { ids } = await bundle(acme, "from=2026-02-02T00:00:00Z&to=2026-03-01T00:00:00Z");
    expect(ids).toEqual(["evt_objected", "evt_review"]);
    const ofCase = await bundle(acme, "correlation_id=case-17&to=2026-02-02T00:00:00Z");
    expect(ofCase.ids).toEqual(["evt_decided"]);
  });

  test("the page is in the language that was asked for, and a language that it has not is refused", async () => {
    const korean = textOf((await bundle(acme, "lang=ko")).files, "summary.html");
    expect(korean).toContain('<html lang="ko">');
    expect(korean).toContain('<h2 id="decisions">결정 내용</h2>');
    const { status, json } = await service.call("/v1/evidence?lang=fr", { key: acme });
    expect([status, json.errors[0].path]).toEqual([400, "query:lang"]);
  });

  test("a bundle includes every notice that was shown to the person, just as the decision does", async () => {
    const key = await service.makeKey("told");
    const person = { subject_hash: HASH, timestamp: "2026-02-01T00:00:00Z" };
    const decided = (decision_id: string, members: object) =>
      fact(`evt_${decision_id}`, MADE, { decision_id }, { correlation_id: "told", ...members });
    await send(key, [
      event({ ...person, event_id: "evt_nameless", event_type: "transparency.notice_shown" }),
      decided("dec_told", { ...person, timestamp: "2026-02-02T00:00:00Z" }),
      decided("dec_before", { ...person, timestamp: "2026-01-31T00:00:00Z" }),
      decided("dec_nobody", {}),
    ]);
    for (const query of ["", "asset_id=credit_model", "correlation_id=told"]) {
      const page = textOf((await bundle(key, query)).files, "summary.html");
      const decisions = page.slice(page.indexOf('<h2 id="decisions">'), page.indexOf('<h2 id="timeline">'));
      const lacking = decisions.split("<tr>").filter((row) => row.includes("Not in the log"));
      const named = lacking
        .join("")
        .replaceAll("<wbr>", "")
        .match(/dec_[a-z]+/g);
      expect([query, named?.sort()]).toEqual([query, ["dec_before", "dec_nobody"]]);
      expect(decisions).toContain("by the person, shown before the decision");
    }
    const { json } = await service.call("/v1/decisions/dec_told", { key });
    expect(json.data).toMatchObject({ missing: [], notice_linked_by: "subject" });
  });

  test("a bundle names only paths that exist, even if it shows the first rows only", async () => {
    const key = await service.makeKey("many");
    const all = Array.from({ length: EVIDENCE_SUMMARY_ROWS_MAX + 1 }, (_, index) =>
      event({ event_id: `evt_many_${index}`, asset_id: `asset_${index}` }),
    );
    await send(key, all);
    const { files } = await bundle(key);
    const { json } = await service.call("/docs/json");
    const known = new Set(Object.keys(json.paths));
    const pages = textOf(files, "summary.html") + textOf(files, "VERIFY.md");
    const named = new Set([...pages.matchAll(/GET (\/[\w/]*)/g)].map(([, path = ""]) => path));
    expect(named).toContain("/v1/assets");
    expect(pages).toMatch(/GET \S*decisions\b/);
    expect([...named].filter((path) => !known.has(path))).toEqual([]);
  });

  test("a record that was altered in the view is taken from the log, and a tree that was altered gives no bundle", async () => {
    const key = await service.makeKey("altered");
    await send(key, HISTORY);
    const before = await bundle(key, "asset_id=credit_model");
    using database = new DatabaseSync(join(service.dataDir, "views.sqlite"));
    const altered = database.prepare(
      "UPDATE events SET event = '{}' WHERE tenant = 'altered' AND event_id = 'evt_decided'",
    );
    expect(altered.run().changes).toBe(1);
    const after = await bundle(key, "asset_id=credit_model");
    expect(after.facts.records).toBe(4);
    expect(textOf(after.files, "records.ndjson")).toBe(textOf(before.files, "records.ndjson"));
    database.exec("UPDATE tree_tiles SET hashes = 'AAAA' || substr(hashes, 5) WHERE tenant = 'altered'");
    await expect(bundle(key, "asset_id=credit_model")).rejects.toThrow();
  });

  test("two bundles of the same question have the same bytes of records, proofs and tables", async () => {
    const [one, other] = [await bundle(acme), await bundle(acme)];
    for (const name of LISTED_FILES.filter((each) => each !== "summary.html"))
      expect(textOf(one.files, name)).toBe(textOf(other.files, name));
  });

  test("a bundle is an event in the system's log when it begins and when it ends", async () => {
    const reader = await service.makeKey("prooftrail-system", ["events:read"]);
    const { files, headers } = await bundle(acme, "asset_id=credit_model");
    const requestId = headers.get("x-request-id");
    const { json } = await service.call(`/v1/events?order=asc&correlation_id=${requestId}`, { key: reader });
    const digest = createHash("sha256").update(textOf(files, "manifest.json")).digest("hex");
    const common = { tenant: "acme", actor: acme.split("_")[1], request_id: requestId };
    expect(json.data.map((row: { event: object }) => row.event)).toMatchObject([
      {
        event_type: "system.export_taken",
        metadata: { ...common, format: "evidence", filters: { asset_id: ["credit_model"] } },
      },
      {
        event_type: "system.evidence_made",
        metadata: { ...common, manifest_sha256: digest, records: 4, filter: { asset_id: "credit_model" } },
      },
    ]);
    // The system's log is a log like every other.
    expect((await bundle(reader)).facts.tenant).toBe("prooftrail-system");
  });
});

describe("a checkpoint that the auditor holds", () => {
  test("the verifier compares an auditor's own checkpoint with the bundle's, by a consistency proof if they differ", async () => {
    const key = await service.makeKey("growing");
    await send(key, HISTORY.slice(0, 2));
    const older = await bundle(key);
    const checkpoint = textOf(older.files, "checkpoint");
    await send(key, HISTORY.slice(2));
    const { bytes, files } = await bundle(key);
    const needed = await verify(bytes, { checkpoint });
    expect(needed).toMatchObject({ kind: "undecided", detail: expect.stringContaining("from=2&to=5") });
    const { text: consistency } = await service.call("/v1/log/consistency?from=2&to=5", { key });
    expect(factsOf(await verify(bytes, { checkpoint, consistency })).heldCheckpoint).toBe("consistent");
    // The bundle may also be the older one of the two.
    const newer = textOf(files, "checkpoint");
    expect(factsOf(await verify(older.bytes, { checkpoint: newer, consistency })).heldCheckpoint).toBe(
      "consistent",
    );
    const body = JSON.parse(consistency);
    body.data.proof.reverse();
    expect(await verify(bytes, { checkpoint, consistency: JSON.stringify(body) })).toMatchObject({
      kind: "invalid",
      finding: { code: "contradicts_checkpoint" },
    });
    const { text: ofAnother } = await service.call("/v1/log/checkpoint", { key: acme });
    expect(await verify(bytes, { checkpoint: ofAnother })).toMatchObject({ kind: "undecided" });
    expect(await verify(bytes, { consistency })).toMatchObject({ kind: "undecided" });
    expect(await verify(bytes, { keys: "nonsense" })).toMatchObject({ kind: "undecided" });
    expect(await verify(bytes, { tenant: "acme" })).toMatchObject({
      kind: "invalid",
      finding: { code: "other_tenant" },
    });
  });
});

describe("refused requests", () => {
  test("a question that matches nothing is answered with 404", async () => {
    const empty = await service.makeKey("empty");
    for (const [key, query] of [
      [empty, ""],
      [acme, "asset_id=unknown"],
      [acme, "correlation_id=unknown"],
      [acme, "from=2030-01-01T00:00:00Z"],
    ] as const)
      expect((await refusal(query, key)).json).toMatchObject({ code: "not_found" });
  });

  test("another tenant gets nothing of it", async () => {
    const other = await service.makeKey("other");
    await send(other, [event({ event_id: "evt_own", asset_id: "own" })]);
    for (const query of ["asset_id=credit_model", "correlation_id=case-17"])
      expect((await refusal(query, other)).status).toBe(404);
    const { files, facts, ids } = await bundle(other);
    expect([facts.tenant, ids]).toEqual(["other", ["evt_own"]]);
    for (const file of files) expect(Buffer.from(file.content).toString()).not.toContain("acme");
  });

  test("a question with two filters, or without a valid time, is answered with 400", async () => {
    for (const [query, name] of [
      ["asset_id=a&correlation_id=b", "correlation_id"],
      [`subject_hash=${HASH}&correlation_id=b`, "correlation_id"],
      ["decision_id=a&correlation_id=b", "correlation_id"],
      ["asset_id=a&decision_id=b", "decision_id"],
      ["subject_hash=nobody", "subject_hash"],
    ]) {
      const both = await refusal(query ?? "");
      expect([query, both.status, both.json.errors[0].path]).toEqual([query, 400, `query:${name}`]);
    }
    for (const query of ["from=yesterday", "wait=31", "colour=red"])
      expect((await refusal(query)).status).toBe(400);
  });

  test("if nobody seals the log, the answer is 503 not_sealed after the requested wait", async () => {
    await using unsealed = await startTestService({ ROLES: "api,projector" });
    await unsealed.call("/v1/events", { body: event() });
    expect((await unsealed.call("/v1/evidence?wait=1")).json).toMatchObject({
      status: 503,
      code: "not_sealed",
    });
  });
});

const run = async (command: readonly string[], cwd: string) => {
  const [program = "", ...args] = command;
  const child = spawn(program, args, { cwd, env: { PATH: process.env.PATH, HOME: folder } });
  const [output, errors] = [text(child.stdout), text(child.stderr)];
  const { promise, resolve: done } = Promise.withResolvers<number | null>();
  child.on("close", done);
  return { code: await promise, output: await output, errors: await errors };
};

describe("the verifier as one file", () => {
  const root = resolve(import.meta.dir, "../..");
  const [bun] = RUNTIMES.Bun;
  const [deno] = RUNTIMES.Deno;
  const verifier = "prooftrail-verify.mjs";
  const commands = {
    Bun: [bun, verifier],
    Deno: [deno, "run", "--no-config", "--allow-read", verifier],
  } as const;

  beforeAll(async () => {
    const save = (name: string, content: string | Uint8Array) => writeFile(join(folder, name), content);
    const built = await run(
      [bun, "build", "src/proof/verifier/main.ts", "--target=node", `--outfile=${join(folder, verifier)}`],
      root,
    );
    if (built.code !== 0) throw new Error(built.errors);
    const { bytes, files } = await bundle(acme);
    await save("bundle.zip", bytes);
    await save("appended.zip", Buffer.concat([bytes, Buffer.from("x")]));
    await save("again.zip", writeZip(files.toReversed(), { comment: "packed again" }));
    await save("log.key", (await service.call("/v1/log/key", { key: acme })).text);
    for (const name of ["unpacked", "changed"]) {
      await mkdir(join(folder, name));
      for (const file of files) await save(join(name, file.name), file.content);
    }
    await save("unpacked/log.key", "");
    await save("changed/events.csv", "other");
  });

  /** Arguments, exit code, and what is written: to the output, or to the errors if it is the usage. */
  const runs: readonly [args: readonly string[], code: number, said: string][] = [
    [["--key", "log.key", "--tenant", "acme", "bundle.zip"], 0, "VALID  bundle.zip"],
    [["bundle.zip"], 0, "The key is not pinned"],
    [["changed"], 1, "damaged_file"],
    [["appended.zip"], 2, "NOT DECIDED"],
    [["--checkpoint", "log.key", "bundle.zip"], 2, "NOT DECIDED"],
    [["--help"], 0, "Exit codes"],
    [[], 2, "Usage:"],
    [["a.zip", "b.zip"], 2, "Usage:"],
    [["missing.zip"], 2, "Usage:"],
    [["--colour", "bundle.zip"], 2, "Usage:"],
    [["--key", "missing", "bundle.zip"], 2, "Usage:"],
  ];
  test.each(Object.entries(commands))(
    "on %s it reports valid, invalid and its usage, in a folder with nothing else",
    async (_, command) => {
      for (const [args, code, said] of runs) {
        const { output, errors, ...ended } = await run([...command, ...args], folder);
        expect([args, ended.code, output + errors]).toEqual([args, code, expect.stringContaining(said)]);
        expect([args, errors === ""]).toEqual([args, said !== "Usage:"]);
      }
      const asJson = async (path: string) => {
        const { output } = await run([...command, "--json", path], folder);
        expect(output).not.toMatch(/"[a-z_]*[A-Z]\w*":/);
        return JSON.parse(output);
      };
      const json = await asJson("bundle.zip");
      expect(json).toMatchObject({ kind: "valid", facts: { tenant: "acme", notes: [] } });
      expect(await asJson("again.zip")).toEqual(json);
      const notes = ["Not part of the bundle, not verified: log.key."];
      expect(await asJson("unpacked")).toEqual({ ...json, facts: { ...json.facts, notes } });
    },
  );
});
