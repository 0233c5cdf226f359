/**
 * Members of `metadata` that the views understand in one form only. In any other form they are kept without a meaning: then a duty follows from no
 * law, a number counts as missing, a person is unknown, an answer belongs to no decision. So the sender gets a warning.
 */
import { IDENTIFIER_CHARACTERS_MAX } from "../limits.ts";
import { DECISION_NAMES, GEN_AI_CONVERSATION, type JsonObject } from "./facts.ts";
import { dateAtStart, instantKeyOf, isLegalBasis, isSha256, isWithinCharacters } from "./formats.ts";
import { RISK_TIERS } from "./risk-tiers.ts";

interface Form {
  readonly name: string;
  /** The end of the sentence "send …". */
  readonly expected: string;
  readonly isUnderstood: (value: unknown) => boolean;
  /** Whether it is read for such an event: it has a meaning there, and no other member takes precedence. */
  readonly counts: (event: JsonObject, metadata: JsonObject) => boolean;
}

const always = (): boolean => true;

const forms = (
  names: readonly string[],
  expected: string,
  isUnderstood: Form["isUnderstood"],
  counts: Form["counts"] = always,
): readonly Form[] => names.map((name) => ({ name, expected, isUnderstood, counts }));

const isText = (value: unknown): value is string => typeof value === "string";
const isWord = (value: unknown): boolean => isText(value) || Number.isFinite(value);
const isHash = (value: unknown): boolean => isText(value) && isSha256(value);
const isCount = (value: unknown, least: number): boolean =>
  Number.isSafeInteger(value) && Number(value) >= least;

/** A number by its digits; only the event's text has all of them (readEvent). */
export const isName = (value: unknown): boolean =>
  isText(value) ? isWithinCharacters(value, 1, IDENTIFIER_CHARACTERS_MAX) : Number.isFinite(value);

export const NAME_EXPECTED = `a text of 1 to ${IDENTIFIER_CHARACTERS_MAX} characters`;
const HASH_EXPECTED = 'a SHA-256 hash written as "sha256:" and 64 hexadecimal digits';

const inType =
  (start: string): Form["counts"] =>
  ({ event_type }) =>
    isText(event_type) && event_type.startsWith(start);

/** `before`: names that take precedence if they contain a hash. */
const hashAfter =
  (...before: readonly string[]): Form["counts"] =>
  ({ subject_hash }, metadata) =>
    subject_hash === undefined && !before.some((other) => isHash(metadata[other]));

const FORMS: readonly Form[] = [
  // Members beside the others take precedence over those in metadata.
  ...forms(
    DECISION_NAMES,
    NAME_EXPECTED,
    isName,
    (event) => !DECISION_NAMES.some((name) => isName(event[name])),
  ),
  ...forms(["objection_id", "incident_id", "assessment_id", "source_id"], NAME_EXPECTED, isName),
  ...forms([GEN_AI_CONVERSATION], NAME_EXPECTED, isName, (event) => event.correlation_id === undefined),
  // By these rules start, stop or choose the clock of a duty.
  ...forms(["outcome"], "a text", isWord, inType("decision.automated_decision_made")),
  ...forms(["objection_type"], "a text", isWord, inType("objection")),
  ...forms(["resolution"], "a text", isWord, inType("objection.")),
  ...forms(["incident_class", "report_type", "role", "notified"], "a text", isWord, inType("incident.")),
  // What is no tier stands in the history of classifications, and the asset keeps the one that it had.
  ...forms(
    ["to"],
    `a risk tier: ${RISK_TIERS.join(", ")}`,
    (value) => isText(value) && RISK_TIERS.some((tier) => tier === value.toLowerCase()),
    inType("assessment.risk_classification_changed"),
  ),
  ...forms(
    ["legal_bases"],
    'an array of names in lower snake case, for example ["ai_basic_law_kr"]',
    (value) => Array.isArray(value) && value.every((each) => isText(each) && isLegalBasis(each)),
    ({ legal_bases }) => !Array.isArray(legal_bases) || legal_bases.length === 0,
  ),
  ...forms(["subject_hash"], HASH_EXPECTED, isHash, hashAfter()),
  ...forms(["user_id_hash"], HASH_EXPECTED, isHash, hashAfter("subject_hash")),
  ...forms(["recipient_hash"], HASH_EXPECTED, isHash, hashAfter("subject_hash", "user_id_hash")),
  ...forms(["source_sequence"], "a whole number from 1, and not as a text", (value) => isCount(value, 1)),
  // Before its first event a source has counted to 0.
  ...forms(
    ["last_source_sequence"],
    "a whole number, and not as a text",
    (value) => isCount(value, 0),
    inType("sdk.heartbeat"),
  ),
  ...forms(
    ["extension_days"],
    "a number of days",
    (value) => (isText(value) || typeof value === "number") && Number(value) >= 0,
  ),
  ...forms(
    ["aware_at"],
    "a time that exists, as RFC 3339, for example 2026-11-20T10:00:00+09:00",
    (value) => isText(value) && instantKeyOf(value) !== undefined,
    inType("incident."),
  ),
  ...forms(
    ["valid_until"],
    "a date that exists, for example 2027-01-31, or a time as RFC 3339",
    (value) => isText(value) && (instantKeyOf(value) ?? dateAtStart(value)) !== undefined,
    inType("assessment.impact_assessment_"),
  ),
];

const FORM_OF: ReadonlyMap<string, Form> = new Map(FORMS.map((form) => [form.name, form]));

/** In the order in which they were sent. What to send instead is `expected`. */
export const notUnderstood = (event: JsonObject, metadata: JsonObject): readonly Form[] => {
  let found: Form[] | undefined;
  for (const name in metadata) {
    const form = FORM_OF.get(name);
    const value = metadata[name];
    // Typed clients send null or an empty text for missing values.
    if (form === undefined || value === null || value === "") continue;
    if (form.isUnderstood(value) || !form.counts(event, metadata)) continue;
    found ??= [];
    found.push(form);
  }
  return found ?? NONE;
};

const NONE: readonly Form[] = [];
