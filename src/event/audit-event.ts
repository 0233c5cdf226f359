/**
 * The event, declared once (SPEC 2.1, DESIGN 3 "Event rules"). Its static type, the validation and the OpenAPI document all come from this schema.
 * `x-expects` says what a member expects, and is also the text of the error.
 */
import { type Static, Type } from "@sinclair/typebox";
import {
  EVENT_BYTES_MAX,
  EVENT_DEPTH_MAX,
  EVENT_ID_SUFFIX_CHARACTERS_MAX,
  IDENTIFIER_CHARACTERS_MAX,
  LEGAL_BASES_MAX,
  LEGAL_BASIS_CHARACTERS_MAX,
  TAG_KEY_CHARACTERS_MAX,
  TAG_VALUE_CHARACTERS_MAX,
  TAGS_MAX,
} from "../limits.ts";
import { ownText } from "./check.ts";
import {
  eventIdPattern,
  isEventId,
  isUtcTimestamp,
  isWithinCharacters,
  LEGAL_BASIS,
  SHA256,
} from "./formats.ts";
import { RISK_TIERS } from "./risk-tiers.ts";

/** The part that differs between installations (EXTRA_EVENT_TYPES, EXTRA_EVENT_ID_PREFIXES). */
export interface EventVocabulary {
  readonly eventTypes: readonly string[];
  readonly eventIdPrefixes: readonly string[];
  /** The legal bases that rules name. Any other name is kept, with a warning: the list of SPEC 2.1 is open. */
  readonly legalBases: readonly string[];
}

const length = { minLength: 1, maxLength: IDENTIFIER_CHARACTERS_MAX };
const identifier = (description: string) =>
  Type.String({
    ...length,
    description,
    "x-expects": `a text of 1 to ${IDENTIFIER_CHARACTERS_MAX} characters`,
  });
const hash = (description: string) =>
  Type.String({
    pattern: SHA256.source,
    description,
    "x-expects": 'a SHA-256 hash written as "sha256:" and 64 hexadecimal digits',
  });
const choice = (options: { readonly enum: readonly string[] } & Readonly<Record<string, unknown>>) =>
  ownText(options, (text) => options.enum.includes(text));

/** The values of a tag. */
const TagValue = Type.Unsafe<string | number | boolean>({
  ...Type.Union([
    Type.String({ minLength: 0, maxLength: TAG_VALUE_CHARACTERS_MAX }),
    Type.Number(),
    Type.Boolean(),
  ]),
  "x-expects": `a text of at most ${TAG_VALUE_CHARACTERS_MAX} characters, a finite number, or a boolean`,
});

const anyName = Type.String({ pattern: "^[\\s\\S]*$" });

const eventId = (prefixes: readonly string[]) => {
  const quoted = prefixes.map((prefix) => `"${prefix}"`).join(" or ");
  const expected = `a UUIDv7, or ${quoted} followed by 1 to ${EVENT_ID_SUFFIX_CHARACTERS_MAX} characters without control characters`;
  const options = {
    "x-prefixes": prefixes,
    pattern: eventIdPattern(prefixes),
    description: `Your identifier of the event: ${expected}. The same event sent again is stored once.`,
    "x-expects": expected,
    examples: ["evt_sample_001"],
  };
  return ownText(options, (text) => isEventId(text, prefixes));
};

export const auditEventSchema = (vocabulary: EventVocabulary) =>
  Type.Object(
    {
      event_id: eventId(vocabulary.eventIdPrefixes),
      timestamp: ownText(
        {
          format: "date-time",
          description: "When the event occurred: RFC 3339, UTC, any precision.",
          "x-expects": 'a time that exists, as RFC 3339 in UTC, for example "2026-11-20T10:00:00.000Z"',
          examples: ["2026-11-20T10:00:00.000Z"],
        },
        isUtcTimestamp,
      ),
      asset_id: ownText(
        {
          ...length,
          description: "Your identifier of the AI system.",
          "x-expects": `a text of 1 to ${IDENTIFIER_CHARACTERS_MAX} Unicode characters`,
          examples: ["credit_model"],
        },
        // It becomes part of a subject and of URLs in UTF-8, which cannot represent half a surrogate pair.
        (text) => isWithinCharacters(text, 1, IDENTIFIER_CHARACTERS_MAX) && text.isWellFormed(),
      ),
      event_type: choice({
        enum: vocabulary.eventTypes,
        description: "What happened.",
        "x-expects": "one of the documented event types",
        examples: ["decision.automated_decision_made"],
      }),
      legal_bases: Type.Optional(
        Type.Array(
          Type.String({
            pattern: LEGAL_BASIS.source,
            maxLength: LEGAL_BASIS_CHARACTERS_MAX,
            "x-expects": `a name in lower snake case of at most ${LEGAL_BASIS_CHARACTERS_MAX} characters, for example "ai_basic_law_kr"`,
          }),
          {
            maxItems: LEGAL_BASES_MAX,
            "x-unique-items": true,
            description: `Related legal bases. Known: ${vocabulary.legalBases.join(", ")}; others are kept, with a warning.`,
            "x-expects": `an array of at most ${LEGAL_BASES_MAX} different names`,
            examples: [["ai_basic_law_kr", "pipa_37_2_kr"]],
          },
        ),
      ),
      risk_tier: Type.Optional(
        choice({
          enum: RISK_TIERS,
          description: "Risk tier of the system at the time of the event.",
          "x-expects": `one of ${RISK_TIERS.map((tier) => `"${tier}"`).join(", ")}`,
          examples: ["high"],
        }),
      ),
      subject_hash: Type.Optional(hash("Hash of the identifier of the person concerned.")),
      context_hash: Type.Optional(hash("Hash of the input context.")),
      outcome_hash: Type.Optional(hash("Hash of the output or decision.")),
      correlation_id: Type.Optional(identifier("Groups events that belong together.")),
      trace_id: Type.Optional(identifier("Trace identifier of distributed tracing.")),
      span_id: Type.Optional(identifier("Span identifier of distributed tracing.")),
      asset_version: Type.Optional(identifier("Version label of the asset.")),
      tags: Type.Optional(
        Type.Record(anyName, TagValue, {
          maxProperties: TAGS_MAX,
          description: `Your own tags. Keys have 1 to ${TAG_KEY_CHARACTERS_MAX} characters.`,
          "x-expects": `an object of at most ${TAGS_MAX} tags`,
          examples: [{ team: "credit", canary: false }],
        }),
      ),
      metadata: Type.Optional(
        Type.Record(anyName, Type.Unknown(), {
          description: "Further facts, free in form: model, duration_ms, tokens_in, tokens_out, decision_id…",
          "x-expects": "an object",
          examples: [{ model: "scorer-7", duration_ms: 41 }],
        }),
      ),
    },
    {
      additionalProperties: true,
      description: `One audit event, of at most ${EVENT_BYTES_MAX} bytes and ${EVENT_DEPTH_MAX} levels of objects and arrays, itself the first. Members that are not listed are kept as sent and answered with a warning.`,
      "x-expects": "an object, the event",
    },
  );

export type AuditEvent = Static<ReturnType<typeof auditEventSchema>>;

/** Members with a meaning. Any other is kept, with a warning. */
export const EVENT_MEMBERS: readonly string[] = Object.keys(
  auditEventSchema({ eventTypes: [], eventIdPrefixes: [], legalBases: [] }).properties,
);
