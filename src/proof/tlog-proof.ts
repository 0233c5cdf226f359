/**
 * C2SP tlog-proof: a file (`.tlog-proof`) that shows without a network that a leaf is in a log. Checking it needs the leaf, the log's origin and its
 * public key, and nothing else.
 */
import { decodeBase64, decodeHashes, encodeBase64 } from "./base64.ts";
import { type Hash, isHash, verifyInclusion } from "./rfc6962.ts";
import type { Verifier } from "./signed-note.ts";
import { formatDecimal, openCheckpoint, parseDecimal } from "./tlog-checkpoint.ts";

export interface TlogProof {
  /** Not covered by any signature: never to be trusted by itself (tlog-proof, Format). */
  readonly extra?: Uint8Array;
  readonly index: number;
  readonly hashes: readonly Hash[];
  readonly checkpoint: string;
}

const HEADER = "c2sp.org/tlog-proof@v1";

export const formatTlogProof = ({ extra, index, hashes, checkpoint }: TlogProof): string => {
  if (!hashes.every(isHash)) throw new RangeError("a hash has 32 bytes");
  const lines = [
    HEADER,
    ...(extra?.length ? [`extra ${encodeBase64(extra)}`] : []),
    `index ${formatDecimal(index)}`,
    ...hashes.map(encodeBase64),
  ];
  return `${lines.join("\n")}\n\n${checkpoint}`;
};

const FORM = /^(?:extra (?<extra>\S+)\n)?index (?<index>\d+)(?<hashes>(?:\n\S+)*)$/;

/** Undefined if the text is not in the format. Whether the checkpoint is one shows when it is opened. */
export const parseTlogProof = (text: string): TlogProof | undefined => {
  const end = text.indexOf("\n\n");
  const checkpoint = text.slice(end + 2);
  if (end < 0 || checkpoint === "" || !text.startsWith(`${HEADER}\n`)) return undefined;
  const found = FORM.exec(text.slice(HEADER.length + 1, end))?.groups;
  const index = parseDecimal(found?.index ?? "");
  const hashes = decodeHashes((found?.hashes ?? "").split("\n").slice(1));
  const extra = found?.extra === undefined ? undefined : decodeBase64(found.extra);
  if (index === undefined || !hashes || (found?.extra !== undefined && !extra)) return undefined;
  return { ...(extra && { extra }), index, hashes, checkpoint };
};

/**
 * `leaf`: its hash, computed by the caller, never taken from the file. `not_included`: the checkpoint is right, but by this proof the leaf is not at
 * this index of its tree. Never throws.
 */
export const verifyTlogProof = ({
  proof,
  leaf,
  origin,
  verifiers,
}: {
  readonly proof: string;
  readonly leaf: Hash;
  readonly origin: string;
  readonly verifiers: readonly Verifier[];
}) => {
  const parsed = parseTlogProof(proof);
  if (parsed === undefined) return { kind: "failed", reason: "malformed" } as const;
  const opened = openCheckpoint(parsed.checkpoint, { origin, verifiers });
  if (opened.kind === "failed") return opened;
  const { size, root } = opened.checkpoint;
  const { index, hashes } = parsed;
  return verifyInclusion({ leaf, index, size, proof: hashes, root })
    ? ({ ...opened, kind: "verified", index } as const)
    : ({ kind: "failed", reason: "not_included" } as const);
};
