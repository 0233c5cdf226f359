/**
 * Changes that somebody may make to a bundle, with the ZIP repaired, or with the manifest rewritten as well: the verifier accepts
 * none of them, and names what is broken.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { deflateRawSync } from "node:zlib";
import fc from "fast-check";
import { zipSync } from "fflate";
import { decodeBase64, encodeBase64 } from "../../src/proof/base64.ts";
import {
  BUNDLE_FILES,
  type BundleFile,
  LISTED_FILES,
  type Manifest,
} from "../../src/proof/evidence/manifest.ts";
import { verifyEvidence } from "../../src/proof/evidence/verify.ts";
import { openZip } from "../../src/proof/evidence/zip-reader.ts";
import { sealedHead } from "../../src/proof/sealed-head.ts";
import {
  createSigningKey,
  createVerifier,
  formatVerifierKey,
  signNote,
} from "../../src/proof/signed-note.ts";
import { formatCheckpoint } from "../../src/proof/tlog-checkpoint.ts";
import {
  evidence,
  linesIn,
  manifestOf,
  type PackedFile,
  pack,
  resigned,
  sourceOf,
  textOf,
  unpack,
  verify,
  withLines,
  withManifest,
  withText,
} from "../support/evidence-bundle.ts";
import { event, startTestService, type TestService } from "../support/service.ts";
import { writeZip, type ZipFile } from "../support/zip.ts";

let service: TestService;
let olderCheckpoint = "";
let whole: readonly PackedFile[] = [];
let ofAsset: readonly PackedFile[] = [];
let ofOther: readonly PackedFile[] = [];

const COUNT = 24;

const bundle = async (key: string, query: string): Promise<PackedFile[]> =>
  unpack(await evidence(service, query, key));

beforeAll(async () => {
  service = await startTestService({ CHECKPOINT_INTERVAL: "50ms" });
  const [acme, other] = [await service.makeKey("acme"), await service.makeKey("other")];
  const send = async (key: string, from: number, to: number): Promise<void> => {
    const events = Array.from({ length: to - from }, (_, index) =>
      event({
        event_id: `evt_${from + index}`,
        asset_id: index % 3 === 2 ? "rest" : "credit_model",
        metadata: { note: "이력 ".repeat(index) },
      }),
    );
    const answer = await service.call("/v1/events/batch", { key, body: { events } });
    if (answer.json.data.accepted !== events.length) throw new Error(answer.text);
  };
  await send(acme, 0, COUNT / 2);
  await send(other, 0, COUNT);
  olderCheckpoint = textOf(await bundle(acme, ""), "checkpoint");
  await send(acme, COUNT / 2, COUNT);
  [whole, ofAsset, ofOther] = [
    await bundle(acme, ""),
    await bundle(acme, "asset_id=credit_model"),
    await bundle(other, ""),
  ];
});
afterAll(() => service[Symbol.asyncDispose]());

type Lines = (lines: string[], files: readonly PackedFile[]) => string[];

/** Changes both files in the same way, as somebody would who wants nobody to notice. */
const inBoth =
  (change: Lines) =>
  (files: readonly PackedFile[]): PackedFile[] => {
    const records = change(linesIn(files, "records.ndjson"), files);
    const events = change(linesIn(files, "events.ndjson"), files);
    return withLines(withLines(files, "records.ndjson", records), "events.ndjson", events);
  };

const inRecords =
  (change: Lines) =>
  (files: readonly PackedFile[]): PackedFile[] =>
    withLines(files, "records.ndjson", change(linesIn(files, "records.ndjson"), files));

const without =
  (from: number, count: number): Lines =>
  (lines) =>
    lines.toSpliced(from, count);

/** Replaces the payload of the record at a line. */
const withRecord =
  (at: number, change: (payload: string) => string): Lines =>
  (lines) =>
    lines.map((line, index) => {
      if (index !== at) return line;
      const { leaf_index, sequence, leaf, inclusion_proof } = JSON.parse(line);
      const payload = new TextDecoder().decode(decodeBase64(leaf));
      const changed = encodeBase64(new TextEncoder().encode(change(payload)));
      return JSON.stringify({ leaf_index, sequence, leaf: changed, inclusion_proof });
    });

const backdated = (files: readonly PackedFile[]): PackedFile[] => {
  const earlier = (text: string): string => text.replace("2026-11-20T10:00:00Z", "2026-10-20T10:00:00Z");
  const records = inRecords(withRecord(5, earlier))(files);
  const events = linesIn(files, "events.ndjson").map((line, index) => (index === 5 ? earlier(line) : line));
  return withLines(records, "events.ndjson", events);
};

const counted = (files: readonly PackedFile[]): Partial<Manifest> => {
  const lines = linesIn(files, "records.ndjson").map((line) => JSON.parse(line));
  const place = (line: { leaf_index: number; sequence: number } | undefined) => ({
    leaf_index: line?.leaf_index ?? 0,
    sequence: line?.sequence ?? 0,
  });
  return { records: lines.length, first: place(lines.at(0)), last: place(lines.at(-1)) };
};

interface Mutation {
  readonly change: (files: readonly PackedFile[]) => PackedFile[];
  /** The finding on the bundle of the whole tenant with the manifest rewritten: proofs tell. */
  readonly says: object;
  /** The same on the bundle of one asset with the manifest rewritten, if the finding is another. */
  readonly ofAsset?: object;
}

const NOT_ANCHORED = { code: "not_anchored", file: "manifest.tlog-proof" };

const MUTATIONS: Readonly<Record<string, Mutation>> = {
  "one record is deleted": {
    change: inBoth(without(7, 1)),
    says: { code: "missing_record", leafIndex: 7, line: 8 },
    ofAsset: NOT_ANCHORED,
  },
  "two records beside each other are deleted": {
    change: inBoth(without(7, 2)),
    says: { code: "missing_record", leafIndex: 7, line: 8 },
    ofAsset: NOT_ANCHORED,
  },
  "the first record is deleted": {
    change: inBoth(without(0, 1)),
    says: { code: "missing_record", leafIndex: 0, line: 1 },
    ofAsset: NOT_ANCHORED,
  },
  "the tail is cut": {
    change: inBoth(without(10, COUNT)),
    says: { code: "missing_record", leafIndex: 10, line: 11 },
    ofAsset: NOT_ANCHORED,
  },
  "two records change places": {
    change: inBoth((lines) => lines.toSpliced(4, 2, lines[5] ?? "", lines[4] ?? "")),
    says: { code: "missing_record", leafIndex: 4, line: 5 },
    ofAsset: { code: "reordered_record", leafIndex: 6, line: 6, eventId: "evt_6" },
  },
  "a record stands twice": {
    change: inBoth((lines) => lines.toSpliced(4, 0, lines[3] ?? "")),
    says: { code: "duplicate_record", line: 5, eventId: "evt_3" },
    ofAsset: { code: "duplicate_record", line: 5, eventId: "evt_4" },
  },
  "a record is backdated": {
    change: backdated,
    says: { code: "not_in_log", line: 6, leafIndex: 5, eventId: "evt_5" },
    ofAsset: { code: "not_in_log", line: 6, leafIndex: 7, eventId: "evt_7" },
  },
  "one bit of a record is flipped": {
    change: inRecords(
      withRecord(2, (payload) => payload.replace("credit_model", "credit_mod%l").replace("rest", "sest")),
    ),
    says: { code: "not_in_log", line: 3, leafIndex: 2 },
    ofAsset: { code: "not_in_log", line: 3, leafIndex: 3 },
  },
  "a record is another tenant's": {
    change: inRecords((lines) => {
      const { leaf_index } = JSON.parse(lines[3] ?? "");
      return lines.with(3, linesIn(ofOther, "records.ndjson")[leaf_index] ?? "");
    }),
    says: { code: "other_tenant", line: 4 },
  },
  "the tenant in a record is rewritten": {
    change: inRecords(withRecord(3, (payload) => payload.replace('"tenant":"acme"', '"tenant":"omce"'))),
    says: { code: "other_tenant", line: 4, leafIndex: 3, eventId: "evt_3" },
    ofAsset: { code: "other_tenant", line: 4, eventId: "evt_4" },
  },
  "a sequence is rewritten": {
    change: (files) =>
      withLines(
        withLines(
          files,
          "records.ndjson",
          linesIn(files, "records.ndjson").map((line, index, { length }) =>
            index === length - 1 ? line.replace(/"sequence":\d+/, '"sequence":9999') : line,
          ),
        ),
        "events.ndjson",
        linesIn(files, "events.ndjson").map((line, index, { length }) =>
          index === length - 1 ? line.replace(/"sequence":\d+/, '"sequence":9999') : line,
        ),
      ),
    says: NOT_ANCHORED,
  },
  "a sequence is another's": {
    change: inBoth((lines) =>
      lines.with(
        4,
        (lines[4] ?? "").replace(/"sequence":\d+/, /"sequence":\d+/.exec(lines[3] ?? "")?.[0] ?? ""),
      ),
    ),
    says: { code: "reordered_record", line: 5, eventId: "evt_4" },
    ofAsset: { code: "reordered_record", line: 5, eventId: "evt_6" },
  },
  "two records change places and keep the sequences": {
    change: inBoth((lines) => {
      const sequenceOf = (line = ""): string => /"sequence":\d+/.exec(line)?.[0] ?? "";
      const moved = (from: string | undefined, to: string | undefined): string =>
        (from ?? "").replace(sequenceOf(from), sequenceOf(to));
      return lines.toSpliced(4, 2, moved(lines[5], lines[4]), moved(lines[4], lines[5]));
    }),
    says: { code: "missing_record", leafIndex: 4, line: 5 },
    ofAsset: { code: "reordered_record", leafIndex: 6, line: 6, eventId: "evt_6" },
  },
  "a line has a second meaning": {
    change: inRecords((lines) => lines.with(1, (lines[1] ?? "").replace("{", '{"leaf_index":9,'))),
    says: { code: "record_malformed", line: 2 },
  },
  "an event differs from its record": {
    change: (files) =>
      withLines(
        files,
        "events.ndjson",
        linesIn(files, "events.ndjson").map((line) =>
          line.includes('"evt_4"') ? line.replace("automated_decision_made", "explanation_provided") : line,
        ),
      ),
    says: { code: "event_differs", file: "events.ndjson", line: 5, eventId: "evt_4" },
    ofAsset: { code: "event_differs", file: "events.ndjson", line: 4, eventId: "evt_4" },
  },
  "an event without a record is put in": {
    change: (files) =>
      withLines(files, "events.ndjson", [
        ...linesIn(files, "events.ndjson"),
        (linesIn(files, "events.ndjson")[0] ?? "").replace("evt_0", "evt_new"),
      ]),
    says: { code: "event_differs", file: "events.ndjson", eventId: "evt_new" },
  },
  "an older checkpoint takes the place of the bundle's": {
    change: (files) => withText(files, "checkpoint", olderCheckpoint),
    says: { code: "not_in_log", line: 1, leafIndex: 0 },
  },
  "the checkpoint is another tenant's": {
    change: (files) => withText(files, "checkpoint", textOf(ofOther, "checkpoint")),
    says: { code: "unknown_key", file: "checkpoint" },
  },
  "the size in the checkpoint is rewritten": {
    change: (files) =>
      withText(files, "checkpoint", textOf(files, "checkpoint").replace(`\n${COUNT}\n`, `\n${COUNT - 1}\n`)),
    says: { code: "bad_signature", file: "checkpoint" },
  },
  "the page for people is rewritten": {
    change: (files) =>
      withText(files, "summary.html", textOf(files, "summary.html").replace("Timeline", "Timetable")),
    says: NOT_ANCHORED,
  },
  "the table of duties is rewritten": {
    change: (files) => withText(files, "obligations.csv", `${textOf(files, "obligations.csv")}x,\r\n`),
    says: NOT_ANCHORED,
  },
  "the anchor is another bundle's": {
    change: (files) => withText(files, "manifest.tlog-proof", textOf(ofOther, "manifest.tlog-proof")),
    says: NOT_ANCHORED,
  },
  "the system's key is the tenant's": {
    change: (files) => withText(files, "system-key", textOf(files, "key")),
    says: { code: "key_malformed", file: "system-key" },
  },
  "the system's keys include a stranger's": {
    change: (files) => {
      const keys = textOf(files, "system-key");
      const stranger = createVerifier({
        name: keys.slice(0, keys.indexOf("+")),
        publicKey: new Uint8Array(32).fill(7),
      });
      return withText(files, "system-key", `${keys}${formatVerifierKey(stranger)}\n`);
    },
    says: { code: "key_malformed", file: "system-key" },
  },
};

test("an unchanged bundle is valid, even if it is packed again", async () => {
  for (const files of [whole, ofAsset, ofOther]) {
    const verdict = await verify(pack(files));
    expect(verdict).toMatchObject({ kind: "valid" });
  }
});

describe.each(Object.entries(MUTATIONS))("%s", (_, { change, says, ofAsset: saysOfAsset }) => {
  test("the verifier finds it although the manifest was rewritten", async () => {
    const changed = change(whole);
    const verdict = await verify(pack(withManifest(changed, counted(changed))));
    expect(verdict).toMatchObject({ kind: "invalid", finding: says });
  });

  test("the verifier finds it in a bundle of one asset, although the manifest was rewritten", async () => {
    const changed = change(ofAsset);
    const verdict = await verify(pack(withManifest(changed, counted(changed))));
    expect(verdict).toMatchObject({ kind: "invalid", finding: saysOfAsset ?? says });
  });

  test("the verifier finds it if the manifest was not rewritten", async () => {
    const finding = says === NOT_ANCHORED ? {} : says;
    expect(await verify(pack(change(whole)))).toMatchObject({ kind: "invalid", finding });
    expect(await verify(pack(change(ofAsset)))).toMatchObject({ kind: "invalid" });
  });
});

describe("a manifest with a false member is invalid", () => {
  const lies: Readonly<Record<string, Partial<Manifest>>> = {
    "another tenant": { tenant: "other", origin: "prooftrail/other" },
    "another service": { service: "elsewhere", origin: "elsewhere/acme" },
    "more records": { records: COUNT + 1 },
    "another time": { generated_at: "2020-01-01T00:00:00.000Z" },
    "another asker": { made_by: "someone-else" },
    "not complete": { complete_range: false },
    "a period": { complete_range: false, from: "2026-01-01T00:00:00Z" },
    "another asset": { complete_range: false, asset_id: "other" },
    "another checkpoint": { checkpoint_size: COUNT + 1 },
  };
  test.each(Object.entries(lies))("%s", async (_, members) => {
    expect(await verify(pack(withManifest(whole, members)))).toMatchObject({ kind: "invalid" });
  });

  test("a bundle that claims to be complete must be complete", async () => {
    const members = { complete_range: true, asset_id: null };
    expect(await verify(pack(withManifest(ofAsset, members)))).toMatchObject({
      kind: "invalid",
      finding: { code: "missing_record", leafIndex: 2 },
    });
  });
});

describe("a wrong key", () => {
  /** Somebody who has all records signs everything again with another key. */
  const forged = (): PackedFile[] => {
    const { origin } = manifestOf(whole);
    const forger = createSigningKey(new Uint8Array(32).fill(7)).signerNamed(origin);
    const head = sealedHead(textOf(whole, "checkpoint"));
    if (head === undefined) throw new Error("there is a checkpoint");
    const note = signNote(formatCheckpoint({ origin, size: head.size, root: head.root }), [forger]);
    return withText(withText(whole, "checkpoint", note), "key", `${formatVerifierKey(forger)}\n`);
  };

  test("a checkpoint with another key is not trusted if the auditor gives the key, and not anchored otherwise", async () => {
    const bytes = pack(withManifest(forged()));
    expect(await verify(bytes, { keys: textOf(whole, "key") })).toMatchObject({
      kind: "invalid",
      finding: { code: "unknown_key", file: "checkpoint" },
    });
    expect(await verify(bytes)).toMatchObject({ kind: "invalid", finding: NOT_ANCHORED });
  });

  test("if another key replaces only the bundle's key, no known key has signed the checkpoint", async () => {
    const bytes = pack(withManifest(withText(whole, "key", textOf(forged(), "key"))));
    expect(await verify(bytes)).toMatchObject({ kind: "invalid", finding: { code: "unknown_key" } });
  });

  test("another tenant's key, given by the auditor, is not a key of this log", async () => {
    expect(await verify(pack(whole), { keys: textOf(ofOther, "key") })).toMatchObject({
      kind: "invalid",
      finding: { code: "unknown_key" },
    });
  });
});

describe("a bundle that somebody signed with their own key is invalid if it lies", () => {
  const manifest = (members: Partial<Manifest>) => ({ manifest: members });
  const lies: Readonly<
    Record<string, () => readonly [readonly PackedFile[], Parameters<typeof resigned>[1], string]>
  > = {
    "about more records": () => [whole, manifest({ records: COUNT + 1 }), "manifest_differs"],
    "about withheld records": () => [whole, manifest({ withheld: 1 }), "manifest_differs"],
    "about the first record": () => [
      whole,
      manifest({ first: { leaf_index: 0, sequence: 7 } }),
      "manifest_differs",
    ],
    "about the last record": () => [
      whole,
      manifest({ last: { leaf_index: 1, sequence: 7 } }),
      "manifest_differs",
    ],
    "about the size": () => [whole, manifest({ checkpoint_size: COUNT + 1 }), "manifest_differs"],
    "about the root": () => [
      whole,
      manifest({ checkpoint_root: encodeBase64(new Uint8Array(32)) }),
      "manifest_differs",
    ],
    "about completeness": () => [
      ofAsset,
      manifest({ complete_range: true, asset_id: null }),
      "missing_record",
    ],
    "about completeness although it has a filter": () => [
      whole,
      manifest({ from: "2026-01-01T00:00:00Z" }),
      "manifest_differs",
    ],
    "about a filter that it does not have": () => [
      whole,
      manifest({ complete_range: false }),
      "manifest_differs",
    ],
    "about the asset": () => [ofAsset, manifest({ asset_id: "other" }), "outside_filter"],
    "about a period that begins later": () => [
      ofAsset,
      manifest({ from: "2026-11-20T10:00:00.000000001Z" }),
      "outside_filter",
    ],
    "about a period that ends earlier": () => [
      ofAsset,
      manifest({ to: "2026-11-20T10:00:00Z" }),
      "outside_filter",
    ],
    "about a malformed period": () => [ofAsset, manifest({ from: "last week" }), "outside_filter"],
    "about a file's content": () => [
      whole,
      manifest({
        files: manifestOf(withManifest(whole)).files.map((file) => ({ ...file, sha256: "0".repeat(64) })),
      }),
      "damaged_file",
    ],
    "in an event of another type": () => [whole, { eventType: "system.export_taken" }, "not_anchored"],
    "in another tenant's event": () => [whole, { tenant: "acme" }, "not_anchored"],
    "in an event about another tenant": () => [whole, { metadata: { tenant: "other" } }, "not_anchored"],
    "in an event about more records": () => [whole, { metadata: { records: 1 } }, "not_anchored"],
    "in an event about another manifest": () => [
      whole,
      { metadata: { manifest_sha256: "0".repeat(64) } },
      "not_anchored",
    ],
    "in an event of another key": () => [whole, { metadata: { actor: "else" } }, "not_anchored"],
    "in an event of another request": () => [whole, { metadata: { request_id: "else" } }, "not_anchored"],
  };

  test("such a bundle fails with the auditor's key, and is consistent without it", async () => {
    const bytes = pack(resigned(whole));
    expect(await verify(bytes)).toMatchObject({ kind: "valid", facts: { isKeyPinned: false } });
    expect(await verify(bytes, { keys: textOf(whole, "key") })).toMatchObject({
      kind: "invalid",
      finding: { code: "unknown_key" },
    });
  });

  test("if the forger kept the service's checkpoint, the verdict lists the forger's key too, so that an auditor can compare it", async () => {
    const fewer = inBoth(without(2, 1))(ofAsset);
    const bytes = pack(resigned(fewer, { manifest: counted(fewer), keepsCheckpoint: true }));
    const verdict = await verify(bytes);
    const own = formatVerifierKey(
      createSigningKey(new Uint8Array(32).fill(7)).signerNamed("prooftrail/acme"),
    );
    expect(verdict).toMatchObject({
      kind: "valid",
      facts: { isKeyPinned: false, keys: [textOf(ofAsset, "key").trim(), own] },
    });
    expect(await verify(bytes, { keys: textOf(ofAsset, "key") })).toMatchObject({
      kind: "invalid",
      finding: NOT_ANCHORED,
    });
  });

  test.each(Object.entries(lies))("%s", async (_, lie) => {
    const [files, told, code] = lie();
    expect(await verify(pack(resigned(files, told)))).toMatchObject({ kind: "invalid", finding: { code } });
  });

  test("a period that contains the times of all events is no lie", async () => {
    const period = { from: "2026-11-20T10:00:00+00:00", to: "2026-11-20T10:00:00.000000001Z" };
    expect(await verify(pack(resigned(ofAsset, manifest(period))))).toMatchObject({ kind: "valid" });
  });

  test("about a leaf that is not a record", async () => {
    const payload = new TextEncoder().encode('{"tenant":"acme"}');
    const line = JSON.stringify({
      leaf_index: 0,
      sequence: 1,
      leaf: encodeBase64(payload),
      inclusion_proof: [],
    });
    const files = withLines(withLines(whole, "records.ndjson", [line]), "events.ndjson", []);
    expect(await verify(pack(resigned(files, { payload })))).toMatchObject({
      kind: "invalid",
      finding: { code: "record_malformed", line: 1, leafIndex: 0 },
    });
  });
});

/** What the container looks like means nothing: INVALID is said only of content. */
describe("a bundle that another program packed", () => {
  const deflate = (file: PackedFile) => ({ ...file });
  const store = (file: PackedFile) => ({ ...file, packed: { method: 0, bytes: file.content } });
  const within = (folder: string) => (file: PackedFile) => ({ ...file, name: `${folder}${file.name}` });
  const folderEntry = (name: string) => ({ name, content: new Uint8Array(0), packed: NOTHING });
  const NOTHING = { method: 0, bytes: new Uint8Array(0) };
  const described = (isSigned: boolean, sizes: 4 | 8) => (file: PackedFile) => ({
    ...file,
    descriptor: { isSigned, sizes },
  });
  const timeExtra = Buffer.from("5554050003a1b2c368", "hex");
  const litter = ["__MACOSX/evidence/._key", "evidence/.DS_Store", "evidence/Thumbs.db"].map((name) => ({
    name,
    content: Buffer.from("x"),
  }));
  const forms: Readonly<Record<string, () => Uint8Array>> = {
    "deflated again, without data descriptors": () => writeZip(whole.map(deflate)),
    "stored, in the order of names": () =>
      writeZip(whole.toSorted((a, b) => (a.name < b.name ? -1 : 1)).map(store)),
    "in the opposite order": () => writeZip(whole.toReversed().map(deflate)),
    "with other time stamps, extra fields and a comment": () =>
      writeZip(
        whole.map((file) => ({ ...file, extra: timeExtra })),
        { dosTime: 0x12345678, comment: "evidence of November" },
      ),
    "with data descriptors without a signature": () => writeZip(whole.map(described(false, 4))),
    "with ZIP64 sizes behind the data": () => writeZip(whole.map(described(true, 8))),
    "as ZIP64": () => writeZip(whole.map(deflate), { is64: true }),
    "with the folder": () => writeZip([folderEntry("evidence/"), ...whole.map(within("evidence/"))]),
    "with the folder, by a program that writes backslashes": () => writeZip(whole.map(within("evidence\\"))),
    "on macOS and Windows, with their own files": () =>
      writeZip([...whole.map(within("evidence/")), ...litter]),
    "by fflate": () =>
      zipSync(Object.fromEntries(whole.map(({ name, content }) => [name, new Uint8Array(content)]))),
  };
  test.each(Object.entries(forms))("%s, has the same verdict", async (form, make) => {
    const original = await verify(pack(whole));
    if (original.kind !== "valid") throw new Error(JSON.stringify(original));
    const notes = form.includes("their own files") ? [expect.stringContaining("evidence/.DS_Store")] : [];
    expect(await verify(make())).toEqual({ kind: "valid", facts: { ...original.facts, notes } });
  });

  test.each(Object.entries(forms))("%s, does not hide a change", async (_, make) => {
    const kept = whole;
    whole = MUTATIONS["an event differs from its record"]?.change(whole) ?? [];
    try {
      expect(await verify(make())).toMatchObject({ kind: "invalid", finding: { code: "event_differs" } });
    } finally {
      whole = kept;
    }
  });
});

const isPage = ({ name }: PackedFile): boolean => name === "verify.html";
const withoutPage = (): PackedFile[] => whole.filter((file) => !isPage(file));

test("a bundle of the first version, as 0.1.0 made them, is valid", async () => {
  const files = resigned(withoutPage(), { manifest: { version: 1 } });
  expect(manifestOf(files)).toMatchObject({ version: 1, files: { length: LISTED_FILES.length - 1 } });
  expect(await verify(pack(files))).toMatchObject({ kind: "valid", facts: { records: COUNT } });
});

describe("a ZIP that lacks files of the bundle, or holds others, is invalid", () => {
  const notes = { name: "notes.txt", content: new Uint8Array(1) };
  const content: Readonly<Record<string, () => readonly [Uint8Array, object]>> = {
    "a file too many": () => [pack([...whole, notes]), { code: "other_files", file: "notes.txt" }],
    "a file too few": () => [pack(whole.toSpliced(2, 1)), { code: "other_files", file: "events.csv" }],
    "no page that verifies": () => [pack(withoutPage()), { code: "other_files", file: "verify.html" }],
    "a page in a bundle of the first version": () => [
      pack([...resigned(withoutPage(), { manifest: { version: 1 } }), ...whole.filter(isPage)]),
      { code: "other_files", file: "verify.html" },
    ],
    "a name in capitals": () => [
      pack(whole.map((file) => (file.name === "key" ? { ...file, name: "KEY" } : file))),
      { code: "other_files", file: "key" },
    ],
    "a file that cannot be inflated": () => [
      writeZip(whole.map((file) => (file.name === "records.ndjson" ? { ...file, packed: GARBAGE } : file))),
      { code: "damaged_file", file: "records.ndjson" },
    ],
  };
  const GARBAGE = { method: 8, bytes: Buffer.from("no deflated bytes") };
  test.each(Object.entries(content))("%s", async (_, make) => {
    const [changed, finding] = make();
    expect(await verify(changed)).toMatchObject({ kind: "invalid", finding });
  });

  test("the error for a damaged part of the records names the last whole record", async () => {
    const changed = new Uint8Array(pack(whole));
    for (let place = 300; place < 330; place++) changed[place] = 255 - (changed[place] ?? 0);
    expect(await verify(changed)).toMatchObject({ kind: "invalid", finding: { file: "records.ndjson" } });
  });

  test("a small file that unpacks to far more than it may have is read no further", async () => {
    const bomb = deflateRawSync(Buffer.alloc(64 * 1024 * 1024));
    for (const name of ["records.ndjson", "events.csv", "manifest.json", "key"] as const) {
      const packed = { method: 8, bytes: bomb };
      const files = whole.map((file) => (file.name === name ? { ...file, packed } : file));
      const opened = await openZip(sourceOf(writeZip(files)));
      if (opened.kind !== "opened") throw new Error(JSON.stringify(opened));
      const { names, besides, chunks } = opened.files;
      let inflated = 0;
      const counted = async function* (of: string) {
        for await (const chunk of chunks(of)) {
          if (of === name) inflated += chunk.length;
          yield chunk;
        }
      };
      const verdict = await verifyEvidence({ bundle: { names, besides, chunks: counted } });
      expect(verdict).toMatchObject({ kind: "invalid", finding: { file: name } });
      expect(inflated).toBeLessThan(4 * 1024 * 1024);
    }
  });
});

describe("a ZIP that programs would read in different ways, or cannot read, is not decided", () => {
  const bytes = () => pack(whole);
  const withFirst = (change: Partial<ZipFile>): Uint8Array =>
    writeZip(whole.map((file, index) => (index === 0 ? { ...file, ...change } : file)));
  const GAP = Buffer.from("hidden bytes, more than a data descriptor has");
  const undecided: Readonly<Record<string, () => readonly [Uint8Array, string]>> = {
    "bytes behind the end": () => [Buffer.concat([bytes(), Buffer.from("more")]), "added behind it"],
    "a second ZIP behind it": () => [Buffer.concat([bytes(), bytes()]), "put in or taken out"],
    "bytes in front": () => [Buffer.concat([Buffer.from("#!"), bytes()]), "put in or taken out"],
    "cut off": () => [bytes().subarray(0, -1), "Download it again"],
    "cut in the middle": () => [bytes().subarray(0, bytes().length / 2), "Download it again"],
    nothing: () => [new Uint8Array(0), "no ZIP"],
    "an empty ZIP": () => [writeZip([]), "no evidence bundle"],
    "another ZIP": () => [
      writeZip([{ name: "word/document.xml", content: Buffer.from("<x/>") }]),
      "There are document.xml.",
    ],
    "a file twice": () => [pack([...whole, ...whole.slice(0, 1)]), "records.ndjson twice"],
    "bytes before a file": () => [withFirst({ gapBefore: GAP }), "stand before records.ndjson"],
    "bytes before the directory": () => [
      writeZip(whole, { gapBeforeDirectory: GAP }),
      "stand before the directory",
    ],
    "a file with another name of its own": () => [withFirst({ localName: "records.ndjsOn" }), "another name"],
    "an encrypted file": () => [withFirst({ flags: 1 }), "encrypted"],
    "a compression of its own": () => [
      withFirst({ packed: { method: 93, bytes: Buffer.from("zstd") } }),
      "method 93",
    ],
    ...Object.fromEntries(
      ["../key", "/etc/passwd", "evidence/../../key", "C:\\key", "..\\key"].map((name) => [
        `the path ${name}`,
        () => [pack([...whole, { name, content: new Uint8Array(1) }]), "Do not unpack it"] as const,
      ]),
    ),
  };
  test.each(Object.entries(undecided))("%s", async (_, make) => {
    const [changed, detail] = make();
    expect(await verify(changed)).toEqual({ kind: "undecided", detail: expect.stringContaining(detail) });
  });

  test("entries that share their data, as ZIP bombs have them, are refused before they are read", async () => {
    const one = writeZip([{ name: "key", content: Buffer.alloc(1000) }]);
    const directoryFrom = one.readUInt32LE(one.length - 6);
    const header = one.subarray(directoryFrom, one.length - 22);
    const again = Buffer.from(header);
    again.write("kex", 46);
    const end = Buffer.from(one.subarray(-22));
    end.writeUInt32LE(header.length * 2, 12);
    const shared = Buffer.concat([one.subarray(0, directoryFrom), header, again, end]);
    expect((await verify(shared)).kind).toBe("undecided");
  });

  /** A byte that only the container has may change without effect: then the content is the same. */
  test("no single byte can be changed so that other content is valid", async () => {
    const original = bytes();
    const contents = await unpack(original);
    await fc.assert(
      fc.asyncProperty(
        fc.nat({ max: original.length - 1 }),
        fc.integer({ min: 1, max: 255 }),
        async (place, difference) => {
          const changed = new Uint8Array(original);
          changed[place] = (changed[place] ?? 0) ^ difference;
          if ((await verify(changed)).kind === "valid") expect(await unpack(changed)).toEqual(contents);
        },
      ),
      { numRuns: 600 },
    );
  });

  test("the verifier neither accepts made-up bytes nor throws on them", async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 400 }), async (made) => {
        expect((await verify(made)).kind).toBe("undecided");
      }),
      { numRuns: 200 },
    );
  });
});

/** As while keys are changed: two keys sign, and one that has signed only verifies. So every file has several lines. */
describe("a bundle with several keys is valid only if each file is unchanged", () => {
  let files: readonly PackedFile[] = [];
  const seeds = [1, 2, 3].map((byte) => byte.toString(16).padStart(2, "0").repeat(32));
  const [first = "", second = "", retired = ""] = seeds;
  const publicHex = Buffer.from(createSigningKey(Buffer.from(retired, "hex")).publicKey).toString("hex");

  beforeAll(async () => {
    await using rotating = await startTestService({
      CHECKPOINT_INTERVAL: "50ms",
      CHECKPOINT_KEY: `${first},${second},public:${publicHex}`,
    });
    const key = await rotating.makeKey("acme");
    const events = [0, 1, 2].map((index) => event({ event_id: `evt_${index}` }));
    await rotating.call("/v1/events/batch", { key, body: { events } });
    files = await unpack(await evidence(rotating, "asset_id=credit_model", key));
  });

  const withBytes = (name: BundleFile, content: Uint8Array): Uint8Array =>
    pack(files.map((file) => (file.name === name ? { name, content } : file)));
  const kindOf = async (name: BundleFile, text: string): Promise<string> =>
    (await verify(withBytes(name, Buffer.from(text)))).kind;

  test("every file that names keys has all of them", async () => {
    expect(await verify(pack(files))).toMatchObject({ kind: "valid" });
    for (const name of ["key", "system-key"] as const)
      expect(textOf(files, name).trim().split("\n")).toHaveLength(seeds.length);
  });

  /** One signature of the service may be missing if another one stays, which proves as much by itself (C2SP signed-note, Signatures). */
  const isSignatureBesideAnother = (name: BundleFile, line: string): boolean =>
    name === "manifest.tlog-proof" && line.startsWith("\u2014 ");

  test.each(BUNDLE_FILES)("%s: no line can be removed, repeated or moved", async (name) => {
    const lines = textOf(files, name).split("\n");
    const without = (at: number) => lines.toSpliced(at, 1).join("\n");
    const repeated = (at: number) => lines.toSpliced(at, 0, lines[at] ?? "").join("\n");
    const swapped = (at: number) => lines.toSpliced(at, 2, lines[at + 1] ?? "", lines[at] ?? "").join("\n");
    const passed: string[] = [];
    for (const [at, line] of lines.entries()) {
      if (at === lines.length - 1) break;
      const changes: Record<string, string> = {
        without: without(at),
        repeated: repeated(at),
        ...(at + 2 < lines.length && { swapped: swapped(at) }),
      };
      for (const [change, text] of Object.entries(changes)) {
        if (text === textOf(files, name)) continue;
        if (change !== "repeated" && isSignatureBesideAnother(name, line)) continue;
        if ((await kindOf(name, text)) !== "invalid") passed.push(`${change} ${at}: ${line}`);
      }
    }
    expect(passed).toEqual([]);
  });

  /** For files with a digest in the manifest a sample is enough. In the others every third byte is changed in one of three ways; another run picks others. */
  test.each(BUNDLE_FILES)("%s: no byte can be changed, removed or added", async (name) => {
    const content = Buffer.from(textOf(files, name));
    const step = LISTED_FILES.some((listed) => listed === name) ? Math.ceil(content.length / 40) : 3;
    const ways = [
      (at: number) => content.with(at, (content[at] ?? 0) ^ (1 << (at % 8))),
      (at: number) => Buffer.concat([content.subarray(0, at), content.subarray(at + 1)]),
      (at: number) => Buffer.concat([content.subarray(0, at), Buffer.from(" "), content.subarray(at)]),
    ];
    const [first, start] = [Math.floor(Math.random() * ways.length), Math.floor(Math.random() * step)];
    const passed: string[] = [];
    for (let at = start; at < content.length; at += step) {
      const way = (first + Math.floor(at / step)) % ways.length;
      const changed = ways[way]?.(at) ?? content;
      if ((await verify(withBytes(name, changed))).kind !== "invalid") passed.push(`way ${way} at ${at}`);
    }
    expect(passed).toEqual([]);
  });

  test("if the anchor has two signatures, each one is enough: without one the verdict is the same, unless the auditor trusts only that one", async () => {
    const lines = textOf(files, "manifest.tlog-proof").split("\n");
    const signatures = lines.flatMap((line, at) => (line.startsWith("\u2014 ") ? [at] : []));
    const keys = textOf(files, "key").split("\n");
    const original = await verify(pack(files));
    const left = async (gone: readonly number[], pinned?: string) => {
      const text = lines.filter((_, at) => !gone.includes(at)).join("\n");
      const changed = withBytes("manifest.tlog-proof", Buffer.from(text));
      return verify(changed, { keys: pinned });
    };
    expect(signatures).toHaveLength(2);
    const [one, other] = signatures;
    expect(await left([other ?? 0])).toEqual(original);
    expect(await left([other ?? 0], keys[0])).toMatchObject({ kind: "valid", facts: { isKeyPinned: true } });
    expect(await left([other ?? 0], keys[1])).toMatchObject({ kind: "invalid", finding: NOT_ANCHORED });
    // The first signature decides the order of system-key.
    expect(await left([one ?? 0])).toMatchObject({
      kind: "invalid",
      finding: { file: "system-key", detail: expect.stringContaining("those first that signed the anchor") },
    });
    expect(await left(signatures)).toMatchObject({ kind: "invalid", finding: NOT_ANCHORED });
  });

  test("a stranger's signature line beside the service's is refused", async () => {
    const note = textOf(files, "manifest.tlog-proof");
    const stranger = createSigningKey(new Uint8Array(32).fill(7)).signerNamed("witness.example");
    const line = signNote("any\n", [stranger]).split("\n").at(-2);
    expect(await verify(withBytes("manifest.tlog-proof", Buffer.from(`${note}${line}\n`)))).toMatchObject({
      kind: "invalid",
      finding: NOT_ANCHORED,
    });
  });
});
