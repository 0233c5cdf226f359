/** Every list of the API: a page, its count if requested, or all its rows as a file. */
import { type TSchema, Type } from "@sinclair/typebox";
import type { Principal } from "../../access/authenticate.ts";
import { type Placed, placeOf } from "../../access/key-record.ts";
import { timeKey } from "../../event/formats.ts";
import {
  COUNT_EXACT_MAX,
  PAGE_BYTES_MAX,
  PAGE_ROWS_DEFAULT,
  PAGE_ROWS_MAX,
  PART_ROWS_MAX,
} from "../../limits.ts";
import {
  type Count,
  countList,
  entryMembers,
  entryOf,
  type List,
  type ListQuestion,
  type Page,
  readList,
} from "../../views/kit/list.ts";
import { readCursor, writeCursor } from "../../views/store/cursor.ts";
import type { Row } from "../../views/store/tables.ts";
import type { ViewStore } from "../../views/store/view-store.ts";
import type { Access } from "./access.ts";
import { type Answer, afterwards, givePage, invalid, isRefusal, type Refusal } from "./answers.ts";
import type { Call } from "./call.ts";
import type { Dependencies } from "./dependencies.ts";
import {
  answerExport,
  type Entry,
  entryFile,
  type FileFormat,
  fileForms,
  type NextText,
} from "./downloads.ts";
import { listQuestion, type TimedFilter, timedFilter } from "./list-filter.ts";
import type { Described } from "./openapi.ts";
import { type Asking, allOf, choice, integerOr, isAsked, type Query, text, timeRange } from "./parameters.ts";
import type { Route } from "./route.ts";
import { inOwnTurn } from "./wait-for-view.ts";

interface Rows {
  readonly kind: "page";
  readonly entries: readonly Entry[];
  /** The entries as JSON, where the bytes are those of the log. */
  readonly texts?: readonly string[];
  readonly nextCursor: string | null;
}

export interface ListSource<Wanted> {
  /** In the name of its files, and in the record of an export; absent for events. */
  readonly name?: string;
  /** Absent for what is kept in memory: it has one order, and nothing waits for `min_sequence`. */
  readonly views?: readonly string[];
  /** Members of an entry, in the order of the columns of a file. */
  readonly members: Readonly<Record<string, TSchema>>;
  readonly query: Asking<Wanted>;
  /** Finds the source of the rows, or refuses the query. */
  found?(wanted: Wanted, call: Call): Promise<Wanted | Refusal> | Wanted | Refusal;
  page(wanted: Wanted, principal: Principal, page: Page): Promise<Rows | { readonly kind: "invalid_cursor" }>;
  count(wanted: Wanted, principal: Principal): Promise<Count>;
  beside?(wanted: Wanted): Readonly<Record<string, unknown>>;
  /** Default: the entries of all pages, as lines. */
  file?(wanted: Wanted, principal: Principal, form: { format: FileFormat; end: number }): NextText;
}

const ROWS_OF_A_PAGE = `Maximum rows per answer: a page of events ends at ${PAGE_BYTES_MAX / 1024 / 1024} MiB. \`next_cursor\` says whether there are more.`;

const PAGE = allOf({
  limit: integerOr(PAGE_ROWS_DEFAULT, "limit", ROWS_OF_A_PAGE, { min: 1, max: PAGE_ROWS_MAX }),
  cursor: text("cursor", "`next_cursor` of the previous page, with the same filters."),
  isCounted: isAsked(
    "count",
    `Whether to count the rows that match: \`count.value\`, up to ${COUNT_EXACT_MAX}. If \`count.exact\` is false there are at least that many.`,
  ),
  format: choice(
    "format",
    "`csv` and `ndjson` return all matching rows as a file, whatever their number, without `limit`, `cursor` and `count`. The start of an export is recorded as an event of the tenant `prooftrail-system`.",
    ["json", "csv", "ndjson"],
    "json",
  ),
});

const LIST_FORM: typeof PAGE = {
  documented: PAGE.documented,
  read: (query) => {
    const form = PAGE.read(query);
    if (form.format !== "json")
      for (const name of ["limit", "cursor", "count"])
        if (query.has(name)) query.refuse(name, `A file has all rows: leave ${name} out, or format.`);
    return form;
  },
};

const ORDER = choice("order", "Newest or oldest first.", ["desc", "asc"], "desc");
const ONE_ORDER: Asking<"asc"> = { documented: [], read: () => "asc" };

type ListRoute = Omit<Described, "gives"> & { readonly access: Access };

export const listRoute = <Wanted>(
  { route, views, ...exports }: Dependencies,
  source: ListSource<Wanted>,
  declared: ListRoute,
): Route => {
  const { views: projections, members } = source;
  return route({
    gives: Type.Object(members),
    others: fileForms(members),
    ...declared,
    isList: true,
    ...(projections && { views: projections }),
    query: { wanted: source.query, order: projections ? ORDER : ONE_ORDER, form: LIST_FORM },
    problems: ["overloaded", "log_unavailable", ...(declared.problems ?? [])],
    answer: async (call) => {
      const { form, order } = call.asked;
      const wanted = (await source.found?.(call.asked.wanted, call)) ?? call.asked.wanted;
      if (isRefusal(wanted)) return wanted;
      const { format } = form;
      if (format === "json") return inOwnTurn(() => pageOf(source, wanted, call, { order, ...form }));
      const positions = await Promise.all(projections?.map((view) => views.position(view)) ?? []);
      const end = Math.min(...positions);
      const next =
        source.file?.(wanted, call.principal, { format, end }) ??
        entryFile(format, Object.keys(members), allPages(source, wanted, call, order));
      const file = { name: source.name, format, lastSequence: projections && end, next };
      return afterwards(() => answerExport(exports, call, file));
    },
  });
};

const pageOf = async <Wanted>(
  source: ListSource<Wanted>,
  wanted: Wanted,
  { principal }: Call,
  { isCounted, limit, cursor, order }: ReturnType<typeof PAGE.read> & Pick<Page, "order">,
): Promise<Answer> => {
  const found = await source.page(wanted, principal, { limit, cursor, order });
  if (found.kind === "invalid_cursor") return INVALID_CURSOR;
  const { entries, texts = entries.map((entry) => JSON.stringify(entry)), nextCursor } = found;
  return givePage(texts, nextCursor, {
    ...source.beside?.(wanted),
    ...(isCounted && { count: await source.count(wanted, principal) }),
  });
};

export const INVALID_CURSOR = invalid([
  {
    path: "query:cursor",
    code: "invalid_value",
    message: "Send the next_cursor of the previous page, with the same filters, or none.",
  },
]);

export async function* allPages<Wanted>(
  source: ListSource<Wanted>,
  wanted: Wanted,
  { principal, viewReadiness }: Call,
  order: Page["order"],
): AsyncGenerator<readonly Entry[]> {
  let cursor: string | undefined;
  do {
    // Throws while a view is being rebuilt, so the file ends early.
    await viewReadiness.check(source.views ?? []);
    const page = await source.page(wanted, principal, { order, limit: PART_ROWS_MAX, cursor });
    if (page.kind !== "page") throw new Error("a list takes its own cursor");
    yield page.entries;
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined);
}

interface TableWanted {
  /** The time of the answer, as text that sorts by time. */
  readonly at: string;
  readonly question: ListQuestion;
}

export const tableSource = (
  { views, now }: { readonly views: ViewStore; readonly now: () => Date },
  table: {
    readonly name: string;
    readonly list: List;
    readonly members?: Readonly<Record<string, TSchema>>;
    readonly entry?: (row: Row, at: string) => Entry;
    readonly filter?: {
      readonly documented: Asking<unknown>["documented"];
      read(query: Query, at: string): TimedFilter;
    };
  },
): ListSource<TableWanted> => {
  const { name, list, members = entryMembers(list), filter = timedFilter(list) } = table;
  const entry = table.entry ?? ((row: Row, at: string) => entryOf(list, row, at));
  return {
    name,
    views: [list.view],
    members,
    query: {
      documented: filter.documented,
      read: (query) => {
        const at = timeKey(now().toISOString());
        return { at, question: listQuestion(filter.read(query, at), (row) => entry(row, at)) };
      },
    },
    page: async ({ at, question }, { tenant }, page) => {
      const found = await readList(views, tenant, list, { ...page, ...question });
      if (found.kind === "invalid_cursor") return found;
      const { rows, nextCursor } = found;
      return { kind: "page", entries: rows.map((row) => entry(row, at)), nextCursor };
    },
    count: ({ question }, { tenant }) => countList(views, tenant, list, question),
  };
};

interface KeptWanted {
  readonly tenant: string | undefined;
  readonly times: { readonly from: string | undefined; readonly to: string | undefined };
  readonly rows: readonly (Placed & Entry)[];
}

/** What is kept in memory as a whole, in the order of byPlace. */
export const keptSource = (kept: {
  readonly name: string;
  readonly members: Readonly<Record<string, TSchema>>;
  readonly tenant?: Asking<string | undefined>;
  /** What else decides which rows there are. */
  readonly scope?: (principal: Principal) => unknown;
  readonly rows: (
    principal: Principal,
    tenant: string | undefined,
  ) => Promise<readonly (Placed & Entry)[] | Refusal> | readonly (Placed & Entry)[] | Refusal;
}): ListSource<KeptWanted> => {
  const { name, members, tenant = { documented: [], read: () => undefined } } = kept;
  const questions = allOf({ tenant, times: timeRange("Compares `created_at`.") });
  return {
    name,
    members,
    query: { documented: questions.documented, read: (query) => ({ ...questions.read(query), rows: [] }) },
    found: async (wanted, { principal }) => {
      const rows = await kept.rows(principal, wanted.tenant);
      if (isRefusal(rows)) return rows;
      const { from, to } = wanted.times;
      const within = ({ created_at }: Placed): boolean => {
        const time = timeKey(created_at);
        return (from === undefined || time >= timeKey(from)) && (to === undefined || time < timeKey(to));
      };
      return { ...wanted, rows: rows.filter(within) };
    },
    page: async ({ rows, times: { from, to }, ...wanted }, principal, { cursor, limit }) => {
      // As in other lists, any key that sees the same rows may send this cursor.
      const sees = [principal.isAdmin, principal.tenant, kept.scope?.(principal)];
      const scope = JSON.stringify([name, ...sees, wanted.tenant, from, to]);
      const start = cursor === undefined ? undefined : readCursor(cursor, scope);
      if (start?.kind === "invalid_cursor") return start;
      const [after = ""] = start?.place ?? [];
      const found = rows.filter((row) => placeOf(row) > String(after));
      const entries = found.slice(0, limit);
      const last = found.length > limit ? entries.at(-1) : undefined;
      return {
        kind: "page",
        entries,
        nextCursor: last ? writeCursor({ place: [placeOf(last)], scope }) : null,
      };
    },
    count: async ({ rows }) => ({ value: rows.length, exact: true }),
  };
};

export const movesWithEvents = (row: string): string =>
  `${row} that gets an event while pages are read moves to the newest end: \`order=desc\` may miss it, \`order=asc\` may repeat it.`;
