/**
 * What the views know about an event, with the places where clients in the field put it: the public client of SPEC.md's
 * service sends `legal_bases` and the hash of the person inside `metadata`. Takes any JSON object, because the log may
 * hold what an older or newer version accepted; of a wrong type means absent.
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
  /** SPEC 2.1 has no such member; of clients that send it beside the others it is kept, and understood. */
  readonly decisionId: string | null;
  /** In lower case. */
  readonly subjectHash: string | null;
  /** The same. Clients in the field call it `output_hash`. */
  readonly outcomeHash: string | null;
  /** In canonical form: one of W3C Trace Context in lower case. */
  readonly traceId: string | null;
  readonly assetVersion: string | null;
  readonly tags: readonly Tag[];
  /** Empty where there is none. */
  readonly metadata: JsonObject;
}

export interface Tag {
  readonly key: string;
  /** Numbers and booleans as JavaScript writes them. */
  readonly value: string;
}

/** Undefined where one of the four required members is missing or malformed. */
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

/** OpenTelemetry's names for generative AI (semantic-conventions-genai, still "Development"), as instrumented programs put them into `metadata`. */
export const GEN_AI_CONVERSATION = "gen_ai.conversation.id";
const MODEL_NAMES: readonly string[] = [
  "model",
  "model_name",
  "gen_ai.response.model",
  "gen_ai.request.model",
];

/** Keys of `metadata` that name a decision, and that clients in the field send beside the other members. */
export const DECISION_NAMES: readonly string[] = ["decision_id", "original_decision_id"];

/** Names that clients in the field give to members of SPEC 2.1. Where the member itself is absent, they are read as it. */
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

/** Under the first of these names that has one. */
const hashUnder = (names: readonly string[], object: JsonObject): string | null => {
  for (const name of names) {
    const value = object[name];
    if (isText(value) && isSha256(value)) return value.toLowerCase();
  }
  return null;
};

/** As it was sent; undefined where there is none. */
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
 * A text, or a number as text. An integer that was too large to be read exactly, 1e20 for one, is none, nor is
 * what no double holds, 1e400: two of them could look alike. Written in digits an integer is a text already (read-event.ts).
 */
export const valueText = (value: unknown): string | undefined => {
  if (isText(value)) return value === "" ? undefined : value;
  const isExact =
    typeof value === "number" &&
    Number.isFinite(value) &&
    (Number.isSafeInteger(value) || !Number.isInteger(value));
  return isExact ? String(value) : undefined;
};

/** Under the first of these names that has one. */
export const metadataText = (metadata: JsonObject, ...names: readonly string[]): string | undefined => {
  for (const name of names) {
    const text = valueText(metadata[name]);
    if (text !== undefined) return text;
  }
  return undefined;
};

/** The same for what names something, and so stands in keys: what is too long for an identifier names nothing. */
export const metadataName = (metadata: JsonObject, ...names: readonly string[]): string | undefined =>
  asName(metadataText(metadata, ...names));

/**
 * Which version of its model an event is about. Clients stamp the version that runs on whatever they send, so what `metadata`
 * says of the model counts first.
 */
export const modelVersion = ({ assetVersion, metadata }: EventFacts): string | undefined =>
  metadataName(metadata, "model_version") ??
  assetVersion ??
  metadataName(metadata, "asset_version", "version");

/** Which model an event is about. Of what is told of a model itself `name` is its own. */
export const modelText = ({ eventType, metadata }: EventFacts): string | undefined =>
  metadataText(metadata, ...MODEL_NAMES, ...(eventType.startsWith("model.") ? ["name"] : []));

/** The same as a key may have it. */
export const modelName = (facts: EventFacts): string | undefined => asName(modelText(facts));

const asName = (text: string | undefined): string | undefined =>
  text !== undefined && isWithinCharacters(text, 1, IDENTIFIER_CHARACTERS_MAX) ? text : undefined;

/**
 * What a view keeps of a text. The whole text stays in the event; the last character shows that there is more. A pair of surrogates is not cut in two: half of
 * one is a character that nobody sent, and parsers that hold JSON to Unicode refuse the answer with it (RFC 8259 §8.2).
 */
export const shortened = (text: string, charactersMax = KEPT_TEXT_CHARACTERS_MAX): string => {
  if (text.length <= charactersMax) return text;
  const cutsPair = (text.codePointAt(charactersMax - 1) ?? 0) > 0xffff;
  return `${text.slice(0, cutsPair ? charactersMax - 1 : charactersMax)}…`;
};

/** What a view keeps of a text in `metadata` that is there to be read: whole ones would make a page of a register as large as 200 events for each of its columns. */
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
