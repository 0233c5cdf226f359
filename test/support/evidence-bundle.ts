/** Takes bundles apart and puts them together again, as somebody could who knows the format and has no key. */
import { createHash } from "node:crypto";
import { deflateRawSync } from "node:zlib";
import { DEFLATE_LEVEL } from "../../src/api/evidence/zip.ts";
import { encodeRecord } from "../../src/log/record.ts";
import {
  BUNDLE_FILES,
  type BundleFile,
  formatManifest,
  listedFilesOf,
  type Manifest,
  methodOf,
  parseManifest,
} from "../../src/proof/evidence/manifest.ts";
import type { Verdict } from "../../src/proof/evidence/verdict.ts";
import { type EvidenceQuestion, verifyEvidence } from "../../src/proof/evidence/verify.ts";
import { type BundleSource, openZip } from "../../src/proof/evidence/zip-reader.ts";
import { type Hash, leafHash } from "../../src/proof/rfc6962.ts";
import { sealedHead } from "../../src/proof/sealed-head.ts";
import {
  createSigningKey,
  formatVerifierKey,
  keyLines,
  parseVerifierKey,
  signNote,
} from "../../src/proof/signed-note.ts";
import { formatCheckpoint } from "../../src/proof/tlog-checkpoint.ts";
import { formatTlogProof } from "../../src/proof/tlog-proof.ts";
import type { TestService } from "./service.ts";
import { writeZip } from "./zip.ts";

/** Fetches a bundle from the service, with the admin key or with the given one. */
export const evidence = async (
  { url, adminKey }: Pick<TestService, "url" | "adminKey">,
  query = "",
  key = adminKey,
): Promise<Uint8Array> => {
  const response = await fetch(`${url}/v1/evidence?${query}`, {
    headers: { authorization: `Bearer ${key}` },
  });
  if (response.status !== 200) throw new Error(await response.text());
  return new Uint8Array(await response.arrayBuffer());
};

export const sourceOf = (bytes: Uint8Array): BundleSource => ({
  size: bytes.length,
  read: async (from, to) => bytes.subarray(from, to),
});

export const verify = async (
  bytes: Uint8Array,
  question: Omit<EvidenceQuestion, "bundle"> = {},
): Promise<Verdict> => {
  const opened = await openZip(sourceOf(bytes));
  return opened.kind === "opened" ? verifyEvidence({ bundle: opened.files, ...question }) : opened;
};

/** A file of a ZIP. */
export interface PackedFile {
  readonly name: string;
  readonly content: Uint8Array;
}

export const unpack = async (bytes: Uint8Array): Promise<PackedFile[]> => {
  const opened = await openZip(sourceOf(bytes));
  if (opened.kind !== "opened") throw new Error(JSON.stringify(opened));
  const { names, chunks } = opened.files;
  return Promise.all(
    names.map(async (name) => ({ name, content: Buffer.concat(await Array.fromAsync(chunks(name))) })),
  );
};

export const textOf = (files: readonly PackedFile[], name: BundleFile): string => {
  const file = files.find((each) => each.name === name);
  if (file === undefined) throw new Error(`there is no ${name}`);
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(file.content);
};

export const withText = (files: readonly PackedFile[], name: BundleFile, text: string): PackedFile[] =>
  files.map((file) => (file.name === name ? { name, content: new TextEncoder().encode(text) } : file));

/** Keyed by content: if a bundle is changed in thousands of ways, one file at a time, the other files are packed once. */
const deflated = new WeakMap<Uint8Array, Uint8Array>();

const packedOf = ({ name, content }: PackedFile): { readonly method: 0 | 8; readonly bytes: Uint8Array } => {
  const known = BUNDLE_FILES.find((file) => file === name);
  if (known !== undefined && methodOf(known) === 0) return { method: 0, bytes: content };
  const bytes = deflated.get(content) ?? deflateRawSync(content, { level: DEFLATE_LEVEL });
  deflated.set(content, bytes);
  return { method: 8, bytes };
};

/** As the service packs it. */
export const pack = (files: readonly PackedFile[]): Uint8Array =>
  writeZip(
    files.map((file) => ({
      ...file,
      packed: packedOf(file),
      descriptor: { isSigned: true, sizes: 4 },
    })),
  );

export const manifestOf = (files: readonly PackedFile[]): Manifest => {
  const manifest = parseManifest(textOf(files, "manifest.json"));
  if (manifest === undefined) throw new Error("the manifest is not one");
  return manifest;
};

const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

/** A new manifest that lists these files and the other given members. */
export const withManifest = (
  files: readonly PackedFile[],
  { files: given, ...members }: Partial<Manifest> = {},
): PackedFile[] => {
  const { version } = { ...manifestOf(files), ...members };
  const digests = listedFilesOf(version).map((name) => {
    const file = files.find((each) => each.name === name);
    if (file === undefined) throw new Error(`there is no ${name}`);
    const { bytes: packed } = packedOf(file);
    return {
      name,
      bytes: file.content.length,
      sha256: sha256(file.content),
      deflated_bytes: packed.length,
      deflated_sha256: sha256(packed),
    };
  });
  return withText(
    files,
    "manifest.json",
    formatManifest({ ...manifestOf(files), ...members, files: given ?? digests }),
  );
};

export const linesIn = (files: readonly PackedFile[], name: "records.ndjson" | "events.ndjson"): string[] =>
  textOf(files, name).split("\n").slice(0, -1);

export const withLines = (
  files: readonly PackedFile[],
  name: "records.ndjson" | "events.ndjson",
  lines: readonly string[],
): PackedFile[] => withText(files, name, lines.map((line) => `${line}\n`).join(""));

/**
 * A bundle as an attacker makes it who has no key of the service and uses an own key for the tenant's log and the system's log: valid
 * in everything that a verifier without a pinned key can check, except for the given lies.
 */
export const resigned = (
  files: readonly PackedFile[],
  lies: {
    readonly manifest?: Partial<Manifest>;
    readonly eventType?: string;
    readonly tenant?: string;
    readonly metadata?: object;
    readonly payload?: Uint8Array;
    /** The checkpoint stays the service's, and the attacker's key is listed next to the service's. */
    readonly keepsCheckpoint?: boolean;
  } = {},
): PackedFile[] => {
  const key = createSigningKey(new Uint8Array(32).fill(7));
  const signed = (origin: string, size: number, root: Hash): string =>
    signNote(formatCheckpoint({ origin, size, root }), [key.signerNamed(origin)]);
  const line = (origin: string): string => `${formatVerifierKey(key.signerNamed(origin))}\n`;
  const { origin, service } = manifestOf(files);
  const head = sealedHead(textOf(files, "checkpoint"));
  if (head === undefined) throw new Error("there is a checkpoint");
  const one = lies.payload && leafHash(lies.payload);
  const [size, root] = one ? [1, one] : [head.size, head.root];
  const headed = lies.keepsCheckpoint
    ? withText(files, "key", `${textOf(files, "key")}${line(origin)}`)
    : withText(withText(files, "checkpoint", signed(origin, size, root)), "key", line(origin));
  const made = withManifest(headed, lies.manifest);
  const manifest = manifestOf(made);
  const metadata = {
    tenant: manifest.tenant,
    actor: manifest.made_by,
    request_id: manifest.request_id,
    manifest_sha256: sha256(Buffer.from(textOf(made, "manifest.json"))),
    records: manifest.records,
    ...lies.metadata,
  };
  const event = { event_id: "evt_anchor", event_type: lies.eventType ?? "system.evidence_made", metadata };
  const payload = Buffer.from(
    encodeRecord({
      tenant: lies.tenant ?? "prooftrail-system",
      receivedAt: manifest.generated_at,
      requestId: manifest.request_id,
      eventText: JSON.stringify(event),
    }),
  );
  const system = `${service}/prooftrail-system`;
  const checkpoint = signed(system, 1, leafHash(payload));
  const proof = formatTlogProof({ extra: payload, index: 0, hashes: [], checkpoint });
  const publicKeys = textOf(made, "key")
    .split("\n")
    .flatMap((text) => parseVerifierKey(text)?.publicKey ?? []);
  const systemKey = keyLines(publicKeys, system, checkpoint);
  return withText(withText(made, "manifest.tlog-proof", proof), "system-key", systemKey);
};
