/** Turns the body of a key request into a typed value or into all that is wrong with it. */
import { createRequestCheck, type RequestProblem } from "../event/request/check.ts";
import { CreateKeyRequest, RotateKeyRequest } from "./key-record.ts";
import type { Scope } from "./scopes.ts";
import { ROLE_SCOPES, ROLES, type Seat } from "./seats.ts";
import { instantOf } from "./utc-time.ts";

export interface KeyProblem {
  /** JSON Pointer into the body; empty for the key or the body as a whole. */
  readonly path: string;
  readonly code: RequestProblem["code"] | "too_many" | "exceeds_own";
  readonly message: string;
}

export const checkCreateKeyRequest = createRequestCheck(CreateKeyRequest);

export const checkRotateKeyRequest = createRequestCheck(RotateKeyRequest);

/** The scopes and the seat that are asked for, or why they do not fit together. */
export const seatOf = (
  asked: CreateKeyRequest,
):
  | { readonly kind: "ok"; readonly scopes: Scope[]; readonly seat: Seat }
  | { readonly kind: "invalid"; readonly problems: readonly KeyProblem[] } => {
  const { role, person, covers, scopes } = asked;
  const problems: KeyProblem[] = [];
  const refuse = (path: string, message: string): unknown =>
    problems.push({ path, code: "invalid_value", message });
  if (role === undefined && scopes === undefined)
    problems.push({ path: "/scopes", code: "required", message: NEITHER });
  if (role !== undefined && scopes !== undefined) refuse("/scopes", BOTH);
  if (covers !== undefined && role !== "auditor") refuse("/covers", NOT_AN_AUDITOR);
  if (covers !== undefined && Object.keys(covers).length === 0) refuse("/covers", COVERS_NOTHING);
  if (covers?.asset_ids?.some((id) => !id.isWellFormed())) refuse("/covers/asset_ids", NOT_UNICODE);
  const [from, to] = [timeOf(covers?.from), timeOf(covers?.to)];
  if (from === "invalid") refuse("/covers/from", "covers/from is a day that does not exist.");
  if (to === "invalid") refuse("/covers/to", "covers/to is a day that does not exist.");
  if (from && to && ![from, to].includes("invalid") && from >= to) refuse("/covers/from", NO_TIME_BETWEEN);
  if (problems.length > 0) return { kind: "invalid", problems };
  const seat = {
    ...(role !== undefined && { role }),
    ...(person !== undefined && { person }),
    ...(covers && {
      covers: { ...covers, ...(from !== undefined && { from }), ...(to !== undefined && { to }) },
    }),
  };
  return { kind: "ok", scopes: role === undefined ? (scopes ?? []) : [...ROLE_SCOPES[role]], seat };
};

const timeOf = (time: string | undefined): string | "invalid" | undefined =>
  time === undefined ? undefined : (instantOf(time) ?? "invalid");

const NEITHER = `scopes is required: send what the key may do, or send role instead, one of ${ROLES.join(", ")}.`;
const BOTH =
  "A role gives the key its scopes: leave out scopes to make a seat with the role, or leave out role to make a key with these scopes.";
const NOT_AN_AUDITOR =
  "Only the seat of an auditor covers a part: leave out covers, or send the role auditor.";
const COVERS_NOTHING =
  "covers is empty: send asset_ids, from or to, or leave it out for a seat that covers the whole tenant.";
const NOT_UNICODE = "covers/asset_ids has a text with half a character: send whole Unicode characters.";
const NO_TIME_BETWEEN = "covers/from is not before covers/to: send the earlier time in from.";
