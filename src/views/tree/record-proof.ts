/** The proof that one record is in the log: its leaf, the hashes beside its path up the tree, and the newest signed tree head. */
import { setTimeout as delay } from "node:timers/promises";
import { PROOF_POLL_MS } from "../../limits.ts";
import type { LogReader } from "../../log/event-log.ts";
import type { Sequence } from "../../log/outcome.ts";
import type { CheckpointStore } from "../../proof/ports.ts";
import { type Hash, leafHash, verifyInclusion } from "../../proof/rfc6962.ts";
import { type SealedHead, sealedHead } from "../../proof/sealed-head.ts";
import type { ViewStore } from "../store/view-store.ts";
import { inclusionAt, leafIndexesOf, treeSize } from "./queries.ts";

export interface RecordProof {
  readonly sequence: Sequence;
  readonly leafIndex: number;
  /** The record as the log contains it: the leaf's data. */
  readonly payload: Uint8Array;
  readonly inclusionProof: readonly Hash[];
  readonly head: SealedHead;
}

export type ProofResult =
  | { readonly kind: "proven"; readonly proof: RecordProof }
  /** The record is in the log, but no signed tree head covers it yet. */
  | { readonly kind: "not_sealed" }
  /** The view is behind what was signed: it is being rebuilt, or its database has lost its last commits. */
  | { readonly kind: "tree_behind" }
  /** Log, tree and signed head contradict each other: an alarm. */
  | { readonly kind: "not_in_tree" };

export interface ProofDependencies {
  readonly views: Pick<ViewStore, "load" | "select">;
  readonly log: Pick<LogReader, "read">;
  readonly checkpoints: Pick<CheckpointStore, "last">;
}

/** The newest signed head of a tenant's log. */
export const lastHead = async (
  { checkpoints }: Pick<ProofDependencies, "checkpoints">,
  tenant: string,
): Promise<SealedHead | undefined> => {
  const stored = await checkpoints.last(tenant);
  return stored && sealedHead(stored.note);
};

/** The newest head, once it has that many leaves; undefined if none has before the deadline. `deadline` by `performance.now()`. */
export const awaitHead = async (
  dependencies: Pick<ProofDependencies, "checkpoints">,
  tenant: string,
  size: number,
  deadline: number,
): Promise<SealedHead | undefined> => {
  let head = await lastHead(dependencies, tenant);
  for (;;) {
    if (head && head.size >= size) return head;
    if (performance.now() >= deadline) return undefined;
    head = await headLater(dependencies, tenant);
  }
};

/** The newest head a little later, read once for all who wait for one of the tenant. */
const headLater = (
  { checkpoints }: Pick<ProofDependencies, "checkpoints">,
  tenant: string,
): Promise<SealedHead | undefined> => {
  const ofStore = asking.get(checkpoints) ?? new Map<string, Promise<SealedHead | undefined>>();
  asking.set(checkpoints, ofStore);
  const asked = ofStore.get(tenant);
  if (asked) return asked;
  const head = delay(PROOF_POLL_MS).then(() => {
    // A caller that comes during the read starts another one, so that no result is older than its question.
    ofStore.delete(tenant);
    return lastHead({ checkpoints }, tenant);
  });
  ofStore.set(tenant, head);
  return head;
};

/** When each waiting request asked the broker itself, 500 of them took a third of a core (measured). */
const asking = new WeakMap<ProofDependencies["checkpoints"], Map<string, Promise<SealedHead | undefined>>>();

/**
 * A record to prove, and its content as a view has it: that spares the log, which reads and decompresses a whole block for one record (5 ms,
 * measured).
 */
export interface ProvenRecord {
  readonly sequence: Sequence;
  readonly payload?: Uint8Array;
}

/** `head` covers the leaf. */
const proveRecord = async (
  { views, log }: Pick<ProofDependencies, "views" | "log">,
  tenant: string,
  { sequence, payload: known }: ProvenRecord,
  leafIndex: number,
  head: SealedHead,
): Promise<RecordProof | undefined> => {
  const inclusionProof = await inclusionAt(views, tenant, { index: leafIndex, size: head.size });
  if (inclusionProof === undefined) return undefined;
  const { size, root } = head;
  // A proof that would not verify is not handed out: something was altered.
  const isProven = (payload: Uint8Array): boolean =>
    verifyInclusion({ leaf: leafHash(payload), index: leafIndex, size, proof: inclusionProof, root });
  const payload = known && isProven(known) ? known : (await log.read(sequence))?.payload;
  if (payload === undefined || (payload !== known && !isProven(payload))) return undefined;
  return { sequence, leafIndex, payload, inclusionProof, head };
};

/** The proof by the newest head, once one covers the record. `deadline` by `performance.now()`. */
export const awaitProof = async (
  dependencies: ProofDependencies,
  tenant: string,
  record: ProvenRecord,
  deadline: number,
): Promise<ProofResult> => {
  const { views } = dependencies;
  let [leafIndex] = await leafIndexesOf(views, tenant, [record.sequence]);
  while (leafIndex === undefined && performance.now() < deadline) {
    await delay(PROOF_POLL_MS);
    [leafIndex] = await leafIndexesOf(views, tenant, [record.sequence]);
  }
  const head =
    leafIndex === undefined ? undefined : await awaitHead(dependencies, tenant, leafIndex + 1, deadline);
  if (leafIndex === undefined || head === undefined) return { kind: "not_sealed" };
  const prove = () => proveRecord(dependencies, tenant, record, leafIndex, head);
  let proof = await prove();
  if (proof === undefined && (await treeSize(views, tenant)) < head.size) return { kind: "tree_behind" };
  // The view may have come that far just after the hashes were read, and then nothing is wrong.
  proof ??= await prove();
  return proof ? { kind: "proven", proof } : { kind: "not_in_tree" };
};
