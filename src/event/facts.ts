/**
 * What the views know about an event, including the places where clients in the field put it: the public client of SPEC.md's service sends
 * `legal_bases` and the hash of the person inside `metadata`. Takes any JSON object, because the log may contain what an older or newer version
 * accepted. A member of a wrong type counts as absent.
 */
import { IDENTIFIER_CHARACTERS_MAX, KEPT_TEXT_CHARACTERS_MAX, METADATA_LEGAL_BASES_MAX } from "../limits.ts";
import {
  canonicalEventId,
  canonicalTraceId,
  isLegalBasis,
  isSha256,
  isWithinCharacters,
  timeKeyOf,
} from "./formats.ts";

export type JsonObject = Readonly<Record<string, unknown>>;

export interface EventFacts {
  /** In canonical form: a UUID in lower case. */
  readonly eventId: string;
  readonly eventType: string;
  readonly assetId: string;
  /** The event's `timestamp` as text that sorts by time. */
  readonly occurred: string;
  readonly riskTier: string | null;
  /** Distinct. */
  readonly legalBases: readonly string[];
  readonly correlationId: string | null;
  /** SPEC 2.1 has no such member. Some clients send it beside the others; it is kept and understood. */
  readonly decisionId: string | null;
  /** In lower case. */
  readonly subjectHash: string | null;
  /** In lower case. Clients in the field call it `output_hash`. */
  readonly outcomeHash: string | null;
  /** In canonical form: an id of W3C Trace Context is in lower case. */
  readonly traceId: string | null;
  readonly assetVersion: string | null;
  readonly tags: readonly Tag[];
  /** Empty if there is none. */
  readonly metadata: JsonObject;
}

export interface Tag {
  readonly key: string;
  /** Numbers and booleans as JavaScript writes them. */
  readonly value: string;
}

/** Undefined if one of the four required members is missing or malformed. */
export const eventFacts = (event: JsonObject): EventFacts | undefined => {
  const { event_id: id, timestamp, asset_id: assetId, event_type: eventType } = event;
  if (!isText(id) || !isText(assetId) || !isText(eventType)) return undefined;
  const occurred = isText(timestamp) ? timeKeyOf(timestamp) : undefined;
  if (occurred === undefined) return undefined;
  const metadata = isObject(event.metadata) ? event.metadata : {};
  return {
    eventId: canonicalEventId(id),
    eventType,
    assetId,
    occurred,
    riskTier: textOrNull(event.risk_tier),
    legalBases: legalBasesOf(event.legal_bases, metadata.legal_bases),
    correlationId: textOrNull(event.correlation_id) ?? metadataName(metadata, GEN_AI_CONVERSATION) ?? null,
    decisionId: metadataName(event, ...DECISION_NAMES) ?? null,
    subjectHash: hashUnder(SUBJECT_HASH, event) ?? hashUnder(SUBJECT_HASH_IN_METADATA, metadata),
    outcomeHash: hashUnder(OUTCOME_HASH, event) ?? hashUnder(OUTCOME_HASH, metadata),
    traceId: isText(event.trace_id) ? canonicalTraceId(event.trace_id) : null,
    assetVersion: textOrNull(event.asset_version),
    tags: tagsOf(event.tags),
    metadata,
  };
};

/** OpenTelemetry's names for generative AI (semantic-conventions-genai, still "Development"), as instrumented programs write them into `metadata`. */
export const GEN_AI_CONVERSATION = "gen_ai.conversation.id";
const MODEL_NAMES: readonly string[] = [
  "model",
  "model_name",
  "gen_ai.response.model",
  "gen_ai.request.model",
];

/** Keys of `metadata` that name a decision. Clients in the field also send them beside the other members. */
export const DECISION_NAMES: readonly string[] = ["decision_id", "original_decision_id"];

/** Other names that clients in the field use for members of SPEC 2.1. They are read if the member itself is absent. */
export const MEMBER_ALIASES: ReadonlyMap<string, "context_hash" | "outcome_hash"> = new Map([
  ["input_hash", "context_hash"],
  ["output_hash", "outcome_hash"],
]);

const SUBJECT_HASH = ["subject_hash"];
const SUBJECT_HASH_IN_METADATA = ["subject_hash", "user_id_hash", "recipient_hash"];
const OUTCOME_HASH = [
  "outcome_hash",
  ...[...MEMBER_ALIASES].flatMap(([alias, meant]) => (meant === "outcome_hash" ? [alias] : [])),
];

/** The value of the first of these names that has one. */
const hashUnder = (names: readonly string[], object: JsonObject): string | null => {
  for (const name of names) {
    const value = object[name];
    if (isText(value) && isSha256(value)) return value.toLowerCase();
  }
  return null;
};

/** As it was sent; undefined if there is none. */
export const hashMember = (
  event: JsonObject,
  member: "context_hash" | "outcome_hash",
): string | undefined => {
  if (isText(event[member])) return event[member];
  for (const [alias, meant] of MEMBER_ALIASES) {
    const sent = event[alias];
    if (meant === member && isText(sent) && isSha256(sent)) return sent;
  }
  return undefined;
};

/**
 * A text, or a number as text. An integer too large to be read exactly, such as 1e20, does not count, nor does a number that no double can hold, such
 * as 1e400: two of them could look the same. An integer written in digits is already a text (readEvent).
 */
export const valueText = (value: unknown): string | undefined => {
  if (isText(value)) return value === "" ? undefined : value;
  const isExact =
    typeof value === "number" &&
    Number.isFinite(value) &&
    (Number.isSafeInteger(value) || !Number.isInteger(value));
  return isExact ? String(value) : undefined;
};

/** The value of the first of these names that has one. */
export const metadataText = (metadata: JsonObject, ...names: readonly string[]): string | undefined => {
  for (const name of names) {
    const text = valueText(metadata[name]);
    if (text !== undefined) return text;
  }
  return undefined;
};

/** The same for an identifier, which becomes part of keys: a value that is too long for an identifier does not count. */
export const metadataName = (metadata: JsonObject, ...names: readonly string[]): string | undefined =>
  asName(metadataText(metadata, ...names));

/**
 * The version of the model that an event is about. Clients write the running version into whatever they send, so what `metadata` says about the model
 * takes precedence.
 */
export const modelVersion = ({ assetVersion, metadata }: EventFacts): string | undefined =>
  metadataName(metadata, "model_version") ??
  assetVersion ??
  metadataName(metadata, "asset_version", "version");

/** The model that an event is about. In an event about a model itself, `name` is its name. */
export const modelText = ({ eventType, metadata }: EventFacts): string | undefined =>
  metadataText(metadata, ...MODEL_NAMES, ...(eventType.startsWith("model.") ? ["name"] : []));

/** The same, short enough for a key. */
export const modelName = (facts: EventFacts): string | undefined => asName(modelText(facts));

const asName = (text: string | undefined): string | undefined =>
  text !== undefined && isWithinCharacters(text, 1, IDENTIFIER_CHARACTERS_MAX) ? text : undefined;

/**
 * The part of a text that a view keeps. The whole text stays in the event; the last character shows that there is more. A surrogate pair is not
 * split: half of one is a character that nobody sent, and parsers that require valid Unicode refuse an answer that contains it (RFC 8259 §8.2).
 */
export const shortened = (text: string, charactersMax = KEPT_TEXT_CHARACTERS_MAX): string => {
  if (text.length <= charactersMax) return text;
  const cutsPair = (text.codePointAt(charactersMax - 1) ?? 0) > 0xffff;
  return `${text.slice(0, cutsPair ? charactersMax - 1 : charactersMax)}…`;
};

/**
 * The part of a readable text in `metadata` that a view keeps: with whole texts a page of a register would be as large as 200 events for each of its
 * columns.
 */
export const keptText = (metadata: JsonObject, ...names: readonly string[]): string | undefined => {
  const text = metadataText(metadata, ...names);
  return text === undefined ? undefined : shortened(text);
};

const isText = (value: unknown): value is string => typeof value === "string";

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const textOrNull = (value: unknown): string | null => (isText(value) ? value : null);

const legalBasesOf = (first: unknown, second: unknown): readonly string[] => {
  const hasOwn = Array.isArray(first) && first.length > 0;
  const candidates: readonly unknown[] = hasOwn ? first : Array.isArray(second) ? second : NONE;
  const names: string[] = [];
  for (const name of candidates) {
    if (names.length === METADATA_LEGAL_BASES_MAX) break;
    if (isText(name) && isLegalBasis(name) && !names.includes(name)) names.push(name);
  }
  return names;
};

const NONE: readonly unknown[] = [];

const tagsOf = (value: unknown): readonly Tag[] => {
  const tags: Tag[] = [];
  if (!isObject(value)) return tags;
  for (const key of Object.keys(value)) {
    const content = value[key];
    if (isText(content) || typeof content === "number" || typeof content === "boolean")
      tags.push({ key, value: String(content) });
  }
  return tags;
};

/**
 * An event of the log as the views read it. A whole number in `tags` or `metadata`, or one that names a decision beside them, is read as the text of
 * its digits if JavaScript would round it, such as 9007199254740993: so a search for a 64-bit id finds exactly that id. Throws if the text is not
 * JSON.
 */
export const readEvent = (text: string): JsonObject => {
  const event: JsonObject = Object(JSON.parse(text));
  if (!LONG_NUMBER.test(text)) return event;
  const exact: JsonObject = Object(JSON.parse(text, digitsAsSent));
  const { tags, metadata } = exact;
  const names = DECISION_NAMES.filter((name) => Object.hasOwn(exact, name));
  return { ...event, tags, metadata, ...Object.fromEntries(names.map((name) => [name, exact[name]])) };
};

/** The source of a number: ECMA-262, `JSON.parse` with the context of its reviver. */
const digitsAsSent = (_name: string, value: unknown, context?: { readonly source?: string }): unknown =>
  typeof value === "number" && context?.source !== undefined && isRounded(value, context.source)
    ? context.source
    : value;

const isRounded = (value: number, source: string): boolean =>
  Number.isInteger(value) && !Number.isSafeInteger(value) && WHOLE.test(source);

const WHOLE = /^-?\d+$/;

/** As many digits as 2^53 has, the first whole number that may be another one rounded, at a place where a number may end, which a hash is not. */
const LONG_NUMBER = /\d{16}[,}\] \t\n\r]/;
