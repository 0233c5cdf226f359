/** The front door: opens each request, routes it, answers what no route takes, and writes its line. */
import { type AnyElysia, Elysia } from "elysia";
import { clientAddress } from "../access/client-address.ts";
import type { KeyStore } from "../access/key-store.ts";
import type { Keys } from "../access/keys.ts";
import type { SharedRateLimiter } from "../access/shared-rate-limit.ts";
import type { EventVocabulary } from "../event/audit-event.ts";
import type { Intake } from "../intake/intake.ts";
import type { Logger } from "../telemetry/logger.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import type { ViewStore } from "../views/view-store.ts";
import type { BodyReader } from "./body.ts";
import { createGuard } from "./guard.ts";
import { createMethodTable, type MethodTable } from "./method-table.ts";
import { problem } from "./problem.ts";
import { createRequestContexts, type RequestContext, type RequestContexts } from "./request-context.ts";
import { type DocsAssets, docsRoutes } from "./routes/docs.ts";
import { ingestionRoutes } from "./routes/ingestion.ts";
import { keyRoutes } from "./routes/keys.ts";
import { operationRoutes } from "./routes/operation.ts";
import { searchRoutes } from "./routes/search.ts";

export interface HttpDependencies {
  readonly intake: Intake;
  readonly views: ViewStore;
  readonly keys: Keys;
  readonly keyStore: Pick<KeyStore, "get" | "admin">;
  readonly vocabulary: EventVocabulary;
  readonly reasonsNotReady: () => Promise<readonly string[]>;
  readonly docsAssets: DocsAssets;
  readonly version: string;
  /** Proxies whose X-Forwarded-For is believed; 0 for none. */
  readonly trustedHops: number;
  readonly metrics: Metrics;
  readonly logger: Logger;
  readonly limiter: SharedRateLimiter;
  readonly bodies: BodyReader;
  readonly now: () => Date;
}

/** Answers one request that came from a socket with this address. Never rejects. */
export type HttpHandler = (request: Request, socketAddress: string) => Promise<Response>;

export const createHttpApp = (dependencies: HttpDependencies): HttpHandler => {
  const { logger, metrics, trustedHops } = dependencies;
  const contexts = createRequestContexts();
  const app = createRoutes(dependencies, contexts);
  return async (received, socketAddress) => {
    const request = withRoutableUrl(received);
    const startedAt = performance.now();
    const forwardedFor = request.headers.get("x-forwarded-for");
    const context = contexts.open(request, clientAddress({ socketAddress, forwardedFor, trustedHops }));
    const response = await answer(app, request, context, logger);
    writeLine({ request, response, context, durationMs: performance.now() - startedAt, logger, metrics });
    return response;
  };
};

/** "http://" and four characters: where Elysia 1.4 begins to look for the path. */
const ELYSIA_PATH_SEARCH_START = 11;

/** With a shorter Host, such as `api`, Elysia would find no path and answer 404 (measured). The host means nothing here. */
const withRoutableUrl = (request: Request): Request => {
  const pathStart = request.url.indexOf("/", "http://".length);
  if (pathStart >= ELYSIA_PATH_SEARCH_START) return request;
  return new Request(`http://localhost${request.url.slice(pathStart)}`, request);
};

const createRoutes = (dependencies: HttpDependencies, contexts: RequestContexts): AnyElysia => {
  const { docsAssets, version, reasonsNotReady, metrics, logger } = dependencies;
  const guard = createGuard({ ...dependencies, contexts });
  let methods: MethodTable = { allowed: () => [] };
  const app = new Elysia()
    // First, so that it covers every route after it; a later one would not (measured with Elysia 1.4).
    .onError(({ code, error, request }) => {
      const context = contexts.of(request);
      return code === "NOT_FOUND" ? unmatched(request, context, methods) : failed(error, context, logger);
    })
    .onBeforeHandle(({ request, route }) => {
      contexts.of(request).route = route;
    })
    .use(docsRoutes({ contexts, assets: docsAssets, version }))
    .use(ingestionRoutes({ ...dependencies, guard }))
    .use(searchRoutes({ ...dependencies, guard }))
    .use(keyRoutes({ ...dependencies, guard }))
    .use(operationRoutes({ contexts, reasonsNotReady, registry: metrics.registry }));
  methods = createMethodTable(app.routes);
  return app;
};

const answer = async (
  app: AnyElysia,
  request: Request,
  context: RequestContext,
  logger: Logger,
): Promise<Response> => {
  try {
    return await app.fetch(request);
  } catch (error) {
    return failed(error, context, logger);
  }
};

/** The framework answers 404 for a known path with another method; the client is told which methods there are (RFC 9110 §15.5.6). */
const unmatched = (request: Request, context: RequestContext, methods: MethodTable): Response => {
  const { pathname } = new URL(request.url);
  const allowed = methods.allowed(pathname);
  if (allowed.length === 0) {
    return problem(context, "not_found", {
      detail: "There is nothing at this path. The API is described at /docs.",
    });
  }
  const headers = { allow: allowed.join(", ") };
  if (request.method === "OPTIONS") {
    return new Response(null, { status: 204, headers: { ...headers, "x-request-id": context.requestId } });
  }
  return problem(context, "method_not_allowed", {
    detail: `This path takes ${allowed.join(", ")}.`,
    headers,
  });
};

/** The stack goes to the logger, never to the client. */
const failed = (error: unknown, context: RequestContext, logger: Logger): Response => {
  const detail = error instanceof Error ? (error.stack ?? error.message) : String(error);
  logger.error("a request failed", { request_id: context.requestId, detail });
  return problem(context, "internal_error");
};

const writeLine = (line: {
  request: Request;
  response: Response;
  context: RequestContext;
  durationMs: number;
  logger: Logger;
  metrics: Metrics;
}): void => {
  const { request, response, context, durationMs, logger, metrics } = line;
  const { route, principal, problemCode } = context;
  const { status } = response;
  metrics.countRequest({ method: request.method, route, status, seconds: durationMs / 1000 });
  logger.info("request", {
    request_id: context.requestId,
    method: request.method,
    route,
    status,
    duration_ms: Math.round(durationMs * 1000) / 1000,
    client: context.clientAddress,
    ...(principal && { tenant: principal.tenant, key_id: principal.keyId }),
    ...(problemCode && { code: problemCode }),
  });
};
