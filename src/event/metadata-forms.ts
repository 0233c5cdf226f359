/**
 * Members of `metadata` that the views understand in one form only. In any other form they are kept without a meaning: then a duty follows from no
 * law, a number counts as missing, a person is unknown, an answer belongs to no decision. So the sender gets a warning.
 */
import { IDENTIFIER_CHARACTERS_MAX } from "../limits.ts";
import { DECISION_NAMES, GEN_AI_CONVERSATION, type JsonObject } from "./facts.ts";
import { dateAtStart, instantKeyOf, isLegalBasis, isSha256, isWithinCharacters } from "./formats.ts";
import { RISK_TIERS } from "./risk-tiers.ts";

export interface Form {
  readonly name: string;
  /** Whether it is read for such an event: it has a meaning there, and no other member takes precedence. */
  readonly counts: (event: JsonObject, metadata: JsonObject) => boolean;
  readonly isUnderstood: (value: unknown) => boolean;
  /** The end of the sentence "send …". */
  readonly expected: string;
}

const isText = (value: unknown): value is string => typeof value === "string";
const hasType = (start: string) => (event: JsonObject) =>
  isText(event.event_type) && event.event_type.startsWith(start);
const always = (): boolean => true;

const isCount = (value: unknown, least: number): boolean =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= least;

const isHash = (value: unknown): boolean => isText(value) && isSha256(value);

/** `before`: names that take precedence if they contain a hash. */
const hash = (name: string, ...before: readonly string[]): Form => ({
  name,
  counts: ({ subject_hash }, metadata) =>
    subject_hash === undefined && !before.some((other) => isHash(metadata[other])),
  isUnderstood: isHash,
  expected: 'a SHA-256 hash written as "sha256:" and 64 hexadecimal digits',
});

/** A number by its digits; only the event's text has all of them (read-event.ts). */
export const isName = (value: unknown): boolean =>
  isText(value) ? isWithinCharacters(value, 1, IDENTIFIER_CHARACTERS_MAX) : Number.isFinite(value);

/** The end of the sentence "send …" for an identifier. */
export const NAME_EXPECTED = `a text of 1 to ${IDENTIFIER_CHARACTERS_MAX} characters`;

const naming = (name: string, counts: Form["counts"] = always): Form => ({
  name,
  counts,
  isUnderstood: isName,
  expected: NAME_EXPECTED,
});

/** Members by which rules start, stop or choose the clock of a duty, for events of these types. */
const word = (name: string, start: string): Form => ({
  name,
  counts: hasType(start),
  isUnderstood: (value) => isText(value) || Number.isFinite(value),
  expected: "a text",
});

const FORMS: readonly Form[] = [
  // Members beside the others take precedence over those in metadata.
  ...DECISION_NAMES.map((name) =>
    naming(name, (event) => !DECISION_NAMES.some((beside) => isName(event[beside]))),
  ),
  naming("objection_id"),
  naming("incident_id"),
  naming("assessment_id"),
  naming("source_id"),
  naming(GEN_AI_CONVERSATION, ({ correlation_id }) => correlation_id === undefined),
  word("outcome", "decision.automated_decision_made"),
  word("objection_type", "objection"),
  word("resolution", "objection."),
  word("incident_class", "incident."),
  word("report_type", "incident."),
  word("role", "incident."),
  word("notified", "incident."),
  {
    // What is no tier stands in the history of classifications, and the asset keeps the one that it had.
    name: "to",
    counts: hasType("assessment.risk_classification_changed"),
    isUnderstood: (value) => isText(value) && RISK_TIERS.some((tier) => tier === value.toLowerCase()),
    expected: `a risk tier: ${RISK_TIERS.join(", ")}`,
  },
  {
    name: "legal_bases",
    counts: ({ legal_bases }) => !Array.isArray(legal_bases) || legal_bases.length === 0,
    isUnderstood: (value) =>
      Array.isArray(value) && value.every((each) => isText(each) && isLegalBasis(each)),
    expected: 'an array of names in lower snake case, for example ["ai_basic_law_kr"]',
  },
  hash("subject_hash"),
  hash("user_id_hash", "subject_hash"),
  hash("recipient_hash", "subject_hash", "user_id_hash"),
  {
    name: "source_sequence",
    counts: always,
    isUnderstood: (value) => isCount(value, 1),
    expected: "a whole number from 1, and not as a text",
  },
  {
    name: "last_source_sequence",
    counts: hasType("sdk.heartbeat"),
    // Before its first event a source has counted to 0.
    isUnderstood: (value) => isCount(value, 0),
    expected: "a whole number, and not as a text",
  },
  {
    name: "extension_days",
    counts: always,
    isUnderstood: (value) => (isText(value) || typeof value === "number") && Number(value) >= 0,
    expected: "a number of days",
  },
  {
    name: "aware_at",
    counts: hasType("incident."),
    isUnderstood: (value) => isText(value) && instantKeyOf(value) !== undefined,
    expected: "a time that exists, as RFC 3339, for example 2026-11-20T10:00:00+09:00",
  },
  {
    name: "valid_until",
    counts: hasType("assessment.impact_assessment_"),
    isUnderstood: (value) => isText(value) && (instantKeyOf(value) ?? dateAtStart(value)) !== undefined,
    expected: "a date that exists, for example 2027-01-31, or a time as RFC 3339",
  },
];

/** Members that are present but not understood, and what to send instead. */
export const notUnderstood = (event: JsonObject, metadata: JsonObject): readonly Form[] => {
  let found: Form[] | undefined;
  for (const form of FORMS) {
    const value = metadata[form.name];
    // Typed clients send null or an empty text for missing values.
    if (value === undefined || value === null || value === "") continue;
    if (!form.counts(event, metadata) || form.isUnderstood(value)) continue;
    found ??= [];
    found.push(form);
  }
  return found ?? NONE;
};

const NONE: readonly Form[] = [];
