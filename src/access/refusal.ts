/** Why a change of a key, a policy or a hold is refused. */
import type { RequestProblem } from "../event/request/check.ts";
import type { TooManyWaiting } from "../runtime/keyed-mutex.ts";
import type { Scope } from "./scopes.ts";

interface AccessProblem {
  /** JSON Pointer into the body; empty for the key or the body as a whole. */
  readonly path: string;
  readonly code: RequestProblem["code"] | "too_many" | "exceeds_own" | "below_floor";
  readonly message: string;
}

export interface Invalid {
  readonly kind: "invalid";
  readonly problems: readonly AccessProblem[];
}

export const invalid = (
  path: string,
  message: string,
  code: AccessProblem["code"] = "invalid_value",
): Invalid => ({ kind: "invalid", problems: [{ path, code, message }] });

/** The problems of several checks as one refusal; undefined if there are none. */
export const allInvalid = (found: readonly Invalid[]): Invalid | undefined =>
  found.length === 0 ? undefined : { kind: "invalid", problems: found.flatMap(({ problems }) => problems) };

export interface InsufficientScope {
  readonly kind: "insufficient_scope";
  readonly scope: Scope;
}

/** The request names a tenant that the key does not reach. `path` says where, as in a problem. */
export interface OtherTenant {
  readonly kind: "other_tenant";
  readonly path: string;
}

export type RefusedChange =
  | InsufficientScope
  | OtherTenant
  | Invalid
  | { readonly kind: "not_found" }
  /** Somebody else changed it during each attempt. Nothing was done; a retry is safe. */
  | { readonly kind: "changed_meanwhile" }
  | TooManyWaiting
  /** No answer: the change may or may not be done. */
  | { readonly kind: "unavailable"; readonly detail: string };

const CHANGED = { kind: "changed_meanwhile" } as const;

/** Tries a change again while somebody else makes another one at the same time. */
export const untilUnchanged = async <Answer extends { readonly kind: string }>(
  triesMax: number,
  attempt: () => Promise<Answer | typeof CHANGED>,
): Promise<Answer | typeof CHANGED> => {
  for (let tries = 0; tries < triesMax; tries++) {
    const answer = await attempt();
    if (answer.kind !== "changed_meanwhile") return answer;
  }
  return CHANGED;
};

/** A change that was not written, as a refusal. */
export const undone = (
  write: { readonly kind: "conflict" } | { readonly kind: "unavailable"; readonly detail: string },
): Extract<RefusedChange, { readonly kind: "unavailable" | "changed_meanwhile" }> =>
  write.kind === "unavailable" ? write : CHANGED;
