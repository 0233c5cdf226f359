/** Data about a request besides the request itself: created when it arrives, read when its line is logged. */
import type { Principal } from "../../access/authenticate.ts";
import { holderOf } from "../../access/client.ts";
import { isUuidV7 } from "../../event/formats.ts";
import type { Connections } from "../../runtime/listen.ts";
import { WATERMARK_HEADER, WATERMARK_HEADER_VALUE } from "../sandbox/watermark.ts";
import type { ResponseBackpressure } from "./paged-body.ts";

export interface RequestContext {
  readonly requestId: string;
  /** Call it before the answer is sent. */
  readonly clientAddress: () => string;
  /** Sets whether the connection stays open while it is idle. */
  readonly keepOpen: (isKept: boolean) => void;
  readonly backpressure: ResponseBackpressure;
  /** Every answer of the sandbox carries the watermark. */
  readonly isSandbox: boolean;
  /** Pattern of the route that took the request. The path itself may contain identifiers. */
  route: string;
  principal: Principal | undefined;
  /** For the log line. */
  problemCode: string | undefined;
}

const SANDBOX = "/v1/sandbox";
const UNMATCHED_ROUTE = "(none)";

/** Stored on the request, because the framework passes that object through everything; a map costs more (measured). */
const CONTEXT = Symbol("request context");
type OpenedRequest = Request & { [CONTEXT]?: RequestContext };

export const openRequest =
  ({
    newRequestId,
    trustedHops,
    backpressure,
  }: {
    readonly newRequestId: () => string;
    /** Proxies whose X-Forwarded-For is believed; 0 for none. */
    readonly trustedHops: number;
    readonly backpressure: ResponseBackpressure;
  }) =>
  (request: OpenedRequest, connections: Connections): RequestContext => {
    const context: RequestContext = {
      requestId: requestIdSent(request) ?? newRequestId(),
      clientAddress: () =>
        forwardedAddress(request.headers.get("x-forwarded-for"), trustedHops) ?? connections.address(request),
      keepOpen: (isKept) => connections.keepOpen(request, isKept),
      backpressure,
      isSandbox: isOfSandbox(request.url),
      route: UNMATCHED_ROUTE,
      principal: undefined,
      problemCode: undefined,
    };
    request[CONTEXT] = context;
    return context;
  };

/**
 * The client's address behind N trusted proxies: the Nth entry of X-Forwarded-For from the right. Each proxy appends what it saw, so whatever is
 * further left, the client wrote, and it proves nothing. Undefined where the socket's address counts.
 */
export const forwardedAddress = (forwardedFor: string | null, trustedHops: number): string | undefined => {
  const hops = trustedHops === 0 ? undefined : forwardedFor?.split(",").map((hop) => hop.trim());
  return hops?.at(-trustedHops) || undefined;
};

export const contextOf = (request: OpenedRequest): RequestContext => {
  const context = request[CONTEXT];
  if (!context) throw new Error("every request is opened before it is routed");
  return context;
};

const isOfSandbox = (url: string): boolean => {
  const start = pathStartOf(url);
  return url.startsWith(SANDBOX, start) && /^[/?]?$/.test(url.charAt(start + SANDBOX.length));
};

/** A client may choose the id of its request, but only a UUIDv7: other texts could forge log lines. */
const requestIdSent = (request: Request): string | undefined => {
  const sent = request.headers.get("x-request-id");
  return sent !== null && isUuidV7(sent) ? sent : undefined;
};
/**
 * Where the path begins in a request's URL. Without a Host, as HTTP/1.0 allows, the URL is the path alone. Deno uses the scheme that the
 * client names, which is `https` behind an HTTP/2 proxy (measured).
 */
export const pathStartOf = (url: string): number => {
  if (url.startsWith("/")) return 0;
  const start = url.indexOf("/", url.indexOf("//") + "//".length);
  return start === -1 ? url.length : start;
};

/** Path and query of a request. Its host is ignored, because it may be invalid: `10.0.0.256`, a port beyond 65535. */
export const requestUrl = (url: string): URL => new URL(`http://localhost${url.slice(pathStartOf(url))}`);

/** Of every answer. */
export const headersOf = ({
  requestId,
  isSandbox,
}: Pick<RequestContext, "requestId" | "isSandbox">): Record<string, string> =>
  isSandbox
    ? { "x-request-id": requestId, [WATERMARK_HEADER]: WATERMARK_HEADER_VALUE }
    : { "x-request-id": requestId };

/** The holder that a request counts for, where shares are limited: a tenant, or a client where no key is needed. */
export const holderOfRequest = ({
  principal,
  clientAddress,
}: Pick<RequestContext, "principal" | "clientAddress">): string =>
  principal?.tenant ?? holderOf(clientAddress());
