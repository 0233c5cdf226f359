/** Data about a request besides the request itself: made when it arrives, read when its line is logged. */
import type { Principal } from "../../access/authenticate.ts";
import { isUuidV7 } from "../../event/formats.ts";
import type { Asker } from "./holder.ts";
import type { ProblemCode } from "./problem.ts";
import type { UntakenAnswers } from "./untaken-answers.ts";

export interface RequestContext extends Asker {
  readonly requestId: string;
  /** Sets whether the connection stays open while it is idle. */
  readonly keepOpen: (isKept: boolean) => void;
  readonly untaken: UntakenAnswers;
  /** Pattern of the route that took the request. The path itself may contain identifiers. */
  route: string;
  principal: Principal | undefined;
  problemCode: ProblemCode | undefined;
}

const UNMATCHED_ROUTE = "(none)";

/** Stored on the request, because the framework passes that object through everything; a map costs more (measured). */
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

/** A client may choose the id of its request, but only a UUIDv7: other texts could forge log lines. */
const requestIdSent = (request: Request): string | undefined => {
  const sent = request.headers.get("x-request-id");
  return sent !== null && isUuidV7(sent) ? sent : undefined;
};
