/** The scopes of API keys, as data: the documentation prints the sentences. */
import { oneOf } from "../event/check.ts";

export const SCOPE_OPENS = {
  "events:write": "Send events into the tenant's log, one by one or in batches.",
  "events:read": "Read the tenant's events, views, exports and proofs, and follow new events as they arrive.",
  "keys:manage":
    "Create, list, rotate and revoke the tenant's API keys, with no more rights than the managing key has itself; set how long its events are kept, and place and release holds.",
  "obligations:waive":
    "Waive one of the tenant's obligations, or withdraw a waiver. Both are written to the log.",
  "obligations:calendar":
    "Read the calendar feed of the tenant's obligations. For keys in the address of a feed, which `POST /v1/calendars` creates.",
  "events:embed":
    "Create short-lived tokens for a web page of yours that shows time, type and system of events by a filter.",
} as const;

export type Scope = keyof typeof SCOPE_OPENS;

const isScope = (text: string): text is Scope => Object.hasOwn(SCOPE_OPENS, text);

export const SCOPES: readonly Scope[] = Object.keys(SCOPE_OPENS).filter(isScope);

export const ScopeSchema = oneOf(SCOPES, { description: "What a key may be allowed to do." });
