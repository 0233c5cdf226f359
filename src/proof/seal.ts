/**
 * Signs a tree head only if it extends the last signed one: the tree of today is asked for its root at the size of that head, and must give the same
 * root. Both roots then come from the same leaves, which is what a consistency proof shows to others (RFC 6962 §2.1.2).
 */
import { encodeBase64 } from "./base64.ts";
import type { CheckpointStore } from "./checkpoint-store.ts";
import type { KeyRing } from "./key-ring.ts";
import type { KnownHead } from "./known-heads.ts";
import { isGivenUp } from "./restored-line.ts";
import { sameHash } from "./rfc6962.ts";
import { signNote } from "./signed-note.ts";
import { type Checkpoint, formatCheckpoint, openCheckpoint } from "./tlog-checkpoint.ts";
import type { TreeSource } from "./tree-source.ts";

/** `prooftrail/acme`: the log of one tenant (C2SP tlog-checkpoint). */
export const originOf = (serviceName: string, tenant: string): string => `${serviceName}/${tenant}`;

export type SealOutcome =
  | {
      readonly kind: "sealed";
      readonly size: number;
      /** An alarm: the stream had lost the last signed head. */
      readonly isAfterLoss?: true;
    }
  | { readonly kind: "current" }
  /** The view is being rebuilt and is not that far yet. */
  | { readonly kind: "view_behind" }
  | { readonly kind: "overtaken" }
  /** An alarm: nothing is signed for this tenant until an operator has looked into it. */
  | { readonly kind: "refused"; readonly reason: RefusalReason; readonly detail: string };

export type RefusalReason =
  /** The last checkpoint is signed by none of our keys, or is no checkpoint. */
  | "unverifiable"
  | "does_not_extend"
  /** Hashes are missing below the size that the tree says it has. */
  | "tiles_missing";

export interface SealDependencies {
  readonly serviceName: string;
  readonly keys: KeyRing;
  readonly trees: Pick<TreeSource, "root">;
  readonly checkpoints: Pick<CheckpointStore, "last" | "write">;
  /** The last signed head of each tenant, as far as this process knows it. It counts even if the stream was emptied. */
  readonly signed?: Map<string, Checkpoint>;
}

/** A head that is signed and not published yet. */
export interface SignedHead {
  readonly kind: "signed";
  readonly tenant: string;
  readonly head: Checkpoint;
  readonly note: string;
  /** The revision of the checkpoint that it extends; 0 if the stream has none. */
  readonly after: number;
  readonly isAfterLoss: boolean;
}

export type PreparedHead =
  | SignedHead
  /** `note`: the published head, if it covers everything. */
  | { readonly kind: "unsigned"; readonly outcome: SealOutcome; readonly note?: string };

/**
 * Signs, and publishes nothing. `known`: the tenant's head in the copy outside the log. Rejects if views or broker do not answer: nothing is
 * known then, and the same call may be repeated.
 */
export const prepareHead = async (
  { serviceName, keys, trees, checkpoints, signed }: SealDependencies,
  { tenant, size, known }: { readonly tenant: string; readonly size: number; readonly known?: KnownHead },
): Promise<PreparedHead> => {
  const origin = originOf(serviceName, tenant);
  const stored = await checkpoints.last(tenant);
  const published = stored && openLast(stored.note, origin, keys);
  if (published && "reason" in published) return unsigned(published);
  const copied = known?.note === undefined ? undefined : openLast(known.note, origin, keys);
  if (copied && "reason" in copied) return unsigned(copied);
  const lost = stored ? undefined : signed?.get(tenant);
  const extensions = (copied ?? known ?? published ?? lost)?.extensions ?? [];
  for (const head of [published, lost, copied]) {
    const refused = head && (await notExtended(trees, tenant, size, head));
    if (refused && !isGivenUp(head, extensions)) return unsigned(refused);
  }
  const isCurrent =
    published?.size === size && published.isSignedByAll && isSameLines(published.extensions, extensions);
  if (stored && isCurrent) return { kind: "unsigned", outcome: { kind: "current" }, note: stored.note };
  const root = await trees.root(tenant, size);
  if (root === undefined) return unsigned(tilesMissing(size));
  const head = { origin, size, root, ...(extensions.length > 0 && { extensions }) };
  const note = signNote(formatCheckpoint(head), keys.signers(origin));
  const after = stored?.revision ?? 0;
  return { kind: "signed", tenant, head, note, after, isAfterLoss: lost !== undefined };
};

export const publishHead = async (
  { checkpoints, signed }: Pick<SealDependencies, "checkpoints" | "signed">,
  { tenant, head, note, after, isAfterLoss }: SignedHead,
): Promise<SealOutcome> => {
  const written = await checkpoints.write(tenant, note, after);
  if (written.kind !== "written") return { kind: "overtaken" };
  signed?.set(tenant, head);
  return { kind: "sealed", size: head.size, ...(isAfterLoss && { isAfterLoss: true }) };
};

const unsigned = (outcome: SealOutcome): PreparedHead => ({ kind: "unsigned", outcome });

const notExtended = async (
  trees: Pick<TreeSource, "root">,
  tenant: string,
  size: number,
  head: Checkpoint,
): Promise<SealOutcome | undefined> => {
  if (head.size > size) return { kind: "view_behind" };
  const root = await trees.root(tenant, head.size);
  if (root === undefined) return tilesMissing(head.size);
  return sameHash(root, head.root) ? undefined : doesNotExtend(head);
};

const isSameLines = (one: readonly string[] = [], other: readonly string[]): boolean =>
  one.length === other.length && one.every((line, index) => line === other[index]);

type Refusal = Extract<SealOutcome, { kind: "refused" }>;

interface LastHead extends Checkpoint {
  /**
   * Otherwise one of our keys is newer than the head. It is signed again, so that a client that trusts an old key can follow to the new one even if
   * nothing is written any more.
   */
  readonly isSignedByAll: boolean;
}

const openLast = (note: string, origin: string, keys: KeyRing): LastHead | Refusal => {
  const opened = openCheckpoint(note, { origin, verifiers: keys.verifiers(origin) });
  if (opened.kind === "opened") {
    const signed = new Set(opened.verifiers.map(({ publicKey }) => encodeBase64(publicKey)));
    const isSignedByAll = keys.signers(origin).every(({ publicKey }) => signed.has(encodeBase64(publicKey)));
    return { ...opened.checkpoint, isSignedByAll };
  }
  const detail = `the last checkpoint is not one of ours (${opened.reason}): was the signing key replaced without keeping the old one, or SERVICE_NAME changed?`;
  return refusal("unverifiable", detail);
};

const tilesMissing = (size: number): Refusal =>
  refusal("tiles_missing", `the tree has no root at ${size} leaves: rebuild the view tree`);

const doesNotExtend = ({ size }: Checkpoint): Refusal =>
  refusal(
    "does_not_extend",
    `at ${size} leaves the tree has another root than was signed: the log, or the view tree, was altered`,
  );

const refusal = (reason: RefusalReason, detail: string): Refusal => ({ kind: "refused", reason, detail });
