/** The content of a bundle, and the one form in which its manifest is written. */
import { decodeBase64 } from "../base64.ts";

export const MANIFEST_FORMAT = "prooftrail-evidence";
/** 2 has `verify.html`, which 1 has not; the verifier of version 0.1.0 knows only 1. */
export type ManifestVersion = 1 | 2;

/** All files in the order in which the service writes them. The manifest names the files before it; its proof covers the manifest. */
export const LISTED_FILES = [
  "records.ndjson",
  "events.ndjson",
  "events.csv",
  "obligations.csv",
  "checkpoint",
  "key",
  "summary.html",
  "VERIFY.md",
  "verify.html",
] as const;
export type ListedFile = (typeof LISTED_FILES)[number];

/** The page that verifies a bundle in a browser, from disk. */
export const VERIFY_PAGE_FILE = "verify.html";

export const listedFilesOf = (version: ManifestVersion): readonly ListedFile[] =>
  LISTED_FILES.filter((name) => version > 1 || name !== VERIFY_PAGE_FILE);

export const MANIFEST_FILE = "manifest.json";
export const ANCHOR_FILE = "manifest.tlog-proof";
export const SYSTEM_KEY_FILE = "system-key";

export const BUNDLE_FILES = [...LISTED_FILES, MANIFEST_FILE, ANCHOR_FILE, SYSTEM_KEY_FILE] as const;
export type BundleFile = (typeof BUNDLE_FILES)[number];

/**
 * 0: stored as it is; 8: deflated (APPNOTE §4.4.5). It means nothing to this verifier. The one of version 0.1.0 requires it, and compares the
 * deflated bytes with the manifest.
 */
export const methodOf = (name: BundleFile): 0 | 8 => (isListed(name) ? 8 : 0);

const isListed = (name: BundleFile): boolean => LISTED_FILES.some((listed) => listed === name);

/** The tenant in whose log every bundle is recorded as an event, and the type of that event. */
export const SYSTEM_TENANT_NAME = "prooftrail-system";
export const ANCHOR_EVENT_TYPE = "system.evidence_made";

export interface FileDigest {
  readonly name: ListedFile;
  readonly bytes: number;
  /** Hex. */
  readonly sha256: string;
  /** As the service packed it, see `methodOf`. */
  readonly deflated_bytes: number;
  readonly deflated_sha256: string;
}

export interface RecordPlace {
  readonly leaf_index: number;
  readonly sequence: number;
}

/** Members in the order in which they are written. */
export interface Manifest {
  readonly format: typeof MANIFEST_FORMAT;
  readonly version: ManifestVersion;
  readonly generator: string;
  readonly generated_at: string;
  readonly service: string;
  /** `<service>/<tenant>`, as in the checkpoint. */
  readonly origin: string;
  readonly tenant: string;
  readonly asset_id: string | null;
  readonly correlation_id: string | null;
  /** Only where the bundle is about several assets; then `asset_id` is null. */
  readonly asset_ids?: readonly string[];
  /** Only where the bundle is about a decision. */
  readonly decision_id?: string;
  /** Only where the bundle is about a person. */
  readonly subject_hash?: string;
  /** Bounds of the events' own times: at or after `from`, before `to`. */
  readonly from: string | null;
  readonly to: string | null;
  /** The id of the requesting key, and of its request. */
  readonly made_by: string;
  readonly request_id: string;
  readonly checkpoint_size: number;
  /** Base64. */
  readonly checkpoint_root: string;
  readonly records: number;
  /** How many records are present only by their hash, because their events have expired or the service does not understand them. */
  readonly withheld: number;
  /** Whether the bundle contains all leaves of the tree. */
  readonly complete_range: boolean;
  readonly first: RecordPlace;
  readonly last: RecordPlace;
  readonly files: readonly FileDigest[];
}

const ROOT_BYTES = 32;

export const formatManifest = (manifest: Manifest): string =>
  `${JSON.stringify(
    {
      format: manifest.format,
      version: manifest.version,
      generator: manifest.generator,
      generated_at: manifest.generated_at,
      service: manifest.service,
      origin: manifest.origin,
      tenant: manifest.tenant,
      asset_id: manifest.asset_id,
      correlation_id: manifest.correlation_id,
      asset_ids: manifest.asset_ids,
      decision_id: manifest.decision_id,
      subject_hash: manifest.subject_hash,
      from: manifest.from,
      to: manifest.to,
      made_by: manifest.made_by,
      request_id: manifest.request_id,
      checkpoint_size: manifest.checkpoint_size,
      checkpoint_root: manifest.checkpoint_root,
      records: manifest.records,
      withheld: manifest.withheld,
      complete_range: manifest.complete_range,
      first: placeOf(manifest.first),
      last: placeOf(manifest.last),
      files: manifest.files.map(({ name, bytes, sha256, deflated_bytes, deflated_sha256 }) => ({
        name,
        bytes,
        sha256,
        deflated_bytes,
        deflated_sha256,
      })),
    },
    null,
    2,
  )}\n`;

const placeOf = ({ leaf_index, sequence }: RecordPlace): RecordPlace => ({ leaf_index, sequence });

/** Undefined if the text is not exactly what formatManifest writes. So one manifest has one text, and no member appears twice. */
export const parseManifest = (text: string): Manifest | undefined => {
  const value = parseJson(text);
  if (!isManifest(value)) return undefined;
  return formatManifest(value) === text ? value : undefined;
};

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const isText = (value: unknown): value is string => typeof value === "string" && value.isWellFormed();
const isTextOrNull = (value: unknown): boolean => value === null || isText(value);
const areTexts = (value: unknown): boolean => Array.isArray(value) && value.length > 1 && value.every(isText);
const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0;
const isHex = (value: unknown): boolean => isText(value) && /^[0-9a-f]{64}$/.test(value);

const isManifest = (value: unknown): value is Manifest => {
  if (!isObject(value)) return false;
  const { files } = value;
  return (
    value.format === MANIFEST_FORMAT &&
    (value.version === 1 || value.version === 2) &&
    [value.generator, value.generated_at, value.service, value.origin, value.tenant].every(isText) &&
    [value.made_by, value.request_id].every(isText) &&
    [value.asset_id, value.correlation_id, value.from, value.to].every(isTextOrNull) &&
    (value.asset_ids === undefined || areTexts(value.asset_ids)) &&
    [value.decision_id, value.subject_hash].every((each) => each === undefined || isText(each)) &&
    [value.checkpoint_size, value.records, value.withheld].every(isCount) &&
    isText(value.checkpoint_root) &&
    decodeBase64(value.checkpoint_root)?.length === ROOT_BYTES &&
    typeof value.complete_range === "boolean" &&
    [value.first, value.last].every(isPlace) &&
    Array.isArray(files) &&
    areDigestsOf(listedFilesOf(value.version), files)
  );
};

const isPlace = (value: unknown): boolean =>
  isObject(value) && isCount(value.leaf_index) && isCount(value.sequence);

const areDigestsOf = (names: readonly ListedFile[], values: readonly unknown[]): boolean =>
  values.length === names.length && names.every((name, index) => isDigestOf(name, values[index]));

const isDigestOf = (name: ListedFile, value: unknown): boolean =>
  isObject(value) &&
  value.name === name &&
  [value.bytes, value.deflated_bytes].every(isCount) &&
  [value.sha256, value.deflated_sha256].every(isHex);
