/** Reads query parameters strictly: ignoring a misspelt filter would answer another question than was asked. */
import { nearest } from "../../event/nearest-word.ts";
import type { RequestError } from "./problem.ts";
import { requestUrl } from "./request-context.ts";

export type Reading<Value> = { readonly value: Value } | { readonly message: string };

export interface Query {
  /** Reads a parameter that may occur once; undefined if it is absent, or if it fails, which is reported. */
  read<Value>(name: string, read: (sent: string) => Reading<Value>): Value | undefined;
  prefixed(prefix: string): readonly { readonly key: string; readonly value: string }[];
  has(name: string): boolean;
  /** Reports an error that concerns several parameters. */
  refuse(name: string, message: string): void;
  /** All errors. Call it after every parameter was read: names that were not read are unknown. */
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

const NO_QUERY = { search: "", searchParams: new URLSearchParams() };

export const readQuery = (url: string): Query => {
  // Nearly all events are sent without a query, so none is parsed for them.
  const { search, searchParams } = url.includes("?") ? requestUrl(url) : NO_QUERY;
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
      return refuse(name, `${name} stands ${found.length} times: send it once.`, "not_unique");
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
