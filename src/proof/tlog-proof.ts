/**
 * C2SP tlog-proof: a file (`.tlog-proof`) that shows without a network that a leaf is in a log. Checking it needs the leaf, the log's origin and its
 * public key, and nothing else.
 */
import { decodeBase64, encodeBase64 } from "./base64.ts";
import { formatDecimal, parseDecimal } from "./decimal.ts";
import { type Hash, isHash, verifyInclusion } from "./rfc6962.ts";
import type { Verifier } from "./signed-note.ts";
import { type Checkpoint, type CheckpointFailure, openCheckpoint } from "./tlog-checkpoint.ts";

const HEADER = "c2sp.org/tlog-proof@v1";
const EXTRA = "extra ";
const INDEX = "index ";

export interface TlogProof {
  /** Not covered by any signature: never to be trusted by itself (tlog-proof, Format). */
  readonly extra?: Uint8Array;
  readonly index: number;
  readonly hashes: readonly Hash[];
  readonly checkpoint: string;
}

export const formatTlogProof = ({ extra, index, hashes, checkpoint }: TlogProof): string => {
  if (!hashes.every(isHash)) throw new RangeError("a hash has 32 bytes");
  if (checkpoint === "") throw new RangeError("a proof has a checkpoint");
  const lines = [
    HEADER,
    ...(extra === undefined || extra.length === 0 ? [] : [EXTRA + encodeBase64(extra)]),
    INDEX + formatDecimal(index),
    ...hashes.map(encodeBase64),
  ];
  return `${lines.join("\n")}\n\n${checkpoint}`;
};

/** Undefined if the text is not in the format. Whether the checkpoint is one shows when it is opened. */
export const parseTlogProof = (text: string): TlogProof | undefined => {
  const end = text.indexOf("\n\n");
  const checkpoint = text.slice(end + 2);
  if (end < 0 || checkpoint === "") return undefined;
  const [header, ...lines] = text.slice(0, end).split("\n");
  if (header !== HEADER) return undefined;
  const extraText = lines[0]?.startsWith(EXTRA) ? lines.shift()?.slice(EXTRA.length) : undefined;
  const [indexLine = "", ...hashLines] = lines;
  const index = indexLine.startsWith(INDEX) ? parseDecimal(indexLine.slice(INDEX.length)) : undefined;
  const hashes = hashLines.map(decodeBase64).filter(isHash);
  if (index === undefined || hashes.length < hashLines.length) return undefined;
  if (extraText === undefined) return { index, hashes, checkpoint };
  const extra = decodeBase64(extraText);
  // Without data there is no line.
  return extra === undefined || extra.length === 0 ? undefined : { extra, index, hashes, checkpoint };
};

export interface TlogProofQuestion {
  readonly proof: string;
  /** The hash of the leaf, computed by the caller, never taken from the file. */
  readonly leaf: Hash;
  readonly origin: string;
  readonly verifiers: readonly Verifier[];
}

export type VerifiedTlogProof =
  | {
      readonly kind: "verified";
      readonly index: number;
      readonly checkpoint: Checkpoint;
      readonly verifiers: readonly Verifier[];
    }
  /** `not_included`: the checkpoint is right, but by this proof the leaf is not at this index of its tree. */
  | { readonly kind: "failed"; readonly reason: CheckpointFailure | "not_included" };

/** Never throws. */
export const verifyTlogProof = ({ proof, leaf, origin, verifiers }: TlogProofQuestion): VerifiedTlogProof => {
  const parsed = parseTlogProof(proof);
  if (parsed === undefined) return { kind: "failed", reason: "malformed" };
  const opened = openCheckpoint(parsed.checkpoint, { origin, verifiers });
  if (opened.kind === "failed") return opened;
  const { size, root } = opened.checkpoint;
  const { index, hashes } = parsed;
  if (!verifyInclusion({ leaf, index, size, proof: hashes, root }))
    return { kind: "failed", reason: "not_included" };
  return { kind: "verified", index, checkpoint: opened.checkpoint, verifiers: opened.verifiers };
};
