/**
 * Turns a value into all of its problems, as JSON Pointers (RFC 6901). Pure. It never changes the value and never repeats it in a message: what a
 * client sent by mistake may be a secret.
 */
import { PROBLEMS_PER_EVENT_MAX, TAG_KEY_CHARACTERS_MAX } from "../limits.ts";
import { type AuditEvent, auditEventSchema, type EventVocabulary } from "./audit-event.ts";
import { createCheck, type Fault } from "./check.ts";
import { isObject } from "./facts.ts";
import { isWithinCharacters } from "./formats.ts";
import { shownToken } from "./json-pointer.ts";
import { nearest } from "./nearest-word.ts";
import { expectationOf, problemOf } from "./request/check.ts";
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
  const { accepts, faults } = createCheck(auditEventSchema(vocabulary));
  const warningsFor = createWarner(vocabulary.legalBases);
  return (value, now) => {
    const isAccepted = accepts(value);
    const wrongKeys = tagKeyProblems(value);
    if (isAccepted && wrongKeys.length === 0)
      return { kind: "valid", event: value, warnings: warningsFor(value, now) };
    const problems = isAccepted ? [] : faults(value).map((fault) => describe(fault, vocabulary));
    return invalid(value, [...problems, ...wrongKeys]);
  };
};

const invalid = (value: unknown, problems: readonly Problem[]): InvalidEvent => {
  const eventId = isObject(value) && typeof value.event_id === "string" ? value.event_id : undefined;
  const isKnown = eventId !== undefined && !problems.some(({ path }) => path === "/event_id");
  return {
    kind: "invalid",
    problems: problems.slice(0, PROBLEMS_PER_EVENT_MAX),
    problemCount: problems.length,
    ...(isKnown && { eventId }),
  };
};

const describe = (fault: Fault, vocabulary: EventVocabulary): Problem => {
  const { path, kind, schema, value } = fault;
  if (path === "/event_type" && typeof value === "string") {
    const near = nearest(value, vocabulary.eventTypes);
    const hint = near === undefined ? `send ${expectationOf(schema)}.` : `did you mean "${near}"?`;
    return { path, code: "unknown_event_type", message: `event_type is not a known type: ${hint}` };
  }
  if (kind === "too_many" || kind === "not_unique") {
    const wrong = kind === "too_many" ? "holds too many entries" : "names something twice";
    return { path, code: kind, message: `${path.slice(1)} ${wrong}: send ${expectationOf(schema)}.` };
  }
  return problemOf(fault, "The event");
};

/** JSON Schema in OpenAPI 3.0 has no `propertyNames`. */
const tagKeyProblems = (value: unknown): readonly Problem[] => {
  if (!isObject(value) || !isObject(value.tags)) return NO_PROBLEMS;
  let problems: Problem[] | undefined;
  for (const key in value.tags) {
    if (isWithinCharacters(key, 1, TAG_KEY_CHARACTERS_MAX)) continue;
    problems ??= [];
    problems.push({
      path: `/tags/${shownToken(key)}`,
      code: "invalid_value",
      message: `A tag key is not valid: send 1 to ${TAG_KEY_CHARACTERS_MAX} characters.`,
    });
  }
  return problems ?? NO_PROBLEMS;
};

const NO_PROBLEMS: readonly Problem[] = [];
