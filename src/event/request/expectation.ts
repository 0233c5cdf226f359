/** What a schema expects, in words: the end of the sentence "send …". Derived from the schema, so that no request body needs error texts of its own. */
import type { TSchema } from "@sinclair/typebox";

/** Where it cannot be derived, as for a pattern, the schema says it in `x-expects`; without that this throws. */
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
export const choicesOf = ({ anyOf }: TSchema): readonly string[] => {
  if (!Array.isArray(anyOf)) return [];
  const values: unknown[] = anyOf.map((member: TSchema) => member.const);
  return values.every((value) => typeof value === "string") ? values : [];
};

export const membersOf = ({ properties = {} }: TSchema): readonly string[] => Object.keys(properties);

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
