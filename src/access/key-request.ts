/** Turns the body of a key request into a typed value or into all that is wrong with it. */
import { createRequestCheck, type RequestProblem } from "../request/check.ts";
import { CreateKeyRequest, RotateKeyRequest } from "./key-record.ts";

export interface KeyProblem {
  /** JSON Pointer into the body; empty for the key or the body as a whole. */
  readonly path: string;
  readonly code: RequestProblem["code"] | "too_many" | "exceeds_own";
  readonly message: string;
}

export const checkCreateKeyRequest = createRequestCheck(CreateKeyRequest);

export const checkRotateKeyRequest = createRequestCheck(RotateKeyRequest);
