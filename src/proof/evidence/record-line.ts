/** A line of `records.ndjson` (one record and its proof), and the line of `events.ndjson` that follows from it. */
import type { LogRecord } from "../../log/record.ts";
import { decodeBase64, decodeHashes, encodeBase64 } from "../base64.ts";
import { type Hash, isHash } from "../rfc6962.ts";
import { parseDecimal } from "../tlog-checkpoint.ts";

export interface RecordLine {
  readonly leafIndex: number;
  readonly sequence: number;
  /** The record's exact bytes, or the hash of the leaf if the record itself is withheld. */
  readonly leaf:
    | { readonly kind: "record"; readonly payload: Uint8Array }
    | { readonly kind: "hash"; readonly hash: Hash };
  readonly inclusionProof: readonly Hash[];
}

/** Without the line break. Nothing in it needs JSON's escapes. */
export const formatRecordLine = ({ leafIndex, sequence, leaf, inclusionProof }: RecordLine): string => {
  const said =
    leaf.kind === "record"
      ? `"leaf":"${encodeBase64(leaf.payload)}"`
      : `"leaf_hash":"${encodeBase64(leaf.hash)}"`;
  const proof = inclusionProof.map((hash) => `"${encodeBase64(hash)}"`).join(",");
  return `{"leaf_index":${leafIndex},"sequence":${sequence},${said},"inclusion_proof":[${proof}]}`;
};

const LINE =
  /^\{"leaf_index":(\d+),"sequence":(\d+),"leaf(_hash)?":"([A-Za-z0-9+/=]+)","inclusion_proof":\[((?:"[A-Za-z0-9+/=]+"(?:,(?="))?)*)\]\}$/;

/** Undefined if the text is not exactly what formatRecordLine writes: so every number and every base64 value has one text. */
export const parseRecordLine = (text: string): RecordLine | undefined => {
  const [, indexText = "", sequenceText = "", isHashOnly, leafText = "", proofText = ""] =
    LINE.exec(text) ?? [];
  const [leafIndex, sequence] = [parseDecimal(indexText), parseDecimal(sequenceText)];
  const bytes = decodeBase64(leafText);
  const inclusionProof = decodeHashes(proofText === "" ? [] : proofText.slice(1, -1).split('","'));
  if (leafIndex === undefined || sequence === undefined || !inclusionProof || !bytes?.length)
    return undefined;
  if (isHashOnly === undefined)
    return { leafIndex, sequence, leaf: { kind: "record", payload: bytes }, inclusionProof };
  return isHash(bytes)
    ? { leafIndex, sequence, leaf: { kind: "hash", hash: bytes }, inclusionProof }
    : undefined;
};

/** As in `GET /v1/export`, without the line break at its end. Raw line breaks occur only between values (RFC 8259 §7). */
export const eventLineOf = (
  { tenant, receivedAt, eventText }: Pick<LogRecord, "tenant" | "receivedAt" | "eventText">,
  sequence: number,
): string =>
  `{"sequence":${sequence},"tenant":"${tenant}","received_at":"${receivedAt}","event":${eventText.replaceAll(/[\r\n]/g, " ")}}`;
