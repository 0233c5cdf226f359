/** What is said of a bundle before it is made. */
import { type Static, Type } from "@sinclair/typebox";
import type { EvidenceFilter } from "../evidence/evidence-filter.ts";
import type { Selection } from "../evidence/selection.ts";

/** In the order in which they are told. */
const REASONS = ["outside_time", "other_system", "expired", "repeated", "sandbox"] as const;

export const EvidencePreview = Type.Object({
  filter: Type.Record(Type.String(), Type.String(), { description: "As it was asked; empty for all." }),
  records: Type.Integer({ description: "Records in the bundle." }),
  withheld: Type.Integer({
    description: "Of these, the records of which the bundle has the hash alone: their events have expired.",
  }),
  bytes: Type.Integer({ description: "Of the events together, as the limit counts them." }),
  estimated_file_bytes: Type.Integer({ description: "About how large the file will be." }),
  checkpoint_size: Type.Integer({ description: "Records of the tenant under the signed tree head." }),
  complete_range: Type.Boolean({ description: "Whether the bundle has every record of the tenant." }),
  left_out: Type.Array(
    Type.Object({
      reason: Type.Union(REASONS.map((reason) => Type.Literal(reason))),
      records: Type.Union([Type.Integer(), Type.Null()], {
        description: "Null where they cannot be counted.",
      }),
    }),
    {
      description:
        "`outside_time`: events of the case, decision or person that from and to leave out. `other_system`: events of the person about other systems than asset_id. `expired`: of an expired event nothing is left by which a filter finds it. `repeated`: of an event that is in the log more than once the first record is in. `sandbox`: never in a bundle.",
    },
  ),
});

type Preview = Omit<Static<typeof EvidencePreview>, "filter">;

export const previewOf = (
  selection: Selection,
  { assetIds, subjectHash }: EvidenceFilter,
  verifyPage: string | undefined,
): Preview => {
  const { records, bytes, isComplete, head, outsideTime } = selection;
  const uncounted = isComplete ? 0 : null;
  const counts = {
    outside_time: outsideTime,
    other_system: assetIds && subjectHash !== undefined ? null : 0,
    expired: uncounted,
    repeated: uncounted,
    sandbox: null,
  };
  return {
    records: records.length,
    withheld: records.filter(({ isWithheld }) => isWithheld).length,
    bytes,
    estimated_file_bytes: estimatedFileBytes(bytes, verifyPage),
    checkpoint_size: head.size,
    complete_range: isComplete,
    left_out: REASONS.filter((reason) => counts[reason] !== 0).map((reason) => ({
      reason,
      records: counts[reason],
    })),
  };
};

/** Manifest, proofs of the anchor, VERIFY.md and an empty summary, compressed. */
const SMALL_FILES_BYTES = 16 * 1024;
const COMPRESSED_PAGE = 0.4;

/** Compressed copies and proofs come to about the size of the events themselves (measured: 0.94 to 1.1 of it, from 4 to 2,286 records). */
const estimatedFileBytes = (eventBytes: number, verifyPage = ""): number =>
  Math.round(SMALL_FILES_BYTES + COMPRESSED_PAGE * verifyPage.length + eventBytes);

export const PREVIEW_EXAMPLE = {
  filter: { decision_id: "dec_81" },
  records: 6,
  withheld: 0,
  bytes: 3217,
  estimated_file_bytes: 51_000,
  checkpoint_size: 4711,
  complete_range: false,
  left_out: [
    { reason: "expired", records: null },
    { reason: "repeated", records: null },
    { reason: "sandbox", records: null },
  ],
};
