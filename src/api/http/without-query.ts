import type { Call } from "./call.ts";
import { problem } from "./problem.ts";
import { type Query, readQuery } from "./query.ts";

/** Refuses query parameters where none are allowed: ignoring one would do something else than was meant. */
export const refusedQuery = (
  { request, context }: Pick<Call, "request" | "context">,
  /** Reads parameters that are allowed all the same. */
  read: (query: Query) => unknown = () => undefined,
): Response | undefined => {
  const query = readQuery(request.url);
  read(query);
  const errors = query.errors();
  return errors.length > 0 ? problem(context, "invalid_request", { errors }) : undefined;
};

/** For routes without query parameters. */
export const withoutQuery =
  (handle: (call: Call) => Promise<Response>) =>
  (call: Call): Promise<Response> | Response =>
    refusedQuery(call) ?? handle(call);
