/** Turns the body of a key request into a typed value or into all that is wrong with it. Never repeats what was sent. */
import type { Static, TSchema } from "@sinclair/typebox";
import { type TypeCheck, TypeCompiler, type ValueError, ValueErrorType } from "@sinclair/typebox/compiler";
import { PROBLEMS_PER_EVENT_MAX } from "../limits.ts";
import { CreateKeyRequest, RotateKeyRequest } from "./key-record.ts";

export interface KeyProblem {
  /** JSON Pointer into the body; empty for the key or the body as a whole. */
  readonly path: string;
  readonly code: "required" | "invalid_type" | "invalid_value" | "unknown_field" | "too_many" | "exceeds_own";
  readonly message: string;
}

export type CheckedRequest<Request> =
  | { readonly kind: "ok"; readonly request: Request }
  | { readonly kind: "invalid"; readonly problems: readonly KeyProblem[] };

export const checkCreateKeyRequest = (value: unknown): CheckedRequest<CreateKeyRequest> =>
  checkRequest(createRequests, value);

export const checkRotateKeyRequest = (value: unknown): CheckedRequest<RotateKeyRequest> =>
  checkRequest(rotateRequests, value);

const createRequests = TypeCompiler.Compile(CreateKeyRequest);
const rotateRequests = TypeCompiler.Compile(RotateKeyRequest);

export const checkRequest = <Schema extends TSchema>(
  requests: TypeCheck<Schema>,
  value: unknown,
): CheckedRequest<Static<Schema>> => {
  if (requests.Check(value)) return { kind: "ok", request: value };
  const problemsByPath = new Map<string, KeyProblem>();
  for (const error of requests.Errors(value)) {
    if (problemsByPath.size >= PROBLEMS_PER_EVENT_MAX) break;
    // TypeBox reports a missing member twice: as missing and as of the wrong type. The first says more.
    if (!problemsByPath.has(error.path)) problemsByPath.set(error.path, problemOf(error));
  }
  return { kind: "invalid", problems: [...problemsByPath.values()] };
};

const problemOf = ({ path, type, message }: ValueError): KeyProblem => {
  switch (type) {
    case ValueErrorType.ObjectRequiredProperty:
      return { path, code: "required", message: "This member is required." };
    case ValueErrorType.ObjectAdditionalProperties:
      return { path, code: "unknown_field", message: "This member is not known." };
    case ValueErrorType.Object:
    case ValueErrorType.Array:
    case ValueErrorType.String:
    case ValueErrorType.Integer:
      return { path, code: "invalid_type", message: `${message}.` };
    default:
      return { path, code: "invalid_value", message: `${message}.` };
  }
};
