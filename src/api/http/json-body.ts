/**
 * Reads a request's JSON strictly: duplicate members are refused rather than guessed, and so is a value that is nested too deep to be
 * checked.
 */

import { EVENT_DEPTH_MAX, OBJECT_BODY_BYTES_MAX } from "../../limits.ts";
import { readBodyText } from "../intake/body-text.ts";
import { type JsonSlice, sliceBody } from "../intake/json/slice.ts";
import type { BodyReader } from "./body.ts";
import type { Call } from "./call.ts";
import { holderOfRequest } from "./holder.ts";
import { problem, type RequestError } from "./problem.ts";

export const readJson = async (
  bodies: BodyReader,
  { request, context, isStillAllowed }: Pick<Call, "request" | "context" | "isStillAllowed">,
  /** For an optional body: the value if it is left out. */
  leftOut?: { readonly value: unknown },
): Promise<{ readonly value: unknown } | Response> => {
  const body = await bodies.read(request, {
    bytesMax: OBJECT_BODY_BYTES_MAX,
    holder: holderOfRequest(context),
    isStillAllowed,
    isOptional: leftOut !== undefined,
  });
  if (body.kind === "refused") return problem(context, body.code, body);
  if (leftOut && body.bytes.byteLength === 0) {
    body.release();
    return leftOut;
  }
  const text = readBodyText(body.bytes)?.text;
  body.release();
  if (text === undefined) return problem(context, "invalid_utf8");
  const sliced = sliceBody(text);
  if (sliced.kind === "invalid_json") return problem(context, "invalid_json", { detail: sliced.detail });
  const errors = structuralErrors(sliced.slice);
  return errors.length > 0 ? problem(context, "invalid_request", { errors }) : { value: sliced.slice.value };
};

const structuralErrors = ({ depth, duplicateMembers }: JsonSlice): readonly RequestError[] => {
  if (depth > EVENT_DEPTH_MAX) {
    const message = `The body is nested ${depth} levels deep: send at most ${EVENT_DEPTH_MAX}.`;
    return [{ path: "", code: "too_deep", message }];
  }
  return duplicateMembers.map((path) => ({
    path,
    code: "duplicate_member",
    message: "The member stands twice: send it once.",
  }));
};
