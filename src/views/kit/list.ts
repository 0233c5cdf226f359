/** Lists over a table of a view: in one order, page by page, filtered by columns; and how a row becomes an entry of an answer. */
import { setImmediate as otherWork } from "node:timers/promises";
import { type TSchema, Type } from "@sinclair/typebox";
import { CHECKED_ROWS_MAX, CHECKED_ROWS_PER_READ, COUNT_EXACT_MAX } from "../../limits.ts";
import type { Condition } from "../store/conditions.ts";
import { type Place, readCursor, writeCursor } from "../store/cursor.ts";
import type { Row, Table, Value } from "../store/tables.ts";
import { type TenantQuery, tenantList } from "../store/tenant-query.ts";
import { compareStored } from "../store/text.ts";
import type { ViewStore } from "../store/view-store.ts";

export interface List {
  /** The projection to which the table belongs. */
  readonly view: string;
  readonly table: Table;
  /** Columns of the order; the last one is unique within the tenant. */
  readonly orderBy: readonly string[];
  /** What the first column of the order is, for the documentation of `from` and `to`; absent if it is no time. */
  readonly time?: string;
  /** Columns that may be filtered, under their own names. */
  readonly filters: readonly string[];
  /** Members of an entry that no index has, by which rows may be filtered after they were read. Of a list its items are compared. */
  readonly checked?: readonly string[];
  /** Filters that have only these values. */
  readonly values?: Readonly<Record<string, readonly string[]>>;
  /** Other columns that contain only these values. */
  readonly words?: Readonly<Record<string, readonly string[]>>;
  /** Filters whose column contains texts of at most this many characters. */
  readonly shortened?: Readonly<Record<string, number>>;
  /** A condition that every shown row satisfies. */
  readonly always?: readonly Condition[];
  /** Columns that are not shown, beside `tenant`: mostly the one of the order, if another column says what that time means. */
  readonly hidden?: readonly string[];
  /** Columns that contain JSON, and its schema. */
  readonly json?: Readonly<Record<string, TSchema>>;
  /** Columns that contain a time as text that sorts by time, beside those that end in `_at`. */
  readonly times?: readonly string[];
  /** Columns that contain 1 for yes and 0 for no. */
  readonly flags?: readonly string[];
  /** Descriptions of columns in the API documentation. */
  readonly about?: Readonly<Record<string, string>>;
  /** Members derived from the columns and, if something is still open, from the time of reading. */
  readonly derived?: Readonly<Record<string, Derived>>;
}

/** The values by which a flag is filtered. */
export const YES_OR_NO = ["true", "false"] as const;

export interface Derived {
  readonly schema: TSchema;
  /** `now` as text that sorts by time, without the zone. */
  of(row: Row, now: string): unknown;
}

export interface Page {
  readonly order: "asc" | "desc";
  readonly limit: number;
  /** `nextCursor` of the previous page, used with the same filters. */
  readonly cursor?: string | undefined;
}

export type ListAnswer =
  | { readonly kind: "page"; readonly rows: readonly Row[]; readonly nextCursor: string | null }
  | { readonly kind: "invalid_cursor" };

export interface ListQuestion {
  readonly where: readonly Condition[];
  /** Beside `where`, a row satisfies one of these, and none satisfies two. */
  readonly anyOf?: readonly (readonly Condition[])[] | undefined;
  /** What no index serves. */
  readonly passes?: ((row: Row) => boolean) | undefined;
  /** The request's own filters, if `where` contains the time of the answer: cursors belong to these. */
  readonly asked?: unknown;
}

/** With `passes` a page may have fewer rows than `limit`, or none, and a next page all the same: one request looks at a limited number of rows. */
export const readList = async (
  views: Pick<ViewStore, "select">,
  tenant: string,
  list: List,
  { order, limit, cursor, ...question }: Page & ListQuestion,
): Promise<ListAnswer> => {
  const { where, asked = where } = question;
  const scope = JSON.stringify([tenant, list.table.name, asked, order]);
  const start = cursor === undefined ? undefined : readCursor(cursor, scope);
  if (start?.kind === "invalid_cursor" || !isPlaceIn(list, start?.place)) return { kind: "invalid_cursor" };
  const read = (after: Place | undefined, rowsMax: number) =>
    readRows(views, tenant, list, question, { order, after, rowsMax });
  const { passes } = question;
  const { rows, next } = passes
    ? await checkedRows(list, read, {
        after: start?.place,
        limit,
        passes,
        alternatives: question.anyOf?.length ?? 1,
      })
    : await plainRows(list, read, { after: start?.place, limit });
  return { kind: "page", rows, nextCursor: next ? writeCursor({ place: next, scope }) : null };
};

export interface Count {
  readonly value: number;
  /** False: there are at least `value`. */
  readonly exact: boolean;
}

/** Counts up to COUNT_EXACT_MAX, and with `passes` looks at no more than CHECKED_ROWS_MAX. */
export const countList = async (
  views: Pick<ViewStore, "select">,
  tenant: string,
  list: List,
  question: ListQuestion,
): Promise<Count> => {
  const { passes, anyOf = [[]] } = question;
  const columns = passes ? undefined : list.orderBy;
  const rowsMax = CHECKED_ROWS_PER_READ;
  let value = 0;
  let looked = 0;
  // One after the other, because no row satisfies two.
  for (const either of anyOf)
    for (let after: Place | undefined; ; ) {
      if (looked >= CHECKED_ROWS_MAX) return { value, exact: false };
      const one = { ...question, anyOf: [either] };
      const rows = await readRows(views, tenant, list, one, { order: "asc", after, rowsMax, columns });
      value += passes ? rows.filter(passes).length : rows.length;
      looked += rows.length;
      if (value > COUNT_EXACT_MAX) return { value: COUNT_EXACT_MAX, exact: false };
      await otherWork();
      if (rows.length < rowsMax) break;
      after = placeOf(list, rows.at(-1));
    }
  return { value, exact: true };
};

type ReadRows = (after: Place | undefined, rowsMax: number) => Promise<readonly Row[]>;

interface Rows {
  readonly rows: readonly Row[];
  /** After which the next page begins; undefined if there is none. */
  readonly next: Place | undefined;
}

const plainRows = async (
  list: List,
  read: ReadRows,
  { after, limit }: { readonly after: Place | undefined; readonly limit: number },
): Promise<Rows> => {
  // One row more than requested shows whether there is a next page.
  const found = await read(after, limit + 1);
  const rows = found.slice(0, limit);
  return { rows, next: found.length > limit ? placeOf(list, rows.at(-1)) : undefined };
};

const checkedRows = async (
  list: List,
  read: ReadRows,
  asked: {
    readonly after: Place | undefined;
    readonly limit: number;
    readonly passes: (row: Row) => boolean;
    /** So many rows are read for each that is looked at. */
    readonly alternatives: number;
  },
): Promise<Rows> => {
  const rows: Row[] = [];
  let { after } = asked;
  const step = CHECKED_ROWS_PER_READ * Math.max(1, asked.alternatives);
  for (let taken = 0; taken < CHECKED_ROWS_MAX; taken += step) {
    const found = await read(after, CHECKED_ROWS_PER_READ);
    for (const row of found) {
      if (!asked.passes(row)) continue;
      // The first row beyond the page shows that there is a next one.
      if (rows.length === asked.limit) return { rows, next: placeOf(list, rows.at(-1)) };
      rows.push(row);
    }
    if (found.length < CHECKED_ROWS_PER_READ) return { rows, next: undefined };
    after = placeOf(list, found.at(-1));
    await otherWork();
  }
  return { rows, next: after };
};

/** Rows of all alternatives in one order, each once. */
const readRows = async (
  views: Pick<ViewStore, "select">,
  tenant: string,
  list: List,
  { where, anyOf = [[]] }: ListQuestion,
  parts: {
    readonly order: Page["order"];
    readonly after: Place | undefined;
    readonly rowsMax: number;
    readonly columns?: readonly string[] | undefined;
  },
): Promise<readonly Row[]> => {
  const pages: (readonly Row[])[] = [];
  for (const either of anyOf) {
    // SQLite answers synchronously: without this pause nothing else would run until the last of many alternatives.
    if (pages.length > 0) await otherWork();
    pages.push(await views.select(listQuery(tenant, list, { ...parts, where: [...either, ...where] })));
  }
  const [only = []] = pages;
  if (pages.length <= 1) return only;
  const compare = byPlace(list, parts.order);
  return pages
    .flat()
    .sort(compare)
    .filter((row, index, all) => {
      const before = all[index - 1];
      return before === undefined || compare(before, row) !== 0;
    })
    .slice(0, parts.rowsMax);
};

const byPlace =
  ({ orderBy }: List, order: Page["order"]) =>
  (one: Row, other: Row): number => {
    for (const name of orderBy) {
      const [first, second] = [placed(one[name]), placed(other[name])];
      const compared =
        typeof first === "number" ? first - Number(second) : compareStored(first, String(second));
      if (compared !== 0) return order === "asc" ? compared : -compared;
    }
    return 0;
  };

const placeOf = ({ orderBy }: List, row: Row | undefined): Place | undefined =>
  row && orderBy.map((name) => placed(row[name]));

/** Anybody may make a cursor, because it is not secret, even one with a text instead of a number. */
const isPlaceIn = ({ table, orderBy }: List, place: Place | undefined): boolean =>
  place === undefined ||
  (place.length === orderBy.length &&
    orderBy.every((name, index) => typeof place[index] === (isText(table, name) ? "string" : "number")));

const isText = (table: Table, name: string): boolean => table.columns[name]?.type === "text";

/** Separate from readList so that a test can ask the database for its plan. */
export const listQuery = (
  tenant: string,
  { table, orderBy, always = [] }: List,
  parts: {
    readonly where: readonly Condition[];
    readonly order: "asc" | "desc";
    readonly after?: readonly (string | number)[] | undefined;
    readonly rowsMax: number;
    /** Default: all. */
    readonly columns?: readonly string[] | undefined;
  },
): TenantQuery =>
  tenantList({
    ...parts,
    tenant,
    table,
    columns: parts.columns ?? Object.keys(table.columns),
    where: [...parts.where, ...always],
    orderBy,
  });

const placed = (value: Value | undefined): string | number => {
  if (value === null || value === undefined)
    throw new Error("a list is ordered by columns that have a value");
  return value;
};

/** A row as the entry of an answer at a time, which is text that sorts by time, without the zone. */
export const entryOf = (list: List, row: Row, now: string): Readonly<Record<string, unknown>> => {
  const entry: Record<string, unknown> = {};
  for (const name of shownColumns(list)) entry[name] = shown(list, name, row[name] ?? null);
  for (const [name, { of }] of Object.entries(list.derived ?? {})) entry[name] = of(row, now);
  return entry;
};

const shownColumns = ({ table, hidden = [] }: List): readonly string[] =>
  Object.keys(table.columns).filter((name) => name !== "tenant" && !hidden.includes(name));

const isTime = ({ times = [] }: List, name: string): boolean => name.endsWith("_at") || times.includes(name);

const shown = (list: List, name: string, value: Value): unknown => {
  if (value === null) return null;
  if (list.json?.[name]) return JSON.parse(String(value));
  if (list.flags?.includes(name)) return value === 1;
  return isTime(list, name) ? `${value}Z` : value;
};

/** The schema of the result of entryOf. */
export const entrySchema = (list: List): TSchema => Type.Object(entryMembers(list));

export const entryMembers = (list: List): Readonly<Record<string, TSchema>> => {
  const members: Record<string, TSchema> = {};
  for (const name of shownColumns(list)) {
    const plain = list.json?.[name] ?? columnSchema(list, name);
    members[name] = list.table.columns[name]?.nullable ? Type.Union([plain, Type.Null()]) : plain;
  }
  for (const [name, { schema }] of Object.entries(list.derived ?? {})) members[name] = schema;
  return members;
};

const columnSchema = (list: List, name: string): TSchema => {
  const description = list.about?.[name];
  const said = description === undefined ? {} : { description };
  if (list.flags?.includes(name)) return Type.Boolean(said);
  if (isTime(list, name)) return Type.String({ ...said, format: "date-time" });
  const words = list.words?.[name];
  if (words)
    return Type.Union(
      words.map((word) => Type.Literal(word)),
      said,
    );
  return list.table.columns[name]?.type === "integer" ? Type.Integer(said) : Type.String(said);
};

/** Every matching row, page by page, from the first. Rows that are added or changed meanwhile may or may not be included. */
export async function* listRows(
  views: Pick<ViewStore, "select">,
  tenant: string,
  list: List,
  { pageRows, ...question }: ListQuestion & { readonly pageRows: number },
): AsyncGenerator<Row> {
  let cursor: string | undefined;
  do {
    const page = await readList(views, tenant, list, { ...question, order: "asc", limit: pageRows, cursor });
    if (page.kind !== "page") throw new Error("a list takes its own cursor");
    yield* page.rows;
    cursor = page.nextCursor ?? undefined;
    // SQLite answers synchronously: without this pause nothing else would run until the last row.
    await otherWork();
  } while (cursor !== undefined);
}
