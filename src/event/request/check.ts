/** Turns a parsed body into a typed value, or into all of its problems: the place, the reason, and what to send instead. Never repeats what was sent. */
import type { Static, TSchema } from "@sinclair/typebox";
import { PROBLEMS_PER_EVENT_MAX } from "../../limits.ts";
import { createCheck, type Fault } from "../check.ts";
import { MEMBER_CHARACTERS_SHOWN } from "../json-pointer.ts";
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
