/**
 * Finds the trees that grew since the last look, and signs their heads. A head is signed only if it extends the last signed one: the tree of today is
 * asked for its root at the size of that head, and must give the same root. Both roots then come from the same leaves, which is what a consistency
 * proof shows to others (RFC 6962 §2.1.2). Several sealers may run: if two sign the same tree, only one head is published.
 */
import { SEAL_TREES_AT_ONCE, SEAL_TREES_PER_LOOK } from "../limits.ts";
import type { LogFields, Logger } from "../telemetry/logger.ts";
import { encodeBase64 } from "./base64.ts";
import type { KeyRing } from "./key-ring.ts";
import type { CheckpointStore, GrownTree, HeadsCopy, KnownHead, TreeSource } from "./ports.ts";
import { sameHash } from "./rfc6962.ts";
import { isGivenUp } from "./sealed-head.ts";
import { signNote } from "./signed-note.ts";
import { type Checkpoint, formatCheckpoint, openCheckpoint } from "./tlog-checkpoint.ts";

/** `prooftrail/acme`: the log of one tenant (C2SP tlog-checkpoint). */
export const originOf = (serviceName: string, tenant: string): string => `${serviceName}/${tenant}`;

export type SealOutcome =
  /** `isAfterLoss`, an alarm: the stream had lost the last signed head. */
  | { readonly kind: "sealed"; readonly size: number; readonly isAfterLoss?: true }
  | { readonly kind: "current" }
  /** The view is being rebuilt and is not that far yet. */
  | { readonly kind: "view_behind" }
  | { readonly kind: "overtaken" }
  /** An alarm: nothing is signed for this tenant until an operator has looked into it. */
  | {
      readonly kind: "refused";
      readonly reason: /** The last checkpoint is signed by none of our keys, or is no checkpoint. */
        | "unverifiable"
        | "does_not_extend"
        /** Hashes are missing below the size that the tree says it has. */
        | "tiles_missing";
      readonly detail: string;
    };

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

/** Signs, and publishes nothing. `known`: the tenant's head in the copy outside the log. Rejects if views or broker do not answer. */
export const prepareHead = async (
  { serviceName, keys, trees, checkpoints, signed }: SealDependencies,
  { tenant, size, known }: { readonly tenant: string; readonly size: number; readonly known?: KnownHead },
): Promise<PreparedHead> => {
  const unsigned = (outcome: SealOutcome): PreparedHead => ({ kind: "unsigned", outcome });
  const origin = originOf(serviceName, tenant);
  const stored = await checkpoints.last(tenant);
  const published = stored && openLast(stored.note, origin, keys);
  if (published && "reason" in published) return unsigned(published);
  const copied = known?.note === undefined ? undefined : openLast(known.note, origin, keys);
  if (copied && "reason" in copied) return unsigned(copied);
  const lost = stored ? undefined : signed?.get(tenant);
  const extensions = (copied ?? known ?? published ?? lost)?.extensions ?? [];
  for (const head of [published, lost, copied]) {
    if (head === undefined || isGivenUp(head, extensions)) continue;
    if (head.size > size) return unsigned({ kind: "view_behind" });
    const root = await trees.root(tenant, head.size);
    if (root === undefined) return unsigned(tilesMissing(head.size));
    if (!sameHash(root, head.root)) return unsigned(doesNotExtend(head));
  }
  const isCurrent =
    published?.size === size &&
    published.isSignedByAll &&
    extensions.join("\n") === (published.extensions ?? []).join("\n");
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
  if (!(await checkpoints.write(tenant, note, after))) return { kind: "overtaken" };
  signed?.set(tenant, head);
  return { kind: "sealed", size: head.size, ...(isAfterLoss && { isAfterLoss: true }) };
};

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
  if (opened.kind === "failed")
    return refusal(
      "unverifiable",
      `the last checkpoint is not one of ours (${opened.reason}): was the signing key replaced without keeping the old one, or SERVICE_NAME changed?`,
    );
  const signed = new Set(opened.verifiers.map(({ publicKey }) => encodeBase64(publicKey)));
  const isSignedByAll = keys.signers(origin).every(({ publicKey }) => signed.has(encodeBase64(publicKey)));
  return { ...opened.checkpoint, isSignedByAll };
};

const refusal = (reason: Refusal["reason"], detail: string): Refusal => ({ kind: "refused", reason, detail });

const tilesMissing = (size: number): Refusal =>
  refusal("tiles_missing", `the tree has no root at ${size} leaves: rebuild the view tree`);

const doesNotExtend = ({ size }: Checkpoint): Refusal =>
  refusal(
    "does_not_extend",
    `at ${size} leaves the tree's root differs from the signed one: the log or the view tree was altered`,
  );

export const createSealer = (
  dependencies: SealDependencies & {
    readonly trees: Pick<TreeSource, "grown">;
    /** Whether the trees belong to the log as it is now. After an older copy of the log was restored, they may contain what it has lost. */
    readonly isOfLog: () => Promise<boolean>;
    readonly copy?: HeadsCopy | undefined;
    readonly logger: Logger;
    readonly onOutcome: (outcome: SealOutcome) => void;
  },
) => {
  const { trees, isOfLog, copy, logger, onOutcome } = dependencies;
  const sealing: SealDependencies = { ...dependencies, signed: new Map() };
  /** Trees found to have grown, and not sealed yet. */
  const pending = new Map<string, GrownTree>();
  /** Why nothing, or a tenant's tree, is not signed: reported once, and again if the reason changes. */
  const reported = new Map<string, string>();
  let seen = 0;
  let through: number | undefined;

  const report = (about: string, reason: string | undefined, message: string, fields?: LogFields): void => {
    if (reason !== undefined && reported.get(about) !== reason) logger.error(message, fields);
    if (reason === undefined) reported.delete(about);
    else reported.set(about, reason);
  };
  const gather = async (): Promise<void> => {
    for (;;) {
      const grown = await trees.grown(seen, SEAL_TREES_PER_LOOK);
      for (const tree of grown) pending.set(tree.tenant, tree);
      seen = grown.at(-1)?.lastSequence ?? seen;
      if (grown.length < SEAL_TREES_PER_LOOK) return;
    }
  };
  const settle = (tenant: string, outcome: SealOutcome): void => {
    onOutcome(outcome);
    if (outcome.kind === "sealed" && outcome.isAfterLoss) logger.error(HEADS_GONE, { tenant });
    const refused = outcome.kind === "refused" ? outcome : undefined;
    const fields = refused && { tenant, code: refused.reason, detail: refused.detail };
    report(`tree ${tenant}`, refused?.reason, "a tree head is not signed", fields);
    // A tree that grows further is found again. Another sealer may have signed less than what is here, and the cause of a refusal may be removed
    // without the tree growing.
    if (outcome.kind !== "overtaken" && !refused) pending.delete(tenant);
  };

  /** Signs what grew, copies it, and only then publishes it. */
  const sealAll = async (waiting: readonly GrownTree[]): Promise<void> => {
    const known = await copy?.read();
    const signed: SignedHead[] = [];
    const notes = new Map<string, string>();
    await eachOf(waiting, async ({ tenant, size }) => {
      const head = known?.heads.get(tenant);
      const prepared = await prepareHead(sealing, { tenant, size, ...(head && { known: head }) });
      if (prepared.kind === "signed") signed.push(prepared);
      else settle(tenant, prepared.outcome);
      const isNew = prepared.kind === "signed" || head?.note === undefined;
      if (isNew && prepared.note !== undefined) notes.set(tenant, prepared.note);
    });
    const lastSequence = Math.max(...waiting.map((tree) => tree.lastSequence));
    if (notes.size > 0) await copy?.keep(notes, lastSequence);
    await eachOf(signed, async (head) => settle(head.tenant, await publishHead(sealing, head)));
  };

  const sealPending = async (): Promise<void> => {
    await gather();
    if (pending.size === 0) return;
    // A signature cannot be undone, and the log that continues would not extend it.
    const isOther = !(await isOfLog());
    report("log", isOther ? "other" : undefined, OTHER_LOG);
    if (isOther) {
      // Trees that are being rebuilt may have other sizes, and end before the place that was seen.
      pending.clear();
      seen = 0;
      return;
    }
    const problem = await copy?.problem();
    report("copy", problem, "no tree head is signed", problem === undefined ? {} : { detail: problem });
    if (problem === undefined) await sealAll([...pending.values()]);
  };
  return {
    /** Rejects if views or broker do not answer; the next look continues with what was not sealed. */
    look: async (): Promise<void> => {
      await sealPending();
      if (pending.size === 0) through = seen;
    },
    /** Heads are published for all records up to this one, as far as the trees contain them. Undefined before the first look. */
    sealedThrough: (): number | undefined => through,
  };
};

/** Waits for the whole group, so that none still runs at the next look. */
const eachOf = async <Item>(items: readonly Item[], take: (item: Item) => Promise<void>): Promise<void> => {
  for (let start = 0; start < items.length; start += SEAL_TREES_AT_ONCE) {
    const taken = await Promise.allSettled(items.slice(start, start + SEAL_TREES_AT_ONCE).map(take));
    for (const each of taken) if (each.status === "rejected") throw each.reason;
  }
};

const HEADS_GONE =
  "signed tree heads are missing from the stream CHECKPOINTS: the next one extends them, but only those who kept them can check the log against them";

const OTHER_LOG =
  "no tree head is signed: the log was replaced or restored, and lacks what the view tree has read: rebuild the views";
