/** The proof of one event, which can be verified without this service. */

import { Type } from "@sinclair/typebox";
import type { Covers } from "../../access/seats.ts";
import { canonicalEventId } from "../../event/formats.ts";
import { PROOF_WAIT_SECONDS_MAX } from "../../limits.ts";
import { encodeRecord, eventIdOf } from "../../log/record.ts";
import { encodeBase64 } from "../../proof/base64.ts";
import { leafHash } from "../../proof/rfc6962.ts";
import { formatTlogProof } from "../../proof/tlog-proof.ts";
import { type FoundEvent, findEvent } from "../../views/events/queries.ts";
import { EVENTS_VIEW } from "../../views/events/tables.ts";
import { waitForPosition } from "../../views/kit/wait-for-position.ts";
import { awaitProof, type ProvenRecord, type RecordProof } from "../../views/tree/record-proof.ts";
import { ONE_PROOF } from "../http/access.ts";
import { type Answer, give, notFound, refuse, sendText } from "../http/answers.ts";
import type { Call } from "../http/call.ts";
import type { Dependencies } from "../http/dependencies.ts";
import { type Asked, choice, integer, integerOr, minSequence } from "../http/parameters.ts";
import type { Route } from "../http/route.ts";
import { int, str } from "../http/schemas.ts";
import { isCovered } from "../http/seat-limit.ts";
import type { SequenceWait } from "../http/wait-for-view.ts";
import { eventExpired } from "./events.ts";
import { TREE_BEHIND } from "./log.ts";
import { EXAMPLE_PROOF, EXAMPLE_TLOG_PROOF } from "./log-examples.ts";

const QUERY = {
  wait: integerOr(
    0,
    "wait",
    "Seconds to wait for the event to be sealed; with `min_sequence`, at least as long as that wait.",
    { min: 0, max: PROOF_WAIT_SECONDS_MAX },
  ),
  format: choice(
    "format",
    "`tlog-proof` returns a C2SP tlog-proof file, with the record in `extra`.",
    ["json", "tlog-proof"],
    "json",
  ),
  sequence: integer(
    "sequence",
    "Prove the record at this sequence, which must be of this event: from a `202` whose event the log already held under another identity. Absent: the first record, which the views show.",
    { min: 1 },
  ),
  awaited: minSequence("The same again for a signed tree head that covers it."),
};

export const proofRoutes = (dependencies: Dependencies): readonly Route[] => [
  dependencies.route({
    on: "GET /v1/events/:event_id/proof",
    access: ONE_PROOF,
    id: "readEventProof",
    tag: "Proof",
    summary: "The proof of one event",
    description:
      "Shows that a signed tree head covers the record of this event, and verifies offline: hash the leaf, walk up with the hashes, compare with the root in the checkpoint, check its signature with the key of `GET /v1/log/key`. It has the `leaf_hash` of the `202` answer; send its `sequence` where the log holds the event more than once.",
    views: [EVENTS_VIEW],
    query: QUERY,
    gives: proofSchema,
    example: EXAMPLE_PROOF,
    others: [{ mediaType: "text/plain", example: EXAMPLE_TLOG_PROOF }],
    problems: ["event_expired", "not_sealed", "overloaded", "log_unavailable"],
    answer: (call) => readProof(dependencies, call),
  }),
];

const readProof = async (
  dependencies: Dependencies,
  call: Call & { readonly asked: Asked<typeof QUERY>; readonly awaited: SequenceWait | undefined },
): Promise<Answer> => {
  const { principal, params, awaited, asked } = call;
  const { tenant, covers } = principal;
  const { sequence } = asked;
  const waitMs = asked.wait * 1000;
  const deadline = Math.max(performance.now() + waitMs, awaited?.until ?? 0);
  const eventId = params.event_id ?? "";
  const event = eventId === "" ? undefined : await awaitEvent(dependencies, tenant, eventId, waitMs);
  if (event === "view_behind") return refuse("view_behind", EVENTS_BEHIND);
  if (!event || (covers && !isInSeat(covers, event, sequence))) return notFound("event");
  if (event.kind === "expired") return eventExpired(event);
  const record = await recordOf(dependencies, event, { tenant, eventId, sequence });
  if (!record)
    return refuse(
      "not_found",
      `The log has no record of this event at sequence ${sequence}. Send the sequence from the 202 answer, or none for the record that the views show.`,
    );
  const result = await awaitProof(dependencies, tenant, record, deadline);
  switch (result.kind) {
    case "not_sealed":
      return refuse("not_sealed");
    case "tree_behind":
      return TREE_BEHIND;
    case "not_in_tree":
      return refuse(
        "internal_error",
        `The record at sequence ${record.sequence} differs from what was signed. The operator should rebuild the view \`tree\`.`,
      );
    default:
      return asked.format === "json" ? give(proofData(result.proof)) : sendText(tlogProof(result.proof));
  }
};

/** Another record under the same event_id may be about another system. */
const isInSeat = (covers: Covers, event: FoundEvent, sequence: number | undefined): boolean => {
  if (event.kind === "expired" || (sequence !== undefined && sequence !== event.sequence)) return false;
  const { asset_id, timestamp } = JSON.parse(event.eventText);
  return isCovered(covers, asset_id, timestamp);
};

/** An event sent under two identities is in the log twice; the holder of the second receipt asks for that record. */
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
  "The view `events` did not reach the end of the log within `wait`, so it may not have seen the event yet. Retry, or wait longer.";

/** With `wait` the event may be brand-new: the view has it once it reaches the current end of the log. */
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

export const proofData = (
  proof: Omit<RecordProof, "head"> & { readonly head: Pick<RecordProof["head"], "note"> },
) => ({
  sequence: proof.sequence,
  leaf_index: proof.leafIndex,
  leaf: encodeBase64(proof.payload),
  leaf_hash: encodeBase64(leafHash(proof.payload)),
  inclusion_proof: proof.inclusionProof.map(encodeBase64),
  checkpoint: proof.head.note,
});

/** The record is in `extra`, so the file needs nothing else. */
const tlogProof = ({ leafIndex, payload, inclusionProof, head }: RecordProof): string =>
  formatTlogProof({ extra: payload, index: leafIndex, hashes: inclusionProof, checkpoint: head.note });

const Base64 = (description: string) => str(`${description} Base64.`);

export const proofSchema = Type.Object({
  sequence: int("Place in the log of all tenants."),
  leaf_index: int("Place in the tenant's tree, from 0."),
  leaf: Base64("The record, byte for byte: the input of the leaf's hash."),
  leaf_hash: Base64("SHA-256 of a zero byte and the record (RFC 6962 §2.1)."),
  inclusion_proof: Type.Array(Base64("32 bytes."), { description: "The leaf's sibling first." }),
  checkpoint: str("Signed tree head: a C2SP checkpoint."),
});
