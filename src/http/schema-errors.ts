/** What TypeBox finds wrong → the errors of an answer, one per place. What was sent is never repeated. */
import { type ValueError, ValueErrorType } from "@sinclair/typebox/errors";
import { PROBLEMS_PER_EVENT_MAX } from "../limits.ts";
import type { RequestError } from "./problem.ts";

/** Each schema says in `x-expects` what it wants. `whole` names the body where the body itself is wrong. */
export const requestErrors = (errors: Iterable<ValueError>, whole: string): readonly RequestError[] => {
  const byPath = new Map<string, RequestError>();
  for (const { path, type, schema } of errors) {
    if (byPath.size >= PROBLEMS_PER_EVENT_MAX) break;
    // A missing member is reported twice: as missing and as of the wrong type. The first says more.
    if (byPath.has(path)) continue;
    const name = path === "" ? whole : path.slice(1);
    const expects = String(schema["x-expects"]);
    byPath.set(
      path,
      type === ValueErrorType.ObjectRequiredProperty
        ? { path, code: "required", message: `${name} is required: send ${expects}.` }
        : { path, code: "invalid_value", message: `${name} is not valid: send ${expects}.` },
    );
  }
  return [...byPath.values()];
};
