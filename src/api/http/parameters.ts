/** A route's query parameters: each once, with how it is documented and read. */
import type { BoundFilter } from "../../access/key-record.ts";
import { isTenant, TENANT_EXPECTED, TENANT_PATTERN } from "../../access/tenant.ts";
import { isUtcTimestamp, timeKey } from "../../event/formats.ts";
import { pointerToken } from "../../event/json-pointer.ts";
import { nearest } from "../../event/nearest-word.ts";
import { FILTER_COMBINATIONS_MAX, MIN_SEQUENCE_WAIT_MS_MAX } from "../../limits.ts";
import type { RequestError } from "./problem.ts";
import { requestUrl } from "./request-context.ts";

export type Reading<Value> = { readonly value: Value } | { readonly message: string };

export interface Query {
  /** Reads a parameter that may occur once; undefined if absent or invalid, which is reported. */
  read<Value>(name: string, read: (sent: string) => Reading<Value>): Value | undefined;
  prefixed(prefix: string): readonly { readonly key: string; readonly value: string }[];
  has(name: string): boolean;
  /** Reports an error that concerns several parameters. */
  refuse(name: string, message: string): void;
  /** All errors. Call it after all reads: names that were not read are unknown. */
  errors(): readonly RequestError[];
}

/** What a decoder writes for bytes that are not UTF-8, and the same character sent on purpose. */
const REPLACEMENT = /\uFFFD/g;
const REPLACEMENT_ENCODED = /%EF%BF%BD/gi;

const countOf = (pattern: RegExp, text: string): number => text.match(pattern)?.length ?? 0;

/** Names of parameters that are not UTF-8. Parts and parameters have the same order; an empty part is no parameter. */
const namesNotUtf8 = (search: string, parameters: readonly [string, string][]): readonly string[] => {
  const sent = search
    .slice(1)
    .split("&")
    .filter((part) => part !== "");
  return parameters.flatMap(([name, value], index) =>
    countOf(REPLACEMENT, name + value) > countOf(REPLACEMENT_ENCODED, sent[index] ?? "") ? [name] : [],
  );
};

export const readQuery = (url: string): Query => {
  const { search, searchParams } = requestUrl(url);
  const parameters = [...searchParams];
  const byName = Map.groupBy(parameters, ([name]) => name);
  const asked = new Set<string>();
  const prefixes: string[] = [];
  const errors: RequestError[] = [];
  const refuse = (name: string, message: string, code = "invalid_value"): undefined => {
    errors.push({ path: `query:${name}`, code, message });
    return undefined;
  };
  for (const name of namesNotUtf8(search, parameters))
    refuse(name, `${name} is not UTF-8: percent-encode the bytes of its text in UTF-8.`);

  const once = (name: string): string | undefined => {
    const found = byName.get(name) ?? [];
    if (found.length > 1)
      return refuse(name, `${name} occurs ${found.length} times: send it once.`, "not_unique");
    return found[0]?.[1];
  };

  return {
    read: (name, read) => {
      asked.add(name);
      const sent = once(name);
      if (sent === undefined) return undefined;
      const result = read(sent);
      return "value" in result ? result.value : refuse(name, result.message);
    },
    prefixed: (prefix) => {
      prefixes.push(prefix);
      if (byName.has(prefix)) refuse(prefix, `The key is missing: send ${prefix}<key>=<value>.`);
      const names = [...byName.keys()].filter((name) => name.startsWith(prefix));
      return names.flatMap((name) => {
        const value = once(name);
        return value === undefined ? [] : [{ key: name.slice(prefix.length), value }];
      });
    },
    has: (name) => byName.has(name),
    refuse: (name, message) => refuse(name, message),
    errors: () => {
      const known = [...asked, ...prefixes.map((prefix) => `${prefix}<key>`)];
      for (const name of byName.keys())
        if (!asked.has(name) && !prefixes.some((prefix) => name.startsWith(prefix)))
          refuse(name, unknownMessage(name, known), "unknown_parameter");
      return errors;
    },
  };
};

const unknownMessage = (name: string, known: readonly string[]): string => {
  if (known.length === 0) return "This path takes no parameters.";
  const near = nearest(name, known);
  return near === undefined
    ? `There is no such parameter. Known: ${known.join(", ")}.`
    : `There is no such parameter: did you mean ${near}?`;
};

export interface Parameter {
  readonly name: string;
  readonly in: "query" | "header" | "path";
  readonly description: string;
  readonly schema: Readonly<Record<string, unknown>>;
  readonly required?: boolean;
  readonly example?: string | number;
  /** For an object: `form` with `explode` makes each of its members a parameter. */
  readonly style?: "form";
  readonly explode?: boolean;
}

export interface Asking<Value> {
  readonly documented: readonly Parameter[];
  readonly read: (query: Query) => Value;
}

export type Questions = Readonly<Record<string, Asking<unknown>>>;
export type Asked<Of extends Questions> = {
  readonly [Name in keyof Of]: Of[Name] extends Asking<infer Value> ? Value : never;
};

export const documentedOf = (questions: Questions): readonly Parameter[] =>
  Object.values(questions).flatMap(({ documented }) => documented);

export const allOf = <Of extends Questions>(questions: Of): Asking<Asked<Of>> => ({
  documented: documentedOf(questions),
  read: (query) => {
    const values: Record<string, unknown> = {};
    for (const [name, { read }] of Object.entries(questions)) values[name] = read(query);
    // Each member was read on its own.
    return values as Asked<Of>;
  },
});

type Schema = Parameter["schema"];

/** A text in a form of its own, which `read` knows. */
export const textAs = <Value>(
  name: string,
  description: string,
  schema: Schema,
  read: (sent: string) => Reading<Value>,
): Asking<Value | undefined> => ({
  documented: [{ name, in: "query", description, schema }],
  read: (query) => query.read(name, read),
});

const or = <Value>(fallback: Value, { documented, read }: Asking<Value | undefined>): Asking<Value> => ({
  documented: documented.map((each) => ({ ...each, schema: { ...each.schema, default: fallback } })),
  read: (query) => read(query) ?? fallback,
});

export interface Form {
  readonly isValid: (value: string) => boolean;
  readonly expects: string;
  readonly schema: Schema;
}

export const formed = (name: string, description: string, form: Form): Asking<string | undefined> =>
  textAs(name, description, form.schema, (sent) =>
    form.isValid(sent) ? { value: sent } : { message: `${name} is not valid: send ${form.expects}.` },
  );

const TEXT = { type: "string", minLength: 1 };

/** An empty value is an error: it would match nothing. */
export const text = (name: string, description: string, schema: Schema = TEXT): Asking<string | undefined> =>
  textAs(name, description, schema, (sent) =>
    sent === "" ? { message: `${name} is empty: send a value, or omit it.` } : { value: sent },
  );

/** In its only spelling: no sign, exponent or leading zeros. */
const WHOLE_NUMBER = /^(?:0|[1-9]\d{0,15})$/;

export const integer = (
  name: string,
  description: string,
  { min, max = Number.MAX_SAFE_INTEGER }: { readonly min: number; readonly max?: number },
): Asking<number | undefined> =>
  textAs(name, description, { type: "integer", minimum: min, maximum: max }, (sent) => {
    const value = Number(sent);
    return WHOLE_NUMBER.test(sent) && value >= min && value <= max
      ? { value }
      : { message: `${name} is not valid: send a whole number from ${min} to ${max}.` };
  });

export const integerOr = (fallback: number, ...rest: Parameters<typeof integer>): Asking<number> =>
  or(fallback, integer(...rest));

export const oneOf = (choices: readonly string[]): Form => ({
  isValid: (value) => choices.includes(value),
  expects: `one of ${choices.join(", ")}`,
  schema: { type: "string", enum: [...choices] },
});

export const choiceOrNone = <const Choices extends readonly string[]>(
  name: string,
  description: string,
  choices: Choices,
): Asking<Choices[number] | undefined> => {
  const { schema, expects } = oneOf(choices);
  return textAs(name, description, schema, (sent) => {
    const value = choices.find((each): each is Choices[number] => each === sent);
    return value === undefined ? { message: `${name} is not valid: send ${expects}.` } : { value };
  });
};

export const choice = <const Choices extends readonly string[]>(
  name: string,
  description: string,
  choices: Choices,
  fallback: Choices[number],
): Asking<Choices[number]> => or(fallback, choiceOrNone(name, description, choices));

export const isAsked = (
  name: string,
  description: string,
  schema: Schema = { type: "string", enum: ["true", "false"], default: "false" },
): Asking<boolean> => {
  const { documented, read } = choiceOrNone(name, description, ["true", "false"]);
  return {
    documented: documented.map((each) => ({ ...each, schema })),
    read: (query) => read(query) === "true",
  };
};

/** An impossible tenant name is refused: it would look like a tenant without data. */
export const tenant = (description: string): Asking<string | undefined> =>
  formed("tenant", description, {
    isValid: isTenant,
    expects: `a tenant: ${TENANT_EXPECTED}`,
    schema: { type: "string", pattern: TENANT_PATTERN },
  });

export const MIN_SEQUENCE = integer(
  "min_sequence",
  `Wait until the view has seen this sequence, up to ${MIN_SEQUENCE_WAIT_MS_MAX / 1000} s, to read your own write.`,
  { min: 0 },
);

export const minSequence = (more: string): Asking<number | undefined> => ({
  ...MIN_SEQUENCE,
  documented: MIN_SEQUENCE.documented.map((each) => ({
    ...each,
    description: `${each.description} ${more}`,
  })),
});

interface TimeRange {
  readonly from: string | undefined;
  readonly to: string | undefined;
}

const TIME: Form = {
  isValid: isUtcTimestamp,
  expects: "a time as RFC 3339 in UTC, for example 2026-11-20T10:00:00Z",
  schema: { type: "string", format: "date-time" },
};

/** Both as sent. A range that ends before it starts is refused: usually the two were swapped. */
export const timesBetween = (fromSays: string, toSays: string): Asking<TimeRange> => {
  const { documented, read } = allOf({
    from: formed("from", fromSays, TIME),
    to: formed("to", toSays, TIME),
  });
  return {
    documented,
    read: (query) => {
      const { from, to } = read(query);
      if (from !== undefined && to !== undefined && timeKey(from) > timeKey(to))
        query.refuse("from", "from is after to: send the earlier time in from.");
      return { from, to };
    },
  };
};

/** `counted`: a sentence about the time that is compared. */
export const timeRange = (counted: string): Asking<TimeRange> =>
  timesBetween(
    `At or after this time, RFC 3339 in UTC. ${counted}`,
    `Before this time, RFC 3339 in UTC. ${counted}`,
  );

/** A filter that takes several values. They are read each once and in one order. */
export const several = (
  name: string,
  description: string,
  form?: Form,
): Asking<readonly string[] | undefined> => {
  const schema = { type: "array", items: form?.schema ?? TEXT };
  const { documented, read } = textAs(name, `${description} ${SEVERAL}`, schema, (sent) => {
    const values = valuesIn(sent);
    if (values.every(form?.isValid ?? ((value) => value !== "")))
      return { value: [...new Set(values)].sort() };
    if (form)
      return { message: `${name} is not valid: send ${form.expects}, or several separated by commas.` };
    const says = sent === "" ? "is empty: send a value, or omit it." : HAS_EMPTY;
    return { message: `${name} ${says}` };
  });
  return { documented: documented.map((each) => ({ ...each, style: "form", explode: false })), read };
};

const SEVERAL = "Several values are separated by commas; a comma inside a value is written `\\,`.";
const HAS_EMPTY = "has an empty value: put a comma between two values.";

/** A backslash escapes a comma or a backslash; before anything else it is literal. */
export const valuesIn = (sent: string): readonly string[] => {
  const values: string[] = [];
  for (const [, value = "", end] of sent.matchAll(/((?:\\[\\,]|[^,])*)(,|$)/g)) {
    values.push(value.replaceAll(/\\([\\,])/g, "$1"));
    if (end === "") break;
  }
  return values;
};

/** The same values, as a request writes them. */
export const valuesText = (values: readonly string[]): string =>
  values.map((value) => value.replaceAll(/[\\,]/g, "\\$&")).join(",");

/**
 * One value of each filter, in every combination: a database answers each from an index, in order. More combinations than are answered are
 * refused.
 */
export const combinations = <Choice>(
  query: Query,
  choices: readonly { readonly name: string; readonly values: readonly Choice[] }[],
): readonly (readonly Choice[])[] => {
  const count = choices.reduce((product, { values }) => product * values.length, 1);
  if (count > FILTER_COMBINATIONS_MAX) {
    const [longest] = choices.toSorted((a, b) => b.values.length - a.values.length);
    query.refuse(
      longest?.name ?? "",
      `The filter values make ${count} combinations; at most ${FILTER_COMBINATIONS_MAX} are allowed at once: send fewer values.`,
    );
    return [];
  }
  return choices.reduce<readonly (readonly Choice[])[]>(
    (made, { values }) => made.flatMap((before) => values.map((value) => [...before, value])),
    [[]],
  );
};

/** As JSON. A token carries its filter, and a request its token. */
const CHARACTERS_MAX = 2000;

export const queryOf = (filter: BoundFilter): Query =>
  readQuery(`http://localhost/?${new URLSearchParams(filter)}`);

export const filterErrors = (filter: BoundFilter, { read }: Asking<unknown>): readonly RequestError[] => {
  if (JSON.stringify(filter).length > CHARACTERS_MAX) {
    const message = `The filter has more than ${CHARACTERS_MAX} characters: send a shorter one.`;
    return [{ path: "/filter", code: "invalid_value", message }];
  }
  const query = queryOf(filter);
  read(query);
  return query.errors().map((error) => ({
    ...error,
    path: `/filter/${pointerToken(error.path.slice("query:".length))}`,
  }));
};
