/** Finds the trees that grew since the last look, and seals them. Several sealers may run: if two seal the same tree, only one succeeds. */
import { SEAL_TREES_AT_ONCE, SEAL_TREES_PER_LOOK } from "../limits.ts";
import type { Logger } from "../telemetry/logger.ts";
import type { HeadsCopy } from "./known-heads.ts";
import {
  prepareHead,
  publishHead,
  type SealDependencies,
  type SealOutcome,
  type SignedHead,
} from "./seal.ts";
import type { GrownTree, TreeSource } from "./tree-source.ts";

export interface Sealer {
  /** Rejects if views or broker do not answer; the next look continues with what was not sealed. */
  look(): Promise<void>;
  /** Heads are published for all records up to this one, as far as the trees contain them. Undefined before the first look. */
  sealedThrough(): number | undefined;
}

export const createSealer = (
  dependencies: SealDependencies & {
    readonly trees: Pick<TreeSource, "grown">;
    /** Whether the trees belong to the log as it is now. After an older copy of the log was restored, they may contain what it has lost. */
    readonly isOfLog: () => Promise<boolean>;
    readonly copy?: HeadsCopy | undefined;
    readonly logger: Logger;
    readonly onOutcome: (outcome: SealOutcome) => void;
  },
): Sealer => {
  const { trees, isOfLog, copy, logger, onOutcome } = dependencies;
  const sealing: SealDependencies = { ...dependencies, signed: new Map() };
  /** Trees that grew and are not sealed yet, as far as they were found. */
  const pending = new Map<string, GrownTree>();
  let seen = 0;
  let isToldOfOtherLog = false;
  let toldOfCopy: string | undefined;
  let through: number | undefined;
  /** Why trees are not signed, by tenant: reported once, and again if the reason changes. */
  const refusals = new Map<string, string>();

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
    if (outcome.kind !== "refused") refusals.delete(tenant);
    else if (refusals.get(tenant) !== outcome.reason) {
      refusals.set(tenant, outcome.reason);
      logger.error("a tree head is not signed", { tenant, code: outcome.reason, detail: outcome.detail });
    }
    // A tree that grows further is found again. Another sealer may have signed less than what is here, and the cause of a refusal may be removed
    // without the tree growing.
    if (outcome.kind !== "overtaken" && outcome.kind !== "refused") pending.delete(tenant);
  };
  const publish = async (head: SignedHead): Promise<void> =>
    settle(head.tenant, await publishHead(sealing, head));

  /** Signs what grew, copies it, and only then publishes it. */
  const sealAll = async (waiting: readonly GrownTree[]): Promise<void> => {
    const known = await copy?.read();
    const signed: SignedHead[] = [];
    const notes = new Map<string, string>();
    const take = async ({ tenant, size }: GrownTree): Promise<void> => {
      const head = known?.heads.get(tenant);
      const prepared = await prepareHead(sealing, { tenant, size, ...(head && { known: head }) });
      if (prepared.kind === "signed") signed.push(prepared);
      else settle(tenant, prepared.outcome);
      const isNew = prepared.kind === "signed" || head?.note === undefined;
      if (isNew && prepared.note !== undefined) notes.set(tenant, prepared.note);
    };
    await eachOf(waiting, take);
    const lastSequence = Math.max(...waiting.map((tree) => tree.lastSequence));
    if (notes.size > 0) await copy?.keep(notes, lastSequence);
    await eachOf(signed, publish);
  };

  /** Trees that are being rebuilt may have other sizes, and end before the place that was seen. */
  const forget = (): void => {
    pending.clear();
    seen = 0;
    if (!isToldOfOtherLog) logger.error(OTHER_LOG);
    isToldOfOtherLog = true;
  };

  const sealPending = async (): Promise<void> => {
    await gather();
    if (pending.size === 0) return;
    // A signature could never be taken back, and the log that continues would not extend it.
    if (!(await isOfLog())) return forget();
    isToldOfOtherLog = false;
    const problem = await copy?.problem();
    if (problem !== undefined && problem !== toldOfCopy)
      logger.error("no tree head is signed", { detail: problem });
    toldOfCopy = problem;
    if (problem === undefined) await sealAll([...pending.values()]);
  };
  return {
    look: async () => {
      await sealPending();
      if (pending.size === 0) through = seen;
    },
    sealedThrough: () => through,
  };
};

/** All of a group end before this does, so that the next look does not meet them. */
const eachOf = async <Item>(items: readonly Item[], take: (item: Item) => Promise<void>): Promise<void> => {
  for (let start = 0; start < items.length; start += SEAL_TREES_AT_ONCE) {
    const taken = await Promise.allSettled(items.slice(start, start + SEAL_TREES_AT_ONCE).map(take));
    for (const each of taken) if (each.status === "rejected") throw each.reason;
  }
};

const HEADS_GONE =
  "tree heads that were signed are gone from the stream CHECKPOINTS: the next one extends them, but only who kept them can hold the log against them";

const OTHER_LOG =
  "no tree head is signed: the view tree has seen what the log does not hold, it was replaced or restored: rebuild the views";
