/**
 * A schema compiled into one predicate. TypeBox's compiled check looks up each of our own kinds by name for every value, which was half of the cost
 * of taking an event (measured); here each kind is bound once. TypeBox is used only to explain why a value is not accepted. Knows the kinds that the
 * event consists of, and refuses any other when it is created.
 */
import { Kind, OptionalKind, type Static, type TSchema } from "@sinclair/typebox";
import { isObject } from "./facts.ts";

/** The member in which our own text kinds carry their predicate; see audit-event.ts. */
export const ACCEPTS = Symbol("accepts");

type Accepts = (value: unknown) => boolean;
type OwnText = TSchema & { readonly [ACCEPTS]: (text: string) => boolean };

const isOwnText = (schema: TSchema): schema is OwnText => ACCEPTS in schema;

export const createAcceptor = <Schema extends TSchema>(
  schema: Schema,
): ((value: unknown) => value is Static<Schema>) => {
  const accepts = acceptorOf(schema);
  return (value): value is Static<Schema> => accepts(value);
};

const acceptorOf = (schema: TSchema): Accepts => {
  if (isOwnText(schema)) {
    const acceptsText = schema[ACCEPTS];
    return (value) => typeof value === "string" && acceptsText(value);
  }
  switch (schema[Kind]) {
    case "Object":
      return objectAcceptor(schema.properties);
    case "Array":
      return arrayAcceptor(acceptorOf(schema.items), schema.maxItems);
    case "Record":
      return recordAcceptor(schema);
    case "Union":
      return anyAcceptor(schema.anyOf.map(acceptorOf));
    case "Number":
      return Number.isFinite;
    case "Boolean":
      return (value) => typeof value === "boolean";
    default:
      throw new Error(`no acceptor for the kind ${schema[Kind]}`);
  }
};

const objectAcceptor = (properties: Readonly<Record<string, TSchema>>): Accepts => {
  const members = Object.entries(properties).map(([name, schema]) => ({
    name,
    isOptional: schema[OptionalKind] === "Optional",
    accepts: acceptorOf(schema),
  }));
  return (value) => {
    if (!isObject(value)) return false;
    for (const { name, isOptional, accepts } of members) {
      const member = value[name];
      if (member === undefined ? !isOptional : !accepts(member)) return false;
    }
    return true;
  };
};

const arrayAcceptor =
  (accepts: Accepts, itemsMax: number): Accepts =>
  (value) => {
    if (!Array.isArray(value) || value.length > itemsMax) return false;
    for (const item of value) if (!accepts(item)) return false;
    return true;
  };

/** Any name is allowed. TypeBox's own pattern for that does not match names with a line break, and would accept any value under such a name. */
export const ANY_NAME = "^[\\s\\S]*$";

const recordAcceptor = ({
  patternProperties,
  maxProperties = Number.POSITIVE_INFINITY,
}: TSchema): Accepts => {
  const content: TSchema = patternProperties[ANY_NAME];
  if (content[Kind] === "Unknown") return isObject;
  const accepts = acceptorOf(content);
  return (value) => {
    if (!isObject(value)) return false;
    let count = 0;
    // Objects made by JSON.parse have no inherited names.
    for (const name in value) if (++count > maxProperties || !accepts(value[name])) return false;
    return true;
  };
};

const anyAcceptor =
  (alternatives: readonly Accepts[]): Accepts =>
  (value) => {
    for (const accepts of alternatives) if (accepts(value)) return true;
    return false;
  };
