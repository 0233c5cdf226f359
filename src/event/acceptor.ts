/**
 * A schema as one predicate. TypeBox's compiled check looks every kind of our own up by its name for every value, which cost half of what
 * taking an event costs (measured); here each is bound once. TypeBox is asked only what is wrong with a value that is not accepted. Knows the
 * kinds that the event is made of, and refuses any other when it is made.
 */
import { Kind, OptionalKind, type Static, type TSchema } from "@sinclair/typebox";
import { isObject } from "./facts.ts";

/** Where a text kind of our own carries its predicate; see audit-event.ts. */
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

/** Names may be any. TypeBox's own pattern for that matches none with a line break, and what stands under one would be any value. */
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
    // What JSON.parse made has no inherited names.
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
