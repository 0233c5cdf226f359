/**
 * Streams a bundle, file after file (proof/evidence/manifest.ts), without holding any file whole; its last files are the proof that its manifest is
 * in the log of SYSTEM_TENANT. Throws if the bundle cannot be completed.
 */
import { createHash } from "node:crypto";
import type { ActionRecorder } from "../../access/action.ts";
import type { EvidenceAction } from "../../access/administration/system-events.ts";
import { SYSTEM_TENANT } from "../../access/tenant.ts";
import { EVIDENCE_ANCHOR_MS_MAX, EVIDENCE_KEPT_BYTES_MAX, EVIDENCE_TIMELINE_ROWS_MAX } from "../../limits.ts";
import type { LogReader } from "../../log/event-log.ts";
import { encodeBase64 } from "../../proof/base64.ts";
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
import type { CheckpointStore } from "../../proof/ports.ts";
import { originOf } from "../../proof/seal.ts";
import { createVerifier, isSignedByNobodyElse, keyLines } from "../../proof/signed-note.ts";
import { formatTlogProof } from "../../proof/tlog-proof.ts";
import type { ViewStore } from "../../views/store/view-store.ts";
import { awaitProof, type RecordProof } from "../../views/tree/record-proof.ts";
import type { Entry } from "../http/downloads.ts";
import { eventCsvRow, eventCsvStart, storedEventLine } from "../http/stored-event.ts";
import { filterMembers } from "./found.ts";
import { type ProvenRecord, readRecords, type SelectedRecord, type StoredRecord } from "./records.ts";
import { type BundleRequest, summaryPage, timelineRow } from "./summary-page.ts";
import { verifyText } from "./verify-text.ts";
import { type Content, createZipWriter } from "./zip.ts";

export interface BundleDependencies {
  readonly views: ViewStore;
  readonly log: Pick<LogReader, "read">;
  readonly checkpoints: Pick<CheckpointStore, "last" | "publicKeys">;
  readonly recorder: ActionRecorder<EvidenceAction>;
  /** Undefined if this runtime cannot build it; then the bundle has none. */
  readonly verifyPage: { readonly html: string } | undefined;
}

type Bytes = Uint8Array<ArrayBuffer>;

export async function* writeBundle(
  dependencies: BundleDependencies,
  request: BundleRequest,
): AsyncGenerator<Bytes, void> {
  const { checkpoints, verifyPage } = dependencies;
  const { tenant, selection, serviceName } = request;
  const { head, records, obligations } = selection;
  const zip = createZipWriter();
  const files: Manifest["files"][number][] = [];
  const list = async function* (name: ListedFile, content: Content): AsyncGenerator<Bytes, void> {
    files.push(yield* zip.add(name, content));
  };

  /** Records are read again for the other files, unless all of them are small. */
  const kept: StoredRecord[] | undefined = selection.bytes <= EVIDENCE_KEPT_BYTES_MAX ? [] : undefined;
  const timeline: Entry[] = [];
  const lineOf = ({ place, leaf: hash, stored, proof }: ProvenRecord): string => {
    if (stored && timeline.length < EVIDENCE_TIMELINE_ROWS_MAX) timeline.push(timelineRow(place, stored));
    // Not the page: the hash of a leaf keeps its whole tile, 8 KiB, in memory.
    if (stored) kept?.push(stored);
    const leaf = stored
      ? ({ kind: "record", payload: stored.payload } as const)
      : { kind: "hash" as const, hash };
    return `${formatRecordLine({ ...place, leaf, inclusionProof: proof() })}\n`;
  };
  const pages = () => readRecords(dependencies, { tenant, head, records });
  const recordLines = async function* (): AsyncGenerator<string> {
    for await (const page of pages()) yield page.map(lineOf).join("");
  };
  const eventRows = async function* (
    start: string,
    row: (stored: StoredRecord) => string,
  ): AsyncGenerator<string> {
    yield start;
    if (kept) for (const stored of kept) yield row(stored);
    else
      for await (const page of pages())
        yield page.map(({ stored }) => (stored === undefined ? "" : row(stored))).join("");
  };
  yield* list("records.ndjson", recordLines());
  yield* list("events.ndjson", eventRows("", storedEventLine));
  yield* list("events.csv", eventRows(eventCsvStart(), eventCsvRow));
  yield* list("obligations.csv", obligations.csv());
  const publicKeys = await checkpoints.publicKeys();
  const keys = keyLines(publicKeys, originOf(serviceName, tenant), head.note);
  yield* list("checkpoint", [head.note]);
  yield* list("key", [keys]);
  yield* list("summary.html", [summaryPage({ ...request, keys, timeline })]);
  yield* list("VERIFY.md", [verifyText(request)]);
  if (verifyPage !== undefined) yield* list(VERIFY_PAGE_FILE, [verifyPage.html]);

  const manifest = formatManifest(manifestOf(request, files));
  yield* zip.add(MANIFEST_FILE, [manifest]);
  const {
    payload,
    leafIndex,
    inclusionProof,
    head: ofSystem,
  } = await anchor(dependencies, request, manifest);
  const origin = originOf(serviceName, SYSTEM_TENANT);
  const verifiers = publicKeys.map((publicKey) => createVerifier({ name: origin, publicKey }));
  if (!isSignedByNobodyElse(ofSystem.note, verifiers))
    throw new Error("the signing keys changed while the bundle was built: it would be invalid");
  const proof = { extra: payload, index: leafIndex, hashes: inclusionProof, checkpoint: ofSystem.note };
  yield* zip.add(ANCHOR_FILE, [formatTlogProof(proof)]);
  yield* zip.add(SYSTEM_KEY_FILE, [keyLines(publicKeys, origin, ofSystem.note)]);
  yield* zip.end();
}

/** Appends the event that names the manifest, and waits for its seal, without which there is no bundle. */
const anchor = async (
  dependencies: BundleDependencies,
  { by, tenant, filter, selection }: BundleRequest,
  manifest: string,
): Promise<RecordProof> => {
  const details = {
    manifest_sha256: createHash("sha256").update(manifest).digest("hex"),
    records: selection.records.length,
    filter: filterMembers(filter),
  };
  let proof: RecordProof | undefined;
  const result = await dependencies.recorder.carryOut({
    by,
    action: { type: "system.evidence_made", tenant, details },
    work: async (sequence) => {
      const deadline = performance.now() + EVIDENCE_ANCHOR_MS_MAX;
      const found = await awaitProof(dependencies, SYSTEM_TENANT, { sequence }, deadline);
      if (found.kind !== "proven")
        return { kind: "unavailable", detail: `the event of the bundle is ${found.kind}` };
      proof = found.proof;
      return { kind: "written" };
    },
  });
  if (proof) return proof;
  const why = result.kind === "unavailable" ? result.detail : result.kind;
  throw new Error(`the manifest could not be anchored: ${why}`);
};

const manifestOf = (request: BundleRequest, files: Manifest["files"]): Manifest => {
  const { tenant, filter, selection, serviceName } = request;
  const { head, records, isComplete } = selection;
  const { assetIds = [] } = filter;
  return {
    format: MANIFEST_FORMAT,
    version: files.some(({ name }) => name === VERIFY_PAGE_FILE) ? 2 : 1,
    generator: request.generator,
    generated_at: selection.readAt.toISOString(),
    service: serviceName,
    origin: originOf(serviceName, tenant),
    tenant,
    asset_id: (assetIds.length === 1 ? assetIds[0] : undefined) ?? null,
    correlation_id: filter.correlationId ?? null,
    asset_ids: assetIds.length > 1 ? assetIds : undefined,
    decision_id: filter.decisionId,
    subject_hash: filter.subjectHash,
    from: filter.from ?? null,
    to: filter.to ?? null,
    made_by: request.by.principal.keyId,
    request_id: request.by.requestId,
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
