/**
 * Checks an evidence bundle without a server and without trust in its maker. In this order: all files are there, and no others; key and checkpoint; every record is in the log and in its place; the files that the manifest names; the manifest is in the system's log; the auditor's own
 * checkpoint. Records come before digests, so that a problem is reported with its record instead of its file.
 */
import { encodeBase64 } from "../base64.ts";
import { encodeHex, sha256Hex } from "../hex.ts";
import { keyLines } from "../key-lines.ts";
import { createSha256 } from "../primitives.ts";
import { restorationNotes } from "../restored-line.ts";
import { isSandboxOrigin, SANDBOX_PROOF } from "../sandbox-origin.ts";
import { createVerifier, formatVerifierKey, parseVerifierKey, type Verifier } from "../signed-note.ts";
import { type Checkpoint, openCheckpoint } from "../tlog-checkpoint.ts";
import { type BundleFiles, DamagedFileError } from "./bundle-files.ts";
import { compareCheckpoints } from "./held-checkpoint.ts";
import {
  ANCHOR_FILE,
  BUNDLE_FILES,
  type BundleFile,
  type FileDigest,
  type ListedFile,
  listedFilesOf,
  MANIFEST_FILE,
  type Manifest,
  parseManifest,
  SYSTEM_KEY_FILE,
  VERIFY_PAGE_FILE,
} from "./manifest.ts";
import { CHECKPOINT_FAILURES, readTrustedKeys } from "./trusted-keys.ts";
import type { EvidenceFacts, Finding, FindingCode, Verdict } from "./verdict.ts";
import { systemOrigin, verifyAnchor } from "./verify-anchor.ts";
import { type CountedRecords, verifyRecords } from "./verify-records.ts";

export interface EvidenceQuestion {
  readonly bundle: BundleFiles;
  /** Trusted verifier keys, one per line, as `GET /v1/log/key` returns them. Without them the keys in the bundle are used. */
  readonly keys?: string | undefined;
  /** The tenant to whom the bundle must belong. */
  readonly tenant?: string | undefined;
  /** A checkpoint of the same log that the auditor has kept. */
  readonly checkpoint?: string | undefined;
  /** The body of `GET /v1/log/consistency` between that one and the bundle's. */
  readonly consistency?: string | undefined;
}

/** Rejects only if the bundle's bytes cannot be read. */
export const verifyEvidence = async (question: EvidenceQuestion): Promise<Verdict> => {
  try {
    return await verdictOn(question);
  } catch (error) {
    if (error instanceof BrokenBundleError) return { kind: "invalid", finding: error.finding };
    if (error instanceof UnusableQuestionError) return { kind: "undecided", detail: error.message };
    throw error;
  }
};

/** Used only inside this file: a finding ends the verification. */
class BrokenBundleError extends Error {
  override readonly name = "BrokenBundleError";
  readonly finding: Finding;
  constructor(finding: Finding) {
    super(finding.detail);
    this.finding = finding;
  }
}

class UnusableQuestionError extends Error {
  override readonly name = "UnusableQuestionError";
}

const fail = (code: FindingCode, detail: string, file?: string): never => {
  throw new BrokenBundleError({ code, detail, ...(file === undefined ? {} : { file }) });
};

const verdictOn = async (question: EvidenceQuestion): Promise<Verdict> => {
  const { bundle, tenant } = question;
  checkNames(bundle);
  const text = (file: BundleFile): Promise<string> => smallText(bundle, file);
  const manifestText = await text(MANIFEST_FILE);
  const manifest = parseManifest(manifestText) ?? fail("manifest_malformed", MALFORMED, MANIFEST_FILE);
  if (isSandboxOrigin(manifest.origin)) fail("sandbox_proof", SANDBOX_PROOF, MANIFEST_FILE);
  checkPage(bundle, manifest);
  if (tenant !== undefined && manifest.tenant !== tenant)
    fail("other_tenant", `it is a bundle of the tenant ${manifest.tenant}`, MANIFEST_FILE);
  const keys = trustedKeys(question.keys, await text("key"), manifest.origin);
  const { checkpoint, signers } = openHead(await text("checkpoint"), manifest, keys.verifiers);
  const verified = await verifyRecords({
    manifest,
    checkpoint,
    records: listedChunks(bundle, manifest, "records.ndjson"),
    events: listedChunks(bundle, manifest, "events.ndjson"),
  });
  if (verified.kind === "broken") throw new BrokenBundleError(verified.finding);
  for (const digest of manifest.files) await checkFile(bundle, manifest, digest);
  checkCounts(manifest, checkpoint, verified.counted);
  const ofSystem = ({ publicKey }: Verifier): Verifier =>
    createVerifier({ name: systemOrigin(manifest), publicKey });
  const anchored = verifyAnchor({
    manifest,
    manifestSha256: sha256Hex(new TextEncoder().encode(manifestText)),
    proof: await text(ANCHOR_FILE),
    verifiers: keys.verifiers.map(ofSystem),
    bundled: keys.bundled.map(ofSystem),
  });
  if (anchored.kind === "broken") throw new BrokenBundleError(anchored.finding);
  const systemKeys = keyLines(
    keys.bundled.map(({ publicKey }) => publicKey),
    systemOrigin(manifest),
    anchored.head,
  );
  if ((await text(SYSTEM_KEY_FILE)) !== systemKeys) fail("key_malformed", OTHER_KEYS, SYSTEM_KEY_FILE);
  return {
    kind: "valid",
    facts: {
      ...factsOf(manifest),
      isComplete: manifest.complete_range,
      keys: reliedUpon(keys.verifiers, signers, anchored.signers).map(formatVerifierKey),
      isKeyPinned: keys.isPinned,
      anchor: anchored.anchor,
      heldCheckpoint: holdAgainst(question, checkpoint, keys.verifiers),
      notes: [...restorationNotes(checkpoint.extensions), ...verified.counted.notes, ...notesBeside(bundle)],
    },
  };
};

/**
 * The signing keys under the name of the tenant's log, those on the checkpoint first. An attacker without a key of the service can add a key of their
 * own, leave the checkpoint as it is, and anchor another selection of records with it. So whoever compares keys must see that key too.
 */
const reliedUpon = (
  verifiers: readonly Verifier[],
  onCheckpoint: readonly Verifier[],
  onAnchor: readonly Verifier[],
): readonly Verifier[] => {
  const anchoring = new Set(onAnchor.map(({ publicKey }) => encodeBase64(publicKey)));
  const others = verifiers.filter(({ publicKey }) => anchoring.has(encodeBase64(publicKey)));
  return [...new Set([...onCheckpoint, ...others])];
};

const MALFORMED = "it is not written as this version writes manifests";

const factsOf = (manifest: Manifest) => ({
  tenant: manifest.tenant,
  origin: manifest.origin,
  assetId: manifest.asset_id,
  correlationId: manifest.correlation_id,
  ...(manifest.asset_ids && { assetIds: manifest.asset_ids }),
  ...(manifest.decision_id !== undefined && { decisionId: manifest.decision_id }),
  ...(manifest.subject_hash !== undefined && { subjectHash: manifest.subject_hash }),
  from: manifest.from,
  to: manifest.to,
  generatedAt: manifest.generated_at,
  madeBy: manifest.made_by,
  records: manifest.records,
  withheld: manifest.withheld,
  checkpointSize: manifest.checkpoint_size,
  checkpointRoot: manifest.checkpoint_root,
});

/** Exactly the files of a bundle. */
const checkNames = ({ names, besides }: BundleFiles): void => {
  if (!BUNDLE_FILES.some((name) => names.includes(name)))
    unusable(
      `It is no evidence bundle: none of its files is there, such as ${MANIFEST_FILE}.${listed(" There are", [...names, ...besides])}`,
    );
  for (const name of BUNDLE_FILES)
    if (name !== VERIFY_PAGE_FILE && !names.includes(name)) fail("other_files", NOT_THERE, name);
  for (const name of names) if (!BUNDLE_FILES.some((own) => own === name)) fail("other_files", FOREIGN, name);
};

const NOT_THERE = "it is not there";
const FOREIGN = "it does not belong here";

/** Whether there must be a page is said by the manifest. */
const checkPage = ({ names }: BundleFiles, { version }: Manifest): void => {
  const isThere = names.includes(VERIFY_PAGE_FILE);
  const isListed = listedFilesOf(version).includes(VERIFY_PAGE_FILE);
  if (isThere !== isListed) fail("other_files", isListed ? NOT_THERE : FOREIGN, VERIFY_PAGE_FILE);
};

const notesBeside = ({ besides }: BundleFiles): readonly string[] =>
  besides.length === 0 ? [] : [`No part of the bundle, and not verified:${listed("", besides)}`];

const listed = (before: string, names: readonly string[]): string =>
  names.length === 0
    ? ""
    : `${before} ${names.slice(0, NAMES_MAX).join(", ")}${names.length > NAMES_MAX ? `, and ${names.length - NAMES_MAX} more` : ""}.`;

const NAMES_MAX = 10;

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
    if (error instanceof DamagedFileError) return fail("damaged_file", error.message, name);
    if (error instanceof TypeError) return fail("damaged_file", "it is not text in UTF-8", name);
    throw error;
  }
};

/** A small ZIP can unpack to terabytes: no more is unpacked than a file may have. */
async function* upTo(bytesMax: number, chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.length;
    yield chunk;
    if (bytes > bytesMax)
      throw new DamagedFileError(`it is longer than the ${bytesMax} bytes that it may have`);
  }
}

const listedChunks = (
  bundle: BundleFiles,
  { files }: Manifest,
  name: ListedFile,
): AsyncGenerator<Uint8Array> =>
  upTo(files.find((file) => file.name === name)?.bytes ?? 0, bundle.chunks(name));

/** Undefined if a line is not a key or belongs to another log, or if there is no key. */
const readKeys = (text: string, origin: string): readonly Verifier[] | undefined => {
  const verifiers = text.split("\n").slice(0, -1).map(parseVerifierKey);
  const own = verifiers.filter((verifier) => verifier !== undefined && verifier.name === origin);
  return text.endsWith("\n") && own.length > 0 && own.length === verifiers.length
    ? own.flatMap((verifier) => verifier ?? [])
    : undefined;
};

/**
 * Other tools check the anchor with this file. With a foreign key in it they would accept another anchor; without one of the service's keys they
 * would not accept this one.
 */
const OTHER_KEYS =
  "it does not hold the bundle's keys, and no others, as keys of the system's log, those first that signed the anchor";

const trustedKeys = (
  given: string | undefined,
  bundled: string,
  origin: string,
): {
  readonly verifiers: readonly Verifier[];
  readonly bundled: readonly Verifier[];
  readonly isPinned: boolean;
} => {
  const own =
    readKeys(bundled, origin) ?? fail("key_malformed", `it holds no keys of the log ${origin}`, "key");
  if (given === undefined) return { verifiers: own, bundled: own, isPinned: false };
  const pinned = readTrustedKeys(given);
  if (pinned.kind === "unusable") return unusable(pinned.detail);
  const ofLog = pinned.verifiers.filter(({ name }) => name === origin);
  if (ofLog.length === 0)
    fail(
      "unknown_key",
      `none of the trusted keys is one of the log ${origin}, which the bundle names`,
      "checkpoint",
    );
  return { verifiers: ofLog, bundled: own, isPinned: true };
};

const unusable = (detail: string): never => {
  throw new UnusableQuestionError(detail);
};

const openHead = (
  note: string,
  manifest: Manifest,
  verifiers: readonly Verifier[],
): { readonly checkpoint: Checkpoint; readonly signers: readonly Verifier[] } => {
  const { origin, service, tenant } = manifest;
  if (origin !== `${service}/${tenant}`)
    fail("other_tenant", `its log ${origin} is not the one of the tenant ${tenant}`, MANIFEST_FILE);
  const opened = openCheckpoint(note, { origin, verifiers });
  if (opened.kind === "failed") {
    const [code, detail] = CHECKPOINT_FAILURES[opened.reason];
    return fail(code, detail, "checkpoint");
  }
  return { checkpoint: opened.checkpoint, signers: opened.verifiers };
};

const checkFile = async (
  bundle: BundleFiles,
  manifest: Manifest,
  { name, bytes, sha256 }: FileDigest,
): Promise<void> => {
  const found = createSha256();
  let length = 0;
  try {
    for await (const chunk of listedChunks(bundle, manifest, name)) {
      found.update(chunk);
      length += chunk.length;
    }
  } catch (error) {
    if (error instanceof DamagedFileError) fail("damaged_file", error.message, name);
    throw error;
  }
  if (length !== bytes || encodeHex(found.digest()) !== sha256)
    fail("damaged_file", "it is not the file that the manifest names", name);
};

const checkCounts = (manifest: Manifest, checkpoint: Checkpoint, counted: CountedRecords): void => {
  const differs = (detail: string): never => fail("manifest_differs", detail, MANIFEST_FILE);
  const { records, withheld, first, last } = counted;
  if (manifest.records !== records || manifest.withheld !== withheld)
    differs(
      `it speaks of ${manifest.records} records with ${manifest.withheld} withheld; ${records} with ${withheld} are there`,
    );
  const isAt = (said: Manifest["first"], found: Manifest["first"] | undefined): boolean =>
    said.leaf_index === found?.leaf_index && said.sequence === found.sequence;
  if (!isAt(manifest.first, first) || !isAt(manifest.last, last))
    differs("its first or last record is another one");
  const root = encodeBase64(checkpoint.root);
  if (manifest.checkpoint_size !== checkpoint.size || manifest.checkpoint_root !== root)
    differs("it speaks of another checkpoint");
  const { asset_id, asset_ids, correlation_id, decision_id, subject_hash, from, to } = manifest;
  const parts = [asset_id, asset_ids, correlation_id, decision_id, subject_hash, from, to];
  const isUnfiltered = parts.every((part) => (part ?? null) === null);
  if (manifest.complete_range !== isUnfiltered)
    differs("it cannot be complete and chosen by something at once, nor neither");
};

const holdAgainst = (
  { checkpoint: held, consistency }: EvidenceQuestion,
  bundle: Checkpoint,
  verifiers: readonly Verifier[],
): EvidenceFacts["heldCheckpoint"] => {
  if (held === undefined) {
    if (consistency !== undefined) unusable("A consistency proof is for a checkpoint: give that as well.");
    return "none";
  }
  const compared = compareCheckpoints({ bundle, held, consistency, verifiers });
  if (compared.kind === "contradicts") return fail("contradicts_checkpoint", compared.detail, "checkpoint");
  return compared.kind === "undecided" ? unusable(compared.detail) : compared.how;
};
