/** Everything about one asset, one case or a tenant in one file that proves itself. */
import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import type { ActionRecorder } from "../../access/action.ts";
import type { EvidenceAction, ExportAction } from "../../access/administration/system-events.ts";
import { canonicalEventId, timeKey } from "../../event/formats.ts";
import type { Rules } from "../../law/obligations/obligation.ts";
import {
  EVIDENCE_BYTES_MAX,
  EVIDENCE_RECORDS_MAX,
  EVIDENCE_WAIT_SECONDS_DEFAULT,
  PROOF_WAIT_SECONDS_MAX,
} from "../../limits.ts";
import type { LogReader } from "../../log/event-log.ts";
import type { CheckpointStore } from "../../proof/checkpoint-store.ts";
import { BUNDLE_FILES } from "../../proof/evidence/manifest.ts";
import type { Logger } from "../../telemetry/logger.ts";
import type { ViewStore } from "../../views/store/view-store.ts";
import { createAnchor } from "../evidence/anchor.ts";
import { type BundleFormats, writeBundle } from "../evidence/bundle.ts";
import { type EvidenceFilter, filterMembers } from "../evidence/evidence-filter.ts";
import { EVIDENCE_VIEWS } from "../evidence/sealed-state.ts";
import { type Selection, type SelectionResult, selectRecords } from "../evidence/selection.ts";
import { SUMMARY_LANGUAGES, type SummaryLanguage } from "../evidence/summary-words.ts";
import { BUNDLE } from "../http/access.ts";
import { actorOf, type Call } from "../http/call.ts";
import { CSV_START, csvRow } from "../http/csv.ts";
import { fileTime, recordDownload, TOO_MANY_EXPORTS } from "../http/downloads.ts";
import { eventCsvRow, eventCsvStart } from "../http/event-csv.ts";
import { HASH, HASH_SCHEMA } from "../http/event-filter.ts";
import { type Guard, invalidKey } from "../http/guard.ts";
import type { OpenStream, OpenStreams } from "../http/open-streams.ts";
import { describe, EXAMPLE_REQUEST_ID, type Operation, type Parameter } from "../http/openapi.ts";
import { pagedBody } from "../http/paged-body.ts";
import { type ProblemCode, problem, type RequestError } from "../http/problem.ts";
import { type Query, readQuery } from "../http/query.ts";
import { haveSeenInTime, MIN_SEQUENCE, parameter, readMinSequence, sequenceWait } from "../http/reading.ts";
import type { RequestContext } from "../http/request-context.ts";
import { dataOf } from "../http/schemas.ts";
import { combinations, several, severalParameter } from "../http/several.ts";
import { storedEventLine } from "../http/stored-event.ts";
import { success, successStream } from "../http/success.ts";
import { readTimeRange, timeRangeParameters } from "../http/time-range.ts";
import { EvidencePreview, PREVIEW_EXAMPLE, previewOf } from "./evidence-preview.ts";
import type { VerifyPage } from "./verify-page.ts";

interface Dependencies {
  readonly views: ViewStore;
  readonly log: LogReader;
  readonly checkpoints: Pick<CheckpointStore, "last" | "publicKeys">;
  readonly rules: Rules;
  readonly exports: OpenStreams;
  readonly recorder: ActionRecorder<ExportAction | EvidenceAction>;
  readonly serviceName: string;
  readonly version: string;
  readonly verifyPage: VerifyPage | undefined;
  readonly logger: Logger;
  readonly now: () => Date;
}

export const evidenceRoutes = ({ guard, ...dependencies }: Dependencies & { readonly guard: Guard }) =>
  new Elysia({ prefix: "/v1" })
    .get("/evidence", guard(BUNDLE, getEvidence(dependencies, AS_FILE)), {
      detail: describe(EVIDENCE),
    })
    .get("/evidence/preview", guard(BUNDLE, getEvidence(dependencies, AS_PREVIEW)), {
      detail: describe(PREVIEW),
    });

interface Asked {
  readonly filter: EvidenceFilter;
  readonly language: SummaryLanguage;
  readonly waitMs: number;
  readonly minSequence: number | undefined;
}

const ask = (query: Query): Asked => {
  const assetIds = several(query, "asset_id");
  if (assetIds) combinations(query, [{ name: "asset_id", values: assetIds }]);
  const decisionId = query.text("decision_id");
  const filter = {
    assetIds,
    correlationId: query.text("correlation_id"),
    decisionId: decisionId === undefined ? undefined : canonicalEventId(decisionId),
    subjectHash: query.checked("subject_hash", HASH.isValid, HASH.expects)?.toLowerCase(),
    ...readTimeRange(query),
  };
  const seconds = query.integer("wait", { min: 0, max: PROOF_WAIT_SECONDS_MAX });
  return {
    filter,
    language: query.oneOf("lang", SUMMARY_LANGUAGES) ?? "en",
    waitMs: (seconds ?? EVIDENCE_WAIT_SECONDS_DEFAULT) * 1000,
    minSequence: readMinSequence(query),
  };
};

/** A case or a decision stands alone: it may be about several assets and persons. */
const standsAlone = ({
  assetIds,
  correlationId,
  decisionId,
  subjectHash,
}: EvidenceFilter): readonly RequestError[] => {
  const others = [assetIds, subjectHash].filter((each) => each !== undefined).length;
  const both = correlationId !== undefined && decisionId !== undefined;
  const wrong = [
    ...(correlationId !== undefined && (others > 0 || both) ? ["correlation_id"] : []),
    ...(decisionId !== undefined && correlationId === undefined && others > 0 ? ["decision_id"] : []),
  ];
  return wrong.map((name) => ({
    path: `query:${name}`,
    code: "invalid_value",
    message: `Send ${name} without asset_id, subject_hash and other names: it may be about several systems and persons.`,
  }));
};

/** What a bundle or its preview is answered from. */
interface Selected {
  readonly call: Call;
  readonly filter: EvidenceFilter;
  readonly language: SummaryLanguage;
  readonly selection: Selection;
  readonly open: OpenStream;
}

interface Answerer {
  /** Its answer takes one of the places for exports until it has been read. */
  readonly isFile: boolean;
  readonly answer: (dependencies: Dependencies, selected: Selected) => Promise<Response> | Response;
}

const getEvidence =
  (dependencies: Dependencies, { isFile, answer }: Answerer) =>
  async (call: Call): Promise<Response> => {
    const { request, context, principal } = call;
    const query = readQuery(request.url);
    const { filter, language, waitMs, minSequence } = ask(query);
    const errors = [...query.errors()];
    errors.push(...standsAlone(filter));
    if (errors.length > 0) return problem(context, "invalid_request", { errors });
    if (!(await haveSeenInTime(dependencies.views, EVIDENCE_VIEWS, sequenceWait(minSequence))))
      return problem(context, "view_behind");
    await call.madeViews.check(EVIDENCE_VIEWS);
    const open = dependencies.exports.open(principal);
    if (!open) return problem(context, "overloaded", TOO_MANY_EXPORTS);
    let isStreaming = false;
    context.keepOpen(true);
    try {
      const selected = await selectRecords(dependencies, {
        tenant: principal.tenant,
        filter,
        waitMs,
        at: timeKey(dependencies.now().toISOString()),
      });
      if (selected.kind !== "selected") return refusal(context, selected);
      const { selection } = selected;
      const response = await answer(dependencies, { call, filter, language, selection, open });
      isStreaming = isFile && response.body !== null && response.ok;
      return response;
    } finally {
      context.keepOpen(false);
      if (!isStreaming) open.close();
    }
  };

const REFUSALS: Readonly<
  Record<
    Exclude<SelectionResult["kind"], "selected">,
    { readonly code: ProblemCode; readonly detail?: string }
  >
> = {
  nothing: { code: "not_found", detail: "No event that the views show matches: there is nothing to prove." },
  case_shared: { code: "case_shared" },
  case_expired: { code: "case_expired" },
  too_large: { code: "evidence_too_large" },
  not_sealed: {
    code: "not_sealed",
    detail:
      "Not everything that is in the log is in the views and under a signed tree head yet. Ask again, or with a longer `wait`.",
  },
  not_in_tree: {
    code: "view_behind",
    detail: "The view `tree` does not hold all that was signed: it is being rebuilt, or it was altered.",
  },
};

const refusal = (
  context: RequestContext,
  selected: Exclude<SelectionResult, { readonly kind: "selected" }>,
): Response => {
  const { code, detail } = REFUSALS[selected.kind];
  const said = selected.kind === "too_large" ? selected.detail : detail;
  return problem(context, code, said === undefined ? {} : { detail: said });
};

const bundleAnswer = async (dependencies: Dependencies, selected: Selected): Promise<Response> => {
  const { call, filter, selection } = selected;
  const { context, principal, request } = call;
  const generatedAt = dependencies.now();
  const fileName = `evidence-${principal.tenant}-${fileSubject(filter)}-${fileTime(generatedAt)}.zip`;
  const answer = {
    requestId: context.requestId,
    mediaType: "application/zip",
    headers: { "content-disposition": `attachment; filename="${fileName}"` },
  };
  if (request.method === "HEAD") return successStream({ ...answer, body: null });
  // Checked after the waits for views and seal: the log must not record a bundle that nobody gets.
  if (!call.isStillAllowed()) return invalidKey(context);
  const unrecorded = await recordDownload(dependencies.recorder, call, {
    what: "bundle",
    details: {
      format: "evidence",
      filters: Object.fromEntries(
        Object.entries(filterMembers(filter)).map(([name, value]) => [name, [value]]),
      ),
      last_sequence: selection.records.at(-1)?.sequence ?? 0,
    },
  });
  if (unrecorded) return unrecorded;
  return successStream({
    ...answer,
    body: bundleBody(dependencies, { ...selected, generatedAt }),
  });
};

const AS_FILE: Answerer = { isFile: true, answer: bundleAnswer };

/** The same selection, so a preview promises nothing that the bundle does not have. */
const AS_PREVIEW: Answerer = {
  isFile: false,
  answer: ({ verifyPage }, { call, filter, selection }) =>
    success({
      requestId: call.context.requestId,
      data: { filter: filterMembers(filter), ...previewOf(selection, filter, verifyPage?.html) },
    }),
};

const formats: BundleFormats = {
  eventLine: storedEventLine,
  eventCsvStart,
  eventCsvRow,
  csvStart: CSV_START,
  csvRow,
};

/** Any failure breaks the bundle off: a ZIP without its directory is not valid. */
const bundleBody = (
  dependencies: Dependencies,
  selected: Selected & { readonly generatedAt: Date },
): ReadableStream<Uint8Array<ArrayBuffer>> => {
  const { logger, serviceName, version } = dependencies;
  const { call, filter, language, selection, generatedAt, open } = selected;
  const { context, principal } = call;
  const { tenant } = principal;
  const anchor = createAnchor(dependencies, { by: actorOf(call), tenant });
  const bundle = writeBundle(
    { ...dependencies, formats, anchor, verifyPage: dependencies.verifyPage?.html },
    {
      tenant,
      filter,
      selection,
      serviceName,
      language,
      generator: `prooftrail ${version}`,
      generatedAt,
      madeBy: principal.keyId,
      requestId: context.requestId,
    },
  );
  const next = async (): Promise<Uint8Array<ArrayBuffer> | undefined> => {
    if (!call.isStillAllowed()) throw new Error("the key has ended");
    const made = await bundle.next();
    return made.done ? undefined : made.value;
  };
  const closed = (): void => {
    open.close();
    // Not awaited: what still runs ends with its next page.
    bundle.return(undefined).catch(() => {});
  };
  const failed = (error: unknown): void =>
    logger.warn("an evidence bundle was broken off", {
      request_id: context.requestId,
      detail: String(error),
    });
  return pagedBody({ next, closed, failed, keepOpen: context.keepOpen });
};

/** Enough to recognise it. File systems allow names of 255 bytes, with the tenant and the time. */
const FILE_SUBJECT_CHARACTERS_MAX = 64;

/** Names of assets and cases may contain any character; a file name may not. */
const fileSubject = ({ assetIds, correlationId, decisionId, subjectHash }: EvidenceFilter): string =>
  (correlationId ?? decisionId ?? subjectHash ?? assetIds?.join("-") ?? "all")
    .replaceAll(/[^A-Za-z0-9._-]/g, "-")
    .slice(0, FILE_SUBJECT_CHARACTERS_MAX);

const PARAMETERS: readonly Parameter[] = [
  severalParameter("asset_id", "Exactly this asset. Not together with correlation_id or decision_id."),
  parameter(
    "correlation_id",
    "The case of this group of events: all linked events, as `GET /v1/cases/{correlation_id}` finds it.",
  ),
  parameter(
    "decision_id",
    "The events of this decision, as the timeline of `GET /v1/decisions/{decision_id}` has them.",
  ),
  parameter(
    "subject_hash",
    "A person: the events that name the person, and all events of the decisions about the person and of the person's objections. With asset_id only those of these assets.",
    HASH_SCHEMA,
  ),
  ...timeRangeParameters("What counts is the own time of the events."),
  parameter("lang", "The language of summary.html: English or Korean.", {
    type: "string",
    enum: [...SUMMARY_LANGUAGES],
    default: "en",
  }),
  parameter("wait", "Seconds to wait until all that is in the log is sealed.", {
    type: "integer",
    minimum: 0,
    maximum: PROOF_WAIT_SECONDS_MAX,
    default: EVIDENCE_WAIT_SECONDS_DEFAULT,
  }),
  MIN_SEQUENCE,
];

const EVIDENCE: Operation = {
  id: "readEvidence",
  tag: "Proof",
  summary: "An evidence bundle",
  description: [
    "One ZIP that proves itself without a server: the records of assets, of a case, of a decision, of a person or of the whole tenant, each with its proof, the signed tree head that covers",
    "all of them, the keys, the same events to read, the obligations with their state, a page for people, and a manifest that is itself in the log: making a bundle is an event",
    `of the system. \`prooftrail verify\` says whether it is valid, and names the first broken record. Files: ${BUNDLE_FILES.map((name) => `\`${name}\``).join(", ")}.`,
    "\n\nWithout asset, case and time it holds every record, so that gaps show as well; of an event that has expired it has the hash alone. With one of them it holds what the views show: of an event that is in the log more than once the first record.",
    "`from` and `to` mean the events' own times. If it cannot be finished, the connection is broken off: a ZIP that is cut off has no directory, so no program takes it for complete.",
    `\n\nAt most ${EVIDENCE_RECORDS_MAX} records and ${EVIDENCE_BYTES_MAX / 1024 / 1024} MiB of them. ${TOO_MANY_EXPORTS.detail} A bundle is one.`,
  ].join(" "),
  access: BUNDLE,
  parameters: PARAMETERS,
  answer: {
    status: 200,
    description: "The bundle.",
    schema: Type.String({ format: "binary" }),
    example: "",
    mediaType: "application/zip",
  },
  problems: [
    "invalid_request",
    "not_found",
    "case_shared",
    "case_expired",
    "evidence_too_large",
    "not_sealed",
    "view_behind",
    "overloaded",
    "log_unavailable",
  ],
};

const PREVIEW: Operation = {
  ...EVIDENCE,
  id: "previewEvidence",
  summary: "What an evidence bundle would hold",
  description:
    "How many records the bundle of the same parameters would have now, about how large the file would be, and what is left out and why. What the bundle would be refused for, the preview is refused for. Nothing is recorded, as nothing is handed out.",
  answer: {
    status: 200,
    description: "The preview.",
    schema: dataOf(EvidencePreview),
    example: { data: PREVIEW_EXAMPLE, request_id: EXAMPLE_REQUEST_ID },
  },
};
