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

type Check<Value> = (value: unknown) => value is Value;
type Members = Readonly<Record<string, Check<unknown>>>;
type MadeOf<Of extends Members> = {
  readonly [Name in keyof Of]: Of[Name] extends Check<infer Value> ? Value : never;
};

const isText = (value: unknown): value is string => typeof value === "string" && value.isWellFormed();
const isTextOrNull = (value: unknown): value is string | null => value === null || isText(value);
const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;
const isHex = (value: unknown): value is string => typeof value === "string" && /^[0-9a-f]{64}$/.test(value);
const isRoot = (value: unknown): value is string => isHash(bytesIn(value));
const isSeveral = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.length > 1 && value.every(isText);
const isOneOf =
  <const Value>(...values: readonly Value[]): Check<Value> =>
  (value): value is Value =>
    values.some((each) => each === value);
const isAbsentOr =
  <Value>(check: Check<Value>): Check<Value | undefined> =>
  (value): value is Value | undefined =>
    value === undefined || check(value);
const isMadeOf =
  <Of extends Members>(members: Of): Check<MadeOf<Of>> =>
  (value): value is MadeOf<Of> =>
    isObject(value) && Object.entries(members).every(([name, check]) => check(value[name]));

const PLACE = { leaf_index: isCount, sequence: isCount };
export type RecordPlace = MadeOf<typeof PLACE>;

const DIGEST = {
  name: isOneOf(...LISTED_FILES),
  bytes: isCount,
  sha256: isHex,
  /** As the service packed it, see `methodOf`. */
  deflated_bytes: isCount,
  deflated_sha256: isHex,
};
export type FileDigest = MadeOf<typeof DIGEST>;

const isPlace = isMadeOf(PLACE);
const isDigest = isMadeOf(DIGEST);

/** Every member, in the order in which it is written. */
const MANIFEST = {
  format: isOneOf(MANIFEST_FORMAT),
  version: isOneOf<ManifestVersion>(1, 2),
  generator: isText,
  generated_at: isText,
  service: isText,
  /** `<service>/<tenant>`, as in the checkpoint. */
  origin: isText,
  tenant: isText,
  asset_id: isTextOrNull,
  correlation_id: isTextOrNull,
  /** Only where the bundle is about several assets; then `asset_id` is null. */
  asset_ids: isAbsentOr(isSeveral),
  decision_id: isAbsentOr(isText),
  subject_hash: isAbsentOr(isText),
  /** Bounds of the events' own times: at or after `from`, before `to`. */
  from: isTextOrNull,
  to: isTextOrNull,
  /** The id of the requesting key, and of its request. */
  made_by: isText,
  request_id: isText,
  checkpoint_size: isCount,
  checkpoint_root: isRoot,
  records: isCount,
  /** How many records are present only by their hash, because their events have expired or the service does not understand them. */
  withheld: isCount,
  complete_range: isOneOf(true, false),
  first: isPlace,
  last: isPlace,
  files: (value: unknown): value is readonly FileDigest[] => Array.isArray(value) && value.every(isDigest),
};
export type Manifest = MadeOf<typeof MANIFEST>;
const isManifest = isMadeOf(MANIFEST);

/** Only these members, in this order; of those that are absent nothing. */
const inOrder = (members: Members, value: object): object =>
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
