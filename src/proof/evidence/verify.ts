/**
 * Checks an evidence bundle without a server and without trusting its maker. In this order: exactly the expected files; key and checkpoint; every
 * record in the log and in its place; the files that the manifest names; the manifest in the system's log; the auditor's own checkpoint.
 * Records come before digests, so that a problem is reported with its record instead of its file.
 */
import { decodeRecord } from "../../log/record.ts";
import { encodeBase64, encodeHex } from "../base64.ts";
import { createSha256, sha256 } from "../primitives.ts";
import { leafHash } from "../rfc6962.ts";
import { isSandboxOrigin, restorationNotes, SANDBOX_PROOF } from "../sealed-head.ts";
import {
  createVerifier,
  formatVerifierKey,
  isSignedByNobodyElse,
  keyLines,
  parseVerifierKey,
  type Verifier,
} from "../signed-note.ts";
import type { Checkpoint } from "../tlog-checkpoint.ts";
import { parseTlogProof, verifyTlogProof } from "../tlog-proof.ts";
import { type BundleFiles, DamagedFileError, upTo } from "./bundle-files.ts";
import {
  ANCHOR_EVENT_TYPE,
  ANCHOR_FILE,
  BUNDLE_FILES,
  type BundleFile,
  type ListedFile,
  listedFilesOf,
  MANIFEST_FILE,
  type Manifest,
  membersIn,
  parseManifest,
  SYSTEM_KEY_FILE,
  SYSTEM_TENANT_NAME,
  VERIFY_PAGE_FILE,
} from "./manifest.ts";
import { compareWithHeld, openTrusted, readTrustedKeys } from "./trusted.ts";
import { type EvidenceFacts, endOf, type FindingCode, fail, undecided, type Verdict } from "./verdict.ts";
import { type CountedRecords, verifyRecords } from "./verify-records.ts";

export interface EvidenceQuestion {
  readonly bundle: BundleFiles;
  /** Trusted verifier keys, one per line, as `GET /v1/log/key` returns them. Without them the keys in the bundle are used. */
  readonly keys?: string | undefined;
  /** The tenant to whom the bundle must belong. */
  readonly tenant?: string | undefined;
  /** A signed note of the same log that the auditor has kept, and the body of `GET /v1/log/consistency` between that one and the bundle's. */
  readonly checkpoint?: string | undefined;
  readonly consistency?: string | undefined;
}

/** Rejects only if the bundle's bytes cannot be read. */
export const verifyEvidence = async (question: EvidenceQuestion): Promise<Verdict> => {
  try {
    return { kind: "valid", facts: await factsOf(question) };
  } catch (error) {
    return endOf(error);
  }
};

const failFile = (code: FindingCode, detail: string, file: string): never => fail(code, detail, { file });

const factsOf = async (question: EvidenceQuestion): Promise<EvidenceFacts> => {
  const { bundle, tenant } = question;
  checkNames(bundle);
  const text = (file: BundleFile): Promise<string> => smallText(bundle, file);
  const manifestText = await text(MANIFEST_FILE);
  const manifest =
    parseManifest(manifestText) ??
    failFile("manifest_malformed", "it is not in this version's manifest format", MANIFEST_FILE);
  checkManifest(bundle, manifest, tenant);
  const keys = readKeys(question.keys, await text("key"), manifest.origin);
  const { checkpoint, verifiers } = openTrusted(await text("checkpoint"), manifest.origin, keys.trusted);
  const listed = (file: ListedFile): AsyncGenerator<Uint8Array> =>
    upTo(manifest.files.find(({ name }) => name === file)?.bytes ?? 0, bundle.chunks(file));
  const counted = await verifyRecords({
    ...{ manifest, checkpoint, records: listed("records.ndjson"), events: listed("events.ndjson") },
  });
  for (const { name, bytes, sha256 } of manifest.files) {
    const found = await digestOf(name, listed(name));
    if (found.bytes !== bytes || found.sha256 !== sha256)
      failFile("damaged_file", "it does not match the manifest", name);
  }
  checkCounts(manifest, checkpoint, counted);
  const manifestSha256 = encodeHex(sha256(new TextEncoder().encode(manifestText)));
  const anchored = checkAnchor({ manifest, manifestSha256, keys, proof: await text(ANCHOR_FILE) });
  if ((await text(SYSTEM_KEY_FILE)) !== anchored.systemKeys)
    failFile("key_malformed", OTHER_KEYS, SYSTEM_KEY_FILE);
  const { format, version, generator, service, request_id, complete_range, first, last, files, ...said } =
    manifest;
  return {
    ...said,
    isComplete: complete_range,
    keys: reliedUpon(keys.trusted, verifiers, anchored.signers).map(formatVerifierKey),
    isKeyPinned: keys.isPinned,
    anchor: anchored.anchor,
    heldCheckpoint: compareWithHeld(question, checkpoint, keys.trusted),
    notes: [...restorationNotes(checkpoint.extensions), ...counted.notes, ...notesBeside(bundle)],
  };
};

/**
 * The signing keys under the name of the tenant's log, those on the checkpoint first. An attacker without a key of the service can add a key of their
 * own, leave the checkpoint as it is, and anchor another selection of records with it. So whoever compares keys must see that key too.
 */
const reliedUpon = (
  trusted: readonly Verifier[],
  onCheckpoint: readonly Verifier[],
  onAnchor: readonly Verifier[],
): readonly Verifier[] => {
  const anchoring = new Set(onAnchor.map(({ publicKey }) => encodeBase64(publicKey)));
  const others = trusted.filter(({ publicKey }) => anchoring.has(encodeBase64(publicKey)));
  return [...new Set([...onCheckpoint, ...others])];
};

const NOT_THERE = "it is missing";
const FOREIGN = "unexpected file";

const checkNames = ({ names, besides }: BundleFiles): void => {
  if (!BUNDLE_FILES.some((name) => names.includes(name)))
    undecided(
      `It is not an evidence bundle: it has no file of one, such as ${MANIFEST_FILE}.${listOf(" It has", [...names, ...besides])}`,
    );
  const lacking = BUNDLE_FILES.find((name) => name !== VERIFY_PAGE_FILE && !names.includes(name));
  if (lacking !== undefined) failFile("other_files", NOT_THERE, lacking);
  const foreign = names.find((name) => !BUNDLE_FILES.some((own) => own === name));
  if (foreign !== undefined) failFile("other_files", FOREIGN, foreign);
};

const checkManifest = ({ names }: BundleFiles, manifest: Manifest, expected: string | undefined): void => {
  const { origin, service, tenant, version } = manifest;
  if (isSandboxOrigin(origin)) failFile("sandbox_proof", SANDBOX_PROOF, MANIFEST_FILE);
  const isListed = listedFilesOf(version).includes(VERIFY_PAGE_FILE);
  if (names.includes(VERIFY_PAGE_FILE) !== isListed)
    failFile("other_files", isListed ? NOT_THERE : FOREIGN, VERIFY_PAGE_FILE);
  if (tenant !== (expected ?? tenant))
    failFile("other_tenant", `it is a bundle of tenant ${tenant}`, MANIFEST_FILE);
  if (origin !== `${service}/${tenant}`)
    failFile("other_tenant", `its log ${origin} is not that of tenant ${tenant}`, MANIFEST_FILE);
};

const notesBeside = ({ besides }: BundleFiles): readonly string[] =>
  besides.length === 0 ? [] : [`Not part of the bundle, not verified:${listOf("", besides)}`];

const NAMES_MAX = 10;

const listOf = (before: string, names: readonly string[]): string => {
  if (names.length === 0) return "";
  const more = names.length > NAMES_MAX ? `, and ${names.length - NAMES_MAX} more` : "";
  return `${before} ${names.slice(0, NAMES_MAX).join(", ")}${more}.`;
};

/** Limit for keys, checkpoints, manifest and proof. They have a few kilobytes; the proof contains one record. */
const SMALL_FILE_BYTES_MAX = 1024 * 1024;

const smallText = async (bundle: BundleFiles, name: BundleFile): Promise<string> => {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  let text = "";
  try {
    for await (const chunk of upTo(SMALL_FILE_BYTES_MAX, bundle.chunks(name)))
      text += decoder.decode(chunk, { stream: true });
    return text + decoder.decode();
  } catch (error) {
    if (error instanceof TypeError) return failFile("damaged_file", "it is not UTF-8 text", name);
    return failDamaged(error, name);
  }
};

const digestOf = async (name: string, chunks: AsyncIterable<Uint8Array>) => {
  const hash = createSha256();
  let bytes = 0;
  try {
    for await (const chunk of chunks) {
      hash.update(chunk);
      bytes += chunk.length;
    }
  } catch (error) {
    return failDamaged(error, name);
  }
  return { bytes, sha256: encodeHex(hash.digest()) };
};

const failDamaged = (error: unknown, name: string): never => {
  if (error instanceof DamagedFileError) failFile("damaged_file", error.message, name);
  throw error;
};

interface Keys {
  /** Those that the auditor gave, or else those of the bundle. */
  readonly trusted: readonly Verifier[];
  readonly bundled: readonly Verifier[];
  readonly isPinned: boolean;
}

const readKeys = (given: string | undefined, text: string, origin: string): Keys => {
  const lines = text.split("\n").slice(0, -1);
  const bundled = lines.flatMap((line) => parseVerifierKey(line) ?? []);
  const isWhole = text.endsWith("\n") && bundled.length === lines.length && lines.length > 0;
  if (!isWhole || bundled.some(({ name }) => name !== origin))
    failFile("key_malformed", `it holds no keys of the log ${origin}`, "key");
  if (given === undefined) return { trusted: bundled, bundled, isPinned: false };
  const trusted = readTrustedKeys(given).filter(({ name }) => name === origin);
  if (trusted.length === 0)
    failFile(
      "unknown_key",
      `no trusted key belongs to the log ${origin}, which the bundle names`,
      "checkpoint",
    );
  return { trusted, bundled, isPinned: true };
};

const checkCounts = (manifest: Manifest, checkpoint: Checkpoint, counted: CountedRecords): void => {
  const differs = (detail: string): never => failFile("manifest_differs", detail, MANIFEST_FILE);
  const { records, withheld, first, last } = counted;
  if (manifest.records !== records || manifest.withheld !== withheld)
    differs(
      `it counts ${manifest.records} records, ${manifest.withheld} withheld; there are ${records}, ${withheld} withheld`,
    );
  const isAt = (said: Manifest["first"], found: Manifest["first"] | undefined): boolean =>
    said.leaf_index === found?.leaf_index && said.sequence === found.sequence;
  if (!isAt(manifest.first, first) || !isAt(manifest.last, last)) differs("its first or last record differs");
  const root = encodeBase64(checkpoint.root);
  if (manifest.checkpoint_size !== checkpoint.size || manifest.checkpoint_root !== root)
    differs("it names another checkpoint");
  const { asset_id, asset_ids, correlation_id, decision_id, subject_hash, from, to } = manifest;
  const parts = [asset_id, asset_ids, correlation_id, decision_id, subject_hash, from, to];
  const isUnfiltered = parts.every((part) => (part ?? null) === null);
  if (manifest.complete_range !== isUnfiltered) differs("its complete_range contradicts its filter");
};

const ANCHOR_FAILURES = {
  malformed: "it is not a tlog-proof",
  unknown_key: "no trusted key signed its checkpoint",
  bad_signature: "the signature on its checkpoint is wrong",
  wrong_origin: "its checkpoint is another log's",
  not_included: "this record is not at this place in the system's log",
} as const;

/**
 * Other tools check the anchor with this file. A foreign key in it would make them accept another anchor; a missing key of the service would make
 * them reject this one.
 */
const OTHER_KEYS =
  "it does not hold exactly the bundle's keys, as keys of the system's log, with the anchor's signers first";

/**
 * Each bundle is recorded in the system tenant's log by an event that names the manifest: whoever removes a record and rewrites the manifest has no
 * such event.
 */
const checkAnchor = (parts: {
  readonly manifest: Manifest;
  readonly manifestSha256: string;
  readonly keys: Keys;
  readonly proof: string;
}) => {
  const { manifest, manifestSha256, keys, proof } = parts;
  const broken = (detail: string): never => failFile("not_anchored", detail, ANCHOR_FILE);
  const origin = `${manifest.service}/${SYSTEM_TENANT_NAME}`;
  const ofSystem = ({ publicKey }: Verifier): Verifier => createVerifier({ name: origin, publicKey });
  const { extra: payload, checkpoint = "" } = parseTlogProof(proof) ?? {};
  const record = payload && decodeRecord(payload);
  if (!payload || !record) return broken("it is not a tlog-proof with a record");
  const verifiers = keys.trusted.map(ofSystem);
  const verified = verifyTlogProof({ proof, leaf: leafHash(payload), origin, verifiers });
  if (verified.kind === "failed") return broken(ANCHOR_FAILURES[verified.reason]);
  // Nothing else in the bundle covers this file, so a signature by another key would go unnoticed here.
  if (!isSignedByNobodyElse(checkpoint, keys.bundled.map(ofSystem)))
    broken("its checkpoint has a signature by a key outside the bundle, or one signature twice");
  const { event_type, metadata: said } = membersIn(record.eventText);
  const metadata: Readonly<Record<string, unknown>> = Object(said);
  if (record.tenant !== SYSTEM_TENANT_NAME || event_type !== ANCHOR_EVENT_TYPE)
    broken(`its record is not a ${ANCHOR_EVENT_TYPE} event of tenant ${SYSTEM_TENANT_NAME}`);
  if (metadata.manifest_sha256 !== manifestSha256)
    broken("its event names another manifest: the manifest was rewritten, or belongs to another bundle");
  if (metadata.tenant !== manifest.tenant || metadata.records !== manifest.records)
    broken("its event names another tenant or number of records");
  if (metadata.actor !== manifest.made_by || metadata.request_id !== manifest.request_id)
    broken("its event names another key or request");
  const publicKeys = keys.bundled.map(({ publicKey }) => publicKey);
  return {
    anchor: { origin, leafIndex: verified.index, at: record.receivedAt },
    signers: verified.verifiers,
    systemKeys: keyLines(publicKeys, origin, checkpoint),
  };
};
