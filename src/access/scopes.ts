/** The scopes of API keys, as data: the documentation prints the sentences. */
import { oneOf } from "../event/check.ts";

export const SCOPE_OPENS = {
  "events:write": "Send events into the tenant's log, one by one or in batches.",
  "events:read": "Read the tenant's events, views, exports and proofs, and follow new events as they arrive.",
  "keys:manage":
    "Create, list, rotate and revoke the tenant's API keys, with no more rights than the managing key has itself; say how long its events are kept, and place and release holds.",
  "obligations:waive":
    "Say why one of the tenant's obligations will not be met, and take that back. Both are written to the log.",
  "obligations:calendar":
    "Read the calendar feed of the tenant's obligations. For keys that stand in the address of a feed, which `POST /v1/calendars` makes.",
  "events:embed":
    "Make short-lived tokens with which a web page of yours shows time, type and system of the events of a filter.",
} as const;

export type Scope = keyof typeof SCOPE_OPENS;

const isScope = (text: string): text is Scope => Object.hasOwn(SCOPE_OPENS, text);

export const SCOPES: readonly Scope[] = Object.keys(SCOPE_OPENS).filter(isScope);

export const ScopeSchema = oneOf(SCOPES, { description: "What a key may be allowed to do." });
