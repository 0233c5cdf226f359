import { describe, expect, test } from "bun:test";
import { encodeRecord } from "../../log/record.ts";
import { encodeBase64 } from "../base64.ts";
import { leafHash, nodeHash } from "../rfc6962.ts";
import { createSigningKey, formatVerifierKey, signNote } from "../signed-note.ts";
import { formatCheckpoint } from "../tlog-checkpoint.ts";
import { formatTlogProof } from "../tlog-proof.ts";
import { type ProofQuestion, verifyProof, verifyReceipt } from "./verify-proof.ts";

const ORIGIN = "prooftrail/acme";
const EVENT = '{ "event_id": "evt_1", "event_type": "objection.received" }';
const RECORD = {
  tenant: "acme",
  receivedAt: "2026-11-20T10:00:00.000Z",
  requestId: "0199f0c4-0000-7000-8000-000000000001",
  eventText: EVENT,
};
const payload = new TextEncoder().encode(encodeRecord(RECORD));
const leaf = leafHash(payload);
const sibling = leafHash(new TextEncoder().encode("the record before it"));
const key = createSigningKey(new Uint8Array(32).fill(1)).signerNamed(ORIGIN);
const keys = `${formatVerifierKey(key)}\n`;
const stranger = createSigningKey(new Uint8Array(32).fill(2)).signerNamed(ORIGIN);
const text = formatCheckpoint({ origin: ORIGIN, size: 2, root: nodeHash(sibling, leaf) });
const checkpoint = signNote(text, [key]);

const json = (members: object = {}): string =>
  JSON.stringify({
    data: {
      sequence: 7,
      leaf_index: 1,
      leaf: encodeBase64(payload),
      leaf_hash: encodeBase64(leaf),
      inclusion_proof: [encodeBase64(sibling)],
      checkpoint,
      ...members,
    },
    request_id: "0199f0c4-0000-7000-8000-000000000009",
  });
const file = formatTlogProof({ extra: payload, index: 1, hashes: [sibling], checkpoint });

const receipt = (members: object = {}): string =>
  JSON.stringify({
    data: {
      event_id: "evt_1",
      sequence: 7,
      received_at: RECORD.receivedAt,
      duplicate: false,
      leaf_hash: encodeBase64(leaf),
      ...members,
    },
    request_id: RECORD.requestId.toUpperCase(),
  });
const OTHER_HASH = encodeBase64(sibling);

describe("a proof", () => {
  test.each([
    ["JSON", json()],
    ["a tlog-proof", file],
  ])("as %s is valid with the log's key", (_, proof) => {
    expect(verifyProof({ proof, keys, tenant: "acme", receipt: receipt(), event: `${EVENT}\n` })).toEqual({
      kind: "valid",
      facts: {
        tenant: "acme",
        origin: ORIGIN,
        eventId: "evt_1",
        receivedAt: RECORD.receivedAt,
        eventText: EVENT,
        leafIndex: 1,
        leafHash: encodeBase64(leaf),
        checkpointSize: 2,
        checkpointRoot: encodeBase64(nodeHash(sibling, leaf)),
        keys: [formatVerifierKey(key)],
        receipt: "same",
      },
    });
    expect(verifyProof({ proof })).toMatchObject({
      kind: "undecided",
      detail: expect.stringContaining("GET /v1/log/key"),
    });
  });

  const record = encodeRecord({ ...RECORD, eventText: EVENT.replace(".received", ".withdrawn") });
  const altered = new TextEncoder().encode(record);
  const alteredText = encodeBase64(altered);
  const broken: readonly [what: string, question: Partial<ProofQuestion>, code: string][] = [
    [
      "whose record was altered",
      { proof: json({ leaf: alteredText, leaf_hash: encodeBase64(leafHash(altered)) }) },
      "not_in_log",
    ],
    [
      "whose record was altered in a tlog-proof",
      { proof: formatTlogProof({ extra: altered, index: 1, hashes: [sibling], checkpoint }) },
      "not_in_log",
    ],
    [
      "whose record was altered, without the key",
      { proof: json({ leaf: alteredText, leaf_hash: undefined }), keys: undefined },
      "not_in_log",
    ],
    ["with another leaf_hash", { proof: json({ leaf_hash: OTHER_HASH }) }, "proof_malformed"],
    ["of another place", { proof: json({ leaf_index: 0 }) }, "not_in_log"],
    ["of no place", { proof: json({ leaf_index: "1" }) }, "proof_malformed"],
    ["with half a hash", { proof: json({ inclusion_proof: ["AAAA"] }) }, "proof_malformed"],
    ["of no record", { proof: json({ leaf: "AAAA", leaf_hash: undefined }) }, "record_malformed"],
    ["without a checkpoint", { proof: json({ checkpoint: "" }) }, "checkpoint_malformed"],
    [
      "whose checkpoint was altered",
      { proof: json({ checkpoint: checkpoint.replace("\n\n", "\nan extension\n\n") }) },
      "bad_signature",
    ],
    ["signed by a stranger", { proof: json({ checkpoint: signNote(text, [stranger]) }) }, "unknown_key"],
    ["of another tenant than asked", { tenant: "other" }, "other_tenant"],
    ["of another event than given", { event: EVENT.replaceAll(" ", "") }, "event_differs"],
    [
      "of another record than acknowledged",
      { receipt: receipt({ leaf_hash: OTHER_HASH }) },
      "receipt_differs",
    ],
    ["that is no JSON", { proof: "{" }, "proof_malformed"],
  ];
  test.each(broken)("%s is invalid", (_, question, code) => {
    const verdict = verifyProof({ proof: json(), keys, ...question });
    expect(verdict).toMatchObject({ kind: "invalid", finding: { code } });
  });

  test("of the event's other record says nothing about the receipt", () => {
    const of = (members: object) => verifyProof({ proof: json(), keys, receipt: receipt(members) });
    expect(of({ leaf_hash: OTHER_HASH, sequence: 8 })).toMatchObject({
      kind: "undecided",
      detail: expect.stringContaining("?sequence=8"),
    });
    expect(of({ event_id: "evt_2" })).toMatchObject({ kind: "undecided" });
    const later = receipt({ leaf_hash: OTHER_HASH, received_at: "2026-11-20T11:00:00.000Z" });
    expect(verifyProof({ proof: file, keys, receipt: later })).toMatchObject({ kind: "undecided" });
  });

  test("is not decided with a text that holds no key", () => {
    expect(verifyProof({ proof: json(), keys: "a key" })).toMatchObject({ kind: "undecided" });
  });
});

describe("a receipt without a proof", () => {
  const said = (question: Partial<Parameters<typeof verifyReceipt>[0]>): object =>
    verifyReceipt({ receipt: receipt(), tenant: "acme", event: EVENT, ...question });

  test("is compared with its event, and never valid", () => {
    expect(said({})).toEqual({
      kind: "undecided",
      detail: expect.stringMatching(/^The receipt is of this event, byte for byte\..*\?sequence=7/),
    });
    expect(said({ event: undefined })).toMatchObject({ kind: "undecided" });
    expect(said({ tenant: undefined })).toMatchObject({ detail: expect.stringContaining("Name its tenant") });
    expect(said({ receipt: "[]" })).toMatchObject({ kind: "undecided" });
    expect(said({ receipt: receipt({ duplicate: true, leaf_hash: OTHER_HASH }) })).toMatchObject({
      detail: expect.stringContaining("sent again"),
    });
  });

  test("of another event is invalid", () => {
    for (const other of [{ event: EVENT.replace("received", "withdrawn") }, { tenant: "other" }])
      expect(said(other)).toMatchObject({
        kind: "invalid",
        finding: { code: "receipt_differs", eventId: "evt_1" },
      });
  });
});
