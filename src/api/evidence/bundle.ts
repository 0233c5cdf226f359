/** Streams a bundle, file after file (proof/evidence/manifest.ts), without holding any file whole. Throws if the bundle cannot be completed. */
import { createHash } from "node:crypto";
import { timeKey } from "../../event/formats.ts";
import type { Rules } from "../../law/obligations/obligation.ts";
import { EVIDENCE_TIMELINE_ROWS_MAX } from "../../limits.ts";
import type { LogReader } from "../../log/event-log.ts";
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
import { originOf } from "../../proof/seal.ts";
import type { ViewStore } from "../../views/store/view-store.ts";
import type { Anchor } from "./anchor.ts";
import { createDuties, DUTY_COLUMNS, dutyCells } from "./duties.ts";
import { filterMembers } from "./evidence-filter.ts";
import { createRecordReader, type ProvenRecord, type SelectedRecord, type StoredRecord } from "./records.ts";
import { type BundleRequest, summaryPage, type TimelineRow, timelineRow } from "./summary-page.ts";
import { verifyText } from "./verify-text.ts";
import { type Content, createZipWriter } from "./zip.ts";

/** The formats of events and cells in the export; a bundle uses the same. */
export interface BundleFormats {
  eventLine(stored: StoredRecord): string;
  eventCsvStart(): string;
  eventCsvRow(stored: StoredRecord): string;
  readonly csvStart: string;
  csvRow(cells: readonly string[]): string;
}

export interface BundleDependencies {
  readonly views: ViewStore;
  readonly log: Pick<LogReader, "read">;
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
  const { tenant, selection, serviceName } = request;
  const { head, records } = selection;
  const zip = createZipWriter();
  const files: Manifest["files"][number][] = [];
  const list = async function* (name: ListedFile, content: Content): AsyncGenerator<Bytes, void> {
    files.push({ name, ...(yield* zip.add(name, content)) });
  };

  const reader = createRecordReader(dependencies, { tenant, head, records });
  const timeline: TimelineRow[] = [];
  const lineOf = ({ place, leaf: hash, stored, proof }: ProvenRecord): string => {
    if (stored && timeline.length < EVIDENCE_TIMELINE_ROWS_MAX) timeline.push(timelineRow(place, stored));
    const leaf = stored
      ? ({ kind: "record", payload: stored.payload } as const)
      : { kind: "hash" as const, hash };
    return `${formatRecordLine({ ...place, leaf, inclusionProof: proof })}\n`;
  };
  const recordLines = async function* (): AsyncGenerator<string> {
    for await (const page of reader.proven()) yield page.map(lineOf).join("");
  };
  const eventRows = async function* (start: string, row: (stored: StoredRecord) => string) {
    yield start;
    for await (const page of reader.again()) for (const { stored } of page) if (stored) yield row(stored);
  };
  yield* list("records.ndjson", recordLines());
  yield* list("events.ndjson", eventRows("", formats.eventLine));
  yield* list("events.csv", eventRows(formats.eventCsvStart(), formats.eventCsvRow));

  const duties = createDuties(dependencies, selection.duties, timeKey(request.generatedAt.toISOString()));
  const dutyRows = function* () {
    yield formats.csvStart + formats.csvRow(DUTY_COLUMNS);
    for (const entry of duties.all()) yield formats.csvRow(dutyCells(entry));
  };
  yield* list("obligations.csv", dutyRows());

  const publicKeys = await checkpoints.publicKeys();
  const keys = keyLines(publicKeys, originOf(serviceName, tenant), head.note);
  yield* list("checkpoint", [head.note]);
  yield* list("key", [keys]);
  yield* list("summary.html", [summaryPage({ ...request, keys, timeline, duties: duties.shown() })]);
  yield* list("VERIFY.md", [verifyText(request)]);
  if (verifyPage !== undefined) yield* list(VERIFY_PAGE_FILE, [verifyPage]);

  const manifest = formatManifest(manifestOf(request, files));
  yield* zip.add(MANIFEST_FILE, [manifest]);
  const anchored = await anchor({
    manifestSha256: createHash("sha256").update(manifest).digest("hex"),
    records: records.length,
    filter: filterMembers(request.filter),
    publicKeys,
  });
  yield* zip.add(ANCHOR_FILE, [anchored.proof]);
  yield* zip.add(SYSTEM_KEY_FILE, [anchored.systemKey]);
  yield* zip.end();
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
