/** Query parameters that filter a list, with their documentation. Every list uses the same names and formats. */
import { shortened } from "../../event/facts.ts";
import { canonicalEventId, timeKey } from "../../event/formats.ts";
import type { List, ListQuestion } from "../../views/kit/list.ts";
import type { Condition } from "../../views/store/conditions.ts";
import type { Row } from "../../views/store/tables.ts";
import { HASH, HASH_SCHEMA, LEGAL_BASIS_FORM, LEGAL_BASIS_SCHEMA } from "./event-filter.ts";
import type { Parameter } from "./openapi.ts";
import type { Query } from "./query.ts";
import { combinations, oneOf, several, severalParameter } from "./several.ts";
import { readTimeRange, timeRangeParameters } from "./time-range.ts";

type ListFilters = Pick<List, "filters" | "checked" | "values" | "shortened">;

type Asked = readonly (readonly [name: string, values: readonly string[]])[];

export interface ListFilter {
  /** Each combination of the values that an index serves, as conditions. */
  readonly anyOf: readonly (readonly Condition[])[];
  /** Filters of members that no index has. */
  readonly checks: Asked;
  /** All of them, as they were asked for. */
  readonly asked: Asked;
}

/** A value that no row can have is refused: a misspelt one would look like an empty list. */
export const readListFilter = (query: Query, list: ListFilters): ListFilter => {
  const read = (names: readonly string[]): Asked =>
    names.flatMap((name) => {
      const values = valuesAsked(query, list, name);
      return values === undefined ? [] : [[name, values] as const];
    });
  const [served, checks] = [read(list.filters), read(list.checked ?? [])];
  const choices = served.map(([column, values]) => ({
    name: column,
    values: values.map((value): Condition => ({ kind: "equals", column, value })),
  }));
  return { anyOf: combinations(query, choices), checks, asked: [...served, ...checks] };
};

/** The filter of a list whose order begins with a time, and with `from` and `to` of that time. */
export const readTimedFilter = (query: Query, list: List): TimedFilter => {
  const filter = readListFilter(query, list);
  const asked = readTimeRange(query);
  const [from, to] = [asked.from, asked.to].map((time) => time && timeKey(time));
  const [column = ""] = list.orderBy;
  const isAsked = from !== undefined || to !== undefined;
  return { ...filter, range: isAsked ? [{ kind: "range", column, from, to }] : [] };
};

export interface TimedFilter extends ListFilter {
  readonly range: readonly Condition[];
}

/** As `readList` takes it. `entry`: what the checks look at. */
export const listQuestion = (
  { anyOf, checks, asked, range }: TimedFilter,
  entry: (row: Row) => Readonly<Record<string, unknown>>,
): ListQuestion => ({
  where: range,
  anyOf,
  asked: [asked, range],
  passes: checks.length === 0 ? undefined : (row) => passesAll(checks, entry(row)),
});

const passesAll = (checks: Asked, entry: Readonly<Record<string, unknown>>): boolean =>
  checks.every(([name, values]) =>
    [entry[name]].flat().some((value) => value !== null && values.includes(String(value))),
  );

const valuesAsked = (
  query: Query,
  { values, shortened: charactersMax }: ListFilters,
  name: string,
): readonly string[] | undefined => {
  const known = values?.[name];
  if (known) return several(query, name, oneOf(known));
  if (name === "subject_hash") return several(query, name, HASH)?.map((hash) => hash.toLowerCase());
  if (name === "law") return several(query, name, LEGAL_BASIS_FORM);
  const texts = several(query, name);
  const max = charactersMax?.[name];
  if (max !== undefined) return texts?.map((text) => shortened(text, max));
  return NAMES.includes(name) ? texts?.map(canonicalEventId) : texts;
};

const FORMS: Readonly<Record<string, Parameter["schema"]>> = {
  subject_hash: HASH_SCHEMA,
  law: LEGAL_BASIS_SCHEMA,
};

/** Columns whose names may be event_ids, and are compared in canonical form. */
const NAMES: readonly string[] = ["decision_id", "objection_id", "incident_id"];

export const listFilterParameters = ({
  filters,
  checked = [],
  values,
  shortened: charactersMax,
}: ListFilters): readonly Parameter[] => [
  ...filters.map((name) => {
    const max = charactersMax?.[name];
    const asShown = max === undefined ? "" : ` Of more than ${max} characters the first ones count.`;
    return severalParameter(name, `Exactly this ${name}.${asShown}`, formOf(name, values));
  }),
  ...checked.map((name) =>
    severalParameter(
      name,
      `Those whose \`${name}\` has this value. No index has it: a page may have fewer rows than \`limit\`, and \`next_cursor\` says whether there are more.`,
      formOf(name, values),
    ),
  ),
];

const formOf = (name: string, values: List["values"]): Parameter["schema"] | undefined => {
  const known = values?.[name];
  return known ? { type: "string", enum: [...known] } : FORMS[name];
};

export const timedFilterParameters = (list: List): readonly Parameter[] => [
  ...listFilterParameters(list),
  ...timeRangeParameters(`What counts is ${list.time}.`),
];
