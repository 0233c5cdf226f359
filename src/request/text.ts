/** A text in a request body other than an event. Its length counts in characters, as in JSON Schema: TypeBox counts maxLength in UTF-16 units. */
import { Kind, type TSchema, Type, TypeRegistry } from "@sinclair/typebox";
import { isWithinCharacters } from "../event/formats.ts";

const KIND = "Prooftrail.RequestText";

TypeRegistry.Set<TSchema>(
  KIND,
  ({ minLength, maxLength, pattern }, value) =>
    typeof value === "string" &&
    isWithinCharacters(value, minLength, maxLength) &&
    (pattern === undefined || new RegExp(pattern).test(value)),
);

export const requestText = (options: {
  readonly minLength: number;
  readonly maxLength: number;
  readonly pattern?: string;
  readonly description: string;
  readonly examples?: readonly string[];
  readonly "x-expects": string;
}) => Type.Unsafe<string>({ ...options, [Kind]: KIND, type: "string" });
