/** Evidence bundles, and previews of them. */

import { Type } from "@sinclair/typebox";
import { canonicalEventId } from "../../event/formats.ts";
import {
  EVIDENCE_BYTES_MAX,
  EVIDENCE_RECORDS_MAX,
  EVIDENCE_WAIT_SECONDS_DEFAULT,
  PROOF_WAIT_SECONDS_MAX,
} from "../../limits.ts";
import { BUNDLE_FILES } from "../../proof/evidence/manifest.ts";
import { writeBundle } from "../evidence/bundle.ts";
import { type EvidenceFilter, filterMembers } from "../evidence/found.ts";
import { EVIDENCE_VIEWS, type Selection, selectRecords } from "../evidence/selection.ts";
import { SUMMARY_LANGUAGES } from "../evidence/summary-words.ts";
import { BUNDLE } from "../http/access.ts";
import { type Answer, afterwards, give, isRefusal, refuse, send } from "../http/answers.ts";
import { actorOf, type Call } from "../http/call.ts";
import type { Dependencies } from "../http/dependencies.ts";
import { EXPORTS_AT_ONCE, fileTime, recordDownload } from "../http/downloads.ts";
import { HASH } from "../http/event-filter.ts";
import { KEY_ENDED } from "../http/guard.ts";
import type { OpenStream } from "../http/open-streams.ts";
import { pagedBody } from "../http/paged-body.ts";
import {
  type Asked,
  type Asking,
  allOf,
  choice,
  combinations,
  formed,
  integerOr,
  several,
  text,
  timeRange,
} from "../http/parameters.ts";
import type { Route } from "../http/route.ts";
import { bool, int, nullable, wordsOf } from "../http/schemas.ts";

const NAMES = {
  assetIds: several("asset_id", "Exactly this asset. Not together with correlation_id or decision_id."),
  correlationId: text(
    "correlation_id",
    "The case of this group of events: all linked events, as in `GET /v1/cases/{correlation_id}`.",
  ),
  decisionId: text(
    "decision_id",
    "The events of this decision, as in the timeline of `GET /v1/decisions/{decision_id}`.",
  ),
  subjectHash: formed(
    "subject_hash",
    "A person: the events that name the person, and all events of the decisions about the person and of the person's objections. With asset_id only those of these assets.",
    HASH,
  ),
  times: timeRange("Compares the events' own time."),
};

const FILTER: Asking<EvidenceFilter> = {
  documented: allOf(NAMES).documented,
  read: (query) => {
    const { times, decisionId, ...names } = allOf(NAMES).read(query);
    const { assetIds, correlationId, subjectHash } = names;
    if (assetIds) combinations(query, [{ name: "asset_id", values: assetIds }]);
    // A case or decision stands alone: it may concern several assets and persons.
    const hasOthers = assetIds !== undefined || subjectHash !== undefined;
    const alone =
      correlationId !== undefined && (hasOthers || decisionId !== undefined)
        ? "correlation_id"
        : decisionId !== undefined && hasOthers
          ? "decision_id"
          : undefined;
    if (alone !== undefined)
      query.refuse(
        alone,
        `Send ${alone} without asset_id, subject_hash and other names: it may be about several systems and persons.`,
      );
    return {
      ...names,
      ...times,
      decisionId: decisionId && canonicalEventId(decisionId),
      subjectHash: subjectHash?.toLowerCase(),
    };
  },
};

const QUERY = {
  filter: FILTER,
  language: choice("lang", "The language of summary.html: English or Korean.", SUMMARY_LANGUAGES, "en"),
  wait: integerOr(
    EVIDENCE_WAIT_SECONDS_DEFAULT,
    "wait",
    "Seconds to wait until everything in the log is sealed.",
    { min: 0, max: PROOF_WAIT_SECONDS_MAX },
  ),
};

const FILES = BUNDLE_FILES.map((name) => `\`${name}\``).join(", ");

export const evidenceRoutes = (dependencies: Dependencies): readonly Route[] => {
  const { route } = dependencies;
  const ofEvidence = {
    access: BUNDLE,
    tag: "Proof",
    views: EVIDENCE_VIEWS,
    query: QUERY,
    problems: [
      "not_found",
      "case_shared",
      "case_expired",
      "evidence_too_large",
      "not_sealed",
      "overloaded",
      "log_unavailable",
    ],
  } as const;
  return [
    route({
      ...ofEvidence,
      on: "GET /v1/evidence",
      id: "readEvidence",
      summary: "An evidence bundle",
      description: `One ZIP that proves itself without a server: the records of assets, of a case, of a decision, of a person or of the whole tenant, each with its proof, the signed tree head that covers them, the keys, the same events to read, the obligations with their state, a page for people, and a manifest that is itself in the log. \`prooftrail verify\` says whether it is valid. Files: ${FILES}. Without asset, case and time it holds every record, so gaps show too; of an expired event, only the hash. With one of them it holds what the views show: of an event that is in the log more than once, the first record. If it cannot be finished, the connection is aborted and what was sent is not a valid ZIP. At most ${EVIDENCE_RECORDS_MAX} records, ${EVIDENCE_BYTES_MAX / 1024 / 1024} MiB in all. ${EXPORTS_AT_ONCE} A bundle is one.`,
      gives: Type.String({ format: "binary" }),
      mediaType: "application/zip",
      answer: (call) =>
        afterwards(() =>
          withSelection(dependencies, call, (...selected) => sendBundle(dependencies, call, ...selected)),
        ),
    }),
    route({
      ...ofEvidence,
      on: "GET /v1/evidence/preview",
      id: "previewEvidence",
      summary: "What an evidence bundle would hold",
      description:
        "How many records a bundle with the same parameters would have now, about how large the file would be, and what is left out and why. The preview is refused wherever the bundle would be. Nothing is recorded, because nothing is handed out.",
      gives: EvidencePreview,
      answer: (call) =>
        // The same selection, so a preview promises nothing that the bundle lacks.
        afterwards(() =>
          withSelection(dependencies, call, (selection) =>
            give(previewOf(selection, call.asked.filter, dependencies.verifyPage?.html)),
          ),
        ),
    }),
  ];
};

type EvidenceCall = Call & { readonly asked: Asked<typeof QUERY> };

/** Takes an export slot until the answer is built, or has been read if it is a stream. */
const withSelection = async (
  dependencies: Dependencies,
  { context, principal, asked }: EvidenceCall,
  answer: (selection: Selection, open: OpenStream) => Promise<Answer> | Answer,
): Promise<Answer> => {
  const open = dependencies.exports.open(principal);
  if (!open) return refuse("overloaded", EXPORTS_AT_ONCE);
  let isStreaming = false;
  context.keepOpen(true);
  try {
    const question = { tenant: principal.tenant, filter: asked.filter, waitMs: asked.wait * 1000 };
    const selection = await selectRecords(dependencies, question);
    if (isRefusal(selection)) return selection;
    const answered = await answer(selection, open);
    isStreaming = answered.kind === "sent" && answered.body !== null;
    return answered;
  } finally {
    context.keepOpen(false);
    if (!isStreaming) open.close();
  }
};

const sendBundle = async (
  dependencies: Dependencies,
  call: EvidenceCall,
  selection: Selection,
  open: OpenStream,
): Promise<Answer> => {
  const { logger, serviceName, version } = dependencies;
  const { principal, request, context, isStillAllowed, asked } = call;
  const { tenant } = principal;
  const { filter, language } = asked;
  const fileName = `evidence-${tenant}-${fileSubject(filter)}-${fileTime(selection.readAt)}.zip`;
  const headers = { "content-disposition": `attachment; filename="${fileName}"` };
  if (request.method === "HEAD") return send("application/zip", null, headers);
  // Checked after the waits for views and seal: the log must not record a bundle that nobody gets.
  if (!isStillAllowed()) return KEY_ENDED;
  const filters = Object.entries(filterMembers(filter)).map(([name, value]) => [name, [value]]);
  const unrecorded = await recordDownload(dependencies.recorder, call, {
    what: "bundle",
    details: {
      format: "evidence",
      filters: Object.fromEntries(filters),
      last_sequence: selection.records.at(-1)?.sequence ?? 0,
    },
  });
  if (unrecorded) return unrecorded;
  const bundle = writeBundle(dependencies, {
    ...{ tenant, filter, selection, language, serviceName },
    generator: `prooftrail ${version}`,
    by: actorOf(call),
  });
  // Any failure aborts the bundle: a ZIP without its directory is invalid.
  const body = pagedBody({
    next: async () => {
      if (!isStillAllowed()) throw new Error("the key has ended");
      const made = await bundle.next();
      return made.done ? undefined : made.value;
    },
    closed: () => {
      open.close();
      // Not awaited: what still runs stops at its next page.
      bundle.return(undefined).catch(() => {});
    },
    failed: (error) => {
      const { requestId } = context;
      logger.warn("an evidence bundle was aborted", { request_id: requestId, detail: String(error) });
    },
    keepOpen: context.keepOpen,
  });
  return send("application/zip", body, headers);
};

/** Enough to recognise it. File systems allow names of 255 bytes, with the tenant and the time. */
const FILE_SUBJECT_CHARACTERS_MAX = 64;

/** Names of assets and cases may contain any character; file names may not. */
const fileSubject = ({ assetIds, correlationId, decisionId, subjectHash }: EvidenceFilter): string =>
  (correlationId ?? decisionId ?? subjectHash ?? assetIds?.join("-") ?? "all")
    .replaceAll(/[^A-Za-z0-9._-]/g, "-")
    .slice(0, FILE_SUBJECT_CHARACTERS_MAX);

const EvidencePreview = Type.Object({
  filter: Type.Record(Type.String(), Type.String(), { description: "As requested; empty for all." }),
  records: int("Records in the bundle."),
  withheld: int("Records among these with only their hash in the bundle: their events have expired."),
  bytes: int("Of all events, as the limit counts them."),
  estimated_file_bytes: int("About how large the file will be."),
  checkpoint_size: int("Records of the tenant under the signed tree head."),
  complete_range: bool("Whether the bundle has every record of the tenant."),
  left_out: Type.Array(
    Type.Object({
      reason: wordsOf(["outside_time", "other_system", "expired", "repeated", "sandbox"]),
      records: nullable(int("Null where they cannot be counted.")),
    }),
    {
      description:
        "`outside_time`: events of the case, decision or person that from and to exclude. `other_system`: the person's events about systems other than asset_id. `expired`: nothing is left of an expired event for a filter to find. `repeated`: of an event that is in the log more than once, only the first record is included. `sandbox`: never in a bundle.",
    },
  ),
});

const previewOf = (
  { records, bytes, isComplete, head, outsideTime }: Selection,
  filter: EvidenceFilter,
  verifyPage = "",
) => {
  const uncounted = isComplete ? 0 : null;
  const leftOut = {
    outside_time: outsideTime,
    other_system: filter.assetIds && filter.subjectHash !== undefined ? null : 0,
    expired: uncounted,
    repeated: uncounted,
    sandbox: null,
  };
  return {
    filter: filterMembers(filter),
    records: records.length,
    withheld: records.filter(({ isWithheld }) => isWithheld).length,
    bytes,
    // Compressed copies and proofs come to about the size of the events (measured: 0.94 to 1.1 of it, from 4 to 2,286 records).
    estimated_file_bytes: Math.round(SMALL_FILES_BYTES + COMPRESSED_PAGE * verifyPage.length + bytes),
    checkpoint_size: head.size,
    complete_range: isComplete,
    left_out: Object.entries(leftOut).flatMap(([reason, count]) =>
      count === 0 ? [] : { reason, records: count },
    ),
  };
};

/** Manifest, proofs of the anchor, VERIFY.md and an empty summary, compressed. */
const SMALL_FILES_BYTES = 16 * 1024;
const COMPRESSED_PAGE = 0.4;
