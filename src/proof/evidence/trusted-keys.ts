/** The keys that an auditor trusts, and what it means when a checkpoint is by none of them. */
import { parseVerifierKey, type Verifier } from "../signed-note.ts";
import type { CheckpointFailure } from "../tlog-checkpoint.ts";
import type { FindingCode } from "./verdict.ts";

export type TrustedKeys =
  | { readonly kind: "keys"; readonly verifiers: readonly Verifier[] }
  | { readonly kind: "unusable"; readonly detail: string };

/** One key per line, as `GET /v1/log/key` returns them; of any log. */
export const readTrustedKeys = (text: string): TrustedKeys => {
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== "");
  const verifiers = lines.flatMap((line) => parseVerifierKey(line.trim()) ?? []);
  if (verifiers.length < lines.length)
    return { kind: "unusable", detail: "A line of the trusted keys is not an Ed25519 verifier key." };
  if (lines.length === 0) return { kind: "unusable", detail: "There is no key in the file of trusted keys." };
  return { kind: "keys", verifiers };
};

export const CHECKPOINT_FAILURES: Readonly<Record<CheckpointFailure, readonly [FindingCode, string]>> = {
  malformed: ["checkpoint_malformed", "it is not a signed tree head"],
  wrong_origin: ["checkpoint_malformed", "it is the tree head of another log than the manifest names"],
  unknown_key: ["unknown_key", "it is signed by none of the trusted keys"],
  bad_signature: ["bad_signature", "its signature is wrong: it was altered"],
};

/** Of a record whose leaf does not lead to the root. */
export const NOT_IN_LOG =
  "the log that the checkpoint covers does not hold it at this place: the record, its place or its proof was altered";
