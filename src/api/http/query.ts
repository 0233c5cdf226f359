/** Reads query parameters strictly: ignoring a misspelt filter would answer another question than was asked. */
import { nearest } from "../../event/nearest.ts";
import type { RequestError } from "./problem.ts";
import { requestUrl } from "./request-url.ts";

export interface Query {
  /** The value of a parameter that may occur once; undefined if absent. An empty value is an error: it would match nothing. */
  text(name: string): string | undefined;
  /** As `text`, with a check. A value that fails is reported and treated as absent. */
  checked(name: string, isValid: (value: string) => boolean, expects: string): string | undefined;
  /** As `text`, converted. If that fails the message is reported and the value treated as absent. */
  read<Value>(
    name: string,
    read: (value: string) => { readonly value: Value } | { readonly message: string },
  ): Value | undefined;
  /** One of a closed set; undefined if absent. */
  oneOf<const Choices extends readonly string[]>(name: string, choices: Choices): Choices[number] | undefined;
  choice<const Choices extends readonly string[]>(
    name: string,
    choices: Choices,
    fallback: Choices[number],
  ): Choices[number];
  integer(name: string, bounds: { readonly min: number; readonly max: number }): number | undefined;
  /** All `prefix<key>=value`, each key once. */
  prefixed(prefix: string): readonly { readonly key: string; readonly value: string }[];
  /** Reports an error that concerns several parameters. */
  refuse(name: string, message: string): void;
  /** All errors. Call it after every parameter was read: names that were not read are unknown. */
  errors(): readonly RequestError[];
}

/** As it is written in one way only: without a sign, an exponent, or zeros in front. */
const WHOLE_NUMBER = /^(?:0|[1-9]\d{0,15})$/;
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
  const fail = (name: string, code: string, message: string): undefined => {
    errors.push({ path: `query:${name}`, code, message });
    return undefined;
  };

  for (const name of namesNotUtf8(search, parameters))
    fail(name, "invalid_value", `${name} is not UTF-8: percent-encode the bytes of its text in UTF-8.`);

  const once = (name: string): string | undefined => {
    const found = byName.get(name) ?? [];
    if (found.length > 1)
      return fail(name, "not_unique", `${name} stands ${found.length} times: send it once.`);
    return found[0]?.[1];
  };
  const single = (name: string): string | undefined => {
    asked.add(name);
    return once(name);
  };
  const text = (name: string): string | undefined => {
    const value = single(name);
    return value === ""
      ? fail(name, "invalid_value", `${name} is empty: send a value, or leave it out.`)
      : value;
  };
  const checked = (
    name: string,
    isValid: (value: string) => boolean,
    expects: string,
  ): string | undefined => {
    const value = single(name);
    if (value === undefined || isValid(value)) return value;
    return fail(name, "invalid_value", `${name} is not valid: send ${expects}.`);
  };
  const oneOf = <const Choices extends readonly string[]>(
    name: string,
    choices: Choices,
  ): Choices[number] | undefined => {
    const value = checked(name, (sent) => choices.includes(sent), `one of ${choices.join(", ")}`);
    return choices.find((choice) => choice === value);
  };

  return {
    text,
    checked,
    read: (name, read) => {
      const sent = single(name);
      if (sent === undefined) return undefined;
      const result = read(sent);
      return "value" in result ? result.value : fail(name, "invalid_value", result.message);
    },
    oneOf,
    choice: (name, choices, fallback) => oneOf(name, choices) ?? fallback,
    refuse: (name, message) => fail(name, "invalid_value", message),
    integer: (name, { min, max }) => {
      const isValid = (value: string): boolean =>
        WHOLE_NUMBER.test(value) && Number(value) >= min && Number(value) <= max;
      const value = checked(name, isValid, `a whole number from ${min} to ${max}`);
      return value === undefined ? undefined : Number(value);
    },
    prefixed: (prefix) => {
      prefixes.push(prefix);
      if (byName.has(prefix))
        fail(prefix, "invalid_value", `The key is missing: send ${prefix}<key>=<value>.`);
      const names = [...byName.keys()].filter((name) => name.startsWith(prefix));
      return names.flatMap((name) => {
        const value = once(name);
        return value === undefined ? [] : [{ key: name.slice(prefix.length), value }];
      });
    },
    errors: () => {
      const known = [...asked, ...prefixes.map((prefix) => `${prefix}<key>`)];
      const unknown = [...byName.keys()].filter(
        (name) => !asked.has(name) && !prefixes.some((prefix) => name.startsWith(prefix)),
      );
      for (const name of unknown) fail(name, "unknown_parameter", unknownMessage(name, known));
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
