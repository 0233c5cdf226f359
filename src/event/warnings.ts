/**
 * What is accepted but was probably not intended (DESIGN 9, "Warnings of an accepted event"): the event is kept as sent, and its sender is warned. The
 * texts never repeat what was sent, which may be a secret.
 */
import {
  CLOCK_AHEAD_MS_MAX,
  LONG_AGO_MS_MIN,
  METADATA_LEGAL_BASES_MAX,
  NAMES_COMPARED_MAX,
  WARNINGS_MAX,
} from "../limits.ts";
import { type AuditEvent, EVENT_MEMBERS } from "./audit-event.ts";
import { DECISION_NAMES, type JsonObject, MEMBER_ALIASES } from "./facts.ts";
import { instantMsOf, isLegalBasis, isSha256 } from "./formats.ts";
import { MEMBER_CHARACTERS_SHOWN, shownToken } from "./json-pointer.ts";
import { isName, NAME_EXPECTED, notUnderstood } from "./metadata-forms.ts";
import { METADATA_NAMES } from "./metadata-keys.ts";
import { nearest } from "./nearest-word.ts";

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
    // What has another form means nothing at all; metadata-forms.ts warns of it.
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
