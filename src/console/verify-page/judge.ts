/** From files that somebody picked to a verdict: finds out what each of them is, and asks the verifier. Runs in a worker. */
import { type BundleFiles, DamagedFileError } from "../../proof/evidence/bundle-files.ts";
import { BUNDLE_FILES, MANIFEST_FILE } from "../../proof/evidence/manifest.ts";
import type { Verdict } from "../../proof/evidence/verdict.ts";
import { verifyEvidence } from "../../proof/evidence/verify.ts";
import { type ProofVerdict, verifyProof, verifyReceipt } from "../../proof/evidence/verify-proof.ts";
import { openZip } from "../../proof/evidence/zip-reader.ts";
import { parseVerifierKey } from "../../proof/signed-note.ts";
import { checkpointIn } from "../../proof/tlog-checkpoint.ts";

/** A file that somebody picked. */
export interface GivenFile {
  readonly name: string;
  readonly size: number;
  /** The bytes of `from` to `to`. Rejects if the file cannot be read any more. */
  read(from: number, to: number): Promise<Uint8Array>;
}

export interface Question {
  readonly files: readonly GivenFile[];
  /** Trusted verifier keys as text, besides those in files; empty for none. */
  readonly keys: string;
  /** Empty for any. */
  readonly tenant: string;
}

export type Judged =
  | { readonly about: "bundle"; readonly name: string; readonly verdict: Verdict }
  | { readonly about: "event"; readonly name: string; readonly verdict: ProofVerdict };

export interface Progress {
  /** The file that is read, and how much of it was read, unpacked. */
  readonly file: string;
  readonly bytes: number;
  /** How much of the whole work is done, from 0 to 1: a guess, because records are read twice and other files once. */
  readonly share: number;
}

export const judge = async (
  { files, keys, tenant }: Question,
  report: (progress: Progress) => void,
): Promise<Judged> => {
  const given = await sorted(files);
  const twice = ROLES.find((role) => role !== "key" && (given[role]?.length ?? 0) > 1);
  if (twice !== undefined) return unclear(files, `There are several files of one kind (${twice}): give one.`);
  const text = async (role: Role): Promise<string | undefined> => given[role]?.[0] && textOf(given[role][0]);
  const trusted = [keys, ...(await Promise.all((given.key ?? []).map(textOf)))].filter(
    (part) => part.trim() !== "",
  );
  const known = {
    keys: trusted.length === 0 ? undefined : trusted.join("\n"),
    tenant: tenant.trim() === "" ? undefined : tenant.trim(),
  };
  const bundle = given.bundle?.[0];
  if (bundle !== undefined || isUnpacked(files)) {
    const checkpoint = await text("checkpoint");
    const consistency = await text("consistency");
    const packed = bundle && counted(bundle);
    const share = (): number =>
      packed === undefined ? 0 : Math.min(0.99, packed.bytesRead() / (2 * packed.size));
    const opened = packed === undefined ? unpackedFiles(files) : await openZip(packed);
    const name = bundle?.name ?? MANIFEST_FILE;
    const verdict: Verdict =
      opened.kind === "opened"
        ? await verifyEvidence({
            ...known,
            checkpoint,
            consistency,
            bundle: reporting(opened.files, (progress) => report({ ...progress, share: share() })),
          })
        : opened;
    return { about: "bundle", name, verdict };
  }
  const [proof, receipt, event] = [await text("proof"), await text("receipt"), await text("event")];
  const name = (given.proof ?? given.receipt ?? [])[0]?.name ?? "";
  if (proof !== undefined)
    return { about: "event", name, verdict: verifyProof({ proof, receipt, event, ...known }) };
  if (receipt !== undefined)
    return { about: "event", name, verdict: verifyReceipt({ receipt, event, tenant: known.tenant }) };
  return unclear(
    files,
    "There is no bundle (ZIP), no proof (GET /v1/events/{id}/proof) and no receipt (the answer 202 to an event) among the files.",
  );
};

const textOf = async (file: GivenFile): Promise<string> =>
  new TextDecoder().decode(await file.read(0, file.size));

const unclear = (files: readonly GivenFile[], detail: string): Judged => ({
  about: "event",
  name: files[0]?.name ?? "",
  verdict: { kind: "undecided", detail },
});

const ROLES = ["bundle", "proof", "receipt", "event", "key", "checkpoint", "consistency"] as const;
type Role = (typeof ROLES)[number];
type Sorted = Partial<Record<Role, readonly GivenFile[]>>;

/** Larger than any text that is no bundle. */
const TEXT_BYTES_MAX = 4 * 1024 * 1024;
const ZIP_START = "PK";

const sorted = async (files: readonly GivenFile[]): Promise<Sorted> => {
  // The files of an unpacked bundle are not looked at one by one.
  const others = isUnpacked(files) ? files.filter(({ name }) => !isOfBundle(name)) : files;
  const roles = await Promise.all(others.map(roleOf));
  const ofRole = (role: Role): readonly GivenFile[] => others.filter((_, index) => roles[index] === role);
  return Object.fromEntries(
    ROLES.flatMap((role) => (ofRole(role).length === 0 ? [] : [[role, ofRole(role)]])),
  );
};

const roleOf = async (file: GivenFile): Promise<Role | undefined> => {
  const start = await file.read(0, Math.min(file.size, ZIP_START.length));
  if (new TextDecoder().decode(start) === ZIP_START || /\.zip$/i.test(file.name)) return "bundle";
  if (file.size > TEXT_BYTES_MAX) return undefined;
  const text = await textOf(file);
  if (text.startsWith("c2sp.org/tlog-proof@")) return "proof";
  if (parseVerifierKey(text.split("\n")[0]?.trim() ?? "")) return "key";
  if (checkpointIn(text)) return "checkpoint";
  return roleOfJson(text);
};

const roleOfJson = (text: string): Role | undefined => {
  let data: Readonly<Record<string, unknown>>;
  try {
    const body = Object(JSON.parse(text));
    data = Object(body.data ?? body);
  } catch {
    return undefined;
  }
  if ("inclusion_proof" in data) return "proof";
  if ("leaf_hash" in data || "receipts" in data) return "receipt";
  if ("from" in data && "to" in data && "proof" in data) return "consistency";
  return "event_type" in data ? "event" : undefined;
};

const isOfBundle = (name: string): boolean => BUNDLE_FILES.some((own) => own === name);

/** Whether files of the folder into which a bundle was unpacked were picked. */
const isUnpacked = (files: readonly GivenFile[]): boolean => files.some(({ name }) => name === MANIFEST_FILE);

const CHUNK_BYTES = 256 * 1024;

const counted = ({ size, read }: GivenFile) => {
  let bytes = 0;
  return {
    size,
    read: (from: number, to: number): Promise<Uint8Array> => {
      bytes += to - from;
      return read(from, to);
    },
    bytesRead: (): number => bytes,
  };
};

const unpackedFiles = (
  files: readonly GivenFile[],
): { readonly kind: "opened"; readonly files: BundleFiles } => {
  const own = files.filter(({ name }) => isOfBundle(name));
  return {
    kind: "opened",
    files: {
      names: own.map(({ name }) => name),
      besides: [],
      chunks: async function* (name) {
        const file = own.find((each) => each.name === name);
        if (file === undefined) throw new DamagedFileError("it is missing");
        for (let at = 0; at < file.size; at += CHUNK_BYTES)
          yield await file.read(at, Math.min(file.size, at + CHUNK_BYTES));
      },
    },
  };
};

const reporting = (files: BundleFiles, report: (progress: Omit<Progress, "share">) => void): BundleFiles => ({
  ...files,
  chunks: async function* (file) {
    let bytes = 0;
    for await (const chunk of files.chunks(file)) {
      bytes += chunk.length;
      report({ file, bytes });
      yield chunk;
    }
  },
});
