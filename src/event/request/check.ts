/** Turns a parsed body into a typed value, or into all of its problems: the place, the reason, and what to send instead. Never repeats what was sent. */
import type { Static, TSchema } from "@sinclair/typebox";
import { PROBLEMS_PER_EVENT_MAX } from "../../limits.ts";
import { createCheck, type Fault } from "../check.ts";
import { MEMBER_CHARACTERS_SHOWN } from "../json-pointer.ts";
import { nearest } from "../nearest-word.ts";

export interface RequestProblem {
  /** JSON Pointer into the body; empty for the body as a whole. */
  readonly path: string;
  readonly code: "required" | "invalid_type" | "invalid_value" | "unknown_field";
  readonly message: string;
}

export type CheckedRequest<Request> =
  | { readonly kind: "ok"; readonly request: Request }
  | { readonly kind: "invalid"; readonly problems: readonly RequestProblem[] };

/** Throws if some place of the schema has no expectation text: a bug, found when the program starts. */
export const createRequestCheck = <Schema extends TSchema>(
  schema: Schema,
): ((value: unknown) => CheckedRequest<Static<Schema>>) => {
  speakOfAll(schema);
  const { accepts, faults } = createCheck(schema);
  return (value) => {
    if (accepts(value)) return { kind: "ok", request: value };
    const problems = faults(value).slice(0, PROBLEMS_PER_EVENT_MAX);
    return {
      kind: "invalid",
      problems: problems.map((fault) =>
        fault.kind === "unknown_member" ? unknownMember(fault) : problemOf(fault, "The body"),
      ),
    };
  };
};

const speakOfAll = (schema: TSchema): void => {
  expectationOf(schema);
  for (const member of Object.values<TSchema>(schema.properties ?? {})) speakOfAll(member);
  if (schema.items) speakOfAll(schema.items);
};

const unknownMember = ({ path, schema, value }: Fault): RequestProblem => {
  const known = membersOf(schema);
  const near = nearest(String(value).slice(0, MEMBER_CHARACTERS_SHOWN), known);
  const hint = near === undefined ? `. Known: ${known.join(", ")}.` : `: did you mean ${near}?`;
  return { path, code: "unknown_field", message: `There is no such member${hint}` };
};

/** `whole`: what is named where the value itself is wrong. */
export const problemOf = ({ path, kind, schema, value }: Fault, whole: string) => {
  const name = path === "" ? whole : path.slice(1);
  const expects = expectationOf(schema);
  if (kind === "missing")
    return { path, code: "required", message: `${name} is required: send ${expects}.` } as const;
  const near = typeof value === "string" ? nearest(value, choicesOf(schema)) : undefined;
  const advice = near === undefined ? `send ${expects}` : `did you mean ${near}? Send ${expects}`;
  const code = kind === "wrong_type" ? "invalid_type" : "invalid_value";
  return { path, code, message: `${name} is not valid: ${advice}.` } as const;
};

/**
 * What a schema expects: the end of the sentence "send …". Derived from the schema, so that no request body needs error texts of its own. Where it
 * cannot be, as for a pattern, the schema says it in `x-expects`; without that this throws.
 */
export const expectationOf = (schema: TSchema): string => {
  const said: unknown = schema["x-expects"];
  if (typeof said === "string") return said;
  const choices = choicesOf(schema);
  if (choices.length > 0) return `one of ${choices.join(", ")}`;
  const alternatives: readonly TSchema[] = schema.anyOf ?? [];
  if (alternatives.length > 0) return alternatives.map(expectationOf).join(", or ");
  switch (schema.type) {
    case "null":
      return "null";
    case "integer":
      return `a whole number${bounds("from", schema.minimum, schema.maximum)}`;
    case "number":
      return `a number${bounds("from", schema.minimum, schema.maximum)}`;
    case "boolean":
      return "true or false";
    case "string":
      if (schema.pattern === undefined && schema.format === undefined) return text(schema);
      break;
    case "array":
      return array(schema);
    case "object":
      return object(schema);
  }
  throw new Error(`a schema without an expectation text: ${JSON.stringify(schema)}`);
};

/** The values of a union of texts; none if it is something else. */
const choicesOf = ({ anyOf }: TSchema): readonly string[] => {
  if (!Array.isArray(anyOf)) return [];
  const values: unknown[] = anyOf.map((member: TSchema) => member.const);
  return values.every((value) => typeof value === "string") ? values : [];
};

const membersOf = ({ properties = {} }: TSchema): readonly string[] => Object.keys(properties);

const bounds = (between: "from" | "of", min: number | undefined, max: number | undefined): string => {
  if (min === undefined) return max === undefined ? "" : ` of at most ${max}`;
  return max === undefined ? ` of at least ${min}` : ` ${between} ${min} to ${max}`;
};

const text = ({ minLength, maxLength }: TSchema): string => {
  const size = bounds("of", minLength, maxLength);
  return size === "" ? "a text" : `a text${size} characters`;
};

const array = ({ minItems, maxItems, uniqueItems, items }: TSchema): string => {
  const entries = uniqueItems ? "different entries" : "entries";
  return `an array${bounds("of", minItems, maxItems) || " of"} ${entries}, each ${expectationOf(items)}`;
};

const object = (schema: TSchema): string => {
  const required: readonly string[] = schema.required ?? [];
  const optional = membersOf(schema).filter((name) => !required.includes(name));
  if (required.length === 0) return `an object with any of ${optional.join(", ")}`;
  const more = optional.length === 0 ? "" : ` and, where you want them, ${optional.join(", ")}`;
  return `an object with ${required.join(", ")}${more}`;
};
