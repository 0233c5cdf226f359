/** The answers to a refused change of a key, a policy or a hold. */
import type { ActorEnded, ChangedMeanwhile } from "../../access/action.ts";
import type { OtherTenant } from "../../access/authenticate.ts";
import type { TooManyWaiting } from "../../runtime/turns-about.ts";
import { invalidKey, otherTenant } from "./guard.ts";
import { problem, type RequestError } from "./problem.ts";
import type { RequestContext } from "./request-context.ts";

type RefusedChange =
  | OtherTenant
  | ChangedMeanwhile
  | TooManyWaiting
  | ActorEnded
  | { readonly kind: "invalid"; readonly problems: readonly RequestError[] }
  | { readonly kind: "not_found" }
  | { readonly kind: "unavailable"; readonly detail: string };

export const refusedChange = (
  context: RequestContext,
  refusal: RefusedChange,
  words: {
    /** What the id names: `key` or `hold`. */
    readonly name: string;
    /** What is being changed, for the message that too many changes wait. */
    readonly changed: string;
    /** Beginning of the sentence that ends with the reason. */
    readonly unavailable: string;
  },
): Response => {
  switch (refusal.kind) {
    case "other_tenant":
      return otherTenant(context, refusal);
    case "invalid":
      return problem(context, "invalid_request", { errors: refusal.problems });
    case "not_found":
      return problem(context, "not_found", {
        detail: `This key manages no such ${words.name}.`,
      });
    case "changed_meanwhile":
      return problem(context, refusal.kind);
    case "key_ended":
      return invalidKey(context);
    case "overloaded":
      return problem(context, refusal.kind, {
        detail: `Too many changes of ${words.changed} are waiting for each other. Nothing was done.`,
      });
    case "unavailable":
      return problem(context, "log_unavailable", {
        detail: `${words.unavailable}: ${refusal.detail}. Ask again.`,
      });
  }
};
