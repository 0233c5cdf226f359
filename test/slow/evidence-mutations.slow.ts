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
import {
  createSigningKey,
  createVerifier,
  formatVerifierKey,
  signNote,
} from "../../src/proof/signed-note.ts";
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
    expect(answer.json.data.accepted).toBe(events.length);
  };
  const bundle = async (key: string, query = "") => unpack(await evidence(service, query, key));
  await send(acme, 0, COUNT / 2);
  await send(other, 0, COUNT);
  olderCheckpoint = textOf(await bundle(acme), "checkpoint");
  await send(acme, COUNT / 2, COUNT);
  [whole, ofAsset, ofOther] = [
    await bundle(acme),
    await bundle(acme, "asset_id=credit_model"),
    await bundle(other),
  ];
});
afterAll(() => service[Symbol.asyncDispose]());

type Files = readonly PackedFile[];
type Lines = (lines: string[]) => string[];
const RECORDS = "records.ndjson";
const EVENTS = "events.ndjson";

const inFile = (name: typeof RECORDS | typeof EVENTS, change: Lines) => (files: Files) =>
  withLines(files, name, change(linesIn(files, name)));
/** Changes both files in the same way, as somebody would who wants nobody to notice. */
const inBoth = (change: Lines) => (files: Files) => inFile(EVENTS, change)(inFile(RECORDS, change)(files));
const without = (from: number, count: number) => inBoth((lines) => lines.toSpliced(from, count));
const inText = (name: BundleFile, change: (text: string, files: Files) => string) => (files: Files) =>
  withText(files, name, change(textOf(files, name), files));

/** Replaces the payload of the record at a line. */
const inRecord = (at: number, change: (payload: string) => string) =>
  inFile(RECORDS, (lines) => {
    const { leaf_index, sequence, leaf, inclusion_proof } = JSON.parse(lines[at] ?? "");
    const payload = new TextDecoder().decode(decodeBase64(leaf));
    const changed = encodeBase64(new TextEncoder().encode(change(payload)));
    return lines.with(at, JSON.stringify({ leaf_index, sequence, leaf: changed, inclusion_proof }));
  });

const earlier = (text: string): string => text.replace("2026-11-20T10:00:00Z", "2026-10-20T10:00:00Z");
const SEQUENCE = /"sequence":\d+/;
const sequenceIn = (line = ""): string => SEQUENCE.exec(line)?.[0] ?? "";
/** The line at `at`, with the sequence of the one at `as`. */
const renumbered = (lines: readonly string[], at: number, as: number): string =>
  (lines[at] ?? "").replace(SEQUENCE, sequenceIn(lines[as]));

/** What the manifest must say of these files. */
const counted = (files: Files): Partial<Manifest> => {
  const lines = linesIn(files, RECORDS).map((line) => JSON.parse(line));
  const place = ({ leaf_index = 0, sequence = 0 } = {}) => ({ leaf_index, sequence });
  return { records: lines.length, first: place(lines.at(0)), last: place(lines.at(-1)) };
};

const STRANGER = createSigningKey(new Uint8Array(32).fill(7));
const NOT_ANCHORED = { code: "not_anchored", file: "manifest.tlog-proof" };

/** The change; the finding on the bundle of the whole tenant with the manifest rewritten; that on the bundle of one asset, if it is another. */
type Mutation = readonly [change: (files: Files) => PackedFile[], says: object, ofAsset?: object];

const MUTATIONS: Readonly<Record<string, Mutation>> = {
  "one record is deleted": [without(7, 1), { code: "missing_record", leafIndex: 7, line: 8 }, NOT_ANCHORED],
  "the first record is deleted": [
    without(0, 1),
    { code: "missing_record", leafIndex: 0, line: 1 },
    NOT_ANCHORED,
  ],
  "the tail is cut": [without(10, COUNT), { code: "missing_record", leafIndex: 10, line: 11 }, NOT_ANCHORED],
  "two records change places": [
    inBoth((lines) => lines.toSpliced(4, 2, lines[5] ?? "", lines[4] ?? "")),
    { code: "missing_record", leafIndex: 4, line: 5 },
    { code: "reordered_record", leafIndex: 6, line: 6, eventId: "evt_6" },
  ],
  "two records change places and keep the sequences": [
    inBoth((lines) => lines.toSpliced(4, 2, renumbered(lines, 5, 4), renumbered(lines, 4, 5))),
    { code: "missing_record", leafIndex: 4, line: 5 },
    { code: "reordered_record", leafIndex: 6, line: 6, eventId: "evt_6" },
  ],
  "a record stands twice": [
    inBoth((lines) => lines.toSpliced(4, 0, lines[3] ?? "")),
    { code: "duplicate_record", line: 5, eventId: "evt_3" },
    { code: "duplicate_record", line: 5, eventId: "evt_4" },
  ],
  "a record is backdated": [
    (files) => inFile(EVENTS, (lines) => lines.with(5, earlier(lines[5] ?? "")))(inRecord(5, earlier)(files)),
    { code: "not_in_log", line: 6, leafIndex: 5, eventId: "evt_5" },
    { code: "not_in_log", line: 6, leafIndex: 7, eventId: "evt_7" },
  ],
  "one bit of a record is flipped": [
    inRecord(2, (payload) => payload.replace("credit_model", "credit_mod%l").replace("rest", "sest")),
    { code: "not_in_log", line: 3, leafIndex: 2 },
    { code: "not_in_log", line: 3, leafIndex: 3 },
  ],
  "a record is another tenant's": [
    inFile(RECORDS, (lines) =>
      lines.with(3, linesIn(ofOther, RECORDS)[JSON.parse(lines[3] ?? "").leaf_index] ?? ""),
    ),
    { code: "other_tenant", line: 4 },
  ],
  "the tenant in a record is rewritten": [
    inRecord(3, (payload) => payload.replace('"tenant":"acme"', '"tenant":"omce"')),
    { code: "other_tenant", line: 4, leafIndex: 3, eventId: "evt_3" },
    { code: "other_tenant", line: 4, eventId: "evt_4" },
  ],
  "the last sequence is rewritten": [
    inBoth((lines) => lines.with(-1, (lines.at(-1) ?? "").replace(SEQUENCE, '"sequence":9999'))),
    NOT_ANCHORED,
  ],
  "a sequence is another's": [
    inBoth((lines) => lines.with(4, renumbered(lines, 4, 3))),
    { code: "reordered_record", line: 5, eventId: "evt_4" },
    { code: "reordered_record", line: 5, eventId: "evt_6" },
  ],
  "a line has a second meaning": [
    inFile(RECORDS, (lines) => lines.with(1, (lines[1] ?? "").replace("{", '{"leaf_index":9,'))),
    { code: "record_malformed", line: 2 },
  ],
  "the last line does not end": [
    inText(RECORDS, (text) => text.slice(0, -1)),
    { code: "record_malformed", file: RECORDS },
  ],
  "a line is no text": [
    (files) =>
      files.map((file) =>
        file.name === RECORDS ? { ...file, content: new Uint8Array(file.content).with(60, 0xff) } : file,
      ),
    { code: "record_malformed", line: 1 },
  ],
  "an event differs from its record": [
    inFile(EVENTS, (lines) =>
      lines.map((line) =>
        line.includes('"evt_4"') ? line.replace("automated_decision_made", "explanation_provided") : line,
      ),
    ),
    { code: "event_differs", file: EVENTS, line: 5, eventId: "evt_4" },
    { code: "event_differs", file: EVENTS, line: 4, eventId: "evt_4" },
  ],
  "the last event is missing": [
    inFile(EVENTS, (lines) => lines.slice(0, -1)),
    { code: "event_differs", file: EVENTS, line: COUNT },
    { code: "event_differs", file: EVENTS },
  ],
  "an event without a record is put in": [
    inFile(EVENTS, (lines) => [...lines, (lines[0] ?? "").replace("evt_0", "evt_new")]),
    { code: "event_differs", file: EVENTS, eventId: "evt_new" },
  ],
  "an older checkpoint takes the place of the bundle's": [
    inText("checkpoint", () => olderCheckpoint),
    { code: "not_in_log", line: 1, leafIndex: 0 },
  ],
  "the checkpoint is another tenant's": [
    inText("checkpoint", () => textOf(ofOther, "checkpoint")),
    { code: "unknown_key", file: "checkpoint" },
  ],
  "the size in the checkpoint is rewritten": [
    inText("checkpoint", (text) => text.replace(`\n${COUNT}\n`, `\n${COUNT - 1}\n`)),
    { code: "bad_signature", file: "checkpoint" },
  ],
  "the key is a stranger's": [
    inText("key", (_, files) => textOf(resigned(files), "key")),
    { code: "unknown_key", file: "checkpoint" },
  ],
  "key and checkpoint are a stranger's": [
    (files) => {
      const { origin } = manifestOf(files);
      const note = textOf(files, "checkpoint");
      const key = STRANGER.signerNamed(origin);
      const signed = signNote(note.slice(0, note.indexOf("\n\n") + 1), [key]);
      return withText(withText(files, "checkpoint", signed), "key", `${formatVerifierKey(key)}\n`);
    },
    NOT_ANCHORED,
  ],
  "the page for people is rewritten": [
    inText("summary.html", (text) => text.replace("Timeline", "Timetable")),
    NOT_ANCHORED,
  ],
  "the table of duties is rewritten": [inText("obligations.csv", (text) => `${text}x,\r\n`), NOT_ANCHORED],
  "the anchor is another bundle's": [
    inText("manifest.tlog-proof", () => textOf(ofOther, "manifest.tlog-proof")),
    NOT_ANCHORED,
  ],
  "the system's key is the tenant's": [
    inText("system-key", (_, files) => textOf(files, "key")),
    { code: "key_malformed", file: "system-key" },
  ],
  "the system's keys include a stranger's": [
    inText("system-key", (keys) => {
      const name = keys.slice(0, keys.indexOf("+"));
      const { publicKey } = STRANGER;
      return `${keys}${formatVerifierKey(createVerifier({ name, publicKey }))}\n`;
    }),
    { code: "key_malformed", file: "system-key" },
  ],
};

test("an unchanged bundle is valid, even if it is packed again", async () => {
  for (const files of [whole, ofAsset, ofOther])
    expect(await verify(pack(files))).toMatchObject({ kind: "valid" });
});

test.each(Object.entries(MUTATIONS))(
  "%s: the verifier finds it in a bundle of all and of one asset, also if the manifest was rewritten",
  async (_, [change, says, saysOfAsset = says]) => {
    for (const [files, finding] of [
      [whole, says],
      [ofAsset, saysOfAsset],
    ] as const) {
      const changed = change(files);
      const rewritten = await verify(pack(withManifest(changed, counted(changed))));
      expect(rewritten).toMatchObject({ kind: "invalid", finding });
      expect(await verify(pack(changed))).toMatchObject({ kind: "invalid" });
    }
    if (says !== NOT_ANCHORED)
      expect(await verify(pack(change(whole)))).toMatchObject({ kind: "invalid", finding: says });
  },
);

describe("a bundle that somebody signed with their own key", () => {
  const manifest = (members: Partial<Manifest>) => ({ manifest: members });
  const noDigest = (): Partial<Manifest> => ({
    files: manifestOf(withManifest(whole)).files.map((file) => ({ ...file, sha256: "0".repeat(64) })),
  });
  /** Lies in the bundle of the whole tenant, and in that of one asset. */
  const lies: Readonly<Record<string, readonly [() => Parameters<typeof resigned>[1], string]>> = {
    "about more records": [() => manifest({ records: COUNT + 1 }), "manifest_differs"],
    "about withheld records": [() => manifest({ withheld: 1 }), "manifest_differs"],
    "about the first record": [() => manifest({ first: { leaf_index: 0, sequence: 7 } }), "manifest_differs"],
    "about the last record": [() => manifest({ last: { leaf_index: 1, sequence: 7 } }), "manifest_differs"],
    "about the size": [() => manifest({ checkpoint_size: COUNT + 1 }), "manifest_differs"],
    "about the root": [
      () => manifest({ checkpoint_root: encodeBase64(new Uint8Array(32)) }),
      "manifest_differs",
    ],
    "about completeness although it has a filter": [
      () => manifest({ from: "2026-01-01T00:00:00Z" }),
      "manifest_differs",
    ],
    "about a filter that it does not have": [() => manifest({ complete_range: false }), "manifest_differs"],
    "about its tenant": [() => manifest({ tenant: "other", origin: "prooftrail/other" }), "key_malformed"],
    "about its service": [() => manifest({ service: "elsewhere" }), "other_tenant"],
    "about a file's content": [() => manifest(noDigest()), "damaged_file"],
    "in an event of another type": [() => ({ eventType: "system.export_taken" }), "not_anchored"],
    "in another tenant's event": [() => ({ tenant: "acme" }), "not_anchored"],
    "in an event about another tenant": [() => ({ metadata: { tenant: "other" } }), "not_anchored"],
    "in an event about more records": [() => ({ metadata: { records: 1 } }), "not_anchored"],
    "in an event about another manifest": [
      () => ({ metadata: { manifest_sha256: "0".repeat(64) } }),
      "not_anchored",
    ],
    "in an event of another key": [() => ({ metadata: { actor: "else" } }), "not_anchored"],
    "in an event of another request": [() => ({ metadata: { request_id: "else" } }), "not_anchored"],
  };
  test.each(Object.entries(lies))("is invalid if it lies %s", async (_, [lie, code]) => {
    expect(await verify(pack(resigned(whole, lie())))).toMatchObject({ kind: "invalid", finding: { code } });
  });

  const liesOfAsset: readonly (readonly [Partial<Manifest>, string])[] = [
    [{ complete_range: true, asset_id: null }, "missing_record"],
    [{ asset_id: "other" }, "outside_filter"],
    [{ from: "2026-11-20T10:00:00.000000001Z" }, "outside_filter"],
    [{ to: "2026-11-20T10:00:00Z" }, "outside_filter"],
    [{ from: "last week" }, "outside_filter"],
  ];
  test.each(liesOfAsset)("is invalid if it is about one asset and says %j", async (lie, code) => {
    const verdict = await verify(pack(resigned(ofAsset, manifest(lie))));
    expect(verdict).toMatchObject({ kind: "invalid", finding: { code } });
  });

  test("is consistent if it tells the truth, and invalid with the auditor's key", async () => {
    const period = { from: "2026-11-20T10:00:00+00:00", to: "2026-11-20T10:00:00.000000001Z" };
    for (const files of [resigned(whole), resigned(ofAsset, manifest(period))])
      expect(await verify(pack(files))).toMatchObject({ kind: "valid", facts: { isKeyPinned: false } });
    for (const [files, keys] of [
      [resigned(whole), textOf(whole, "key")],
      [whole, textOf(ofOther, "key")],
    ] as const)
      expect(await verify(pack(files), { keys })).toMatchObject({
        kind: "invalid",
        finding: { code: "unknown_key", file: "checkpoint" },
      });
  });

  test("shows the forger's key too if the service's checkpoint was kept, so that an auditor can compare it", async () => {
    const fewer = without(2, 1)(ofAsset);
    const bytes = pack(resigned(fewer, { manifest: counted(fewer), keepsCheckpoint: true }));
    const keys = textOf(ofAsset, "key");
    const own = formatVerifierKey(STRANGER.signerNamed("prooftrail/acme"));
    expect(await verify(bytes)).toMatchObject({
      kind: "valid",
      facts: { isKeyPinned: false, keys: [keys.trim(), own] },
    });
    expect(await verify(bytes, { keys })).toMatchObject({ kind: "invalid", finding: NOT_ANCHORED });
  });

  test("is invalid if a leaf is not a record", async () => {
    const payload = new TextEncoder().encode('{"tenant":"acme"}');
    const line = { leaf_index: 0, sequence: 1, leaf: encodeBase64(payload), inclusion_proof: [] };
    const files = inFile(EVENTS, () => [])(inFile(RECORDS, () => [JSON.stringify(line)])(whole));
    expect(await verify(pack(resigned(files, { payload })))).toMatchObject({
      kind: "invalid",
      finding: { code: "record_malformed", line: 1, leafIndex: 0 },
    });
  });
});

const STORED_NOTHING = { method: 0, bytes: new Uint8Array(0) };
const within = (folder: string) => (file: PackedFile) => ({ ...file, name: `${folder}${file.name}` });
const described = (isSigned: boolean, sizes: 4 | 8) => (file: PackedFile) => ({
  ...file,
  descriptor: { isSigned, sizes },
});
const litter = ["__MACOSX/evidence/._key", "evidence/.DS_Store", "evidence/Thumbs.db"].map((name) => ({
  name,
  content: Buffer.from("x"),
}));
const TIME_EXTRA = Buffer.from("5554050003a1b2c368", "hex");

/** What the container looks like means nothing: INVALID is said only of content. */
const FORMS: Readonly<Record<string, (files: Files) => Uint8Array>> = {
  "deflated again, without data descriptors": (files) => writeZip(files),
  "stored, in the order of names": (files) =>
    writeZip(
      files
        .toSorted((a, b) => (a.name < b.name ? -1 : 1))
        .map((file) => ({ ...file, packed: { method: 0, bytes: file.content } })),
    ),
  "in the opposite order": (files) => writeZip(files.toReversed()),
  "with other time stamps, extra fields and a comment": (files) =>
    writeZip(
      files.map((file) => ({ ...file, extra: TIME_EXTRA })),
      { dosTime: 0x12345678, comment: "evidence of November" },
    ),
  "with data descriptors without a signature": (files) => writeZip(files.map(described(false, 4))),
  "with ZIP64 sizes behind the data": (files) => writeZip(files.map(described(true, 8))),
  "as ZIP64": (files) => writeZip(files, { is64: true }),
  "with the folder": (files) =>
    writeZip([
      { name: "evidence/", content: new Uint8Array(0), packed: STORED_NOTHING },
      ...files.map(within("evidence/")),
    ]),
  "with the folder, by a program that writes backslashes": (files) =>
    writeZip(files.map(within("evidence\\"))),
  "on macOS and Windows, with their own files": (files) =>
    writeZip([...files.map(within("evidence/")), ...litter]),
  "by fflate": (files) =>
    zipSync(Object.fromEntries(files.map(({ name, content }) => [name, new Uint8Array(content)]))),
};
test.each(Object.entries(FORMS))(
  "a bundle packed %s has the same verdict, and does not hide a change",
  async (form, packed) => {
    const original = await verify(pack(whole));
    if (original.kind !== "valid") throw new Error(JSON.stringify(original));
    const notes = form.includes("their own files") ? [expect.stringContaining("evidence/.DS_Store")] : [];
    expect(await verify(packed(whole))).toEqual({ kind: "valid", facts: { ...original.facts, notes } });
    const [change] = MUTATIONS["an event differs from its record"] ?? [];
    const changed = await verify(packed(change?.(whole) ?? []));
    expect(changed).toMatchObject({ kind: "invalid", finding: { code: "event_differs" } });
  },
);

const isPage = ({ name }: PackedFile): boolean => name === "verify.html";
const withoutPage = (): PackedFile[] => whole.filter((file) => !isPage(file));
const ofFirstVersion = () => resigned(withoutPage(), { manifest: { version: 1 } });

test("a bundle of the first version, as 0.1.0 made them, is valid", async () => {
  expect(manifestOf(ofFirstVersion())).toMatchObject({
    version: 1,
    files: { length: LISTED_FILES.length - 1 },
  });
  expect(await verify(pack(ofFirstVersion()))).toMatchObject({ kind: "valid", facts: { records: COUNT } });
});

describe("a ZIP that lacks files of the bundle, or holds others, is invalid", () => {
  const garbage = { method: 8, bytes: Buffer.from("no deflated bytes") };
  const replaced = (name: string, change: Partial<ZipFile>) =>
    whole.map((file) => (file.name === name ? { ...file, ...change } : file));
  const content: readonly [what: string, bytes: () => Uint8Array, finding: object][] = [
    [
      "a file too many",
      () => pack([...whole, { name: "notes.txt", content: new Uint8Array(1) }]),
      { code: "other_files", file: "notes.txt" },
    ],
    ["a file too few", () => pack(whole.toSpliced(2, 1)), { code: "other_files", file: "events.csv" }],
    ["no page that verifies", () => pack(withoutPage()), { code: "other_files", file: "verify.html" }],
    [
      "a page in a bundle of the first version",
      () => pack([...ofFirstVersion(), ...whole.filter(isPage)]),
      { code: "other_files", file: "verify.html" },
    ],
    [
      "a name in capitals",
      () => pack(replaced("key", { name: "KEY" })),
      { code: "other_files", file: "key" },
    ],
    [
      "a file that cannot be inflated",
      () => writeZip(replaced(RECORDS, { packed: garbage })),
      { code: "damaged_file", file: RECORDS },
    ],
    [
      "records that are damaged in the middle",
      () => new Uint8Array(pack(whole)).map((byte, at) => (at >= 300 && at < 330 ? 255 - byte : byte)),
      { file: RECORDS },
    ],
  ];
  test.each(content)("%s", async (_, bytes, finding) => {
    expect(await verify(bytes())).toMatchObject({ kind: "invalid", finding });
  });

  test.each([RECORDS, "events.csv", "manifest.json", "key"] as const)(
    "%s that unpacks to far more than it may have is read no further",
    async (name) => {
      const packed = { method: 8, bytes: deflateRawSync(Buffer.alloc(64 * 1024 * 1024)) };
      const opened = await openZip(sourceOf(writeZip(replaced(name, { packed }))));
      if (opened.kind !== "opened") throw new Error(JSON.stringify(opened));
      const { chunks } = opened.files;
      let inflated = 0;
      const counting = async function* (of: string) {
        for await (const chunk of chunks(of)) {
          if (of === name) inflated += chunk.length;
          yield chunk;
        }
      };
      const verdict = await verifyEvidence({ bundle: { ...opened.files, chunks: counting } });
      expect(verdict).toMatchObject({ kind: "invalid", finding: { file: name } });
      expect(inflated).toBeLessThan(4 * 1024 * 1024);
    },
  );
});

describe("a ZIP that programs would read in different ways, or cannot read, is not decided", () => {
  const bytes = () => pack(whole);
  const withFirst = (change: Partial<ZipFile>): Uint8Array =>
    writeZip(whole.map((file, index) => (index === 0 ? { ...file, ...change } : file)));
  const GAP = Buffer.from("hidden bytes, more than a data descriptor has");
  const zstd = { method: 93, bytes: Buffer.from("zstd") };
  const document = { name: "word/document.xml", content: Buffer.from("<x/>") };
  /** Two entries with the same data, as ZIP bombs have them. */
  const sharing = (): Uint8Array => {
    const one = writeZip([{ name: "key", content: Buffer.alloc(1000) }]);
    const directoryFrom = one.readUInt32LE(one.length - 6);
    const header = one.subarray(directoryFrom, one.length - 22);
    const again = Buffer.from(header);
    again.write("kex", 46);
    const end = Buffer.from(one.subarray(-22));
    end.writeUInt32LE(header.length * 2, 12);
    return Buffer.concat([one.subarray(0, directoryFrom), header, again, end]);
  };
  const undecided: readonly [what: string, bytes: () => Uint8Array, detail: string][] = [
    ["bytes behind the end", () => Buffer.concat([bytes(), Buffer.from("more")]), "added at the end"],
    ["a second ZIP behind it", () => Buffer.concat([bytes(), bytes()]), "added or removed"],
    ["bytes in front", () => Buffer.concat([Buffer.from("#!"), bytes()]), "added or removed"],
    ["cut off", () => bytes().subarray(0, -1), "Download it again"],
    ["cut in the middle", () => bytes().subarray(0, bytes().length / 2), "Download it again"],
    ["nothing", () => new Uint8Array(0), "not a ZIP"],
    ["an empty ZIP", () => writeZip([]), "not an evidence bundle"],
    ["another ZIP", () => writeZip([document]), "It has document.xml."],
    ["a file twice", () => pack([...whole, ...whole.slice(0, 1)]), "records.ndjson twice"],
    ["bytes before a file", () => withFirst({ gapBefore: GAP }), "before records.ndjson"],
    [
      "bytes before the directory",
      () => writeZip(whole, { gapBeforeDirectory: GAP }),
      "before the directory",
    ],
    ["files that share their data", sharing, "another name"],
    ["a file with another name of its own", () => withFirst({ localName: "records.ndjsOn" }), "another name"],
    ["an encrypted file", () => withFirst({ flags: 1 }), "encrypted"],
    ["a compression of its own", () => withFirst({ packed: zstd }), "method 93"],
    ...["../key", "/etc/passwd", "evidence/../../key", "C:\\key", "..\\key"].map(
      (name): [string, () => Uint8Array, string] => [
        `the path ${name}`,
        () => pack([...whole, { name, content: new Uint8Array(1) }]),
        "Do not unpack it",
      ],
    ),
  ];
  test.each(undecided)("%s", async (_, made, detail) => {
    expect(await verify(made())).toEqual({ kind: "undecided", detail: expect.stringContaining(detail) });
  });

  /** A byte that only the container has may change without effect: then the content is the same. */
  test("no single byte can be changed so that other content is valid", async () => {
    const original = bytes();
    const contents = await unpack(original);
    const place = fc.nat({ max: original.length - 1 });
    await fc.assert(
      fc.asyncProperty(place, fc.integer({ min: 1, max: 255 }), async (at, difference) => {
        const changed = new Uint8Array(original);
        changed[at] = (changed[at] ?? 0) ^ difference;
        if ((await verify(changed)).kind === "valid") expect(await unpack(changed)).toEqual(contents);
      }),
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
  let files: Files = [];
  const seeds = [1, 2, 3].map((byte) => byte.toString(16).padStart(2, "0").repeat(32));
  const [first = "", second = "", retired = ""] = seeds;
  const publicHex = Buffer.from(createSigningKey(Buffer.from(retired, "hex")).publicKey).toString("hex");
  const ANCHOR = "manifest.tlog-proof";

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

  test("every file that names keys has all of them", async () => {
    expect(await verify(pack(files))).toMatchObject({ kind: "valid" });
    for (const name of ["key", "system-key"] as const)
      expect(textOf(files, name).trim().split("\n")).toHaveLength(seeds.length);
  });

  test.each(BUNDLE_FILES)("%s: no line can be removed, repeated or moved", async (name) => {
    const original = textOf(files, name);
    const lines = original.split("\n");
    const passed: string[] = [];
    for (const [at, line] of lines.slice(0, -1).entries()) {
      // One signature of the service may be missing if another one stays, which proves as much by itself (C2SP signed-note, Signatures).
      const isSpare = name === ANCHOR && line.startsWith("\u2014 ");
      const changed = [
        lines.toSpliced(at, 0, line),
        ...(isSpare ? [] : [lines.toSpliced(at, 1)]),
        ...(isSpare || at + 2 >= lines.length ? [] : [lines.toSpliced(at, 2, lines[at + 1] ?? "", line)]),
      ];
      for (const text of changed.map((each) => each.join("\n")))
        if (text !== original && (await verify(withBytes(name, Buffer.from(text)))).kind !== "invalid")
          passed.push(`at ${at}: ${line}`);
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
    const [offset, start] = [Math.floor(Math.random() * ways.length), Math.floor(Math.random() * step)];
    const passed: string[] = [];
    for (let at = start; at < content.length; at += step) {
      const way = (offset + Math.floor(at / step)) % ways.length;
      const changed = ways[way]?.(at) ?? content;
      if ((await verify(withBytes(name, changed))).kind !== "invalid") passed.push(`way ${way} at ${at}`);
    }
    expect(passed).toEqual([]);
  });

  test("if the anchor has two signatures, each one is enough: without one the verdict is the same, unless the auditor trusts only that one", async () => {
    const lines = textOf(files, ANCHOR).split("\n");
    const signatures = lines.flatMap((line, at) => (line.startsWith("\u2014 ") ? [at] : []));
    expect(signatures).toHaveLength(2);
    const [one = 0, other = 0] = signatures;
    const left = (gone: readonly number[], keys?: string) => {
      const text = lines.filter((_, at) => !gone.includes(at)).join("\n");
      return verify(withBytes(ANCHOR, Buffer.from(text)), { keys });
    };
    const keys = textOf(files, "key").split("\n");
    expect(await left([other])).toEqual(await verify(pack(files)));
    expect(await left([other], keys[0])).toMatchObject({ kind: "valid", facts: { isKeyPinned: true } });
    expect(await left([other], keys[1])).toMatchObject({ kind: "invalid", finding: NOT_ANCHORED });
    // The first signature decides the order of system-key.
    const detail = expect.stringContaining("with the anchor's signers first");
    expect(await left([one])).toMatchObject({ kind: "invalid", finding: { file: "system-key", detail } });
    expect(await left(signatures)).toMatchObject({ kind: "invalid", finding: NOT_ANCHORED });
  });

  test("a stranger's signature line beside the service's is refused", async () => {
    const line = signNote("any\n", [STRANGER.signerNamed("witness.example")])
      .split("\n")
      .at(-2);
    const content = Buffer.from(`${textOf(files, ANCHOR)}${line}\n`);
    expect(await verify(withBytes(ANCHOR, content))).toMatchObject({
      kind: "invalid",
      finding: NOT_ANCHORED,
    });
  });
});
