/** Evidence bundles as a client receives them, and the verifier's verdicts. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { spawn } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { createDuties } from "../../src/api/evidence/duties.ts";
import type { EvidenceFilter } from "../../src/api/evidence/evidence-filter.ts";
import { selectRecords } from "../../src/api/evidence/selection.ts";
import { DEADLINES_VERSION } from "../../src/law/obligations/deadline-table.ts";
import { STANDARD_RULES } from "../../src/law/obligations/overrides.ts";
import { EVIDENCE_SUMMARY_ROWS_MAX, EXPORTS_PER_KEY_MAX } from "../../src/limits.ts";
import type { Verdict } from "../../src/proof/evidence/verdict.ts";
import { createSqliteViews } from "../../src/views/store/sqlite.ts";
import {
  linesIn,
  manifestOf,
  type PackedFile,
  pack,
  textOf,
  unpack,
  verify,
  withManifest,
} from "../support/evidence-bundle.ts";
import { diskFolder } from "../support/memory-folder.ts";
import { RUNTIMES } from "../support/process.ts";
import { type Answer, event, startTestService, type TestService } from "../support/service.ts";
import { LAST_CHUNK, openUntaken } from "../support/untaken-answer.ts";
import { until } from "../support/until.ts";
import { writeZip } from "../support/zip.ts";

let service: TestService;
let acme = "";
let folder = "";

const HASH = `sha256:${"a".repeat(64)}`;
const CASE = { correlation_id: "case-17", legal_bases: ["pipa_37_2_kr"], subject_hash: HASH };
const HISTORY = [
  event({
    event_id: "evt_made",
    event_type: "asset.created",
    timestamp: "2026-01-01T00:00:00Z",
    metadata: { name: "Credit", owner: "Credit <b>risk</b> team" },
  }),
  event({
    event_id: "evt_decided",
    timestamp: "2026-02-01T00:00:00Z",
    ...CASE,
    metadata: { decision_id: "dec_1", outcome: "denied" },
  }),
  event({
    event_id: "evt_objected",
    event_type: "objection.received",
    timestamp: "2026-02-02T00:00:00Z",
    ...CASE,
    metadata: { decision_id: "dec_1", objection_id: "obj_1", objection_type: "explanation_request" },
  }),
  event({
    event_id: "evt_review",
    event_type: "decision.human_review_triggered",
    timestamp: "2026-02-03T00:00:00Z",
    metadata: { decision_id: "dec_1" },
  }),
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

interface Bundle {
  readonly bytes: Uint8Array;
  readonly files: readonly PackedFile[];
  readonly headers: Headers;
}

const bundle = async (key: string, query = ""): Promise<Bundle> => {
  const response = await request(key, query);
  if (response.status !== 200) throw new Error(await response.text());
  const bytes = new Uint8Array(await response.arrayBuffer());
  return { bytes, files: await unpack(bytes), headers: response.headers };
};

const factsOf = (verdict: Verdict) => {
  if (verdict.kind !== "valid") throw new Error(JSON.stringify(verdict));
  return verdict.facts;
};

const idsIn = (files: readonly PackedFile[]): string[] =>
  textOf(files, "events.ndjson")
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line).event.event_id);

const refusal = (query: string, key = acme): Promise<Answer> =>
  service.call(`/v1/evidence?${query}`, { key });

describe("a bundle", () => {
  test("a tenant's bundle holds every record and says that it is complete", async () => {
    const { bytes, files, headers } = await bundle(acme);
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
      checkpointSize: HISTORY.length,
      isKeyPinned: true,
      heldCheckpoint: "same",
      keys: keys.split("\n").slice(0, -1),
    });
    expect(idsIn(files)).toEqual(HISTORY.map(({ event_id }) => event_id));
    expect(textOf(files, "checkpoint")).toBe(checkpoint);
    expect(textOf(files, "key")).toBe(keys);
  });

  test("an asset's bundle holds its events, as exports give them", async () => {
    const { bytes, files } = await bundle(acme, "asset_id=credit_model");
    expect(factsOf(await verify(bytes))).toMatchObject({ isComplete: false, isKeyPinned: false, records: 4 });
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
    expect(description).toContain("of an event that is in the log more than once the first record");
  });

  test("a case's bundle holds everything that is connected with the case, and its duties", async () => {
    const { bytes, files } = await bundle(acme, "correlation_id=case-17");
    expect(factsOf(await verify(bytes))).toMatchObject({ correlationId: "case-17", records: 3 });
    expect(idsIn(files)).toEqual(["evt_decided", "evt_objected", "evt_review"]);
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
    const { bytes, files, headers } = await bundle(key, "decision_id=one");
    expect(factsOf(await verify(bytes))).toMatchObject({ decisionId: "one", records: 2, isComplete: false });
    expect(headers.get("content-disposition")).toContain("evidence-decisions-one-");
    expect(idsIn(files)).toEqual(["evt_one", "evt_review"]);
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
      event({
        event_id: "evt_explained",
        event_type: "decision.explanation_provided",
        metadata: { decision_id: "first" },
      }),
      event({
        event_id: "evt_objected",
        event_type: "objection.received",
        subject_hash: HASH,
        metadata: { objection_id: "o" },
      }),
      event({ event_id: "evt_resolved", event_type: "objection.resolved", metadata: { objection_id: "o" } }),
      event({
        event_id: "evt_notice",
        event_type: "transparency.notice_shown",
        subject_hash: HASH,
        timestamp: "2026-01-01T00:00:00Z",
      }),
      event({ event_id: "evt_nobody", event_type: "asset.updated" }),
    ]);
    const { bytes, files } = await bundle(
      key,
      `subject_hash=${HASH.toUpperCase().replace("SHA256", "sha256")}`,
    );
    expect(factsOf(await verify(bytes))).toMatchObject({ subjectHash: HASH, records: 6 });
    expect(idsIn(files)).toEqual([
      "evt_first",
      "evt_second",
      "evt_explained",
      "evt_objected",
      "evt_resolved",
      "evt_notice",
    ]);
    expect(textOf(files, "obligations.csv")).toContain("OBJ-ACK");
    const some = await bundle(key, `subject_hash=${HASH}&asset_id=fraud_model`);
    expect(factsOf(await verify(some.bytes))).toMatchObject({ subjectHash: HASH, assetId: "fraud_model" });
    expect(idsIn(some.files)).toEqual(["evt_second"]);
    const early = await bundle(key, `subject_hash=${HASH}&to=2026-02-01T00:00:00Z`);
    expect(idsIn(early.files)).toEqual(["evt_notice"]);
    const nobody = await refusal(`subject_hash=sha256:${"c".repeat(64)}`, key);
    expect([nobody.status, nobody.json.code]).toEqual([404, "not_found"]);
  });

  test("the bundle of several systems has one proof, and a record of another system in it is found", async () => {
    const key = await service.makeKey("systems");
    await send(
      key,
      ["a,b", "c", "d", "c"].map((asset_id, index) => event({ event_id: `evt_${index}`, asset_id })),
    );
    const { bytes, files, headers } = await bundle(key, `asset_id=${encodeURIComponent("a\\,b,c")}`);
    const facts = factsOf(await verify(bytes));
    expect(facts).toMatchObject({ assetId: null, assetIds: ["a,b", "c"], records: 3 });
    expect(idsIn(files)).toEqual(["evt_0", "evt_1", "evt_3"]);
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
    const selected = await selectRecords(
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
      },
      { tenant, filter, waitMs: 1000, at: "2026-03-01" },
    );
    if (selected.kind !== "selected") throw new Error(selected.kind);
    const { selection } = selected;
    const duties = createDuties({ rules: STANDARD_RULES }, selection.duties, "2026-03-01");
    const told = [...duties.all()];
    const [, ...dutyRows] = textOf(before.files, "obligations.csv").trim().split("\r\n");
    const dutiesBefore = dutyRows.map((row) => row.split(",")[0] ?? "");
    return { selection, told, before: { ...before, dutiesBefore, last: manifestOf(before.files).last } };
  };

  const objection = (id: string, type: string, timestamp: string) =>
    event({
      event_id: `evt_${id}_${type}`,
      event_type: `objection.${type}`,
      timestamp,
      correlation_id: id,
      legal_bases: ["pipa_37_2_kr"],
      metadata: { objection_id: id, objection_type: "explanation_request" },
    });

  test("the bundle of a growing asset shows its duties as they were where the bundle ends", async () => {
    const key = await service.makeKey("busy");
    await send(key, [objection("first", "received", "2026-02-01T00:00:00Z")]);
    const { told, before } = await selectedWhile({
      tenant: "busy",
      key,
      filter: { assetIds: ["credit_model"] },
      meanwhile: [
        objection("first", "resolved", "2026-02-02T00:00:00Z"),
        objection("second", "received", "2026-02-03T00:00:00Z"),
        // The event is of an earlier day, so the duty of the first begins with it.
        { ...objection("first", "received", "2026-01-31T00:00:00Z"), event_id: "evt_first_earlier" },
      ],
    });
    expect(told.map(({ objection_id }) => objection_id)).toEqual(told.map(() => "first"));
    expect(told.filter(({ stopped_at }) => stopped_at !== null)).toEqual([]);
    expect(told.map(({ obligation_id }) => obligation_id)).toEqual(before.dutiesBefore);
    expect(told).not.toEqual([]);
  });

  test.each(["asset", "tenant", "case"])(
    "the bundle of a growing %s names decisions and contacts as they were where the bundle ends",
    async (about) => {
      const tenant = `growing-${about}`;
      const key = await service.makeKey(tenant);
      const created = (id: string, asset_id: string, owner: string) =>
        event({
          event_id: `evt_${id}`,
          event_type: "asset.created",
          asset_id,
          correlation_id: "case",
          metadata: { owner },
        });
      const decided = (id: string) =>
        event({ event_id: `evt_${id}`, correlation_id: "case", metadata: { decision_id: id } });
      const notice = (id: string) =>
        event({
          event_id: `evt_notice_${id}`,
          event_type: "transparency.notice_shown",
          timestamp: "2026-01-01T00:00:00Z",
          metadata: { decision_id: id },
        });
      await send(key, [created("made", "credit_model", "First team"), decided("dec_early")]);
      const filter = { asset: { assetIds: ["credit_model"] }, tenant: {}, case: { correlationId: "case" } }[
        about
      ];
      const { selection, before } = await selectedWhile({
        tenant,
        key,
        filter: filter ?? {},
        meanwhile: [
          notice("dec_early"),
          decided("dec_late"),
          created("remade", "credit_model", "Second team"),
          created("another", "another_model", "Third team"),
        ],
      });
      const { assets, decisions } = selection.subjects;
      expect(decisions).toMatchObject([{ decision_id: "dec_early", missing: ["notice"] }]);
      expect(assets).toMatchObject([{ asset_id: "credit_model", owner: "First team" }]);
      expect(selection.records).toHaveLength(2);
      if (about === "case") expect(selection.case).toMatchObject({ events: 2 });
      expect(selection.records.at(-1)?.sequence).toBe(before.last.sequence);
      expect(selection.end).toBeGreaterThanOrEqual(before.last.sequence);
      const page = textOf(before.files, "summary.html");
      expect(page).toMatch(/as they were at sequence \d+ of the log/);
    },
  );

  test("the bundle of a period holds the events whose own time lies in it", async () => {
    const { files } = await bundle(acme, "from=2026-02-02T00:00:00Z&to=2026-03-01T00:00:00Z");
    expect(idsIn(files)).toEqual(["evt_objected", "evt_review"]);
    const ofCase = await bundle(acme, "correlation_id=case-17&to=2026-02-02T00:00:00Z");
    expect(idsIn(ofCase.files)).toEqual(["evt_decided"]);
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
      event({
        event_id: `evt_${decision_id}`,
        correlation_id: "told",
        ...members,
        metadata: { decision_id },
      });
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
    expect(factsOf(await verify(after.bytes)).records).toBe(4);
    expect(textOf(after.files, "records.ndjson")).toBe(textOf(before.files, "records.ndjson"));
    database.exec("UPDATE tree_tiles SET hashes = 'AAAA' || substr(hashes, 5) WHERE tenant = 'altered'");
    await expect(bundle(key, "asset_id=credit_model")).rejects.toThrow();
  });

  test("two bundles of the same question have the same bytes of records, proofs and tables", async () => {
    const [one, other] = [await bundle(acme), await bundle(acme)];
    for (const name of [
      "records.ndjson",
      "events.ndjson",
      "events.csv",
      "checkpoint",
      "key",
      "VERIFY.md",
    ] as const)
      expect(textOf(one.files, name)).toBe(textOf(other.files, name));
  });

  test("a bundle is an event in the system's log when it begins and when it ends", async () => {
    const reader = await service.makeKey("prooftrail-system", ["events:read"]);
    const { files, headers } = await bundle(acme, "asset_id=credit_model");
    const requestId = headers.get("x-request-id");
    const { json } = await service.call(`/v1/events?order=asc&correlation_id=${requestId}`, { key: reader });
    const { createHash } = await import("node:crypto");
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
    expect(factsOf(await verify((await bundle(reader)).bytes))).toMatchObject({
      tenant: "prooftrail-system",
    });
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
    const { bytes, files } = await bundle(other);
    expect(factsOf(await verify(bytes)).tenant).toBe("other");
    expect(idsIn(files)).toEqual(["evt_own"]);
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

describe("a bundle being sent", () => {
  const large = async (tenant: string): Promise<{ key: string; id: string }> => {
    const made = await service.call("/v1/keys", {
      body: { tenant, scopes: ["events:write", "events:read"] },
    });
    const { api_key: key, id } = made.json.data;
    const noise = (): string =>
      Buffer.from(crypto.getRandomValues(new Uint8Array(48_000))).toString("base64");
    for (let from = 0; from < 300; from += 100)
      await send(
        key,
        Array.from({ length: 100 }, (_, index) =>
          event({ event_id: `evt_${from + index}`, metadata: { noise: noise() } }),
        ),
      );
    return { key, id };
  };

  test("a bundle takes one of the places for exports, and frees it at the end", async () => {
    const { key } = await large("places");
    const headers = { authorization: `Bearer ${key}` };
    const open = await Promise.all(
      Array.from({ length: EXPORTS_PER_KEY_MAX }, () => openUntaken(`${service.url}/v1/evidence`, headers)),
    );
    expect((await refusal("", key)).json.code).toBe("overloaded");
    for (const answer of open) answer.disconnect();
    await until("the places are free", async () => {
      const { body, status } = await request(key, "");
      await body?.cancel();
      return status === 200;
    });
  });

  test("if its key is revoked, a bundle is cut off and is not a valid ZIP", async () => {
    const { key, id } = await large("ending");
    const answer = await openUntaken(`${service.url}/v1/evidence`, { authorization: `Bearer ${key}` });
    await service.call(`/v1/keys/${id}`, { method: "DELETE" });
    const text = await answer.text();
    expect(text).toStartWith("HTTP/1.1 200");
    expect(text).not.toEndWith(LAST_CHUNK);
    expect(text).not.toContain("PK\x05\x06");
    await until("it is told", () =>
      service.lines.some(({ message }) => message === "an evidence bundle was broken off"),
    );
  });
});

const run = async (
  command: readonly string[],
  cwd: string,
): Promise<{ readonly code: number | null; readonly output: string; readonly errors: string }> => {
  const [program = "", ...args] = command;
  const child = spawn(program, args, { cwd, env: { PATH: process.env.PATH, HOME: folder } });
  let [output, errors] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text) => {
    output += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text) => {
    errors += text;
  });
  const { promise, resolve: done } = Promise.withResolvers<number | null>();
  child.on("close", done);
  return { code: await promise, output, errors };
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
    const built = await run(
      [bun, "build", "src/proof/verifier/main.ts", "--target=node", `--outfile=${join(folder, verifier)}`],
      root,
    );
    if (built.code !== 0) throw new Error(built.errors);
    const { bytes } = await bundle(acme);
    await writeFile(join(folder, "bundle.zip"), bytes);
    await writeFile(join(folder, "appended.zip"), Buffer.concat([bytes, Buffer.from("x")]));
    const files = await unpack(bytes);
    await writeFile(join(folder, "again.zip"), writeZip(files.toReversed(), { comment: "packed again" }));
    const changed = files.map((file) =>
      file.name === "events.csv" ? { ...file, content: Buffer.from("other") } : file,
    );
    for (const [name, content] of [
      ["unpacked", files],
      ["changed", changed],
    ] as const) {
      await mkdir(join(folder, name));
      for (const file of content) await writeFile(join(folder, name, file.name), file.content);
    }
    await writeFile(join(folder, "unpacked", "log.key"), "");
    await writeFile(join(folder, "log.key"), (await service.call("/v1/log/key", { key: acme })).text);
  });

  test.each(Object.entries(commands))(
    "on %s it reports valid, invalid and its usage, in a folder with nothing else",
    async (_, command) => {
      const valid = await run([...command, "--key", "log.key", "--tenant", "acme", "bundle.zip"], folder);
      expect(valid.errors).toBe("");
      expect([valid.code, valid.output]).toEqual([0, expect.stringContaining("VALID  bundle.zip")]);
      expect(valid.output).not.toContain("not pinned");
      const unpinned = await run([...command, "bundle.zip"], folder);
      expect([unpinned.code, unpinned.output]).toEqual([0, expect.stringContaining("The key is not pinned")]);
      const json = await run([...command, "--json", "bundle.zip"], folder);
      expect(JSON.parse(json.output)).toMatchObject({ kind: "valid", facts: { tenant: "acme" } });
      expect(json.output).not.toMatch(/"[a-z_]*[A-Z]\w*":/);
      const again = await run([...command, "--json", "again.zip"], folder);
      expect(JSON.parse(again.output)).toEqual(JSON.parse(json.output));
      const unpacked = await run([...command, "--json", "unpacked"], folder);
      const { notes, ...facts } = JSON.parse(unpacked.output).facts;
      expect([unpacked.code, { ...facts, notes: [] }]).toEqual([0, JSON.parse(json.output).facts]);
      expect(notes).toEqual(["No part of the bundle, and not verified: log.key."]);
      const invalid = await run([...command, "changed"], folder);
      expect([invalid.code, invalid.output]).toEqual([1, expect.stringContaining("damaged_file")]);
      const appended = await run([...command, "appended.zip"], folder);
      expect([appended.code, appended.output]).toEqual([2, expect.stringContaining("NOT DECIDED")]);
      for (const args of [
        [],
        ["a.zip", "b.zip"],
        ["missing.zip"],
        ["--colour", "bundle.zip"],
        ["--key", "missing", "bundle.zip"],
      ]) {
        const unusable = await run([...command, ...args], folder);
        expect([unusable.code, unusable.errors]).toEqual([2, expect.stringContaining("Usage:")]);
      }
      const undecided = await run([...command, "--checkpoint", "log.key", "bundle.zip"], folder);
      expect([undecided.code, undecided.output]).toEqual([2, expect.stringContaining("NOT DECIDED")]);
      expect((await run([...command, "--help"], folder)).code).toBe(0);
    },
  );
});
