/** The answers to a refused change of a key, a policy or a hold. */
import type { OtherTenant, RefusedChange } from "../../access/refusal.ts";
import { invalid, type Refusal, refuse } from "./answers.ts";
import { insufficientScope } from "./guard.ts";

interface Words {
  /** What the id names: `key` or `hold`. */
  readonly name: string;
  /** What is being changed, for the message about too many waiting changes. */
  readonly changed: string;
  /** Beginning of the sentence that ends with the reason. */
  readonly unavailable: string;
}

const OF_KEYS: Words = { name: "key", changed: "this key", unavailable: "The keys could not be changed" };

export const refusedChange = (refusal: RefusedChange, words: Words = OF_KEYS): Refusal => {
  switch (refusal.kind) {
    case "insufficient_scope":
      return insufficientScope(refusal.scope);
    case "other_tenant":
      return otherTenant(refusal);
    case "invalid":
      return invalid(refusal.problems);
    case "not_found":
      return refuse("not_found", `This key manages no such ${words.name}.`);
    case "changed_meanwhile":
      return refuse(refusal.kind);
    case "overloaded":
      return refuse(
        refusal.kind,
        `Too many changes of ${words.changed} are waiting for each other. Nothing was done.`,
      );
    case "unavailable":
      return refuse("log_unavailable", `${words.unavailable}: ${refusal.detail}. Retry.`);
  }
};

const otherTenant = ({ path }: OtherTenant): Refusal =>
  refuse("insufficient_scope", {
    detail: "The key reaches only its own tenant: only the admin key reaches others.",
    errors: [
      {
        path,
        code: "exceeds_own",
        message: "The tenant is not the key's own: send that or none, or use the admin key.",
      },
    ],
    headers: { "www-authenticate": 'Bearer error="insufficient_scope"' },
  });
