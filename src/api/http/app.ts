/** Entry of all requests: opens each, routes it, answers what no route takes, and writes its log line. */
import { type AnyElysia, Elysia } from "elysia";
import { KeyEndedError } from "../../access/action.ts";
import { quotaBounds } from "../../access/memory-quota.ts";
import {
  ANSWER_BYTES_HELD_MAX,
  BODIES_DISCARDED_AT_ONCE,
  BODY_BYTES_DISCARDED_MAX,
  BODY_MS_MAX,
  SANDBOX_ANSWER_BYTES_HELD_MAX,
} from "../../limits.ts";
import { LogUnavailableError } from "../../log/event-log.ts";
import { stackOf } from "../../runtime/error-text.ts";
import type { ListenOptions } from "../../runtime/listen.ts";
import type { Logger } from "../../telemetry/logger.ts";
import { ViewsUnavailableError } from "../../views/store/unavailable.ts";
import { bundleRoutes } from "../routes/bundles.ts";
import { caseRoutes } from "../routes/cases.ts";
import { activityRoutes, reconciliationRoutes } from "../routes/counts.ts";
import { docsRoutes } from "../routes/docs.ts";
import { embedRoutes } from "../routes/embed.ts";
import { eventRoutes } from "../routes/events.ts";
import { evidenceRoutes } from "../routes/evidence.ts";
import { batchRoutes, ingestionRoutes } from "../routes/ingestion.ts";
import { calendarRoutes, keyRoutes } from "../routes/keys.ts";
import { logRoutes } from "../routes/log.ts";
import { obligationRoutes } from "../routes/obligations.ts";
import { operationRoutes, restoreRoutes } from "../routes/operation.ts";
import { pageRoutes } from "../routes/pages.ts";
import { proofRoutes } from "../routes/proof.ts";
import { assetRoutes, coverageRoutes, registerRoutes } from "../routes/registers.ts";
import { expiringRoutes, holdRoutes, retentionRoutes } from "../routes/retention.ts";
import { sandboxRoutes } from "../routes/sandbox.ts";
import { sessionRoutes, signInRoutes } from "../routes/session.ts";
import { streamRoutes } from "../routes/stream.ts";
import { classificationRoutes, vocabularyRoutes } from "../routes/vocabulary.ts";
import { respond } from "./answers.ts";
import { createRestDiscarder } from "./body.ts";
import type { Dependencies, HttpDependencies } from "./dependencies.ts";
import { createGuard, KEY_ENDED } from "./guard.ts";
import { createResponseBackpressure } from "./paged-body.ts";
import { type ProblemCode, problem } from "./problem.ts";
import {
  contextOf,
  headersOf,
  openRequest,
  pathStartOf,
  type RequestContext,
  requestUrl,
} from "./request-context.ts";
import { createKeyedRoute, type Route } from "./route.ts";

/** Answers one request. The socket's address is read only where it is needed. Never rejects. */
export type HttpHandler = ListenOptions["handle"];

export const createHttpApp = (dependencies: HttpDependencies): HttpHandler =>
  handlerOf(dependencies, createRoutes(dependencies));

export type OperationDependencies = Pick<
  HttpDependencies,
  "readiness" | "metrics" | "logger" | "trustedHops" | "newRequestId"
>;

export const createOperationApp = (dependencies: OperationDependencies): HttpHandler =>
  operationApp(dependencies, refuseUnmatched("no_api"));

/**
 * The handler of a process that is starting: health and metrics. Everything else gets 503, because clients treat a 404 as final.
 */
export const createStartingApp = (dependencies: OperationDependencies): HttpHandler =>
  operationApp(dependencies, (_request, context) =>
    problem(context, "log_unavailable", {
      detail: "The service is starting. Nothing was stored. Retry.",
    }),
  );

const operationApp = (dependencies: OperationDependencies, refuse: Refuse): HttpHandler => {
  const { logger } = dependencies;
  return handlerOf(dependencies, withRoutes({ logger, refuse }, operationRoutes(dependencies)));
};

const handlerOf = (
  { logger, metrics, trustedHops, newRequestId }: OperationDependencies,
  app: AnyElysia,
): HttpHandler => {
  const isLogged = logger.isEnabled("info");
  const backpressure = createResponseBackpressure({
    ofTenants: quotaBounds(ANSWER_BYTES_HELD_MAX),
    ofClients: quotaBounds(SANDBOX_ANSWER_BYTES_HELD_MAX),
  });
  const discardRest = createRestDiscarder({
    bytesMax: BODY_BYTES_DISCARDED_MAX,
    msMax: BODY_MS_MAX,
    atOnceMax: BODIES_DISCARDED_AT_ONCE,
  });
  const open = openRequest({ newRequestId, trustedHops, backpressure });
  return async (request, connections) => {
    makeRoutable(request);
    const startedAt = performance.now();
    const context = open(request, connections);
    let response: Response;
    try {
      response = await app.fetch(request);
    } catch (error) {
      response = errorAnswer(error, context, logger);
    }
    if (response.status >= 400) await discardRest(request);
    if (connections.isLast()) response.headers.set("connection", "close");
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

/** In the order of the documentation. */
const ROUTES: readonly ((dependencies: Dependencies) => readonly Route[])[] = [
  ingestionRoutes,
  batchRoutes,
  streamRoutes,
  evidenceRoutes,
  bundleRoutes,
  eventRoutes,
  assetRoutes,
  caseRoutes,
  logRoutes,
  proofRoutes,
  registerRoutes,
  coverageRoutes,
  obligationRoutes,
  calendarRoutes,
  reconciliationRoutes,
  activityRoutes,
  embedRoutes,
  classificationRoutes,
  vocabularyRoutes,
  keyRoutes,
  sessionRoutes,
  signInRoutes,
  retentionRoutes,
  holdRoutes,
  expiringRoutes,
  restoreRoutes,
  pageRoutes,
  sandboxRoutes,
  operationRoutes,
];

const createRoutes = (given: HttpDependencies): AnyElysia => {
  const guard = createGuard({ ...given, signInSecret: given.signIn?.settings.clientSecret });
  const dependencies = { ...given, guard, route: createKeyedRoute({ ...given, guard }) };
  const refuse = refuseUnmatched(
    "not_found",
    "There is nothing at this path. The API is described at /docs.",
  );
  return withRoutes(
    { logger: given.logger, refuse },
    ROUTES.flatMap((routes) => routes(dependencies)),
    (bare) => bare.use(docsRoutes(given)),
  );
};

type Refuse = (request: Request, context: RequestContext, methods: MethodTable) => Response;

/** The routes, with an answer for requests that none of them takes. */
const withRoutes = (
  { logger, refuse }: { readonly logger: Logger; readonly refuse: Refuse },
  routes: readonly Route[],
  add: (bare: AnyElysia) => AnyElysia = (bare) => bare,
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
  for (const { method, path, handle, detail } of routes)
    bare.route(method, path, handle, { parse: "none", detail });
  const app = add(bare);
  methods = createMethodTable(app.routes);
  return app;
};

/** The framework answers 404 for a known path with another method. Clients get 405 with the allowed methods (RFC 9110 §15.5.6). */
const refuseUnmatched =
  (code: ProblemCode, nothingHere?: string): Refuse =>
  (request, context, methods) => {
    const { pathname } = requestUrl(request.url);
    const allowed = methods.allowed(pathname);
    const headers = { allow: allowed.join(", ") };
    if (request.method === "OPTIONS" && allowed.length > 0) {
      return new Response(null, { status: 204, headers: { ...headers, ...headersOf(context) } });
    }
    // The method is allowed, but the router does not know the path as sent: with a fragment, or on Deno with a dot segment.
    if (allowed.length === 0 || allowed.includes(request.method))
      return problem(context, code, nothingHere === undefined ? {} : { detail: nothingHere });
    return problem(context, "method_not_allowed", {
      detail: `This path takes ${allowed.join(", ")}.`,
      headers,
    });
  };

/**
 * A broker or database that does not answer is not a bug, and may affect any route. For all other errors the stack goes to
 * the logger, never to the client.
 */
const errorAnswer = (error: unknown, context: RequestContext, logger: Logger): Response => {
  if (error instanceof KeyEndedError) return respond(context, KEY_ENDED);
  if (error instanceof LogUnavailableError) {
    return problem(context, "log_unavailable", { detail: `${error.message} Retry.` });
  }
  if (error instanceof ViewsUnavailableError) {
    logger.warn("a request could not read the views", {
      request_id: context.requestId,
      detail: error.message,
    });
    return problem(context, "not_ready", {
      reasons: [error.reason],
      detail: `${error.reason} Retry.`,
    });
  }
  const detail = stackOf(error);
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

interface MethodTable {
  allowed(path: string): readonly string[];
  /** Whether a route has exactly this path. Then no route with a parameter takes it, whatever the method. */
  isWrittenOut(path: string): boolean;
}

const createMethodTable = (
  routes: readonly { readonly method: string; readonly path: string }[],
): MethodTable => {
  const patterns = routes.map(({ method, path }) => ({ method, path, pattern: toPattern(path) }));
  const takenBy = (path: string) => patterns.filter(({ pattern }) => pattern.test(path));
  const writtenOut = (path: string) => takenBy(path).filter((each) => !hasParameter(each.path));
  return {
    isWrittenOut: (path) => writtenOut(path).length > 0,
    allowed: (path) => {
      const exact = writtenOut(path);
      const methods = (exact.length > 0 ? exact : takenBy(path)).map(({ method }) => method);
      if (methods.length === 0) return [];
      return [...new Set([...methods, ...(methods.includes("GET") ? ["HEAD"] : []), "OPTIONS"])].sort();
    },
  };
};

/** In the router's notation: `:name`, and `*` for any number of segments. */
const hasParameter = (path: string): boolean => path.includes("/:") || path.includes("*");

const toPattern = (path: string): RegExp => {
  const segments = path
    .split("/")
    .map((segment) => (segment === "*" ? ".+" : segment.startsWith(":") ? "[^/]+" : RegExp.escape(segment)));
  return new RegExp(`^${segments.join("/")}/?$`);
};
