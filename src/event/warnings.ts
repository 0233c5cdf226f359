/**
 * What is accepted but was probably not intended (DESIGN 9, "Warnings of an accepted event"): the event is kept as sent, and its sender is warned. The
 * texts never repeat what was sent, which may be a secret.
 */
import {
  CLOCK_AHEAD_MS_MAX,
  IDENTIFIER_CHARACTERS_MAX,
  LONG_AGO_MS_MIN,
  METADATA_LEGAL_BASES_MAX,
  NAMES_COMPARED_MAX,
  WARNINGS_MAX,
} from "../limits.ts";
import { type AuditEvent, EVENT_MEMBERS } from "./audit-event.ts";
import { DECISION_NAMES, GEN_AI_CONVERSATION, type JsonObject, MEMBER_ALIASES } from "./facts.ts";
import {
  dateAtStart,
  instantKeyOf,
  instantMsOf,
  isLegalBasis,
  isSha256,
  isWithinCharacters,
} from "./formats.ts";
import { MEMBER_CHARACTERS_SHOWN, shownToken } from "./json-pointer.ts";
import { METADATA_NAMES } from "./metadata-keys.ts";
import { nearest } from "./nearest-word.ts";
import { RISK_TIERS } from "./risk-tiers.ts";

export const WARNING_CODES = [
  "unknown_field",
  "unknown_legal_basis",
  "unknown_metadata_key",
  "timestamp_in_future",
  "timestamp_long_ago",
  "asset_id_not_normalised",
] as const;

export interface Warning {
  /** JSON Pointer into the event. */
  readonly path: string;
  readonly code: (typeof WARNING_CODES)[number];
  readonly message: string;
}

const warning = (path: string, code: Warning["code"], message: string): Warning => ({ path, code, message });

/** `now`: when the event was received, in milliseconds since 1970. */
export type Warner = (event: AuditEvent, now: number) => readonly Warning[];

export const createWarner = (legalBases: readonly string[]): Warner => {
  const bases = { known: new Set(legalBases), legalBases };
  const nameNear = remembering(metadataNameNear);
  return (event, now) => {
    const { timestamp, asset_id: assetId, metadata } = event;
    const warnings: Warning[] = [];
    const age = now - instantMsOf(timestamp);
    if (age < -CLOCK_AHEAD_MS_MAX) warnings.push(IN_FUTURE);
    else if (age > LONG_AGO_MS_MIN) warnings.push(LONG_AGO);
    if (!ASCII_WITHOUT_BLANKS.test(assetId)) {
      if (INVISIBLE_END.test(assetId)) warnings.push(INVISIBLE_ASSET_ID);
      else if (assetId.normalize("NFC") !== assetId) warnings.push(DECOMPOSED_ASSET_ID);
    }
    warnOfLegalBases(event, warnings, bases);
    if (metadata) warnOfMetadata(event, metadata, warnings, nameNear);
    return warnOfMembers(event, warnings);
  };
};

const IN_FUTURE = warning(
  "/timestamp",
  "timestamp_in_future",
  "Kept as sent, but it is more than 5 minutes ahead of the service's clock: check the clock of the sender.",
);
const LONG_AGO = warning(
  "/timestamp",
  "timestamp_long_ago",
  "Kept as sent, but it is more than 30 days before the event was received. Obligations count from this time; `…_recorded_at` shows when the log received it.",
);

const ASCII_WITHOUT_BLANKS = /^[!-~]*$/;
/** White space, control characters, and format characters such as a zero-width space: nobody sees them. */
const INVISIBLE_END = /^[\s\p{Cc}\p{Cf}]|[\s\p{Cc}\p{Cf}]$/u;
const INVISIBLE_ASSET_ID = warning(
  "/asset_id",
  "asset_id_not_normalised",
  "Kept as sent, but it begins or ends with a blank or an invisible character, so it names another asset than the same text without it.",
);
const DECOMPOSED_ASSET_ID = warning(
  "/asset_id",
  "asset_id_not_normalised",
  "Kept as sent, but it is not in Unicode normalization form C, so it names another asset than the same text in that form.",
);

interface KnownBases {
  readonly known: ReadonlySet<string>;
  readonly legalBases: readonly string[];
}

/** Those of the event, or else those in its metadata, as the views read them (facts.ts). */
const warnOfLegalBases = (
  { legal_bases: own, metadata }: AuditEvent,
  warnings: Warning[],
  { known, legalBases }: KnownBases,
): void => {
  const isOwn = own !== undefined && own.length > 0;
  const names: unknown = isOwn ? own : metadata?.legal_bases;
  if (!Array.isArray(names)) return;
  for (let index = 0; index < names.length && index < METADATA_LEGAL_BASES_MAX; index++) {
    const name: unknown = names[index];
    // What has another form means nothing at all; FORMS warn of it.
    if (typeof name !== "string" || known.has(name) || !isLegalBasis(name)) continue;
    const digits = digitsOf(name);
    // Another number is another article, and no slip: eu_ai_act_art_86 is not a misspelt eu_ai_act_art_6.
    const near = nearest(
      name,
      legalBases.filter((candidate) => digitsOf(candidate) === digits),
    );
    const hint = near === undefined ? "." : `: did you mean "${near}"?`;
    const message = `Kept as sent, but no rule here names this legal basis${hint}`;
    const path = isOwn ? "/legal_bases" : "/metadata/legal_bases";
    warnings.push(warning(`${path}/${index}`, "unknown_legal_basis", message));
  }
};

const digitsOf = (name: string): string => name.replaceAll(/\D/g, "");

type NameNear = (key: string) => string | undefined;

const warnOfMetadata = (
  event: AuditEvent,
  metadata: JsonObject,
  warnings: Warning[],
  nameNear: NameNear,
): void => {
  for (const { name, expected } of notUnderstood(event, metadata)) {
    const message = `Kept as sent, but it has no meaning in this form: send ${expected}.`;
    warnings.push(warning(`/metadata/${name}`, "unknown_field", message));
  }
  let compared = 0;
  for (const key in metadata) {
    if (METADATA_NAMES.has(key)) continue;
    if (compared++ === NAMES_COMPARED_MAX) break;
    const near = nameNear(key);
    if (near === undefined || Object.hasOwn(metadata, near)) continue;
    const message = `Kept as sent, but it has no meaning here: did you mean "${near}"?`;
    warnings.push(warning(`/metadata/${shownToken(key)}`, "unknown_metadata_key", message));
  }
};

/** `decisionId`, `decision-id` and `Decision_ID` are spellings of one name. */
const wordsOf = (name: string): readonly string[] =>
  name
    .replaceAll(/([a-z0-9])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .split(/[\s_.-]+/);
const plain = (name: string): string => wordsOf(name).join("");

const METADATA_BY_PLAIN: ReadonlyMap<string, string> = new Map(
  [...METADATA_NAMES].map((name) => [plain(name), name]),
);
const METADATA_WORDS = [...METADATA_BY_PLAIN].map(([candidate, name]) => ({
  candidate,
  words: wordsOf(name),
}));

/**
 * Any other name is its sender's own, so only what is very near counts: from six letters on, one wrong letter in five. Short words and first letters are
 * right in a misspelling: `notified_at` and `decision_at` mean something else than `notified` and `decision_id`.
 */
const metadataNameNear: NameNear = (key) => {
  if (key.length > MEMBER_CHARACTERS_SHOWN) return undefined;
  const word = plain(key);
  const known = METADATA_BY_PLAIN.get(word);
  if (known !== undefined || word.length < COMPARED_LETTERS_MIN) return known;
  const words = wordsOf(key);
  const candidates = METADATA_WORDS.filter((other) => areAlike(words, other.words)).map(
    ({ candidate }) => candidate,
  );
  return METADATA_BY_PLAIN.get(nearest(word, candidates, { lettersPerFault: 5 }) ?? "");
};

const areAlike = (words: readonly string[], others: readonly string[]): boolean =>
  words.length === others.length &&
  words.every((word, index) => {
    const other = others[index] ?? "";
    return word === other || (word[0] === other[0] && Math.min(word.length, other.length) > 2);
  });

const COMPARED_LETTERS_MIN = 6;

/** A sender's events have the same keys again and again, and comparing one with the table takes 3 µs (measured). */
const remembering = (nameNear: NameNear): NameNear => {
  const known = new Map<string, string | undefined>();
  return (key) => {
    if (known.has(key)) return known.get(key);
    const near = nameNear(key);
    if (known.size === NAMES_REMEMBERED_MAX) known.clear();
    if (key.length <= MEMBER_CHARACTERS_SHOWN) known.set(key, near);
    return near;
  };
};

const NAMES_REMEMBERED_MAX = 1000;

const KNOWN_MEMBERS: ReadonlySet<string> = new Set(EVENT_MEMBERS);

/** Members without any hint come last: clients in the field send many of them, and what is misspelt must not be lost behind them. */
const warnOfMembers = (event: AuditEvent, warnings: Warning[]): readonly Warning[] => {
  const members: JsonObject = event;
  const others: Warning[] = [];
  let compared = 0;
  for (const member in event) {
    if (KNOWN_MEMBERS.has(member)) continue;
    const hint = compared++ < NAMES_COMPARED_MAX ? hintFor(member, members[member]) : undefined;
    if (hint !== undefined) warnings.push(unknownField(member, hint));
    else others.push(unknownField(member, NO_MEANING));
  }
  if (others.length > 0) warnings.push(...others);
  return within(WARNINGS_MAX, warnings);
};

const unknownField = (member: string, message: string): Warning =>
  warning(`/${shownToken(member)}`, "unknown_field", message);

const NO_MEANING = "Kept as sent, but it has no meaning here.";

/** Whether it is about a member that only its sender knows. */
export const isOfOwnMember = ({ message }: Warning): boolean => message === NO_MEANING;

const hintFor = (member: string, value: unknown): string | undefined => {
  const alias = MEMBER_ALIASES.get(member);
  if (alias !== undefined)
    return typeof value === "string" && isSha256(value)
      ? `Kept as sent, and read as ${alias} where that is absent.`
      : `Kept as sent, but it has no meaning here: send ${alias}, as "sha256:" and 64 hexadecimal digits.`;
  if (DECISION_NAMES.includes(member))
    return isName(value)
      ? `Kept as sent, and read as metadata.${member}: send it there.`
      : `Kept as sent, but it names nothing: send metadata.${member}, ${NAME_EXPECTED}.`;
  const near = nearest(member, EVENT_MEMBERS);
  return near && `Kept as sent, but it has no meaning here: did you mean "${near}"?`;
};

/** Never cuts in silence: where there are too many, the last one says how many others there are. */
export const within = <Kind extends Warning>(
  max: number,
  warnings: readonly (Warning | Kind)[],
): readonly (Warning | Kind)[] => {
  if (warnings.length <= max) return warnings;
  const shown = warnings.slice(0, max - 1);
  const more = warnings.length - shown.length;
  return [...shown, { path: "", code: "unknown_field", message: `There are ${more} more warnings.` }];
};

/**
 * Members of `metadata` that the views understand in one form only. In any other form they are kept without a meaning: then a duty follows from no
 * law, a number counts as missing, a person is unknown, an answer belongs to no decision. So the sender gets a warning.
 */
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
const isName = (value: unknown): boolean =>
  isText(value) ? isWithinCharacters(value, 1, IDENTIFIER_CHARACTERS_MAX) : Number.isFinite(value);

const NAME_EXPECTED = `a text of 1 to ${IDENTIFIER_CHARACTERS_MAX} characters`;
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
const notUnderstood = (event: JsonObject, metadata: JsonObject): readonly Form[] => {
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
