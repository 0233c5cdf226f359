/**
 * A small log of two records for the API documentation: the event, its receipt, its proof, and both tree heads. All of it
 * verifies, so that the author of a verifier has test data.
 */
import { encodeRecord } from "../../log/record.ts";
import { encodeBase64 } from "../../proof/base64.ts";
import { leafHash, nodeHash } from "../../proof/rfc6962.ts";
import { createSigningKey, formatVerifierKey, SEED_BYTES, signNote } from "../../proof/signed-note.ts";
import { formatCheckpoint } from "../../proof/tlog-checkpoint.ts";
import { formatTlogProof } from "../../proof/tlog-proof.ts";
import { EXAMPLE_REQUEST_ID } from "../http/example.ts";
import { STORED_EXAMPLE } from "../http/stored-event.ts";

export const EXAMPLE_EVENT = JSON.parse(STORED_EXAMPLE.eventText);

export const EXAMPLE_RECEIVED_AT = STORED_EXAMPLE.receivedAt;

const recordOf = (event: object): Uint8Array =>
  new TextEncoder().encode(
    encodeRecord({
      tenant: "acme",
      receivedAt: EXAMPLE_RECEIVED_AT,
      requestId: EXAMPLE_REQUEST_ID,
      eventText: JSON.stringify(event),
    }),
  );

const origin = "prooftrail/acme";
/** Its seed is public, so nobody signs with it. */
const signer = createSigningKey(new Uint8Array(SEED_BYTES)).signerNamed(origin);

const record = recordOf(EXAMPLE_EVENT);
const first = leafHash(record);
const second = leafHash(recordOf({ ...EXAMPLE_EVENT, event_id: "evt_sample_002" }));

export const EXAMPLE_KEY = `${formatVerifierKey(signer)}\n`;
export const EXAMPLE_CHECKPOINT = signNote(formatCheckpoint({ origin, size: 1, root: first }), [signer]);
export const EXAMPLE_LEAF_HASH = encodeBase64(first);

export const EXAMPLE_PROOF = {
  sequence: 1,
  leaf_index: 0,
  leaf: encodeBase64(record),
  leaf_hash: EXAMPLE_LEAF_HASH,
  inclusion_proof: [],
  checkpoint: EXAMPLE_CHECKPOINT,
};
export const EXAMPLE_TLOG_PROOF = formatTlogProof({
  extra: record,
  index: 0,
  hashes: [],
  checkpoint: EXAMPLE_CHECKPOINT,
});

export const EXAMPLE_CONSISTENCY = {
  from: 1,
  to: 2,
  from_root: EXAMPLE_LEAF_HASH,
  to_root: encodeBase64(nodeHash(first, second)),
  proof: [encodeBase64(second)],
};
