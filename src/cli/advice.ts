import { SANDBOX_REQUESTS_PER_MINUTE } from "../limits.ts";

/** What to do about a refusal of the API, by its code. A test checks that every code has a row. */

export const ADVICE: Readonly<Record<string, string>> = {
  invalid_json: "Check the JSON at that place.",
  invalid_utf8: "Save the file as UTF-8.",
  invalid_request: "Correct what is named and try again; --help says what each option takes.",
  missing_api_key: "Set PROOFTRAIL_API_KEY, or name a file with --key-file.",
  invalid_api_key: "Check the key, or have a new one created: prooftrail keys create",
  session_ended: "Sign in again.",
  csrf_token_required: "Send the csrf_token of GET /v1/session in X-CSRF-Token.",
  insufficient_scope:
    "Use a key that has the scope, or have one created: prooftrail keys create --scope …; for another tenant use the admin key.",
  embed_token_exceeded:
    "Ask with the filter of the token and from a page of its origins, or create another token.",
  outside_role: "Use a key with one of the roles that the message names.",
  outside_seat: "Ask for what the seat covers, or have one created that covers more.",
  not_found: "Check the name and the tenant: a key sees only its own tenant.",
  no_api: "Name a process that has the role api, with --url or PROOFTRAIL_URL.",
  method_not_allowed: "Client and service may be of different versions: compare prooftrail --version.",
  request_timeout: "Try again.",
  event_id_conflict: "Events are never changed: send what is new under a new event_id.",
  changed_meanwhile: "Try again.",
  obligation_state_conflict: "Read the obligation: its state says what is left to do.",
  event_expired: "The record stays in the log forever; views no longer show it.",
  case_shared: "Ask for each decision, or for all events of the correlation_id.",
  case_expired: "The records stay in the log forever; views no longer show the case.",
  payload_too_large: "Make the event smaller, or send fewer at once.",
  evidence_too_large:
    "Ask in parts: --asset-id, --correlation-id, --decision-id, --subject-hash, or shorter times with --from and --to.",
  unsupported_media_type: "Client and service may be of different versions: compare prooftrail --version.",
  idempotency_key_reused: "Use a new key for new content.",
  rate_limited: "Wait a moment, or use a key with a higher limit.",
  internal_error:
    "Give the request_id to the operator of the service. If you were creating a key, check first whether it exists: prooftrail keys list",
  log_behind:
    "Run prooftrail doctor where the service runs: the log was restored from an older copy, or a file in HEADS_COPY is damaged.",
  log_not_behind: "Nothing to do.",
  log_unavailable: "Try again; prooftrail doctor, where the service runs, says what is wrong.",
  not_sealed: "Try again in a moment, or with a longer --wait.",
  not_ready: "Wait; prooftrail doctor says why.",
  overloaded: "Try again in a moment.",
  view_behind: "Try again in a moment; prooftrail views status shows how far the views are.",
};

/** The sandbox takes no key, so a key with a higher limit would not help. */
export const SANDBOX_LIMITED_ADVICE = `Wait a minute: the sandbox accepts ${SANDBOX_REQUESTS_PER_MINUTE} requests per client and minute.`;
