/** The proof of one event, which can be verified without this service. */
import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import type { Covers } from "../../access/seats.ts";
import { canonicalEventId } from "../../event/formats.ts";
import { PROOF_WAIT_SECONDS_MAX } from "../../limits.ts";
import { eventIdOf } from "../../log/event-id-of.ts";
import type { LogReader } from "../../log/event-log.ts";
import { encodeRecord } from "../../log/record.ts";
import { encodeBase64 } from "../../proof/base64.ts";
import { leafHash } from "../../proof/rfc6962.ts";
import { formatTlogProof } from "../../proof/tlog-proof.ts";
import { type FoundEvent, findEvent } from "../../views/events/queries.ts";
import { EVENTS_VIEW } from "../../views/events/tables.ts";
import { waitForPosition } from "../../views/kit/wait-for-position.ts";
import type { ViewStore } from "../../views/store/view-store.ts";
import {
  awaitProof,
  type ProofDependencies,
  type ProvenRecord,
  type RecordProof,
} from "../../views/tree/record-proof.ts";
import { ONE_PROOF } from "../http/access.ts";
import type { Call } from "../http/call.ts";
import type { Guard } from "../http/guard.ts";
import { describe, EXAMPLE_REQUEST_ID, type Operation } from "../http/openapi.ts";
import { problem } from "../http/problem.ts";
import type { Query } from "../http/query.ts";
import {
  answerOne,
  countFrom,
  MIN_SEQUENCE,
  notFound,
  parameter,
  pathParameter,
  reading,
  type SequenceWait,
} from "../http/reading.ts";
import { dataOf } from "../http/schemas.ts";
import { isCovered } from "../http/seat-limit.ts";
import { successPlain } from "../http/success.ts";
import { treeBehind } from "./log.ts";
import { EXAMPLE_PROOF, EXAMPLE_TLOG_PROOF } from "./log-examples.ts";
import { eventExpired } from "./search.ts";

interface Dependencies extends ProofDependencies {
  readonly views: ViewStore;
  readonly log: Pick<LogReader, "read" | "lastSequence">;
}

export const proofRoutes = ({ guard, ...dependencies }: Dependencies & { readonly guard: Guard }) =>
  new Elysia({ prefix: "/v1" }).get(
    "/events/:event_id/proof",
    guard(
      ONE_PROOF,
      reading(dependencies.views, {
        view: EVENTS_VIEW,
        ask,
        answer: (asked, call, awaited) => getProof(dependencies, { ...asked, awaited }, call),
      }),
    ),
    { detail: describe(PROOF) },
  );

const ask = (query: Query) => ({
  waitMs: (query.integer("wait", { min: 0, max: PROOF_WAIT_SECONDS_MAX }) ?? 0) * 1000,
  format: query.choice("format", ["json", "tlog-proof"], "json"),
  sequence: query.integer("sequence", { min: 1, max: Number.MAX_SAFE_INTEGER }),
});

const getProof = async (
  dependencies: Dependencies,
  {
    waitMs,
    format,
    sequence,
    awaited,
  }: ReturnType<typeof ask> & { readonly awaited: SequenceWait | undefined },
  call: Call,
): Promise<Response> => {
  const { context, principal, params } = call;
  const { tenant } = principal;
  const deadline = Math.max(performance.now() + waitMs, awaited?.until ?? 0);
  const eventId = params.event_id ?? "";
  const event = eventId === "" ? undefined : await awaitEvent(dependencies, tenant, eventId, waitMs);
  if (event === "view_behind") return problem(context, "view_behind", { detail: EVENTS_BEHIND });
  const { covers } = principal;
  if (!event || (covers && !isInSeat(covers, event, sequence))) return notFound(call, "event");
  if (event.kind === "expired") return eventExpired(call, event);
  const record = await recordOf(dependencies, event, { tenant, eventId, sequence });
  if (!record) {
    return problem(context, "not_found", {
      detail: `The log has no record of this event at sequence ${sequence}. Send the sequence that the answer 202 named, or none for the record that the views show.`,
    });
  }
  const result = await awaitProof(dependencies, tenant, record, deadline);
  if (result.kind === "not_sealed") return problem(context, "not_sealed");
  if (result.kind === "tree_behind") return treeBehind(call);
  if (result.kind === "not_in_tree") {
    return problem(context, "internal_error", {
      detail: `The tree does not hold the record at sequence ${record.sequence} as it was signed. The operator should rebuild the view \`tree\`.`,
    });
  }
  return format === "json" ? answerOne(call, jsonOf(result.proof)) : tlogProof(call, result.proof);
};

/** Another record under the same event_id may be about another system. */
const isInSeat = (covers: Covers, event: FoundEvent, sequence: number | undefined): boolean => {
  if (event.kind === "expired" || (sequence !== undefined && sequence !== event.sequence)) return false;
  const { asset_id, timestamp } = JSON.parse(event.eventText);
  return isCovered(covers, asset_id, timestamp);
};

/** An event that was sent under two identities is in the log twice. The holder of the second receipt asks for that record. */
const recordOf = async (
  { log }: Dependencies,
  event: Extract<FoundEvent, { readonly kind: "stored" }>,
  asked: { readonly tenant: string; readonly eventId: string; readonly sequence: number | undefined },
): Promise<ProvenRecord | undefined> => {
  const { tenant, eventId, sequence = event.sequence } = asked;
  if (sequence === event.sequence)
    return { sequence, payload: new TextEncoder().encode(encodeRecord({ ...event, tenant })) };
  const payload = (await log.read(sequence))?.payload;
  const isOfEvent = payload !== undefined && eventIdOf(payload, tenant) === canonicalEventId(eventId);
  return isOfEvent ? { sequence, payload } : undefined;
};

const EVENTS_BEHIND =
  "The view `events` did not reach the end of the log within `wait`, so it may not have seen the event yet. Ask again, or wait longer.";

/** With `wait` the event may have been acknowledged a moment ago. The view has seen it once it has seen the current end of the log. */
const awaitEvent = async (
  { views, log }: Dependencies,
  tenant: string,
  eventId: string,
  waitMs: number,
): Promise<FoundEvent | "view_behind" | undefined> => {
  const found = await findEvent(views, tenant, eventId);
  if (found || waitMs === 0) return found;
  const wait = { views, projection: EVENTS_VIEW, sequence: await log.lastSequence() };
  const hasSeen = await waitForPosition({ ...wait, timeoutMs: waitMs });
  return (await findEvent(views, tenant, eventId)) ?? (hasSeen ? undefined : "view_behind");
};

const jsonOf = ({ sequence, leafIndex, payload, inclusionProof, head }: RecordProof) => ({
  sequence,
  leaf_index: leafIndex,
  leaf: encodeBase64(payload),
  leaf_hash: encodeBase64(leafHash(payload)),
  inclusion_proof: inclusionProof.map(encodeBase64),
  checkpoint: head.note,
});

/** The record is in `extra`, so the file needs nothing else. */
const tlogProof = (call: Call, { leafIndex, payload, inclusionProof, head }: RecordProof): Response => {
  const proof = formatTlogProof({
    extra: payload,
    index: leafIndex,
    hashes: inclusionProof,
    checkpoint: head.note,
  });
  return successPlain(call.context.requestId, proof);
};

const Base64 = (description: string) => Type.String({ description: `${description} Base64.` });

export const proofSchema = Type.Object({
  sequence: Type.Integer({ description: "Place in the log of all tenants." }),
  leaf_index: Type.Integer({ description: "Place in the tenant's tree, from 0." }),
  leaf: Base64("The record, byte for byte: what the leaf is the hash of."),
  leaf_hash: Base64("SHA-256 of a zero byte and the record (RFC 6962 §2.1)."),
  inclusion_proof: Type.Array(Base64("32 bytes."), { description: "The leaf's sibling first." }),
  checkpoint: Type.String({ description: "Signed tree head: a C2SP checkpoint." }),
});
const ProofAnswer = dataOf(proofSchema);

const PROOF: Operation = {
  id: "readEventProof",
  tag: "Proof",
  summary: "The proof of one event",
  description:
    "That the record of this event is in the log that a signed tree head covers, in a form that verifies offline: hash the leaf, walk up with the hashes, compare with the root in the checkpoint, check its signature with the key of `GET /v1/log/key`. A `202` answer's `leaf_hash` is the same as here; with its `sequence` also where the same event is in the log more than once.",
  access: ONE_PROOF,
  parameters: [
    pathParameter("event_id", "evt_sample_001"),
    parameter(
      "wait",
      "Seconds to wait for the event to be sealed; with `min_sequence` at least as long as that waits.",
      {
        type: "integer",
        minimum: 0,
        maximum: PROOF_WAIT_SECONDS_MAX,
        default: 0,
      },
    ),
    parameter("format", "`tlog-proof` gives a file as C2SP tlog-proof has it, with the record in `extra`.", {
      type: "string",
      enum: ["json", "tlog-proof"],
      default: "json",
    }),
    parameter(
      "sequence",
      "Prove the record at this sequence, which must be of this event: that of an answer `202` whose event the log held already under another identity. Absent: the first record, which the views show.",
      countFrom(1),
    ),
    {
      ...MIN_SEQUENCE,
      description: `${MIN_SEQUENCE.description} The same time is there for a signed tree head that holds it.`,
    },
  ],
  answer: {
    status: 200,
    description: "The proof.",
    schema: ProofAnswer,
    example: { data: EXAMPLE_PROOF, request_id: EXAMPLE_REQUEST_ID },
    others: [{ mediaType: "text/plain", example: EXAMPLE_TLOG_PROOF }],
  },
  problems: [
    "invalid_request",
    "not_found",
    "event_expired",
    "not_sealed",
    "view_behind",
    "overloaded",
    "log_unavailable",
  ],
};
