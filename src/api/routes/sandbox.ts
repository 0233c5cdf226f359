/** The sandbox: no key, limited per client, and every answer marked (http/answers.ts, http/problem.ts). */

import { Type } from "@sinclair/typebox";
import pLimit from "p-limit";
import { clientLimit } from "../../access/client.ts";
import { auditEventSchema } from "../../event/audit-event.ts";
import { canonicalEventId, timeKey } from "../../event/formats.ts";
import { linkOf, unlinkedIn } from "../../law/cases/case.ts";
import { classify } from "../../law/classification/classify.ts";
import {
  PAGE_BYTES_MAX,
  PAGE_ROWS_DEFAULT,
  PAGE_ROWS_MAX,
  SANDBOX_AGE_MS_MAX,
  SANDBOX_BYTES_MAX,
  SANDBOX_LISTS_AT_ONCE,
  SANDBOX_READS_AT_ONCE,
  SANDBOX_REQUESTS_PER_MINUTE,
  SINGLE_BODY_BYTES_MAX,
} from "../../limits.ts";
import { type LogReader, LogUnavailableError } from "../../log/event-log.ts";
import { decodeRecord } from "../../log/record.ts";
import { SANDBOX_ORIGIN } from "../../proof/sealed-head.ts";
import { caseOfEvents, decisionEntry, decisionIn } from "../../views/cases/entries.ts";
import { type Answer, give, givePage, giveText, isRefusal, refuse, respond } from "../http/answers.ts";
import type { Dependencies } from "../http/dependencies.ts";
import { integer, integerOr } from "../http/parameters.ts";
import { limitedRate } from "../http/problem.ts";
import { holderOfRequest } from "../http/request-context.ts";
import { createOpenRoute, type OpenCall, type Route } from "../http/route.ts";
import { Time, Warnings } from "../http/schemas.ts";
import { SANDBOX_ASSETS, SandboxAsset } from "../sandbox/assets.ts";
import { SANDBOX_TENANT } from "../sandbox/watermark.ts";
import { dossierSchema, withTimeline } from "./cases.ts";
import { answerOne, idempotencyKey, idempotencyKeyOf, REPLAYED, refusedIntake } from "./ingestion.ts";
import { proofData, proofSchema } from "./proof.ts";
import { CLASSIFYING } from "./vocabulary.ts";

const LIMITED = `At most ${SANDBOX_REQUESTS_PER_MINUTE} requests in any minute per client (IPv4 address or IPv6 /64), across all sandbox endpoints.`;
const UNAVAILABLE = refuse("log_unavailable", "The sandbox is unavailable. Nothing was stored.");

const SANDBOX = {
  tag: "Sandbox",
  problems: ["invalid_request", "rate_limited", "log_unavailable"],
} as const;

export const sandboxRoutes = (dependencies: Dependencies): readonly Route[] => {
  const { limiter, bodies } = dependencies.sandbox;
  const route = createOpenRoute({ bodies }, async ({ context }, handle) => {
    const decision = await limiter.take(clientLimit(context.clientAddress()), 1);
    if (decision.kind === "limited") return respond(context, refuse("rate_limited", limitedRate(decision)));
    try {
      return await handle();
    } catch (error) {
      if (error instanceof LogUnavailableError) return respond(context, UNAVAILABLE);
      throw error;
    }
  });
  return [
    route({
      ...SANDBOX,
      on: "GET /v1/sandbox/ping",
      id: "pingSandbox",
      summary: "Is the sandbox up?",
      description: LIMITED,
      gives: SANDBOX_PONG,
      answer: () => give({ status: "ok", environment: "sandbox" }),
    }),
    route({
      ...SANDBOX,
      on: "GET /v1/sandbox/assets",
      id: "listSandboxAssets",
      summary: "The five sandbox assets",
      description: `Each with the profile behind its classification. ${LIMITED}`,
      isList: true,
      gives: sandboxAsset,
      example: ASSETS[0],
      answer: () =>
        givePage(
          ASSETS.map((asset) => JSON.stringify(asset)),
          null,
        ),
    }),
    route({
      ...CLASSIFYING,
      tag: "Sandbox",
      on: "POST /v1/sandbox/classify",
      id: "classify",
      description: `${CLASSIFYING.description} ${LIMITED}`,
      problems: SANDBOX.problems,
    }),
    sendRoute(dependencies, route),
    ...readRoutes(dependencies, route),
  ];
};

const ASSETS = SANDBOX_ASSETS.map((asset) => {
  const { risk_tier, legal_bases } = classify(asset.profile);
  return { ...asset, risk_tier, legal_bases };
});

export const SANDBOX_PONG = Type.Object({
  status: Type.Literal("ok"),
  environment: Type.Literal("sandbox"),
});

export const sandboxAsset = Type.Object({
  ...SandboxAsset.properties,
  risk_tier: Type.String(),
  legal_bases: Type.Array(Type.String()),
});

const SENT_EXAMPLE = {
  event_id: "evt_sample_001",
  timestamp: "2026-11-20T10:00:00.000Z",
  asset_id: "sandbox_credit_chatbot",
  event_type: "decision.automated_decision_made",
  legal_bases: ["ai_basic_law_kr"],
  risk_tier: "high",
};

const STORY_PROBLEMS = [...SANDBOX.problems, "overloaded"] as const;

type OpenRoute = ReturnType<typeof createOpenRoute>;

const sendRoute = ({ vocabulary, sandbox: { bodies, intakeOf } }: Dependencies, route: OpenRoute): Route =>
  route({
    ...SANDBOX,
    on: "POST /v1/sandbox/events",
    id: "sendSandboxEvent",
    summary: "Send a test event",
    description: `The same rules apply as for a real one. It is kept in memory for one hour; the oldest are removed earlier if the total reaches ${SANDBOX_BYTES_MAX / 1024 / 1024} MiB. An event sent again by the same client within ten minutes is stored once; other clients' event_ids do not matter. ${LIMITED}`,
    headers: [
      idempotencyKey(
        "Allowed, and its form is checked as in `POST /v1/events`; it has no effect here, because the event_id alone identifies an event.",
      ),
    ],
    body: { schema: auditEventSchema(vocabulary), example: SENT_EXAMPLE, bytesMax: SINGLE_BODY_BYTES_MAX },
    status: 202,
    sends: REPLAYED,
    gives: sandboxAccepted,
    problems: [...SANDBOX.problems, "event_id_conflict", "overloaded"],
    answer: async (call) => {
      const key = idempotencyKeyOf(call.request);
      if (isRefusal(key)) return key;
      const { requestId, clientAddress } = call.context;
      const holder = holderOfRequest(call.context);
      const body = await bodies.read(call.request, { bytesMax: SINGLE_BODY_BYTES_MAX, holder });
      if (body.kind === "refused") return body;
      try {
        const intake = intakeOf(clientAddress());
        const judged = intake.judgeOne({ tenant: SANDBOX_TENANT, requestId, text: body.text });
        if (judged.kind !== "judged") return refusedIntake(judged);
        const settled = await intake.append(judged, { wantsReceipts: false });
        return answerOne(judged, settled, ({ received_at }) => `"expires_at":"${expiryOf(received_at)}"`);
      } finally {
        body.release();
      }
    },
  });

/** With what a test event leads to: the dossier of its decision with what falls due, and a proof that no verifier accepts. */
const readRoutes = (dependencies: Dependencies, route: OpenRoute): readonly Route[] => {
  const { reader } = dependencies.sandbox;
  const inTurn = pLimit(SANDBOX_LISTS_AT_ONCE);
  return [
    route({
      ...SANDBOX,
      on: "GET /v1/sandbox/events",
      id: "listSandboxEvents",
      summary: "The test events of the last hour",
      description: `Newest first, of everybody. ${LIMITED}`,
      query: {
        limit: integerOr(
          PAGE_ROWS_DEFAULT,
          "limit",
          `At most this many, ${PAGE_ROWS_DEFAULT} by default; fewer where they reach ${PAGE_BYTES_MAX / 1024 / 1024} MiB.`,
          { min: 1, max: PAGE_ROWS_MAX },
        ),
      },
      isList: true,
      gives: sandboxEvent,
      answer: ({ asked }) =>
        inTurn(async () => givePage((await recentEvents(reader, asked.limit)).map(rowText), null)),
    }),
    route({
      ...SANDBOX,
      problems: STORY_PROBLEMS,
      on: "GET /v1/sandbox/events/:event_id/proof",
      id: "readSandboxProof",
      summary: "The proof of a test event, which never verifies",
      description: `In the form of \`GET /v1/events/{event_id}/proof\`, over the newest ${PAGE_ROWS_MAX} events of the sandbox. Its tree head is of the log \`${SANDBOX_ORIGIN}\`, with the watermark in a signed line, by a key created when the service starts and never kept. \`prooftrail verify\` and the page /verify answer INVALID. ${LIMITED}`,
      query: {
        sequence: integer(
          "sequence",
          "Which of several events with this event_id, from the 202 answer. Absent: the newest.",
          { min: 1 },
        ),
      },
      gives: proofSchema,
      answer: (call) => inTurn(() => readProof(dependencies, call, call.asked.sequence)),
    }),
    route({
      ...SANDBOX,
      problems: STORY_PROBLEMS,
      on: "GET /v1/sandbox/decisions/:decision_id",
      id: "readSandboxDecision",
      summary: "The dossier that test events lead to",
      description: `As in \`GET /v1/decisions/{decision_id}\`, with the resulting obligations and when they fall due, from the newest ${PAGE_ROWS_MAX} events of the sandbox. Of several events with one event_id, the first counts. ${LIMITED}`,
      gives: dossierSchema,
      answer: (call) => inTurn(() => readDecision(dependencies, call)),
    }),
  ];
};

const rowText = ({ sequence, receivedAt, expiresAt, eventText }: RecentEvent): string =>
  `{"sequence":${sequence},"received_at":"${receivedAt}","expires_at":"${expiresAt}","event":${eventText}}`;

export const sandboxAccepted = Type.Object({
  event_id: Type.String(),
  sequence: Type.Integer({ minimum: 1, description: "Position in the sandbox, which is not the log." }),
  received_at: Time,
  expires_at: Time,
  duplicate: Type.Boolean(),
  warnings: Warnings,
});

export const sandboxEvent = Type.Object({
  sequence: Type.Integer({ minimum: 1 }),
  received_at: Time,
  expires_at: Time,
  event: Type.Record(Type.String(), Type.Unknown(), { description: "As sent." }),
});

const readDecision = async (
  { sandbox: { reader }, rules, now }: Dependencies,
  { params }: OpenCall,
): Promise<Answer> => {
  const events = (await recentEvents(reader, PAGE_ROWS_MAX)).toReversed();
  const id = canonicalEventId(params.decision_id ?? "");
  const found = caseOfEvents(SANDBOX_TENANT, events, { decision: id, rules });
  const known = decisionIn(found, id);
  if (!found || !known) return refuse("not_found", NO_DECISION);
  const { decision, row } = known;
  const at = timeKey(now().toISOString());
  const entry = decisionEntry({ found, row, rules, at, unlinked: unlinkedIn(found.is) });
  const linked = decision.facts.map((fact) => ({ fact, linkedBy: linkOf(fact, found.is.links)?.by }));
  return giveText(withTimeline(entry, linked, (eventId) => found.texts.get(eventId)));
};

const NO_DECISION = `No decision has this name among the newest ${PAGE_ROWS_MAX} events of the sandbox. Send one, with this name as \`decision_id\` in \`metadata\`.`;

const readProof = async (
  { sandbox: { reader, prove } }: Dependencies,
  { params }: OpenCall,
  sequence: number | undefined,
): Promise<Answer> => {
  const events = (await recentEvents(reader, PAGE_ROWS_MAX)).toReversed();
  const id = canonicalEventId(params.event_id ?? "");
  const index = events.findLastIndex(
    (event) => (sequence ?? event.sequence) === event.sequence && eventIdOf(event) === id,
  );
  const event = events[index];
  if (event === undefined) return refuse("not_found", NO_EVENT);
  const records = events.map(({ record }) => record);
  return give(proofData({ sequence: event.sequence, payload: event.record, ...prove(records, index) }));
};

const NO_EVENT = `This event is not among the newest ${PAGE_ROWS_MAX} of the sandbox, which keeps them for an hour at most.`;

const eventIdOf = ({ eventText }: RecentEvent): string => {
  const { event_id } = JSON.parse(eventText);
  return canonicalEventId(String(event_id));
};

/** The newest events, read from the stream each time: what one front end acknowledged is in the next list of any other. */
export interface RecentEvent {
  readonly sequence: number;
  readonly receivedAt: string;
  readonly expiresAt: string;
  /** As sent. */
  readonly eventText: string;
  /** The whole message: the event and what was added. */
  readonly record: Uint8Array;
}

export type RecentReader = Pick<LogReader, "read" | "lastSequence">;

export const expiryOf = (receivedAt: string): string =>
  new Date(Date.parse(receivedAt) + SANDBOX_AGE_MS_MAX).toISOString();

/**
 * Newest first, fewer than `limit` if they are large. The stream drops only its oldest, so a missing sequence ends the list. Throws
 * LogUnavailableError.
 */
export const recentEvents = async (reader: RecentReader, limit: number): Promise<readonly RecentEvent[]> => {
  const events: RecentEvent[] = [];
  let bytes = 0;
  let next = await reader.lastSequence();
  while (next > 0 && events.length < limit) {
    const count = Math.min(next, limit - events.length, SANDBOX_READS_AT_ONCE);
    const sequences = Array.from({ length: count }, (_, index) => next - index);
    for (const message of await Promise.all(sequences.map((sequence) => reader.read(sequence)))) {
      if (!message) return events;
      const record = decodeRecord(message.payload);
      if (!record) continue;
      const { receivedAt, eventText } = record;
      bytes += Buffer.byteLength(eventText);
      if (events.length > 0 && bytes > PAGE_BYTES_MAX) return events;
      events.push({
        sequence: message.sequence,
        receivedAt,
        expiresAt: expiryOf(receivedAt),
        eventText,
        record: message.payload,
      });
    }
    next -= count;
  }
  return events;
};
