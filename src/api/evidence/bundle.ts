/** Streams a bundle, file after file (proof/evidence/manifest.ts), without holding any file whole. Throws if the bundle cannot be completed. */
import { createHash } from "node:crypto";
import { timeKey } from "../../event/formats.ts";
import type { Rules } from "../../law/obligations/obligation.ts";
import { EVIDENCE_KEPT_BYTES_MAX, EVIDENCE_TIMELINE_ROWS_MAX } from "../../limits.ts";
import { decodeRecord, type LogRecord } from "../../log/record.ts";
import { encodeBase64 } from "../../proof/base64.ts";
import type { CheckpointStore } from "../../proof/checkpoint-store.ts";
import {
  ANCHOR_FILE,
  formatManifest,
  type ListedFile,
  MANIFEST_FILE,
  MANIFEST_FORMAT,
  type Manifest,
  SYSTEM_KEY_FILE,
  VERIFY_PAGE_FILE,
} from "../../proof/evidence/manifest.ts";
import { formatRecordLine } from "../../proof/evidence/record-line.ts";
import { keyLines } from "../../proof/key-lines.ts";
import { type Hash, leafHash, verifyInclusion } from "../../proof/rfc6962.ts";
import { originOf } from "../../proof/seal.ts";
import type { ViewStore } from "../../views/store/view-store.ts";
import { createProver } from "../../views/tree/prover.ts";
import type { Anchor } from "./anchor.ts";
import type { BundleRequest } from "./bundle-request.ts";
import { createDuties, DUTY_COLUMNS, type DutyEntry, dutyCells } from "./duties.ts";
import { filterMembers } from "./evidence-filter.ts";
import { type ReadRecord, type RecordReader, recordPages } from "./record-pages.ts";
import type { SelectedRecord } from "./selection.ts";
import { summaryPage, type TimelineRow, timelineRow } from "./summary-page.ts";
import { verifyText } from "./verify-text.ts";
import { createZipWriter, type WrittenFile } from "./zip-writer.ts";

/** The formats of events and cells in the export; a bundle uses the same. */
export interface BundleFormats {
  eventLine(stored: StoredRecord): string;
  eventCsvStart(): string;
  eventCsvRow(stored: StoredRecord): string;
  readonly csvStart: string;
  csvRow(cells: readonly string[]): string;
}

interface StoredRecord extends Pick<LogRecord, "tenant" | "receivedAt" | "eventText"> {
  readonly sequence: number;
}

export interface BundleDependencies {
  readonly views: ViewStore;
  readonly log: RecordReader;
  readonly checkpoints: Pick<CheckpointStore, "publicKeys">;
  readonly rules: Rules;
  readonly formats: BundleFormats;
  readonly anchor: Anchor;
  /** Undefined if this runtime cannot make it; then the bundle has none. */
  readonly verifyPage: string | undefined;
}

type Bytes = Uint8Array<ArrayBuffer>;

export async function* writeBundle(
  dependencies: BundleDependencies,
  request: BundleRequest,
): AsyncGenerator<Bytes, void> {
  const { checkpoints, formats, anchor, verifyPage } = dependencies;
  const { tenant, selection, serviceName, generatedAt } = request;
  const { head } = selection;
  const zip = createZipWriter();
  const written: Manifest["files"][number][] = [];
  const list = async function* (
    name: ListedFile,
    content: AsyncIterable<string> | Iterable<string>,
  ): AsyncGenerator<Bytes, void> {
    written.push(digestOf(name, yield* zip.add(name, content)));
  };
  const records = createRecordFiles(dependencies, request);
  yield* list("records.ndjson", records.lines());
  yield* list("events.ndjson", records.rows("", formats.eventLine));
  yield* list("events.csv", records.rows(formats.eventCsvStart(), formats.eventCsvRow));
  const at = timeKey(generatedAt.toISOString());
  const duties = createDuties(dependencies, selection.duties, at);
  const cells = (entry: DutyEntry): string => formats.csvRow(dutyCells(entry));
  yield* list(
    "obligations.csv",
    rowsOf(formats.csvStart + formats.csvRow(DUTY_COLUMNS), duties.all(), cells),
  );
  yield* list("checkpoint", [head.note]);
  const publicKeys = await checkpoints.publicKeys();
  const keys = keyLines(publicKeys, originOf(serviceName, tenant), head.note);
  yield* list("key", [keys]);
  yield* list("summary.html", [
    summaryPage({ ...request, keys, timeline: records.timeline(), duties: duties.shown() }),
  ]);
  yield* list("VERIFY.md", [verifyText(request)]);
  if (verifyPage !== undefined) yield* list(VERIFY_PAGE_FILE, [verifyPage]);
  const manifest = formatManifest(manifestOf(request, written));
  yield* zip.add(MANIFEST_FILE, [manifest]);
  const anchored = await anchor({
    manifestSha256: createHash("sha256").update(manifest).digest("hex"),
    records: selection.records.length,
    filter: filterMembers(request.filter),
    publicKeys,
  });
  yield* zip.add(ANCHOR_FILE, [anchored.proof]);
  yield* zip.add(SYSTEM_KEY_FILE, [anchored.systemKey]);
  yield* zip.end();
}

const digestOf = (name: ListedFile, file: WrittenFile): Manifest["files"][number] => ({
  name,
  bytes: file.bytes,
  sha256: file.sha256,
  deflated_bytes: file.packedBytes,
  deflated_sha256: file.packedSha256,
});

function* rowsOf<Item>(start: string, items: Iterable<Item>, row: (item: Item) => string): Generator<string> {
  yield start;
  for (const item of items) yield row(item);
}

const manifestOf = (request: BundleRequest, files: Manifest["files"]): Manifest => {
  const { tenant, filter, selection, serviceName } = request;
  const { head, records, isComplete } = selection;
  const { assetIds = [] } = filter;
  return {
    format: MANIFEST_FORMAT,
    version: files.some(({ name }) => name === VERIFY_PAGE_FILE) ? 2 : 1,
    generator: request.generator,
    generated_at: request.generatedAt.toISOString(),
    service: serviceName,
    origin: originOf(serviceName, tenant),
    tenant,
    asset_id: (assetIds.length === 1 ? assetIds[0] : undefined) ?? null,
    correlation_id: filter.correlationId ?? null,
    ...(assetIds.length > 1 && { asset_ids: assetIds }),
    ...(filter.decisionId !== undefined && { decision_id: filter.decisionId }),
    ...(filter.subjectHash !== undefined && { subject_hash: filter.subjectHash }),
    from: filter.from ?? null,
    to: filter.to ?? null,
    made_by: request.madeBy,
    request_id: request.requestId,
    checkpoint_size: head.size,
    checkpoint_root: encodeBase64(head.root),
    records: records.length,
    withheld: records.filter(({ isWithheld }) => isWithheld).length,
    complete_range: isComplete,
    first: placeOf(records.at(0)),
    last: placeOf(records.at(-1)),
    files,
  };
};

const placeOf = (record: SelectedRecord | undefined): Manifest["first"] => {
  if (record === undefined) throw new Error("a bundle has a record");
  return { leaf_index: record.leafIndex, sequence: record.sequence };
};

/** A bundle that would not verify is not handed out: something was altered, or the view `tree` must be rebuilt. */
class UnprovableRecordError extends Error {
  override readonly name = "UnprovableRecordError";
}

const createRecordFiles = ({ views, log }: BundleDependencies, { tenant, selection }: BundleRequest) => {
  const { head, records } = selection;
  const { size, root } = head;
  const prover = createProver(views, tenant, size);
  const timeline: TimelineRow[] = [];
  const kept = createKeptPages();

  const proven = async (leafIndex: number, leaf: Hash): Promise<readonly Hash[]> => {
    const proof = await prover.prove(leafIndex);
    if (proof === undefined || !verifyInclusion({ leaf, index: leafIndex, size, proof, root }))
      throw new UnprovableRecordError(`leaf ${leafIndex} of ${tenant} is not what was signed`);
    return proof;
  };
  const note = (record: SelectedRecord, stored: StoredRecord): void => {
    if (timeline.length < EVIDENCE_TIMELINE_ROWS_MAX) timeline.push(timelineRow(record, stored));
  };
  return {
    lines: async function* (): AsyncGenerator<string> {
      for await (const page of recordPages(log, records)) {
        kept.add(page);
        for (const { record, payload } of page) {
          const { sequence, leafIndex, isWithheld } = record;
          const hash = leafHash(payload);
          const inclusionProof = await proven(leafIndex, hash);
          const leaf = isWithheld
            ? ({ kind: "hash", hash } as const)
            : ({ kind: "record", payload } as const);
          if (!isWithheld) note(record, storedRecord(sequence, payload));
          yield `${formatRecordLine({ leafIndex, sequence, leaf, inclusionProof })}\n`;
        }
      }
    },
    /** Valid after `lines` has been read. */
    rows: async function* (start: string, row: (stored: StoredRecord) => string): AsyncGenerator<string> {
      yield start;
      for await (const page of kept.all() ?? recordPages(log, records))
        for (const { record, payload } of page)
          if (!record.isWithheld) yield row(storedRecord(record.sequence, payload));
    },
    timeline: (): readonly TimelineRow[] => timeline,
  };
};

type RecordPage = readonly ReadRecord<SelectedRecord>[];

/** Keeps all pages as long as they are small together. */
const createKeptPages = () => {
  let pages: RecordPage[] | undefined = [];
  let bytes = 0;
  return {
    add: (page: RecordPage): void => {
      for (const { payload } of page) bytes += payload.length;
      if (bytes > EVIDENCE_KEPT_BYTES_MAX) pages = undefined;
      pages?.push(page);
    },
    /** Undefined if they must be read again. */
    all: (): readonly RecordPage[] | undefined => pages,
  };
};

const storedRecord = (sequence: number, payload: Uint8Array): StoredRecord => {
  const record = decodeRecord(payload);
  if (record === undefined)
    throw new UnprovableRecordError(`the leaf at sequence ${sequence} is not a record`);
  return { ...record, sequence };
};
