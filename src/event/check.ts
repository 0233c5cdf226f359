/**
 * A schema compiled into a check: whether it accepts a value, and what is wrong with one that it refuses. Our own, because TypeBox's lookup of each kind
 * was half the cost of accepting an event (measured). A kind that has no function here is refused when the program starts.
 */
import { Kind, OptionalKind, type Static, type TSchema, type TString, Type } from "@sinclair/typebox";
import { isObject } from "./facts.ts";
import { isWithinCharacters } from "./formats.ts";
import { shownToken } from "./json-pointer.ts";

export interface Fault {
  readonly path: string;
  readonly kind: "missing" | "wrong_type" | "wrong_value" | "too_many" | "not_unique" | "unknown_member";
  /** What is expected there; for an unknown member the object's. */
  readonly schema: TSchema;
  readonly value: unknown;
}

export interface Check<Value> {
  readonly accepts: (value: unknown) => value is Value;
  /** Everything that is wrong, one place after another. */
  readonly faults: (value: unknown) => readonly Fault[];
}

export const createCheck = <Schema extends TSchema>(schema: Schema): Check<Static<Schema>> => {
  const judge = judgeOf(schema);
  return {
    accepts: (value): value is Static<Schema> => judge(value),
    faults: (value) => {
      const found: Fault[] = [];
      if (!judge(value)) explain({ schema, judge }, value, found, "");
      return found;
    },
  };
};

const ACCEPTS = Symbol("accepts");

/** A text with a rule of our own: JSON Schema counts characters where TypeBox counts UTF-16 units, and its formats are shared with Elysia. */
export const ownText = (
  options: Readonly<Record<string, unknown>>,
  accepts: (text: string) => boolean,
): TString => Object.assign(Type.String(options), { [ACCEPTS]: accepts });

export const oneOf = <const Word extends string>(
  words: readonly Word[],
  options: { readonly description?: string } = {},
) => Type.Unsafe<Word>({ ...Type.Union(words.map((word) => Type.Literal(word))), ...options });

/** Whether a value is accepted. Given `found`, the value was refused: then it adds everything that is wrong inside, and its verdict does not count. */
type Judge = (value: unknown, found?: Fault[], path?: string) => boolean;

const explain = (
  { schema, judge }: { readonly schema: TSchema; readonly judge: Judge },
  value: unknown,
  found: Fault[],
  path: string,
): void => {
  const before = found.length;
  judge(value, found, path);
  const kind = isOfType(schema, value) ? "wrong_value" : "wrong_type";
  if (found.length === before) found.push({ path, kind, schema, value });
};

const isOfType = ({ type }: TSchema, value: unknown): boolean => {
  switch (type) {
    case undefined:
      return true;
    case "object":
      return isObject(value);
    case "array":
      return Array.isArray(value);
    case "integer":
      return Number.isInteger(value);
    case "null":
      return value === null;
    default:
      return typeof value === type;
  }
};

const judgeOf = (schema: TSchema): Judge => {
  const { minimum = Number.NEGATIVE_INFINITY, maximum = Number.POSITIVE_INFINITY } = schema;
  const isWithin = (value: unknown): boolean => Number(value) >= minimum && Number(value) <= maximum;
  switch (schema[Kind]) {
    case "Object":
      return objectJudge(schema);
    case "Array":
      return arrayJudge(schema);
    case "Record":
      return recordJudge(schema);
    case "Union":
      return unionJudge(schema);
    case "String":
      return textJudge(schema);
    case "Integer":
      return (value) => Number.isInteger(value) && isWithin(value);
    case "Number":
      return (value) => Number.isFinite(value) && isWithin(value);
    case "Boolean":
      return (value) => typeof value === "boolean";
    case "Literal":
      return (value) => value === schema.const;
    case "Null":
      return (value) => value === null;
  }
  throw new Error(`no check for the kind ${schema[Kind]}`);
};

const textJudge = (schema: TSchema): Judge => {
  const own: unknown = Reflect.get(schema, ACCEPTS);
  if (typeof own === "function") return (value) => typeof value === "string" && own(value);
  const { pattern, format, minLength = 0, maxLength = Number.POSITIVE_INFINITY } = schema;
  if (format !== undefined) throw new Error(`no check for the format ${format}`);
  const form = pattern === undefined ? undefined : new RegExp(pattern);
  return (value) =>
    typeof value === "string" &&
    isWithinCharacters(value, minLength, maxLength) &&
    (form === undefined || form.test(value));
};

const objectJudge = (schema: TSchema): Judge => {
  const properties: Readonly<Record<string, TSchema>> = schema.properties;
  const members = Object.entries(properties).map(([name, member]) => {
    const isOptional = member[OptionalKind] === "Optional";
    return { name, schema: member, isOptional, judge: judgeOf(member) };
  });
  const isClosed = schema.additionalProperties === false;
  return (value, found, path = "") => {
    if (!isObject(value)) return false;
    for (const member of members) {
      const sent = value[member.name];
      if (sent === undefined ? member.isOptional : member.judge(sent)) continue;
      if (found === undefined) return false;
      const place = `${path}/${member.name}`;
      if (sent !== undefined) explain(member, sent, found, place);
      else found.push({ path: place, kind: "missing", schema: member.schema, value: sent });
    }
    if (isClosed)
      for (const name in value) {
        if (Object.hasOwn(properties, name)) continue;
        if (found === undefined) return false;
        found.push({ path: `${path}/${shownToken(name)}`, kind: "unknown_member", schema, value: name });
      }
    return true;
  };
};

const arrayJudge = (schema: TSchema): Judge => {
  const { minItems = 0, maxItems = Number.POSITIVE_INFINITY } = schema;
  const isUnique = schema.uniqueItems === true || schema["x-unique-items"] === true;
  const item = { schema: schema.items, judge: judgeOf(schema.items) };
  return (value, found, path = "") => {
    if (!Array.isArray(value) || value.length < minItems) return false;
    const isTooLong = value.length > maxItems;
    if (isTooLong && found === undefined) return false;
    if (isTooLong) found?.push({ path, kind: "too_many", schema, value });
    for (let index = 0; index < value.length; index++) {
      if (item.judge(value[index])) continue;
      if (found === undefined) return false;
      explain(item, value[index], found, `${path}/${index}`);
    }
    if (!isUnique || isTooLong || value.length < 2 || new Set(value).size === value.length) return true;
    found?.push({ path, kind: "not_unique", schema, value });
    return false;
  };
};

/** Of any names: TypeBox's own pattern for them does not match one with a line break, and would accept any value under it. */
const recordJudge = (schema: TSchema): Judge => {
  const { patternProperties, maxProperties = Number.POSITIVE_INFINITY } = schema;
  const [content] = Object.values<TSchema>(patternProperties);
  if (content === undefined || content[Kind] === "Unknown") return isObject;
  const member = { schema: content, judge: judgeOf(content) };
  return (value, found, path = "") => {
    if (!isObject(value)) return false;
    let count = 0;
    for (const name in value) {
      if (++count > maxProperties && found === undefined) return false;
      if (member.judge(value[name])) continue;
      if (found === undefined) return false;
      explain(member, value[name], found, `${path}/${shownToken(name)}`);
    }
    if (count > maxProperties) found?.push({ path, kind: "too_many", schema, value });
    return true;
  };
};

/** Without words of its own, what is wrong with the only alternative of the value's type is said. */
const unionJudge = (schema: TSchema): Judge => {
  const anyOf: readonly TSchema[] = schema.anyOf;
  const alternatives = anyOf.map((each) => ({ schema: each, judge: judgeOf(each) }));
  return (value, found, path = "") => {
    for (const { judge } of alternatives) if (judge(value)) return true;
    if (found === undefined || schema["x-expects"] !== undefined) return false;
    const [fitting, ...others] = alternatives.filter((each) => isOfType(each.schema, value));
    if (fitting !== undefined && others.length === 0) explain(fitting, value, found, path);
    return false;
  };
};
