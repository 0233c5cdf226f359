import type { TSchema } from "@sinclair/typebox";
import { auditEventSchema } from "../../src/event/audit-event.ts";
import { EVENT_TYPES, EVENT_TYPES_BY_GROUP } from "../../src/event/event-types.ts";
import { EVENT_ID_PREFIX } from "../../src/event/formats.ts";
import { EVENT_BYTES_MAX, EVENT_DEPTH_MAX } from "../../src/limits.ts";
import { LEGAL_BASES } from "../../src/views/coverage/legal-bases.ts";
import { code, page, prose, table } from "./markdown.ts";

export const eventSchema = auditEventSchema({
  eventTypes: EVENT_TYPES,
  eventIdPrefixes: [EVENT_ID_PREFIX],
  legalBases: LEGAL_BASES.map(({ name }) => name),
});
export const requiredFields: readonly string[] = eventSchema.required ?? [];

export const eventTypesPage = (): string =>
  page(
    "Event types",
    `There are ${EVENT_TYPES.length} event types. Any other value of \`event_type\` is refused with 400, unless the operator adds it with [\`EXTRA_EVENT_TYPES\`](settings.md#extra_event_types). A filter takes one type, or a group: \`event_type=decision.*\`. The types without a dot are older names, in the group \`legacy\`.`,
    ...Object.entries(EVENT_TYPES_BY_GROUP).flatMap(([group, types]) => [
      `## ${group}`,
      table(
        ["type", "says"],
        Object.entries(types).map(([type, says]) => [code(type), prose(says)]),
      ),
    ]),
  );

export const eventFieldsPage = (): string =>
  page(
    "Event fields",
    `An event is a JSON object of at most ${EVENT_BYTES_MAX / 1024} KiB and ${EVENT_DEPTH_MAX} levels. It is stored byte for byte as it was sent. A field that is not listed here is kept too, and the answer has a warning that names it.`,
    table(
      ["field", "type", "required", "meaning", "must be"],
      Object.entries<TSchema>(eventSchema.properties).map(([name, field]) => [
        code(name),
        String(field.type),
        requiredFields.includes(name) ? "yes" : "no",
        prose(String(field.description)),
        prose(String(field["x-expects"])),
      ]),
    ),
    "What `metadata` may hold is listed in [Metadata keys](metadata-keys.md), the values of `event_type` in [Event types](event-types.md), and the laws that `legal_bases` may name in [Obligations and legal bases](obligations.md).",
    `\`\`\`json
{
  "event_id": "evt_first",
  "timestamp": "2026-11-20T10:00:00Z",
  "asset_id": "credit_model",
  "event_type": "decision.automated_decision_made",
  "risk_tier": "high",
  "legal_bases": ["gdpr_art_22"],
  "subject_hash": "sha256:2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae",
  "metadata": { "decision_id": "dec_42", "outcome": "denied" }
}
\`\`\``,
  );
