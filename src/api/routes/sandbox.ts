/** The sandbox: no key, limited per client, and every answer marked (http/watermark.ts). */
import { Elysia } from "elysia";
import pLimit from "p-limit";
import type { ClientRateLimiter } from "../../access/client-rate-limit.ts";
import { auditEventSchema, type EventVocabulary } from "../../event/audit-event.ts";
import { classify } from "../../law/classification/classify.ts";
import { ClassificationRequest } from "../../law/classification/request.ts";
import {
  PAGE_BYTES_MAX,
  PAGE_ROWS_DEFAULT,
  PAGE_ROWS_MAX,
  SANDBOX_BYTES_MAX,
  SANDBOX_LISTS_AT_ONCE,
  SINGLE_BODY_BYTES_MAX,
} from "../../limits.ts";
import { LogUnavailableError } from "../../log/event-log.ts";
import type { BodyReader } from "../http/body.ts";
import { holderOfRequest } from "../http/holder.ts";
import { describe, EXAMPLE_REQUEST_ID, type Operation } from "../http/openapi.ts";
import { clientLimited, problem } from "../http/problem.ts";
import { readQuery } from "../http/query.ts";
import { contextOf, type RequestContext } from "../http/request-context.ts";
import { Classified, SandboxAccepted, SandboxAssets, SandboxEvents, SandboxPong } from "../http/schemas.ts";
import { success, successList } from "../http/success.ts";
import { refusedQuery } from "../http/without-query.ts";
import type { Intake } from "../intake/intake.ts";
import { SANDBOX_ASSETS } from "../sandbox/assets.ts";
import { expiryOf, type RecentEvent, recentEvents } from "../sandbox/recent-events.ts";
import { SANDBOX_TENANT, WATERMARK, WATERMARK_MEMBER } from "../sandbox/watermark.ts";
import { answerClassification, CLASSIFICATION_DESCRIPTION } from "./classification.ts";
import {
  acceptedEvent,
  IDEMPOTENCY_KEY_PARAMETER,
  invalidIdempotencyKey,
  readIdempotencyKey,
  refused,
} from "./ingestion.ts";
import { marked, SANDBOX_LIMITED, SANDBOX_PROBLEMS } from "./sandbox-answers.ts";
import {
  readSandboxDecision,
  readSandboxProof,
  SANDBOX_DECISION,
  SANDBOX_PROOF_OPERATION,
  type StoryDependencies,
} from "./sandbox-story.ts";

interface SandboxDependencies extends StoryDependencies {
  /** Each client has its own event_ids: the example of the documentation is everybody's first event. */
  readonly intakeOf: (address: string) => Pick<Intake, "acceptOne">;
  readonly limiter: ClientRateLimiter;
  /** Separate from the tenants' reader, so that clients without a key never use a tenant's share. */
  readonly bodies: BodyReader;
  readonly vocabulary: EventVocabulary;
}

export const sandboxRoutes = (dependencies: SandboxDependencies) => {
  const { limiter, bodies } = dependencies;
  const inTurn = pLimit(SANDBOX_LISTS_AT_ONCE);
  const open =
    (handle: (request: Request, context: RequestContext, name: string) => Promise<Response> | Response) =>
    async ({ request, params = {} }: { request: Request; params?: Named }): Promise<Response> => {
      const context = contextOf(request);
      const decision = await limiter.take(context.clientAddress());
      if (decision.kind === "limited") return clientLimited(context, decision);
      if (decision.kind !== "allowed") return unavailable(context);
      try {
        return await handle(request, context, params.decision_id ?? params.event_id ?? "");
      } catch (error) {
        if (error instanceof LogUnavailableError) return unavailable(context);
        throw error;
      }
    };
  return new Elysia({ prefix: "/v1/sandbox" })
    .get(
      "/ping",
      open(
        (request, context) =>
          refusedQuery({ request, context }) ?? success({ requestId: context.requestId, data: PONG }),
      ),
      { detail: describe(PING) },
    )
    .get(
      "/assets",
      open(
        (request, context) =>
          refusedQuery({ request, context }) ??
          wholeList(
            context,
            CLASSIFIED_ASSETS.map((asset) => JSON.stringify(asset)),
          ),
      ),
      { detail: describe(ASSETS) },
    )
    .post(
      "/classify",
      open((request, context) =>
        answerClassification(bodies, { request, context, isStillAllowed: WITHOUT_KEY }),
      ),
      { parse: "none", detail: describe(CLASSIFY) },
    )
    .post(
      "/events",
      open((request, context) => postEvent(dependencies, request, context)),
      { parse: "none", detail: describe(sendOperation(dependencies.vocabulary)) },
    )
    .get(
      "/events",
      open((request, context) => inTurn(listEvents, dependencies, request, context)),
      { detail: describe(LIST) },
    )
    .get(
      "/events/:event_id/proof",
      open((request, context, name) => inTurn(readSandboxProof, dependencies, { request, context, name })),
      { detail: describe(SANDBOX_PROOF_OPERATION) },
    )
    .get(
      "/decisions/:decision_id",
      open((request, context, name) => inTurn(readSandboxDecision, dependencies, { request, context, name })),
      { detail: describe(SANDBOX_DECISION) },
    );
};

/** The parameters of paths. */
interface Named {
  readonly decision_id?: string;
  readonly event_id?: string;
}

const PONG = { status: "ok", environment: "sandbox" } as const;

const wholeList = (context: RequestContext, rowTexts: readonly string[]): Response =>
  marked(successList({ context, rowTexts, nextCursor: null, beside: { [WATERMARK_MEMBER]: WATERMARK } }));

/** Refused while requests cannot be counted, so that a flood is not served then. */
const unavailable = (context: RequestContext): Response =>
  problem(context, "log_unavailable", { detail: "The sandbox is not available now. Nothing was stored." });

const CLASSIFIED_ASSETS = SANDBOX_ASSETS.map((asset) => {
  const { risk_tier, legal_bases } = classify(asset.profile);
  return { ...asset, risk_tier, legal_bases };
});

const postEvent = async (
  { bodies, intakeOf }: SandboxDependencies,
  request: Request,
  context: RequestContext,
): Promise<Response> => {
  // The header has no effect here, but its form is checked as by the real endpoint.
  if (readIdempotencyKey(request.headers).kind === "invalid") return invalidIdempotencyKey(context);
  const refusal = refusedQuery({ request, context });
  if (refusal) return refusal;
  const body = await bodies.read(request, {
    bytesMax: SINGLE_BODY_BYTES_MAX,
    holder: holderOfRequest(context),
    isStillAllowed: WITHOUT_KEY,
  });
  if (body.kind === "refused") return problem(context, body.code, body);
  try {
    const answer = await intakeOf(context.clientAddress()).acceptOne({
      tenant: SANDBOX_TENANT,
      requestId: context.requestId,
      body: body.bytes,
      admit: () => ({ kind: "allowed" }),
      isStillAllowed: WITHOUT_KEY,
      isResent: false,
      idempotencyKey: undefined,
    });
    if (answer.kind !== "accepted") return refused(context, answer);
    return acceptedEvent(context, answer, ["expires_at", expiryOf(answer.receivedAt)]);
  } finally {
    body.release();
  }
};

/** There is no key that could end. */
const WITHOUT_KEY = (): boolean => true;

const listEvents = async (
  { reader }: SandboxDependencies,
  request: Request,
  context: RequestContext,
): Promise<Response> => {
  const query = readQuery(request.url);
  const limit = query.integer("limit", { min: 1, max: PAGE_ROWS_MAX }) ?? PAGE_ROWS_DEFAULT;
  const errors = query.errors();
  if (errors.length > 0) return problem(context, "invalid_request", { errors });
  return wholeList(context, (await recentEvents(reader, limit)).map(rowText));
};

const rowText = ({ sequence, receivedAt, expiresAt, eventText }: RecentEvent): string =>
  `{"sequence":${sequence},"received_at":"${receivedAt}","expires_at":"${expiresAt}","event":${eventText}}`;

const sandboxExample = (data: unknown) => ({
  data,
  ...(Array.isArray(data) && { next_cursor: null }),
  request_id: EXAMPLE_REQUEST_ID,
  [WATERMARK_MEMBER]: WATERMARK,
});

const PING: Operation = {
  id: "pingSandbox",
  tag: "Sandbox",
  summary: "Is the sandbox up?",
  description: SANDBOX_LIMITED,
  answer: {
    status: 200,
    description: "It is.",
    schema: SandboxPong,
    example: sandboxExample(PONG),
  },
  problems: ["invalid_request", ...SANDBOX_PROBLEMS],
};

const ASSETS: Operation = {
  id: "listSandboxAssets",
  tag: "Sandbox",
  summary: "The five sandbox assets",
  description: `Each with the profile that its classification comes from. ${SANDBOX_LIMITED}`,
  answer: {
    status: 200,
    description: "All five.",
    schema: SandboxAssets,
    example: sandboxExample(CLASSIFIED_ASSETS.slice(0, 1)),
  },
  problems: ["invalid_request", ...SANDBOX_PROBLEMS],
};

const EXAMPLE_PROFILE = CLASSIFIED_ASSETS[0]?.profile ?? { domain: "other" };

const CLASSIFY: Operation = {
  id: "classify",
  tag: "Sandbox",
  summary: "Which risk tier does a system have?",
  description: `${CLASSIFICATION_DESCRIPTION} ${SANDBOX_LIMITED}`,
  body: { schema: ClassificationRequest, example: EXAMPLE_PROFILE },
  answer: {
    status: 200,
    description: "The classification.",
    schema: Classified,
    example: sandboxExample(classify(EXAMPLE_PROFILE)),
  },
  problems: SANDBOX_PROBLEMS,
};

const EXAMPLE_EVENT = {
  event_id: "evt_sample_001",
  timestamp: "2026-11-20T10:00:00.000Z",
  asset_id: "sandbox_credit_chatbot",
  event_type: "decision.automated_decision_made",
  legal_bases: ["ai_basic_law_kr"],
  risk_tier: "high",
};

const sendOperation = (vocabulary: EventVocabulary): Operation => ({
  id: "sendSandboxEvent",
  tag: "Sandbox",
  summary: "Send a test event",
  description: `The same rules apply as for a real one. It is kept in memory for one hour; the oldest are removed earlier where all of them come to ${SANDBOX_BYTES_MAX / 1024 / 1024} MiB. The same event sent again by the same client within ten minutes is stored once; the event_ids of others do not matter. ${SANDBOX_LIMITED}`,
  parameters: [
    {
      ...IDEMPOTENCY_KEY_PARAMETER,
      description:
        "Allowed, and its form is checked as by `POST /v1/events`; it has no effect here, because the event_id alone is the identity of an event.",
    },
  ],
  body: {
    schema: auditEventSchema(vocabulary),
    example: EXAMPLE_EVENT,
    bytesMax: SINGLE_BODY_BYTES_MAX,
  },
  answer: {
    status: 202,
    description: "It is in the sandbox, until `expires_at` at the latest.",
    isReplayed: true,
    schema: SandboxAccepted,
    example: sandboxExample({
      event_id: "evt_sample_001",
      sequence: 1,
      received_at: "2026-11-20T10:00:00.512Z",
      expires_at: "2026-11-20T11:00:00.512Z",
      duplicate: false,
    }),
  },
  problems: [...SANDBOX_PROBLEMS, "event_id_conflict", "overloaded"],
});

const LIST: Operation = {
  id: "listSandboxEvents",
  tag: "Sandbox",
  summary: "The test events of the last hour",
  description: `Newest first, of everybody. ${SANDBOX_LIMITED}`,
  parameters: [
    {
      name: "limit",
      in: "query",
      description: `At most so many, ${PAGE_ROWS_DEFAULT} by default; fewer where they come to ${PAGE_BYTES_MAX / 1024 / 1024} MiB.`,
      schema: { type: "integer", minimum: 1, maximum: PAGE_ROWS_MAX, default: PAGE_ROWS_DEFAULT },
    },
  ],
  answer: {
    status: 200,
    description: "An event that was acknowledged is in the very next list.",
    schema: SandboxEvents,
    example: sandboxExample([
      {
        sequence: 1,
        received_at: "2026-11-20T10:00:00.512Z",
        expires_at: "2026-11-20T11:00:00.512Z",
        event: EXAMPLE_EVENT,
      },
    ]),
  },
  problems: ["invalid_request", ...SANDBOX_PROBLEMS],
};
