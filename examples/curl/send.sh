#!/bin/sh
# Sends a decision and its explanation, and prints the dossier of the decision. Needs curl, and PROOFTRAIL_API_KEY.
set -eu

url=${PROOFTRAIL_URL:-http://127.0.0.1:8080}
key=${PROOFTRAIL_API_KEY:?"set it to the key, for example \$(cat data/admin.key)"}

# Fails on any status of 400 or above, and tries again after 429 and 5xx: the same event is stored once.
send() {
  curl --silent --show-error --fail-with-body --retry 5 "$url$1" \
    -H "Authorization: Bearer $key" -H 'Content-Type: application/json' -d "$2"
  echo
}

send /v1/events '{
  "event_id": "evt_example_decision",
  "timestamp": "2026-11-20T10:00:00Z",
  "asset_id": "loan_model",
  "event_type": "decision.automated_decision_made",
  "risk_tier": "high",
  "metadata": {"decision_id": "dec_example", "outcome": "approved"}
}'

# A batch answers 202 even if events in it were rejected: look at `rejected`.
answer=$(send /v1/events/batch '{"events": [{
  "event_id": "evt_example_explanation",
  "timestamp": "2026-11-20T10:05:00Z",
  "asset_id": "loan_model",
  "event_type": "decision.explanation_provided",
  "metadata": {"decision_id": "dec_example"}
}]}')
echo "$answer"
echo "$answer" | grep -q '"rejected":0'

# Views follow the log: min_sequence waits until the answer includes what was just sent.
sequence=$(echo "$answer" | sed 's/.*"sequence":\([0-9]*\).*/\1/')
curl --silent --show-error --fail-with-body "$url/v1/decisions/dec_example?min_sequence=$sequence" \
  -H "Authorization: Bearer $key"
echo
