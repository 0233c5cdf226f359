import { PROBLEMS } from "../../src/api/http/problem.ts";
import { REJECTION_CODES } from "../../src/api/intake/intake.ts";
import { WARNING_CODES } from "../../src/event/warnings.ts";
import { code, codes, page, prose, table } from "./markdown.ts";

const byStatus = Object.entries(PROBLEMS).sort(([, one], [, other]) => one.status - other.status);

export const errorsPage = (): string =>
  page(
    "Errors",
    `Every error is \`application/problem+json\` (RFC 9457) with a stable \`code\`:

\`\`\`json
{
  "type": "urn:prooftrail:problem:invalid_request",
  "title": "The request is not valid",
  "status": 400,
  "detail": "…",
  "code": "invalid_request",
  "request_id": "019dd0a2-…",
  "errors": [{ "path": "/timestamp", "code": "invalid_value", "message": "…" }]
}
\`\`\`

After 429 and 5xx an event may be sent again: it is stored at most once. \`Retry-After\` says when.`,
    table(
      ["status", "code", "when"],
      byStatus.map(([name, { status, when }]) => [String(status), code(name), prose(when)]),
    ),
    "## In a batch",
    `A batch is answered with 202 and one entry in \`data.errors\` for each event that was not stored. Its \`code\` is one of ${codes(REJECTION_CODES)}. \`retryable: true\` says that sending the same event again can help.`,
    "## Warnings",
    "An accepted event may have warnings. It is stored as it was sent; a warning says that something in it probably means something else than its sender thinks. A batch has one warning for each path and code, with `count` and the first `indexes`.",
    table(
      ["code", "says"],
      WARNING_CODES.map((warning) => [code(warning), WARNING_MEANINGS[warning]]),
    ),
  );

const WARNING_MEANINGS: Readonly<Record<(typeof WARNING_CODES)[number], string>> = {
  unknown_field:
    "The field has no meaning here, or its value cannot be read. The nearest known spelling is named.",
  unknown_legal_basis: "No rule names this legal basis. The nearest known spelling is named.",
  unknown_metadata_key: "The key in `metadata` is nearly one that has a meaning.",
  timestamp_in_future: "The time is more than 5 minutes ahead of the clock of the service.",
  timestamp_long_ago:
    "The time is more than 30 days ago. What follows from it shows that it was recorded late.",
  asset_id_not_normalised:
    "The `asset_id` is not in Unicode form NFC, or has a blank or an invisible character at its ends, so it names another system than the text without it.",
};
