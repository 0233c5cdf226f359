/**
 * Turns a parsed body into a typed value, or into all of its problems: the place, the reason, and what to send instead. Never repeats what was sent.
 */
import type { Static, TSchema } from "@sinclair/typebox";
import { type TypeCheck, TypeCompiler, type ValueError, ValueErrorType } from "@sinclair/typebox/compiler";
import { PROBLEMS_PER_EVENT_MAX } from "../../limits.ts";
import { MEMBER_CHARACTERS_SHOWN, pointerToken } from "../json-pointer.ts";
import { nearest } from "../nearest-word.ts";
import { choicesOf, expectationOf, membersOf } from "./expectation.ts";

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
  // Compiled at the first request: compiling all of them would take a twentieth of a start (measured).
  let compiled: TypeCheck<Schema> | undefined;
  return (value) => {
    compiled ??= TypeCompiler.Compile(schema);
    const requests = compiled;
    if (requests.Check(value)) return { kind: "ok", request: value };
    const byPath = new Map<string, RequestProblem>();
    for (const error of requests.Errors(value)) {
      if (byPath.size >= PROBLEMS_PER_EVENT_MAX) break;
      // TypeBox reports a missing member twice: as missing and as of the wrong type. The first says more.
      if (!byPath.has(error.path)) byPath.set(error.path, problemOf(error));
    }
    return { kind: "invalid", problems: [...byPath.values()] };
  };
};

const speakOfAll = (schema: TSchema): void => {
  expectationOf(schema);
  for (const member of Object.values<TSchema>(schema.properties ?? {})) speakOfAll(member);
  if (schema.items) speakOfAll(schema.items);
};

const problemOf = (error: ValueError): RequestProblem => {
  const { path, type, schema } = error;
  if (type === ValueErrorType.ObjectAdditionalProperties) return unknownMember(path, membersOf(schema));
  const name = path === "" ? "The body" : path.slice(1);
  const expects = expectationOf(schema);
  if (type === ValueErrorType.ObjectRequiredProperty)
    return { path, code: "required", message: `${name} is required: send ${expects}.` };
  const near = typeof error.value === "string" ? nearest(error.value, choicesOf(schema)) : undefined;
  const advice = near === undefined ? `send ${expects}` : `did you mean ${near}? Send ${expects}`;
  const isOfText = type === ValueErrorType.Kind && typeof error.value !== "string";
  const code = WRONG_TYPES.has(type) || isOfText ? "invalid_type" : "invalid_value";
  return { path, code, message: `${name} is not valid: ${advice}.` };
};

const WRONG_TYPES: ReadonlySet<ValueErrorType> = new Set([
  ValueErrorType.Object,
  ValueErrorType.Array,
  ValueErrorType.String,
  ValueErrorType.Integer,
  ValueErrorType.Number,
  ValueErrorType.Boolean,
]);

const unknownMember = (path: string, known: readonly string[]): RequestProblem => {
  const at = path.lastIndexOf("/") + 1;
  const name = path.slice(at).replaceAll("~1", "/").replaceAll("~0", "~");
  const near = nearest(name.slice(0, MEMBER_CHARACTERS_SHOWN), known);
  const message =
    near === undefined
      ? `There is no such member. Known: ${known.join(", ")}.`
      : `There is no such member: did you mean ${near}?`;
  return {
    path: path.slice(0, at) + pointerToken(name.slice(0, MEMBER_CHARACTERS_SHOWN)),
    code: "unknown_field",
    message,
  };
};
