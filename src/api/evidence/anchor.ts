/** Records a bundle's manifest in the log of SYSTEM_TENANT, and returns the proof of that. */
import type { ActionRecorder, Actor } from "../../access/action.ts";
import type { EvidenceAction } from "../../access/administration/system-events.ts";
import { SYSTEM_TENANT } from "../../access/tenant.ts";
import { EVIDENCE_ANCHOR_MS_MAX } from "../../limits.ts";
import { keyLines } from "../../proof/key-lines.ts";
import { originOf } from "../../proof/seal.ts";
import { createVerifier, isSignedByNobodyElse } from "../../proof/signed-note.ts";
import { formatTlogProof } from "../../proof/tlog-proof.ts";
import { awaitProof, type ProofDependencies, type RecordProof } from "../../views/tree/record-proof.ts";

export interface Anchored {
  /** C2SP tlog-proof, with the record in `extra`. */
  readonly proof: string;
  /** Verifier keys of the system's log. */
  readonly systemKey: string;
}

/** Appends the event and waits for its seal. Rejects if either fails: without it there is no bundle. */
export type Anchor = (made: {
  readonly manifestSha256: string;
  readonly records: number;
  readonly filter: Readonly<Record<string, string>>;
  /** The keys that the bundle names for the tenant's log. */
  readonly publicKeys: readonly Uint8Array[];
}) => Promise<Anchored>;

export const createAnchor =
  (
    dependencies: ProofDependencies & {
      readonly recorder: ActionRecorder<EvidenceAction>;
      readonly serviceName: string;
    },
    { by, tenant }: { readonly by: Actor; readonly tenant: string },
  ): Anchor =>
  async ({ manifestSha256, records, filter, publicKeys }) => {
    const { recorder, serviceName } = dependencies;
    let proof: RecordProof | undefined;
    const result = await recorder.carryOut({
      by,
      action: {
        type: "system.evidence_made",
        tenant,
        details: { manifest_sha256: manifestSha256, records, filter },
      },
      work: async (sequence) => {
        const deadline = performance.now() + EVIDENCE_ANCHOR_MS_MAX;
        const found = await awaitProof(dependencies, SYSTEM_TENANT, { sequence }, deadline);
        if (found.kind !== "proven")
          return { kind: "unavailable", detail: `the event of the bundle is ${found.kind}` };
        proof = found.proof;
        return { kind: "written" };
      },
    });
    if (proof === undefined)
      throw new Error(
        `the manifest could not be anchored: ${result.kind === "unavailable" ? result.detail : result.kind}`,
      );
    const { payload, leafIndex, inclusionProof, head } = proof;
    const origin = originOf(serviceName, SYSTEM_TENANT);
    const verifiers = publicKeys.map((publicKey) => createVerifier({ name: origin, publicKey }));
    if (!isSignedByNobodyElse(head.note, verifiers))
      throw new Error("the signing keys were changed while the bundle was made: it would not be valid");
    return {
      proof: formatTlogProof({
        extra: payload,
        index: leafIndex,
        hashes: inclusionProof,
        checkpoint: head.note,
      }),
      systemKey: keyLines(publicKeys, origin, head.note),
    };
  };
