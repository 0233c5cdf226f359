/**
 * The proof of one test event in the form of a real one, over the events of the last hour. Its key is created when the process starts and never kept, its
 * origin names the sandbox, and it also signs the watermark: every verifier answers INVALID.
 */
import {
  HASH_BYTES,
  type Hash,
  inclusionProof,
  leafHash,
  perfectRoot,
  rootOf,
  type SubtreeHash,
} from "../../proof/rfc6962.ts";
import { SANDBOX_ORIGIN } from "../../proof/sealed-head.ts";
import { createSigningKey, signNote } from "../../proof/signed-note.ts";
import { formatCheckpoint } from "../../proof/tlog-checkpoint.ts";
import { WATERMARK } from "./watermark.ts";

export interface SandboxProof {
  readonly leafIndex: number;
  readonly inclusionProof: readonly Hash[];
  readonly head: { readonly note: string };
}

/** The proof of `records[index]` in the tree of all these records, the oldest first. */
export type SandboxProver = (records: readonly Uint8Array[], index: number) => SandboxProof;

export const createSandboxProver = (seed: Uint8Array): SandboxProver => {
  const signer = createSigningKey(seed).signerNamed(SANDBOX_ORIGIN);
  return (records, index) => {
    const size = records.length;
    const leaves = new Uint8Array(size * HASH_BYTES);
    for (const [place, record] of records.entries()) leaves.set(leafHash(record), place * HASH_BYTES);
    const hashOf: SubtreeHash = ({ level, index: at }) => {
      const bytes = HASH_BYTES * 2 ** level;
      return perfectRoot(leaves.subarray(at * bytes, (at + 1) * bytes));
    };
    const head = { origin: SANDBOX_ORIGIN, size, root: rootOf(size, hashOf), extensions: [WATERMARK] };
    return {
      leafIndex: index,
      inclusionProof: inclusionProof(index, size, hashOf),
      head: { note: signNote(formatCheckpoint(head), [signer]) },
    };
  };
};
