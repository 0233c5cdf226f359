import { PROBLEMS } from "../../src/http/problem.ts";
import { REJECTION_CODES } from "../../src/intake/answer.ts";
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
  );
