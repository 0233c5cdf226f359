/** Query parameters that filter a list. Every list uses the same names and formats. */
import { shortened } from "../../event/facts.ts";
import { canonicalEventId, timeKey } from "../../event/formats.ts";
import type { List, ListQuestion } from "../../views/kit/list.ts";
import type { Condition } from "../../views/store/conditions.ts";
import type { Row } from "../../views/store/tables.ts";
import { HASH, LEGAL_BASIS } from "./event-filter.ts";
import { type Asking, combinations, type Form, oneOf, several, timeRange } from "./parameters.ts";

type ListFilters = Pick<List, "filters" | "checked" | "values" | "shortened">;

type Values = readonly (readonly [name: string, values: readonly string[]])[];

export interface ListFilter {
  /** Each combination of the values that an index serves, as conditions. */
  readonly anyOf: readonly (readonly Condition[])[];
  /** Filters of members that no index has. */
  readonly checks: Values;
  readonly asked: Values;
}

/** An impossible value is refused: a misspelt one would look like an empty list. */
export const listFilter = (list: ListFilters): Asking<ListFilter> => {
  const served = list.filters.map((name) => {
    const max = list.shortened?.[name];
    const asShown = max === undefined ? "" : ` Only the first ${max} characters count.`;
    return filterOf(list, name, `Exactly this ${name}.${asShown}`);
  });
  const checked = (list.checked ?? []).map((name) =>
    filterOf(
      list,
      name,
      `Those whose \`${name}\` has this value. No index has it: a page may have fewer rows than \`limit\`, and \`next_cursor\` says whether there are more.`,
    ),
  );
  return {
    documented: [...served, ...checked].flatMap(({ documented }) => documented),
    read: (query) => {
      const asked = served.flatMap(({ read }) => read(query));
      const checks = checked.flatMap(({ read }) => read(query));
      const choices = asked.map(([column, values]) => ({
        name: column,
        values: values.map((value): Condition => ({ kind: "equals", column, value })),
      }));
      return { anyOf: combinations(query, choices), checks, asked: [...asked, ...checks] };
    },
  };
};

const FORMS: Readonly<Record<string, Form>> = { subject_hash: HASH, law: LEGAL_BASIS };

const NAMES: readonly string[] = ["decision_id", "objection_id", "incident_id"];

const filterOf = (list: ListFilters, name: string, description: string): Asking<Values> => {
  const known = list.values?.[name];
  const { documented, read } = several(name, description, known ? oneOf(known) : FORMS[name]);
  const max = list.shortened?.[name];
  const asStored = (value: string): string => {
    if (known) return value;
    if (name === "subject_hash") return value.toLowerCase();
    if (max !== undefined) return shortened(value, max);
    return NAMES.includes(name) ? canonicalEventId(value) : value;
  };
  return {
    documented,
    read: (query) => {
      const values = read(query);
      return values === undefined ? [] : [[name, values.map(asStored)]];
    },
  };
};

export interface TimedFilter extends ListFilter {
  readonly range: readonly Condition[];
}

/** The filter of a list whose order begins with a time, and with `from` and `to` of that time. */
export const timedFilter = (list: List): Asking<TimedFilter> => {
  const filter = listFilter(list);
  const times = timeRange(`What counts is ${list.time}.`);
  const [column = ""] = list.orderBy;
  return {
    documented: [...filter.documented, ...times.documented],
    read: (query) => {
      const asked = times.read(query);
      const [from, to] = [asked.from, asked.to].map((time) => time && timeKey(time));
      const isAsked = from !== undefined || to !== undefined;
      return { ...filter.read(query), range: isAsked ? [{ kind: "range", column, from, to }] : [] };
    },
  };
};

export const listQuestion = (
  { anyOf, checks, asked, range }: TimedFilter,
  entry: (row: Row) => Readonly<Record<string, unknown>>,
): ListQuestion => ({
  where: range,
  anyOf,
  asked: [asked, range],
  passes: checks.length === 0 ? undefined : (row) => passesAll(checks, entry(row)),
});

const passesAll = (checks: Values, entry: Readonly<Record<string, unknown>>): boolean =>
  checks.every(([name, values]) =>
    [entry[name]].flat().some((value) => value !== null && values.includes(String(value))),
  );
