/**
 * TypeBox's JSON Schema → the dialect of OpenAPI 3.0 (§4.7.24), which has no `const`, `patternProperties`, type null or
 * `examples`. Pure.
 */
type Schema = { readonly [name: string]: unknown };

const isSchema = (value: unknown): value is Schema =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export const toOpenApi = (schema: Schema): Schema => {
  const { const: constant, patternProperties, examples, anyOf, ...rest } = schema;
  const result: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(rest))
    if (!name.startsWith("x-")) result[name] = converted(member);
  Object.assign(result, formatOf(rest));
  if (rest["x-unique-items"] === true) result.uniqueItems = true;
  if (constant !== undefined) result.enum = [constant];
  if (isSchema(patternProperties))
    result.additionalProperties = converted(Object.values(patternProperties)[0] ?? {});
  if (Array.isArray(examples) && examples[0] !== undefined) result.example = examples[0];
  if (Array.isArray(anyOf)) Object.assign(result, unionOf(anyOf.filter(isSchema).map(toOpenApi)));
  return result;
};

const converted = (value: unknown): unknown =>
  Array.isArray(value) ? value.map(converted) : isSchema(value) ? toOpenApi(value) : value;

/** Without a format generated clients, for example in Java, keep an integer in 32 bits (OpenAPI 3.0, §4.4); a sequence may need more. */
export const formatOf = ({ type, maximum }: Schema) =>
  type === "integer" && !(typeof maximum === "number" && maximum < 2 ** 31) ? { format: "int64" } : {};

const unionOf = (members: readonly Schema[]): Schema => {
  const others = members.filter(({ type }) => type !== "null");
  const [first, ...more] = others;
  const isOneEnum = others.every((each) => Array.isArray(each.enum) && each.type === first?.type);
  const union =
    more.length === 0
      ? { ...first }
      : isOneEnum
        ? { type: first?.type ?? "string", enum: others.flatMap((each) => each.enum) }
        : { anyOf: others };
  return others.length < members.length ? orNull(union) : union;
};

/** `nullable` works only beside `type` (OpenAPI 3.0.3 §4.7.24), so in a union each member has it. */
const orNull = (schema: Schema): Schema => {
  const { anyOf, enum: values } = schema;
  if (Array.isArray(anyOf)) return { ...schema, anyOf: anyOf.map(orNull) };
  return { ...schema, nullable: true, ...(Array.isArray(values) && { enum: [...values, null] }) };
};
