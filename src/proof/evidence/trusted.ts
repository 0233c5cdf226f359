/** What an auditor trusts: keys, and a checkpoint kept earlier. */
import { decodeHashes, encodeBase64 } from "../base64.ts";
import { type Hash, sameHash, verifyConsistency } from "../rfc6962.ts";
import { parseVerifierKey, type Verifier } from "../signed-note.ts";
import { type Checkpoint, type CheckpointFailure, openCheckpoint } from "../tlog-checkpoint.ts";
import { membersIn } from "./manifest.ts";
import { type EvidenceFacts, type FindingCode, fail, undecided } from "./verdict.ts";

/** One key per line, as `GET /v1/log/key` returns them; of any log. */
export const readTrustedKeys = (text: string): readonly Verifier[] => {
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== "");
  const verifiers = lines.flatMap((line) => parseVerifierKey(line.trim()) ?? []);
  if (verifiers.length < lines.length)
    return undecided("A line of the trusted keys is not an Ed25519 verifier key.");
  return lines.length === 0 ? undecided("The file of trusted keys holds no key.") : verifiers;
};

const FAILURES: Readonly<Record<CheckpointFailure, readonly [FindingCode, string]>> = {
  malformed: ["checkpoint_malformed", "it is not a signed tree head"],
  wrong_origin: ["checkpoint_malformed", "it is a tree head of another log than the manifest names"],
  unknown_key: ["unknown_key", "no trusted key signed it"],
  bad_signature: ["bad_signature", "its signature is wrong: it was altered"],
};

/** The checkpoint in the evidence, and who signed it. */
export const openTrusted = (note: string, origin: string, verifiers: readonly Verifier[]) => {
  const opened = openCheckpoint(note, { origin, verifiers });
  return opened.kind === "opened" ? opened : failCheckpoint(opened.reason);
};

export const failCheckpoint = (reason: CheckpointFailure): never =>
  fail(...FAILURES[reason], { file: "checkpoint" });

/** Of a record whose leaf does not lead to the root. */
export const NOT_IN_LOG =
  "it is not at this place in the log that the checkpoint covers: the record, its place or its proof was altered";

/** Compares the checkpoint in a bundle with one that the auditor has kept: nothing that the older one covers may differ in the newer. */
export const compareWithHeld = (
  /** A signed note of the same log, and the body of `GET /v1/log/consistency` between that one and the bundle's. */
  given: { readonly checkpoint?: string | undefined; readonly consistency?: string | undefined },
  bundle: Checkpoint,
  verifiers: readonly Verifier[],
): EvidenceFacts["heldCheckpoint"] => {
  if (given.checkpoint === undefined) {
    if (given.consistency === undefined) return "none";
    return undecided("A consistency proof needs a checkpoint: give that as well.");
  }
  const opened = openCheckpoint(given.checkpoint, { origin: bundle.origin, verifiers });
  if (opened.kind === "failed")
    return undecided(
      `The given checkpoint is not one of ${bundle.origin} by a trusted key (${opened.reason}).`,
    );
  const held = opened.checkpoint;
  if (held.size === bundle.size)
    return sameHash(held.root, bundle.root)
      ? "same"
      : contradict(`Both have ${held.size} leaves but other roots: the log was forked or rewritten`);
  const [older, newer] = held.size < bundle.size ? [held, bundle] : [bundle, held];
  const [from, to] = [older.size, newer.size];
  const ask = `GET /v1/log/consistency?from=${from}&to=${to}`;
  if (given.consistency === undefined)
    return undecided(
      `The given checkpoint has ${held.size} leaves, the bundle's ${bundle.size}: to compare them, give the answer of ${ask} with --consistency.`,
    );
  // The roots in this body are ignored in favour of the checkpoints'.
  const said = dataIn(given.consistency);
  const proof =
    (said.from === from && said.to === to && hashesIn(said.proof)) ||
    undecided(`What was given for --consistency is not the answer of ${ask}.`);
  if (verifyConsistency({ from, to, fromRoot: older.root, toRoot: newer.root, proof })) return "consistent";
  return contradict(
    `By this proof the tree of ${to} leaves (root ${encodeBase64(newer.root)}) does not extend the one of ${from} (root ${encodeBase64(older.root)})`,
  );
};

const contradict = (detail: string): never => fail("contradicts_checkpoint", detail, { file: "checkpoint" });

/** The `data` of an answer, or the object itself. */
export const dataIn = (text: string): Readonly<Record<string, unknown>> => {
  const body = membersIn(text);
  return Object(body.data ?? body);
};

/** Undefined unless all of it are hashes in base64. */
export const hashesIn = (value: unknown): readonly Hash[] | undefined =>
  Array.isArray(value) && value.every((each) => typeof each === "string") ? decodeHashes(value) : undefined;
