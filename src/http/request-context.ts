/** What is known about a request beside the request itself: made when it comes in, read when its line is logged. */
import type { Principal } from "../access/authenticate.ts";
import { isUuidV7 } from "../event/formats.ts";
import type { Asker } from "./holder.ts";
import type { ProblemCode } from "./problem.ts";
import type { UntakenAnswers } from "./untaken-answers.ts";

export interface RequestContext extends Asker {
  readonly requestId: string;
  /** Whether the connection stays open while nothing goes over it. */
  readonly keepOpen: (isKept: boolean) => void;
  readonly untaken: UntakenAnswers;
  /** The pattern of the route that took it; the path itself may hold identifiers. */
  route: string;
  principal: Principal | undefined;
  problemCode: ProblemCode | undefined;
}

const UNMATCHED_ROUTE = "(none)";

/** On the request itself, because the framework hands that one object through everything; a map beside it costs more (measured). */
const CONTEXT = Symbol("request context");
type OpenedRequest = Request & { [CONTEXT]?: RequestContext };

export const openRequest = (
  request: OpenedRequest,
  options: { readonly newRequestId: () => string } & Pick<
    RequestContext,
    "clientAddress" | "keepOpen" | "untaken"
  >,
): RequestContext => {
  const context: RequestContext = {
    requestId: requestIdSent(request) ?? options.newRequestId(),
    clientAddress: options.clientAddress,
    keepOpen: options.keepOpen,
    untaken: options.untaken,
    route: UNMATCHED_ROUTE,
    principal: undefined,
    problemCode: undefined,
  };
  request[CONTEXT] = context;
  return context;
};

export const contextOf = (request: OpenedRequest): RequestContext => {
  const context = request[CONTEXT];
  if (!context) throw new Error("every request is opened before it is routed");
  return context;
};

/** A client may name its request, but only as a UUIDv7: anything else could be used to write into logs. */
const requestIdSent = (request: Request): string | undefined => {
  const sent = request.headers.get("x-request-id");
  return sent !== null && isUuidV7(sent) ? sent : undefined;
};
