/**
 * Turns a value into all of its problems, as JSON Pointers (RFC 6901). Pure. It never changes the value and never repeats it in a message: what a
 * client sent by mistake may be a secret.
 */
import { Errors, type ValueError, ValueErrorType } from "@sinclair/typebox/errors";
import { LEGAL_BASES_MAX, PROBLEMS_PER_EVENT_MAX, TAG_KEY_CHARACTERS_MAX } from "../limits.ts";
import { createAcceptor } from "./acceptor.ts";
import { type AuditEvent, auditEventSchema, type EventVocabulary, TagValue } from "./audit-event.ts";
import { isObject } from "./facts.ts";
import { isLegalBasis, isWithinCharacters } from "./formats.ts";
import { pointerToken, shortPointer } from "./json-pointer.ts";
import { nearest } from "./nearest-word.ts";
import { createWarner, type Warning } from "./warnings.ts";

export type ProblemCode =
  | "required"
  | "invalid_type"
  | "invalid_value"
  | "unknown_event_type"
  | "too_many"
  | "not_unique"
  | "too_deep"
  | "duplicate_member"
  | "too_large";

/** One problem of a request, and where it is. */
export interface Problem {
  /** JSON Pointer into the event. */
  readonly path: string;
  readonly code: ProblemCode;
  readonly message: string;
}

export type Validation =
  | { readonly kind: "valid"; readonly event: AuditEvent; readonly warnings: readonly Warning[] }
  /** At most PROBLEMS_PER_EVENT_MAX problems; `problemCount` counts them all. */
  | InvalidEvent;

export interface InvalidEvent {
  readonly kind: "invalid";
  readonly problems: readonly Problem[];
  readonly problemCount: number;
  /** Present if it is valid, so that the sender knows which of its events this is. */
  readonly eventId?: string;
}

/** `now`: when the event was received, in milliseconds since 1970. */
export type EventValidator = (value: unknown, now: number) => Validation;

export const createEventValidator = (vocabulary: EventVocabulary): EventValidator => {
  const schema = auditEventSchema(vocabulary);
  const isAccepted = createAcceptor(schema);
  const warningsFor = createWarner(vocabulary.legalBases);
  return (value, now) => {
    if (isAccepted(value)) {
      const problems = semanticProblems(value);
      return problems.length > 0
        ? invalid(value, problems)
        : { kind: "valid", event: value, warnings: warningsFor(value, now) };
    }
    const { told, wrongBehind } = firstEntries(value);
    const problems = [...schemaProblems(Errors(schema, [], told), vocabulary), ...semanticProblems(value)];
    return invalid(value, problems, wrongBehind);
  };
};

/**
 * More entries of tags and legal bases are counted but not described: TypeBox takes 15 µs for each wrong one, and a batch full of them took it a
 * minute (measured).
 */
const ENTRIES_TOLD_MAX = 2 * PROBLEMS_PER_EVENT_MAX;

const isTagValue = createAcceptor(TagValue);

const firstEntries = (value: unknown): { readonly told: unknown; readonly wrongBehind: number } => {
  if (!isObject(value)) return { told: value, wrongBehind: 0 };
  const tags = isObject(value.tags) ? Object.entries(value.tags) : [];
  const bases: readonly unknown[] = Array.isArray(value.legal_bases) ? value.legal_bases : [];
  const [moreTags, moreBases] = [tags.slice(ENTRIES_TOLD_MAX), bases.slice(ENTRIES_TOLD_MAX)];
  const wrongBehind =
    moreTags.filter(([, tag]) => !isTagValue(tag)).length +
    moreBases.filter((name) => typeof name !== "string" || !isLegalBasis(name)).length;
  const told = {
    ...value,
    ...(moreTags.length > 0 && { tags: Object.fromEntries(tags.slice(0, ENTRIES_TOLD_MAX)) }),
    ...(moreBases.length > 0 && { legal_bases: bases.slice(0, ENTRIES_TOLD_MAX) }),
  };
  return { told, wrongBehind };
};

const invalid = (value: unknown, problems: readonly Problem[], more = 0): InvalidEvent => {
  const eventId = isObject(value) && typeof value.event_id === "string" ? value.event_id : undefined;
  const isKnown = eventId !== undefined && !problems.some(({ path }) => path === "/event_id");
  return {
    kind: "invalid",
    problems: problems.slice(0, PROBLEMS_PER_EVENT_MAX),
    problemCount: problems.length + more,
    ...(isKnown && { eventId }),
  };
};

/** One problem per place: TypeBox reports a missing member both as missing and as being of the wrong type. */
const schemaProblems = (errors: Iterable<ValueError>, vocabulary: EventVocabulary): Problem[] => {
  const byPath = new Map<string, Problem>();
  for (const error of errors) {
    if (!byPath.has(error.path)) byPath.set(error.path, describe(error, vocabulary));
  }
  return [...byPath.values()];
};

const describe = (error: ValueError, vocabulary: EventVocabulary): Problem => {
  const path = shortPointer(error.path, TAG_KEY_CHARACTERS_MAX);
  const name = path === "" ? "The event" : path.slice(1);
  const expects = String(error.schema["x-expects"]);
  switch (error.type) {
    case ValueErrorType.ObjectRequiredProperty:
      return { path, code: "required", message: `${name} is required: send ${expects}.` };
    case ValueErrorType.ArrayMaxItems:
    case ValueErrorType.ObjectMaxProperties:
      return { path, code: "too_many", message: `${name} holds too many entries: send ${expects}.` };
    default: {
      if (path === "/event_type") return describeEventType(error.value, vocabulary);
      const isWrongType = error.schema.type !== undefined && error.schema.type !== jsonType(error.value);
      return {
        path,
        code: isWrongType ? "invalid_type" : "invalid_value",
        message: `${name} is not valid: send ${expects}.`,
      };
    }
  }
};

/** The name of a value's type in JSON Schema. */
const jsonType = (value: unknown): string => {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
};

const describeEventType = (value: unknown, vocabulary: EventVocabulary): Problem => {
  const path = "/event_type";
  if (typeof value !== "string") {
    return {
      path,
      code: "invalid_type",
      message: "event_type is not valid: send one of the documented event types.",
    };
  }
  const near = nearest(value, vocabulary.eventTypes);
  const hint = near === undefined ? "send one of the documented event types" : `did you mean "${near}"?`;
  return {
    path,
    code: "unknown_event_type",
    message: `event_type is not a known type: ${hint}${near ? "" : "."}`,
  };
};

/** Rules that the schema does not express: JSON Schema in OpenAPI 3.0 has no `propertyNames`, and `uniqueItems` is slow. */
const semanticProblems = (value: unknown): readonly Problem[] => {
  if (!isObject(value)) return NO_PROBLEMS;
  const { tags, legal_bases } = value;
  if (tags === undefined && legal_bases === undefined) return NO_PROBLEMS;
  const problems: Problem[] = [];
  if (Array.isArray(legal_bases) && legal_bases.length <= LEGAL_BASES_MAX && hasRepeats(legal_bases)) {
    const message = `legal_bases names something twice: send an array of at most ${LEGAL_BASES_MAX} different names.`;
    problems.push({ path: "/legal_bases", code: "not_unique", message });
  }
  if (!isObject(tags)) return problems;
  for (const key in tags) {
    if (isWithinCharacters(key, 1, TAG_KEY_CHARACTERS_MAX)) continue;
    problems.push({
      path: `/tags/${pointerToken(key.slice(0, TAG_KEY_CHARACTERS_MAX))}`,
      code: "invalid_value",
      message: `A tag key is not valid: send 1 to ${TAG_KEY_CHARACTERS_MAX} characters.`,
    });
  }
  return problems;
};

const NO_PROBLEMS: readonly Problem[] = [];

const hasRepeats = (items: readonly unknown[]): boolean =>
  items.length > 1 && new Set(items).size < items.length;
