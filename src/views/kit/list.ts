/** Lists over a table of a view: in one order, page by page, filtered by columns; and how a row becomes an entry of an answer. */
import { setImmediate as otherWork } from "node:timers/promises";
import { type TSchema, Type } from "@sinclair/typebox";
import { CHECKED_ROWS_MAX, CHECKED_ROWS_PER_READ, COUNT_EXACT_MAX } from "../../limits.ts";
import type { Condition } from "../store/conditions.ts";
import { type Place, readCursor, writeCursor } from "../store/cursor.ts";
import { compareStored, type Row, type Table, type Value } from "../store/tables.ts";
import { type TenantQuery, tenantList } from "../store/tenant-query.ts";
import type { ViewStore } from "../store/view-store.ts";

export interface List {
  readonly view: string;
  readonly table: Table;
  /** Columns of the order; the last one is unique within the tenant. */
  readonly orderBy: readonly string[];
  /** What the first column of the order is, for the documentation of `from` and `to`; absent if it is no time. */
  readonly time?: string;
  readonly filters: readonly string[];
  /** Members of an entry that no index has, by which rows may be filtered after they were read. Of a list its items are compared. */
  readonly checked?: readonly string[];
  readonly values?: Readonly<Record<string, readonly string[]>>;
  readonly words?: Readonly<Record<string, readonly string[]>>;
  /** Filters whose column contains texts of at most this many characters. */
  readonly shortened?: Readonly<Record<string, number>>;
  readonly always?: readonly Condition[];
  /** Columns that are not shown, beside `tenant`: mostly the one of the order, if another column says what that time means. */
  readonly hidden?: readonly string[];
  /** Columns that contain JSON, and its schema. */
  readonly json?: Readonly<Record<string, TSchema>>;
  /** Columns that contain a time as text that sorts by time, beside those that end in `_at`. */
  readonly times?: readonly string[];
  /** Columns that contain 1 for yes and 0 for no. */
  readonly flags?: readonly string[];
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

export interface Count {
  readonly value: number;
  /** False: there are at least `value`. */
  readonly exact: boolean;
}

/** Rows in one order, each of which has a place of its own. */
export interface RowSource {
  readonly orderBy: readonly string[];
  readonly isPlace: (place: Place) => boolean;
  readonly read: (after: Place | undefined, rowsMax: number) => Promise<readonly Row[]>;
}

/** With `passes` a page may have fewer rows than `limit`, or none, and a next page all the same: one request looks at a limited number of rows. */
export const readPage = async (
  { orderBy, isPlace, read }: RowSource,
  asked: Pick<Page, "limit" | "cursor"> & {
    /** The query in a form that is the same for the same query; it contains the tenant. */
    readonly scope: string;
    readonly passes?: ((row: Row) => boolean) | undefined;
    /** So many rows are read for each that is looked at. */
    readonly alternatives?: number;
    /** Default: the whole page. */
    readonly rowsPerRead?: number;
    /** Whether the page has room for the row. It always has for the first. */
    readonly fits?: (row: Row) => boolean;
  },
): Promise<ListAnswer> => {
  const { limit, cursor, scope, passes, alternatives = 1, fits } = asked;
  const start = cursor === undefined ? undefined : readCursor(cursor, scope);
  if (start?.kind === "invalid_cursor" || (start && !isPlace(start.place))) return { kind: "invalid_cursor" };
  const rows: Row[] = [];
  const page = (next: Place | undefined): ListAnswer => ({
    kind: "page",
    rows,
    nextCursor: next ? writeCursor({ place: next, scope }) : null,
  });
  const rowsMax = passes ? CHECKED_ROWS_PER_READ : Math.min(limit + 1, asked.rowsPerRead ?? limit + 1);
  let after = start?.place;
  for (let looked = 0; looked < CHECKED_ROWS_MAX; looked += rowsMax * Math.max(1, alternatives)) {
    const found = await read(after, rowsMax);
    for (const row of found) {
      if (passes && !passes(row)) continue;
      const isFull = rows.length === limit || fits?.(row) === false;
      // The first row beyond the page shows that there is a next one.
      if (isFull && rows.length > 0) return page(placeOf(orderBy, rows.at(-1)));
      rows.push(row);
    }
    if (found.length < rowsMax) return page(undefined);
    after = placeOf(orderBy, found.at(-1));
    await otherWork();
  }
  return page(after);
};

/** Counts up to COUNT_EXACT_MAX, and with `passes` looks at no more than CHECKED_ROWS_MAX. No row is in two of the sources. */
export const countRows = async (
  sources: readonly RowSource[],
  passes: (row: Row) => boolean = () => true,
): Promise<Count> => {
  let [value, looked] = [0, 0];
  for (const { orderBy, read } of sources)
    for (let after: Place | undefined; ; ) {
      if (looked >= CHECKED_ROWS_MAX) return { value, exact: false };
      const rows = await read(after, CHECKED_ROWS_PER_READ);
      value += rows.filter(passes).length;
      looked += rows.length;
      if (value > COUNT_EXACT_MAX) return { value: COUNT_EXACT_MAX, exact: false };
      await otherWork();
      if (rows.length < CHECKED_ROWS_PER_READ) break;
      after = placeOf(orderBy, rows.at(-1));
    }
  return { value, exact: true };
};

export const readList = async (
  views: Pick<ViewStore, "select">,
  tenant: string,
  list: List,
  { order, limit, cursor, ...question }: Page & ListQuestion,
): Promise<ListAnswer> => {
  const { where, asked = where, passes, anyOf } = question;
  return readPage(sourceOf(views, tenant, list, { ...question, order }), {
    ...{ limit, cursor, passes, alternatives: anyOf?.length ?? 1 },
    scope: JSON.stringify([tenant, list.table.name, asked, order]),
  });
};

export const countList = async (
  views: Pick<ViewStore, "select">,
  tenant: string,
  list: List,
  { where, anyOf = [[]], passes }: ListQuestion,
): Promise<Count> => {
  const columns = passes ? undefined : list.orderBy;
  // One alternative after the other, because no row satisfies two.
  const sources = anyOf.map((either) =>
    sourceOf(views, tenant, list, { where, anyOf: [either], order: "asc", columns }),
  );
  return countRows(sources, passes);
};

const sourceOf = (
  views: Pick<ViewStore, "select">,
  tenant: string,
  list: List,
  question: Pick<ListQuestion, "where" | "anyOf"> &
    Pick<Page, "order"> & { readonly columns?: readonly string[] | undefined },
): RowSource => ({
  orderBy: list.orderBy,
  // Cursors are not secret: anybody may forge one, even with a text instead of a number.
  isPlace: (place) =>
    place.length === list.orderBy.length &&
    list.orderBy.every((name, index) => {
      const isText = list.table.columns[name]?.type === "text";
      return typeof place[index] === (isText ? "string" : "number");
    }),
  read: (after, rowsMax) => {
    const { where, anyOf = [[]], order, columns } = question;
    const queries = anyOf.map((either) =>
      listQuery(tenant, list, { where: [...either, ...where], order, columns, after, rowsMax }),
    );
    return selectAny(views, queries, { orderBy: list.orderBy, order, rowsMax });
  },
});

/** The first rows of several queries together in one order, each row once. */
export const selectAny = async (
  views: Pick<ViewStore, "select">,
  queries: readonly TenantQuery[],
  {
    orderBy,
    order,
    rowsMax,
  }: Pick<RowSource, "orderBy"> & Pick<Page, "order"> & { readonly rowsMax: number },
): Promise<readonly Row[]> => {
  const rows: Row[] = [];
  for (const [index, query] of queries.entries()) {
    // SQLite answers synchronously: without this pause nothing else would run until the last of many queries.
    if (index > 0) await otherWork();
    rows.push(...(await views.select(query)));
  }
  if (queries.length === 1) return rows;
  const compare = byPlace(orderBy, order);
  return rows
    .sort(compare)
    .filter((row, index) => {
      const before = rows[index - 1];
      return before === undefined || compare(before, row) !== 0;
    })
    .slice(0, rowsMax);
};

/** How a database orders rows by these columns. */
export const byPlace =
  (orderBy: readonly string[], order: Page["order"]) =>
  (one: Row, other: Row): number => {
    for (const name of orderBy) {
      const [first, second] = [placed(one[name]), placed(other[name])];
      const compared =
        typeof first === "number" ? first - Number(second) : compareStored(first, String(second));
      if (compared !== 0) return order === "asc" ? compared : -compared;
    }
    return 0;
  };

const placeOf = (orderBy: readonly string[], row: Row | undefined): Place | undefined =>
  row && orderBy.map((name) => placed(row[name]));

/** Separate from readList so that a test can ask the database for its plan. */
export const listQuery = (
  tenant: string,
  { table, orderBy, always = [] }: List,
  parts: {
    readonly where: readonly Condition[];
    readonly order: "asc" | "desc";
    readonly after?: readonly (string | number)[] | undefined;
    readonly rowsMax: number;
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
