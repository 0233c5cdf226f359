import type { Actor } from "../../access/action.ts";
import type { Principal } from "../../access/authenticate.ts";
import type { Session } from "../../access/session.ts";
import type { ViewReadiness } from "../../views/kit/view-readiness.ts";
import type { RequestContext } from "./request-context.ts";

export interface Call {
  readonly request: Request;
  readonly context: RequestContext;
  readonly principal: Principal;
  /** Path parameters, decoded; null if the encoding is broken. */
  readonly params: Readonly<Record<string, string | null>>;
  /** Whether the key still allows this: ask before an append, before an answer, and while a long answer is read. Uses memory only. */
  readonly isStillAllowed: () => boolean;
  readonly viewReadiness: Pick<ViewReadiness, "check">;
  /** Absent if the request has an `Authorization` header. */
  readonly session?: Session;
}

export const actorOf = ({ principal, context }: Call): Actor => ({ principal, requestId: context.requestId });
