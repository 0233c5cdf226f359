/**
 * Checks the proof of one event, as `GET /v1/events/{id}/proof` gives it (JSON or C2SP tlog-proof), and the event's receipt, its 202 answer. Neither
 * contains the log's key: without a trusted key, a check can only find faults.
 */
import { decodeRecord, encodeRecord } from "../../log/record.ts";
import { encodeBase64 } from "../base64.ts";
import { type Hash, leafHash, verifyInclusion } from "../rfc6962.ts";
import { isSandboxOrigin, SANDBOX_PROOF } from "../sealed-head.ts";
import { formatVerifierKey } from "../signed-note.ts";
import { checkpointIn } from "../tlog-checkpoint.ts";
import { parseTlogProof } from "../tlog-proof.ts";
import { bytesIn, membersIn } from "./manifest.ts";
import { dataIn, failCheckpoint, hashesIn, NOT_IN_LOG, openTrusted, readTrustedKeys } from "./trusted.ts";
import { endOf, fail, type NotValid, undecided } from "./verdict.ts";

export interface ProofQuestion {
  /** JSON or tlog-proof. */
  readonly proof: string;
  /** Trusted verifier keys, one per line, as `GET /v1/log/key` returns them. */
  readonly keys?: string | undefined;
  /** The tenant in whose log the record must be. */
  readonly tenant?: string | undefined;
  /** The 202 answer to the event, or to a batch with `?receipts=true`. */
  readonly receipt?: string | undefined;
  readonly event?: string | undefined;
}

export interface ProofFacts {
  readonly tenant: string;
  readonly origin: string;
  readonly eventId: string;
  readonly receivedAt: string;
  readonly eventText: string;
  readonly leafIndex: number;
  readonly leafHash: string;
  readonly checkpointSize: number;
  readonly checkpointRoot: string;
  readonly keys: readonly string[];
  readonly receipt: "none" | "same";
}

export type ProofVerdict = { readonly kind: "valid"; readonly facts: ProofFacts } | NotValid;

/** Never throws. */
export const verifyProof = (question: ProofQuestion): ProofVerdict => {
  try {
    return { kind: "valid", facts: factsOf(question) };
  } catch (error) {
    return endOf(error);
  }
};

/** A receipt without a proof is never valid: it cannot show what the log holds. Never throws. */
export const verifyReceipt = (question: Omit<ProofQuestion, "proof" | "keys">): ProofVerdict => {
  try {
    return undecided(comparedToEvent(question));
  } catch (error) {
    return endOf(error);
  }
};

const factsOf = (question: ProofQuestion): ProofFacts => {
  const proof = readProof(question.proof) ?? fail("proof_malformed", "it is not the proof of an event");
  const { payload, leafIndex, sequence } = proof;
  const checkpoint = checkpointIn(proof.checkpoint);
  if (checkpoint && isSandboxOrigin(checkpoint.origin)) fail("sandbox_proof", SANDBOX_PROOF, { leafIndex });
  const leaf = leafHash(payload);
  const leafText = encodeBase64(leaf);
  if (proof.leafHash !== undefined && proof.leafHash !== leafText)
    fail("proof_malformed", "its leaf_hash is not the hash of its record", { leafIndex });
  const record = decodeRecord(payload) ?? fail("record_malformed", "the leaf is not a record", { leafIndex });
  const { receivedAt, eventText } = record;
  const eventId = eventIdIn(eventText);
  const place = { leafIndex, eventId };
  const { origin, size, root } = checkpoint ?? failCheckpoint("malformed");
  if (!verifyInclusion({ leaf, index: leafIndex, size, proof: proof.hashes, root }))
    fail("not_in_log", NOT_IN_LOG, place);
  const { tenant = record.tenant, keys, event, receipt } = question;
  if (record.tenant !== tenant || !origin.endsWith(`/${tenant}`))
    fail("other_tenant", `it is a record of tenant ${record.tenant} in the log ${origin}`, place);
  if (event !== undefined && event.trim() !== eventText)
    fail("event_differs", "its event is not byte for byte the given one", place);
  if (receipt !== undefined)
    compareWithReceipt(receipt, { ...place, leafHash: leafText, receivedAt, sequence });
  if (keys === undefined)
    undecided(
      `The record is in the tree of ${size} records that the checkpoint names. To check that the log ${origin} signed it, give the answer of GET /v1/log/key.`,
    );
  const trusted = readTrustedKeys(keys ?? "").filter(({ name }) => name === origin);
  return {
    ...{ tenant, origin, eventId, receivedAt, eventText, leafIndex },
    leafHash: leafText,
    checkpointSize: size,
    checkpointRoot: encodeBase64(root),
    keys: openTrusted(proof.checkpoint, origin, trusted).verifiers.map(formatVerifierKey),
    receipt: receipt === undefined ? "none" : "same",
  };
};

interface ReadProof {
  readonly payload: Uint8Array;
  readonly leafIndex: number;
  readonly hashes: readonly Hash[];
  readonly checkpoint: string;
  /** Only JSON names these. No proof covers the sequence. */
  readonly sequence?: unknown;
  readonly leafHash?: unknown;
}

export const isProof = (text: string): boolean => readProof(text) !== undefined;

const readProof = (text: string): ReadProof | undefined => {
  const file = parseTlogProof(text);
  if (file?.extra) {
    const { extra, index, hashes, checkpoint } = file;
    return { payload: extra, leafIndex: index, hashes, checkpoint };
  }
  const { leaf_index: leafIndex, leaf, leaf_hash, inclusion_proof, checkpoint, sequence } = dataIn(text);
  const [payload, hashes] = [bytesIn(leaf), hashesIn(inclusion_proof)];
  return typeof leafIndex === "number" && typeof checkpoint === "string" && payload && hashes
    ? { payload, leafIndex, hashes, checkpoint, sequence, leafHash: leaf_hash }
    : undefined;
};

const eventIdIn = (eventText: string): string => {
  const { event_id } = dataIn(eventText);
  return typeof event_id === "string" ? event_id : "";
};

interface Receipt {
  readonly event_id: string;
  readonly sequence: number;
  readonly received_at: string;
  readonly leaf_hash: string;
  readonly duplicate: unknown;
}

/** In a 202 answer: that of one event, or those of a batch. */
const receiptsIn = (text: string): readonly Receipt[] => {
  const data = dataIn(text);
  return (Array.isArray(data.receipts) ? data.receipts.map(Object) : [data]).filter(isReceipt);
};

const isReceipt = (value: Partial<Receipt>): value is Receipt =>
  [value.event_id, value.received_at, value.leaf_hash].every((part) => typeof part === "string") &&
  Number.isSafeInteger(value.sequence);

const receiptOf = (text: string, eventId: string): Receipt =>
  receiptsIn(text).find((receipt) => receipt.event_id === eventId) ??
  undecided(`The input holds no receipt of the event ${eventId}.`);

const compareWithReceipt = (
  text: string,
  proven: Pick<ProofFacts, "eventId" | "leafIndex" | "leafHash" | "receivedAt"> & Pick<ReadProof, "sequence">,
): void => {
  const { eventId, leafIndex, leafHash: leaf, receivedAt, sequence } = proven;
  const receipt = receiptOf(text, eventId);
  if (receipt.leaf_hash === leaf) return;
  // An event that was sent under two identities is in the log twice.
  const isOther = sequence === undefined ? receipt.received_at !== receivedAt : receipt.sequence !== sequence;
  if (isOther) undecided(`The proof is of another record of this event. ${proofOf(receipt)}`);
  const place = { leafIndex, eventId };
  fail("receipt_differs", "the log holds another record than was acknowledged", place);
};

const proofOf = ({ event_id, sequence }: Receipt): string =>
  `To check that the log holds this receipt's record, give the answer of GET /v1/events/${event_id}/proof?sequence=${sequence} as well.`;

const comparedToEvent = ({
  receipt: text = "",
  event,
  tenant,
}: Omit<ProofQuestion, "proof" | "keys">): string => {
  if (event === undefined) {
    const [receipt, ...others] = receiptsIn(text);
    if (receipt === undefined) return "It is not a receipt: a receipt (202) has a leaf_hash.";
    return others.length === 0
      ? proofOf(receipt)
      : "Give the event or the proof of one of these receipts as well.";
  }
  const eventText = event.trim();
  const receipt = receiptOf(text, eventIdIn(eventText));
  const { request_id: requestId } = membersIn(text);
  if (tenant === undefined || typeof requestId !== "string" || receipt.duplicate === true) {
    const missing =
      tenant === undefined
        ? "Name its tenant."
        : "The answer to an event that was sent again has another request id.";
    return `The event cannot be compared with its receipt. ${missing} ${proofOf(receipt)}`;
  }
  const record = encodeRecord({ tenant, receivedAt: receipt.received_at, requestId, eventText });
  if (encodeBase64(leafHash(new TextEncoder().encode(record))) !== receipt.leaf_hash)
    fail("receipt_differs", `it is not the receipt of exactly this event of tenant ${tenant}`, {
      eventId: receipt.event_id,
    });
  return `The receipt is of this event, byte for byte. ${proofOf(receipt)}`;
};
