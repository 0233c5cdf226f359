/**
 * Checks that making the bundle is an event in the log of the system's tenant, and that this event names the manifest. If somebody removes a record
 * and rewrites the manifest, there is no such event.
 */
import { decodeRecord } from "../../log/record.ts";
import { leafHash } from "../rfc6962.ts";
import { isSignedByNobodyElse, type Verifier } from "../signed-note.ts";
import { parseTlogProof, verifyTlogProof } from "../tlog-proof.ts";
import { ANCHOR_EVENT_TYPE, ANCHOR_FILE, type Manifest, SYSTEM_TENANT_NAME } from "./manifest.ts";
import type { EvidenceFacts, Finding } from "./verdict.ts";

export type AnchorVerdict =
  | {
      readonly kind: "anchored";
      readonly anchor: EvidenceFacts["anchor"];
      /** The keys that signed the head of the system's log. */
      readonly signers: readonly Verifier[];
      /** That head, a signed note. */
      readonly head: string;
    }
  | { readonly kind: "broken"; readonly finding: Finding };

export const systemOrigin = ({ service }: Pick<Manifest, "service">): string =>
  `${service}/${SYSTEM_TENANT_NAME}`;

export const verifyAnchor = (parts: {
  readonly manifest: Manifest;
  /** Hex. */
  readonly manifestSha256: string;
  readonly proof: string;
  /** The trusted keys, under the name of the system's log. */
  readonly verifiers: readonly Verifier[];
  /** The keys that the bundle names. */
  readonly bundled: readonly Verifier[];
}): AnchorVerdict => {
  const { manifest, manifestSha256, proof, verifiers } = parts;
  const parsed = parseTlogProof(proof);
  const payload = parsed?.extra;
  const record = payload && decodeRecord(payload);
  if (!parsed || !payload || !record) return broken("it is not a tlog-proof with a record in it");
  const origin = systemOrigin(manifest);
  const verified = verifyTlogProof({ proof, leaf: leafHash(payload), origin, verifiers });
  if (verified.kind === "failed") return broken(REASONS[verified.reason]);
  // Nothing else in the bundle covers this file, so a signature by another key would go unnoticed here.
  if (!isSignedByNobodyElse(parsed.checkpoint, parts.bundled))
    return broken(
      "its checkpoint has a signature that is by none of the bundle's keys, or stands there twice",
    );
  const said = eventSaid(record.eventText);
  if (record.tenant !== SYSTEM_TENANT_NAME || said?.type !== ANCHOR_EVENT_TYPE)
    return broken(`its record is not an event ${ANCHOR_EVENT_TYPE} of the tenant ${SYSTEM_TENANT_NAME}`);
  const { metadata } = said;
  if (metadata.manifest_sha256 !== manifestSha256)
    return broken(
      "its event names another manifest: the manifest was written anew, or belongs to another bundle",
    );
  if (metadata.tenant !== manifest.tenant || metadata.records !== manifest.records)
    return broken("its event speaks of another tenant or of another number of records");
  if (metadata.actor !== manifest.made_by || metadata.request_id !== manifest.request_id)
    return broken("its event names another key or another request");
  const anchor = { origin, leafIndex: verified.index, at: record.receivedAt };
  return { kind: "anchored", anchor, signers: verified.verifiers, head: parsed.checkpoint };
};

const broken = (detail: string): AnchorVerdict => ({
  kind: "broken",
  finding: { code: "not_anchored", detail, file: ANCHOR_FILE },
});

const REASONS = {
  malformed: "it is not a tlog-proof",
  unknown_key: "its checkpoint is signed by none of the trusted keys",
  bad_signature: "the signature on its checkpoint is wrong",
  wrong_origin: "its checkpoint is of another log",
  not_included: "the system's log does not hold this record at this place",
} as const;

const eventSaid = (
  eventText: string,
): { readonly type: unknown; readonly metadata: Readonly<Record<string, unknown>> } | undefined => {
  try {
    const event: Readonly<Record<string, unknown>> = Object(JSON.parse(eventText));
    return { type: event.event_type, metadata: Object(event.metadata) };
  } catch {
    return undefined;
  }
};
