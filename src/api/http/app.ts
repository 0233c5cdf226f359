/** The entry of all requests: opens each request, routes it, answers what no route takes, and writes its log line. */
import { type AnyElysia, Elysia } from "elysia";
import type { ActionRecorder } from "../../access/action.ts";
import type {
  EvidenceAction,
  ExportAction,
  SessionAction,
  ViewAction,
  WaiverAction,
} from "../../access/administration/system-events.ts";
import type { RandomBytes } from "../../access/api-key.ts";
import type { Calendars } from "../../access/calendars.ts";
import { clientAddress } from "../../access/client-address.ts";
import type { ClientRateLimiter } from "../../access/client-rate-limit.ts";
import type { KeyLimiter } from "../../access/key-limiter.ts";
import type { KeyStore } from "../../access/key-store.ts";
import type { Keys } from "../../access/keys.ts";
import type { Retention } from "../../access/retention/retention.ts";
import { potBounds } from "../../access/shared-pot.ts";
import type { EventVocabulary } from "../../event/audit-event.ts";
import type { Rules } from "../../law/obligations/obligation.ts";
import {
  ANSWER_BYTES_HELD_MAX,
  BODIES_DISCARDED_AT_ONCE,
  BODY_BYTES_DISCARDED_MAX,
  BODY_MS_MAX,
  SANDBOX_ANSWER_BYTES_HELD_MAX,
} from "../../limits.ts";
import { type LogReader, LogUnavailableError } from "../../log/event-log.ts";
import type { CheckpointStore } from "../../proof/checkpoint-store.ts";
import type { Logger } from "../../telemetry/logger.ts";
import type { Metrics } from "../../telemetry/metrics.ts";
import type { MadeViews } from "../../views/kit/made-views.ts";
import type { ReconciliationDependencies } from "../../views/ledger/reconcile.ts";
import { ViewsUnavailableError } from "../../views/store/unavailable.ts";
import type { ViewStore } from "../../views/store/view-store.ts";
import type { Intake } from "../intake/intake.ts";
import { activityRoutes } from "../routes/activity.ts";
import { assetRoutes } from "../routes/assets.ts";
import { bundleRoutes } from "../routes/bundles.ts";
import { calendarRoutes } from "../routes/calendars.ts";
import { caseRoutes } from "../routes/cases.ts";
import { classificationRoutes } from "../routes/classification.ts";
import { type ConsoleFiles, consoleRoutes } from "../routes/console.ts";
import { coverageRoutes } from "../routes/coverage.ts";
import { type DocsAssets, docsRoutes } from "../routes/docs.ts";
import { embedRoutes } from "../routes/embed.ts";
import { evidenceRoutes } from "../routes/evidence.ts";
import { expiringRoutes } from "../routes/expiring.ts";
import { exportRoutes } from "../routes/export.ts";
import { ingestionRoutes } from "../routes/ingestion.ts";
import { keyRoutes } from "../routes/keys.ts";
import { logRoutes } from "../routes/log.ts";
import { obligationRoutes } from "../routes/obligations.ts";
import { operationRoutes, type Readiness } from "../routes/operation.ts";
import { proofRoutes } from "../routes/proof.ts";
import { reconciliationRoutes } from "../routes/reconciliation.ts";
import { registerRoutes } from "../routes/registers.ts";
import { type AcceptRestore, restoreRoutes } from "../routes/restore.ts";
import { retentionRoutes } from "../routes/retention.ts";
import { sandboxRoutes } from "../routes/sandbox.ts";
import { type SandboxPage, sandboxPageRoutes } from "../routes/sandbox-page.ts";
import { searchRoutes } from "../routes/search.ts";
import { sessionRoutes } from "../routes/session.ts";
import { type SignIn, signInRoutes } from "../routes/sign-in.ts";
import { streamRoutes } from "../routes/stream.ts";
import { type VerifyPage, verifyPageRoutes } from "../routes/verify-page.ts";
import { vocabularyRoutes } from "../routes/vocabulary.ts";
import { waiverRoutes } from "../routes/waivers.ts";
import type { SandboxProver } from "../sandbox/sandbox-proof.ts";
import type { BodyReader } from "./body.ts";
import { createGuard } from "./guard.ts";
import { createMethodTable, hasParameter, type MethodTable } from "./method-table.ts";
import type { OpenStreams } from "./open-streams.ts";
import { type ProblemCode, problem } from "./problem.ts";
import { contextOf, openRequest, type RequestContext } from "./request-context.ts";
import { pathStartOf, requestUrl } from "./request-url.ts";
import { createRestDiscarder } from "./rest-of-body.ts";
import { createUntakenAnswers } from "./untaken-answers.ts";
import { isSandboxPath, watermarked } from "./watermark.ts";

interface HttpDependencies {
  readonly intake: Intake;
  readonly views: ViewStore;
  readonly madeViews: Pick<MadeViews, "check">;
  readonly log: LogReader;
  readonly checkpoints: CheckpointStore;
  /** First part of the origin of every tenant's log. */
  readonly serviceName: string;
  /** Ended when the service stops, before the listener waits for running requests. */
  readonly streams: OpenStreams;
  readonly exports: OpenStreams;
  readonly rules: Rules;
  readonly reconciliation: ReconciliationDependencies;
  readonly keys: Keys;
  readonly calendars: Calendars;
  readonly retention: Retention;
  readonly acceptRestore: AcceptRestore;
  readonly isLogBehind: () => boolean;
  readonly recorder: ActionRecorder<
    ExportAction | EvidenceAction | SessionAction | ViewAction | WaiverAction
  >;
  readonly keyStore: Pick<KeyStore, "get" | "admin" | "lost">;
  /** Undefined if people sign in with API keys alone. */
  readonly signIn: SignIn | undefined;
  readonly vocabulary: EventVocabulary;
  readonly readiness: Readiness;
  readonly docsAssets: DocsAssets;
  readonly consoleFiles: () => Promise<ConsoleFiles | undefined>;
  readonly version: string;
  /** Proxies whose X-Forwarded-For is believed; 0 for none. */
  readonly trustedHops: number;
  readonly metrics: Metrics;
  readonly logger: Logger;
  readonly limiter: KeyLimiter;
  readonly bodies: BodyReader;
  readonly sandboxPage: SandboxPage;
  /** Undefined if this runtime has no bundler. */
  readonly verifyPage: VerifyPage | undefined;
  readonly sandbox: {
    readonly intakeOf: (address: string) => Pick<Intake, "acceptOne">;
    readonly reader: Pick<LogReader, "read" | "lastSequence">;
    readonly limiter: ClientRateLimiter;
    readonly bodies: BodyReader;
    readonly prove: SandboxProver;
  };
  readonly now: () => Date;
  readonly randomBytes: RandomBytes;
  /** A UUIDv7. */
  readonly newRequestId: () => string;
}

/** Answers one request. The socket's address is read only where it is needed. Never rejects. */
export type HttpHandler = (
  request: Request,
  connection: { address(): string; keepOpen(isKept: boolean): void; isLast(): boolean },
) => Promise<Response>;

export const createHttpApp = (dependencies: HttpDependencies): HttpHandler =>
  handlerOf(dependencies, createRoutes(dependencies));

/** What a process of any role needs for its answers. */
export type OperationDependencies = Pick<
  HttpDependencies,
  "readiness" | "metrics" | "logger" | "trustedHops" | "newRequestId"
>;

/** The handler of a process without the role api: only health and metrics. */
export const createOperationApp = (dependencies: OperationDependencies): HttpHandler =>
  operationApp(dependencies, refuseUnmatched("no_api"));

/**
 * The handler of a process that is starting: health and metrics. Everything else is answered 503, because a client takes a 404 for final.
 */
export const createStartingApp = (dependencies: OperationDependencies): HttpHandler =>
  operationApp(dependencies, (_request, context) =>
    problem(context, "log_unavailable", {
      detail: "The service is starting. Nothing was stored. Ask again.",
    }),
  );

const operationApp = (dependencies: OperationDependencies, refuse: Refuse): HttpHandler => {
  const { metrics, logger, readiness } = dependencies;
  const app = withRoutes({ logger, refuse }, (bare) =>
    bare.use(operationRoutes({ readiness, registry: metrics.registry })),
  );
  return handlerOf(dependencies, app);
};

const handlerOf = (
  { logger, metrics, trustedHops, newRequestId }: OperationDependencies,
  app: AnyElysia,
): HttpHandler => {
  const isLogged = logger.isEnabled("info");
  const untaken = createUntakenAnswers({
    ofTenants: potBounds(ANSWER_BYTES_HELD_MAX),
    ofClients: potBounds(SANDBOX_ANSWER_BYTES_HELD_MAX),
  });
  const discardRest = createRestDiscarder({
    bytesMax: BODY_BYTES_DISCARDED_MAX,
    msMax: BODY_MS_MAX,
    atOnceMax: BODIES_DISCARDED_AT_ONCE,
  });
  return async (request, connection) => {
    makeRoutable(request);
    const startedAt = performance.now();
    const context = openRequest(request, {
      newRequestId,
      clientAddress: () => {
        const forwardedFor = request.headers.get("x-forwarded-for");
        return clientAddress({ socketAddress: connection.address, forwardedFor, trustedHops });
      },
      keepOpen: connection.keepOpen,
      untaken,
    });
    let response: Response;
    try {
      response = await app.fetch(request);
    } catch (error) {
      response = errorAnswer(error, context, logger);
    }
    if (isSandboxPath(request.url)) response = await watermarked(response);
    if (response.status >= 400) await discardRest(request);
    // RFC 9112 §9.6.
    if (connection.isLast()) response.headers.set("connection", "close");
    const { status } = response;
    const { method } = request;
    const durationMs = performance.now() - startedAt;
    metrics.countRequest({ method, route: context.route, status, seconds: durationMs / 1000 });
    if (isLogged) writeLine({ method, status, context, durationMs, logger });
    return response;
  };
};

/** "http://" and four characters: where Elysia 1.4 begins to look for the path. */
const ELYSIA_PATH_SEARCH_START = 11;

/**
 * With a shorter Host, such as `api`, or without one, Elysia finds no path and answers 404 (measured). The URL of the request itself is
 * replaced, because not every request may be copied: TRACE and CONNECT may not (fetch.spec.whatwg.org, `new Request`; Deno enforces it, Bun
 * does not).
 */
const makeRoutable = (request: Request): void => {
  const { url } = request;
  const pathStart = pathStartOf(url);
  if (pathStart >= ELYSIA_PATH_SEARCH_START) return;
  Object.defineProperty(request, "url", { value: `http://localhost${url.slice(pathStart)}` });
};

const createRoutes = (dependencies: HttpDependencies): AnyElysia => {
  const { docsAssets, version, readiness, metrics, logger } = dependencies;
  const { settings } = dependencies.signIn ?? {};
  const guarded = {
    ...dependencies,
    guard: createGuard({ ...dependencies, signInSecret: settings?.clientSecret }),
  };
  const refuse = refuseUnmatched(
    "not_found",
    "There is nothing at this path. The API is described at /docs.",
  );
  return withRoutes({ logger, refuse }, (bare) =>
    bare
      .use(docsRoutes({ assets: docsAssets, version }))
      .use(ingestionRoutes(guarded))
      .use(streamRoutes(guarded))
      .use(exportRoutes(guarded))
      .use(evidenceRoutes(guarded))
      .use(bundleRoutes(guarded))
      .use(searchRoutes(guarded))
      .use(assetRoutes(guarded))
      .use(caseRoutes(guarded))
      .use(logRoutes(guarded))
      .use(proofRoutes(guarded))
      .use(registerRoutes(guarded))
      .use(coverageRoutes(guarded))
      .use(obligationRoutes(guarded))
      .use(calendarRoutes(guarded))
      .use(waiverRoutes(guarded))
      .use(reconciliationRoutes(guarded))
      .use(activityRoutes(guarded))
      .use(embedRoutes(guarded))
      .use(classificationRoutes(guarded))
      .use(vocabularyRoutes(guarded))
      .use(keyRoutes(guarded))
      .use(sessionRoutes(guarded))
      .use(signInRoutes(dependencies))
      .use(retentionRoutes(guarded))
      .use(expiringRoutes(guarded))
      .use(restoreRoutes(guarded))
      .use(sandboxPageRoutes(dependencies.sandboxPage))
      .use(consoleRoutes(dependencies.consoleFiles, settings?.issuer.host))
      .use(verifyPageRoutes(dependencies.verifyPage))
      .use(sandboxRoutes({ ...dependencies, ...dependencies.sandbox }))
      .use(operationRoutes({ readiness, registry: metrics.registry })),
  );
};

/** Makes the answer if no route takes the request. */
type Refuse = (request: Request, context: RequestContext, methods: MethodTable) => Response;

/** The routes of `add`, with an answer for requests that none of them takes. */
const withRoutes = (
  { logger, refuse }: { readonly logger: Logger; readonly refuse: Refuse },
  add: (bare: AnyElysia) => AnyElysia,
): AnyElysia => {
  let methods: MethodTable = { allowed: () => [], isWrittenOut: () => false };
  // Both hooks come first: they cover only routes that are added after them (measured with Elysia 1.4).
  const bare = new Elysia()
    .onError(({ code, error, request }) => {
      const context = contextOf(request);
      return code === "NOT_FOUND" ? refuse(request, context, methods) : errorAnswer(error, context, logger);
    })
    .onBeforeHandle(({ request, route }) => {
      const context = contextOf(request);
      // The router takes GET /v1/events/batch for the event `batch`.
      if (hasParameter(route) && methods.isWrittenOut(requestUrl(request.url).pathname))
        return refuse(request, context, methods);
      context.route = route;
      return undefined;
    });
  const app = add(bare);
  methods = createMethodTable(app.routes);
  return app;
};

/** The framework answers 404 for a known path with another method. Clients get 405 with the methods that there are (RFC 9110 §15.5.6). */
const refuseUnmatched =
  (code: ProblemCode, nothingHere?: string): Refuse =>
  (request, context, methods) => {
    const { pathname } = requestUrl(request.url);
    const allowed = methods.allowed(pathname);
    const headers = { allow: allowed.join(", ") };
    if (request.method === "OPTIONS" && allowed.length > 0) {
      return new Response(null, { status: 204, headers: { ...headers, "x-request-id": context.requestId } });
    }
    // The method is allowed, but the router does not know the path as it was sent: with a fragment, or on Deno with a dot segment.
    if (allowed.length === 0 || allowed.includes(request.method))
      return problem(context, code, nothingHere === undefined ? {} : { detail: nothingHere });
    return problem(context, "method_not_allowed", {
      detail: `This path takes ${allowed.join(", ")}.`,
      headers,
    });
  };

/**
 * A broker or a database that does not answer is no fault in the program, and any route may meet it. For all other errors the stack goes to
 * the logger, never to the client.
 */
const errorAnswer = (error: unknown, context: RequestContext, logger: Logger): Response => {
  if (error instanceof LogUnavailableError) {
    return problem(context, "log_unavailable", { detail: `${error.message} Ask again.` });
  }
  if (error instanceof ViewsUnavailableError) {
    logger.warn("a request could not read the views", {
      request_id: context.requestId,
      detail: error.message,
    });
    return problem(context, "not_ready", {
      reasons: [error.reason],
      detail: `${error.reason} Ask again.`,
    });
  }
  const detail = error instanceof Error ? (error.stack ?? error.message) : String(error);
  logger.error("a request failed", { request_id: context.requestId, detail });
  return problem(context, "internal_error");
};

const writeLine = (line: {
  method: string;
  status: number;
  context: RequestContext;
  durationMs: number;
  logger: Logger;
}): void => {
  const { method, status, context, durationMs, logger } = line;
  const { route, principal, problemCode } = context;
  logger.request({
    request_id: context.requestId,
    method,
    route,
    status,
    duration_ms: Math.round(durationMs * 1000) / 1000,
    client: context.clientAddress(),
    ...(principal && { tenant: principal.tenant, key_id: principal.keyId }),
    ...(problemCode && { code: problemCode }),
  });
};
