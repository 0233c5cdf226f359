/** Compares the checkpoint in a bundle with one that the auditor has kept: nothing that the older one covers may differ in the newer. */
import { decodeBase64, encodeBase64 } from "../base64.ts";
import { isHash, sameHash, verifyConsistency } from "../rfc6962.ts";
import type { Verifier } from "../signed-note.ts";
import { type Checkpoint, openCheckpoint } from "../tlog-checkpoint.ts";

export type HeldCheckpointVerdict =
  | { readonly kind: "fits"; readonly how: "same" | "consistent" }
  | { readonly kind: "contradicts"; readonly detail: string }
  | { readonly kind: "undecided"; readonly detail: string };

export const compareCheckpoints = (parts: {
  readonly bundle: Checkpoint;
  /** A signed note. */
  readonly held: string;
  /** The body of `GET /v1/log/consistency`. */
  readonly consistency: string | undefined;
  readonly verifiers: readonly Verifier[];
}): HeldCheckpointVerdict => {
  const { bundle, consistency, verifiers } = parts;
  const opened = openCheckpoint(parts.held, { origin: bundle.origin, verifiers });
  if (opened.kind === "failed")
    return {
      kind: "undecided",
      detail: `The checkpoint that was given is none of ${bundle.origin} by a trusted key (${opened.reason}).`,
    };
  const held = opened.checkpoint;
  if (held.size === bundle.size)
    return sameHash(held.root, bundle.root)
      ? { kind: "fits", how: "same" }
      : contradiction(`Both have ${held.size} leaves, and other roots: the log was split or rewritten`);
  const [older, newer] = held.size < bundle.size ? [held, bundle] : [bundle, held];
  const ask = `GET /v1/log/consistency?from=${older.size}&to=${newer.size}`;
  if (consistency === undefined)
    return {
      kind: "undecided",
      detail: `The checkpoint that was given has ${held.size} leaves, the bundle's ${bundle.size}: to compare them give the answer of ${ask} as well, with --consistency.`,
    };
  const proof = parseConsistency(consistency, older.size, newer.size);
  if (proof === undefined)
    return { kind: "undecided", detail: `What was given for --consistency is not the answer of ${ask}.` };
  const { size: from, root: fromRoot } = older;
  const { size: to, root: toRoot } = newer;
  return verifyConsistency({ from, to, fromRoot, toRoot, proof })
    ? { kind: "fits", how: "consistent" }
    : contradiction(
        `By this proof the tree of ${to} leaves (root ${encodeBase64(toRoot)}) does not extend the one of ${from} (root ${encodeBase64(fromRoot)})`,
      );
};

const contradiction = (detail: string): HeldCheckpointVerdict => ({ kind: "contradicts", detail });

/** The roots in this body are ignored: those of the checkpoints count. */
const parseConsistency = (text: string, from: number, to: number): readonly Uint8Array[] | undefined => {
  let value: Readonly<Record<string, unknown>>;
  try {
    const body = Object(JSON.parse(text));
    value = Object(body.data ?? body);
  } catch {
    return undefined;
  }
  if (value.from !== from || value.to !== to || !Array.isArray(value.proof)) return undefined;
  const hashes = value.proof
    .map((hash: unknown) => (typeof hash === "string" ? decodeBase64(hash) : undefined))
    .filter(isHash);
  return hashes.length === value.proof.length ? hashes : undefined;
};
