/** Why somebody did something, as the body of a request says it. */
import { Type } from "@sinclair/typebox";

/** By UTF-16 units, so that any engine of JSON Schema reads it: white space, what has no glyph, and the second halves of pairs. */
const INVISIBLE =
  "\\s\\u00AD\\u034F\\u061C\\u115F\\u1160\\u17B4\\u17B5\\u180B-\\u180F\\u200B-\\u200F\\u2028-\\u202F\\u205F-\\u206F\\u2800\\u3164\\uDB40\\uDC00-\\uDFFF\\uFE00-\\uFE0F\\uFEFF\\uFFA0\\uFFF0-\\uFFFB";
/** Terminals obey control characters, and the bidirectional ones of UAX #9 make a text look like another. */
const CONTROLLING = "\\u0000-\\u0009\\u000B-\\u001F\\u007F-\\u009F\\u202A-\\u202E\\u2066-\\u2069";

/** An auditor reads it, so it must say something. */
export const reasonText = (options: { readonly maxLength: number; readonly description: string }) =>
  Type.String({
    ...options,
    minLength: 1,
    pattern: `^(?=[\\s\\S]*[^${INVISIBLE}])[^${CONTROLLING}]*$`,
    "x-expects": `a text of 1 to ${options.maxLength} characters, at least one of them visible, with no control characters but line breaks, and none that change the direction of writing`,
  });
