/** The content of a bundle, and the one form in which its manifest is written. */
import { decodeBase64 } from "../base64.ts";
import { isHash } from "../rfc6962.ts";

export const MANIFEST_FORMAT = "prooftrail-evidence";
/** 2 has `verify.html`, which 1 has not; the verifier of version 0.1.0 knows only 1. */
export type ManifestVersion = 1 | 2;

export const VERIFY_PAGE_FILE = "verify.html";

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
  VERIFY_PAGE_FILE,
] as const;
export type ListedFile = (typeof LISTED_FILES)[number];

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
export const methodOf = (name: BundleFile): 0 | 8 => (LISTED_FILES.some((listed) => listed === name) ? 8 : 0);

/** The tenant in whose log every bundle is recorded as an event, and the type of that event. */
export const SYSTEM_TENANT_NAME = "prooftrail-system";
export const ANCHOR_EVENT_TYPE = "system.evidence_made";

export interface FileDigest {
  readonly name: ListedFile;
  readonly bytes: number;
  readonly sha256: string;
  /** As the service packed it, see `methodOf`. */
  readonly deflated_bytes: number;
  readonly deflated_sha256: string;
}

export interface RecordPlace {
  readonly leaf_index: number;
  readonly sequence: number;
}

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
  readonly decision_id?: string;
  readonly subject_hash?: string;
  /** Bounds of the events' own times: at or after `from`, before `to`. */
  readonly from: string | null;
  readonly to: string | null;
  /** The id of the requesting key, and of its request. */
  readonly made_by: string;
  readonly request_id: string;
  readonly checkpoint_size: number;
  readonly checkpoint_root: string;
  readonly records: number;
  /** How many records are present only by their hash, because their events have expired or the service does not understand them. */
  readonly withheld: number;
  readonly complete_range: boolean;
  readonly first: RecordPlace;
  readonly last: RecordPlace;
  readonly files: readonly FileDigest[];
}

type Check = (value: unknown) => boolean;
/** Every member, in the order in which it is written. */
type Members<Shape> = Readonly<Record<keyof Shape, Check>>;

const isText: Check = (value) => typeof value === "string" && value.isWellFormed();
const isTextOrNull: Check = (value) => value === null || isText(value);
const isCount: Check = (value) => Number.isSafeInteger(value) && Number(value) >= 0;
const isHex: Check = (value) => typeof value === "string" && /^[0-9a-f]{64}$/.test(value);
const isAbsentOr =
  (check: Check): Check =>
  (value) =>
    value === undefined || check(value);
const isMadeOf =
  (members: Readonly<Record<string, Check>>): Check =>
  (value) =>
    isObject(value) && Object.entries(members).every(([name, check]) => check(value[name]));

const PLACE: Members<RecordPlace> = { leaf_index: isCount, sequence: isCount };

const DIGEST: Members<FileDigest> = {
  name: isText,
  bytes: isCount,
  sha256: isHex,
  deflated_bytes: isCount,
  deflated_sha256: isHex,
};

const MANIFEST: Members<Manifest> = {
  format: (value) => value === MANIFEST_FORMAT,
  version: (value) => value === 1 || value === 2,
  generator: isText,
  generated_at: isText,
  service: isText,
  origin: isText,
  tenant: isText,
  asset_id: isTextOrNull,
  correlation_id: isTextOrNull,
  asset_ids: isAbsentOr((value) => Array.isArray(value) && value.length > 1 && value.every(isText)),
  decision_id: isAbsentOr(isText),
  subject_hash: isAbsentOr(isText),
  from: isTextOrNull,
  to: isTextOrNull,
  made_by: isText,
  request_id: isText,
  checkpoint_size: isCount,
  checkpoint_root: (value) => isHash(bytesIn(value)),
  records: isCount,
  withheld: isCount,
  complete_range: (value) => typeof value === "boolean",
  first: isMadeOf(PLACE),
  last: isMadeOf(PLACE),
  files: (value) => Array.isArray(value) && value.every(isMadeOf(DIGEST)),
};

/** Only these members, in this order; of those that are absent nothing. */
const inOrder = <Shape extends object>(members: Members<Shape>, value: Shape): object =>
  Object.fromEntries(Object.keys(members).map((name) => [name, Object(value)[name]]));

export const formatManifest = (manifest: Manifest): string => {
  const ordered = {
    ...inOrder(MANIFEST, manifest),
    first: inOrder(PLACE, manifest.first),
    last: inOrder(PLACE, manifest.last),
    files: manifest.files.map((file) => inOrder(DIGEST, file)),
  };
  return `${JSON.stringify(ordered, null, 2)}\n`;
};

const isManifest = (value: unknown): value is Manifest => isMadeOf(MANIFEST)(value);

/** Undefined if the text is not exactly what formatManifest writes. So one manifest has one text, and no member appears twice. */
export const parseManifest = (text: string): Manifest | undefined => {
  const value = membersIn(text);
  if (!isManifest(value) || formatManifest(value) !== text) return undefined;
  const names = listedFilesOf(value.version);
  const areListed =
    value.files.length === names.length && names.every((name, at) => value.files[at]?.name === name);
  return areListed ? value : undefined;
};

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The members of an object in JSON; none if the text is something else. */
export const membersIn = (text: string): Readonly<Record<string, unknown>> => {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
};

export const bytesIn = (value: unknown): Uint8Array | undefined =>
  typeof value === "string" ? decodeBase64(value) : undefined;
