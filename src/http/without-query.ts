import type { Call } from "./guard.ts";
import { problem } from "./problem.ts";
import { type Query, readQuery } from "./query.ts";

/** The refusal of whatever is asked for beside a body or a path, where nothing may be: ignored, it would say something else than was meant. */
export const refusedQuery = (
  { request, context }: Pick<Call, "request" | "context">,
  /** What is taken all the same. */
  read: (query: Query) => unknown = () => undefined,
): Response | undefined => {
  const query = readQuery(request.url);
  read(query);
  const errors = query.errors();
  return errors.length > 0 ? problem(context, "invalid_request", { errors }) : undefined;
};

/** For what takes no parameters beside its path and its body. */
export const withoutQuery =
  (handle: (call: Call) => Promise<Response>) =>
  (call: Call): Promise<Response> | Response =>
    refusedQuery(call) ?? handle(call);
