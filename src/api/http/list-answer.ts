/** What every list answers: a page, its count if that is asked for, or all of its rows as a file. */
import { type Placed, placeOf } from "../../access/place.ts";
import { timeKey } from "../../event/formats.ts";
import {
  COUNT_EXACT_MAX,
  PAGE_BYTES_MAX,
  PAGE_ROWS_DEFAULT,
  PAGE_ROWS_MAX,
  PART_ROWS_MAX,
} from "../../limits.ts";
import type { Count, Page } from "../../views/kit/list.ts";
import { readCursor, writeCursor } from "../../views/store/cursor.ts";
import type { Call } from "./call.ts";
import { answerExport, type ExportDependencies, type FileFormat } from "./downloads.ts";
import { type Entry, entryFile } from "./entry-file.ts";
import type { Parameter } from "./openapi.ts";
import { type ProblemCode, problem } from "./problem.ts";
import { type Query, readQuery } from "./query.ts";
import {
  dropped,
  inOwnTurn,
  invalidCursor,
  MIN_SEQUENCE,
  onceSeen,
  parameter,
  type ReadDependencies,
  readMinSequence,
  sequenceWait,
} from "./reading.ts";
import { successList } from "./success.ts";
import { readTimeRange } from "./time-range.ts";

export type ListDependencies = ReadDependencies & ExportDependencies;

export type EntryPage =
  | { readonly kind: "page"; readonly entries: readonly Entry[]; readonly nextCursor: string | null }
  | { readonly kind: "invalid_cursor" };

export interface ListSource<Asked> {
  /** In the name of its files, and in the record of an export. */
  readonly name: string;
  readonly views: readonly string[];
  /** Members of an entry, in the order of the columns of a file. */
  readonly columns: readonly string[];
  ask(query: Query): Asked;
  page(asked: Asked, tenant: string, page: Page): Promise<EntryPage>;
  count(asked: Asked, tenant: string): Promise<Count>;
  /** Members beside the rows. */
  beside?(asked: Asked): Readonly<Record<string, unknown>>;
}

/** How the rows are to be answered. */
export interface ListForm extends Page {
  readonly format: "json" | FileFormat;
  readonly isCounted: boolean;
}

const FORMATS = ["json", "csv", "ndjson"] as const;

export const readListForm = (query: Query): ListForm => ({
  order: query.choice("order", ["desc", "asc"], "desc"),
  ...readForm(query),
});

/** Of a list that is kept in memory, which has one order: that of `created_at`. */
export interface KeptForm extends Omit<ListForm, "order"> {
  readonly from: string | undefined;
  readonly to: string | undefined;
}

export const readKeptForm = (query: Query): KeptForm => ({ ...readForm(query), ...readTimeRange(query) });

const readForm = (query: Query): Omit<ListForm, "order"> => {
  const format = query.choice("format", FORMATS, "json");
  const limit = query.integer("limit", { min: 1, max: PAGE_ROWS_MAX });
  const cursor = query.text("cursor");
  const count = query.oneOf("count", ["true", "false"]);
  const ofPages = { limit, cursor, count };
  if (format !== "json")
    for (const [name, value] of Object.entries(ofPages))
      if (value !== undefined) query.refuse(name, `A file has all rows: leave ${name} out, or format.`);
  return { format, limit: limit ?? PAGE_ROWS_DEFAULT, cursor, isCounted: count === "true" };
};

const ROWS_OF_A_PAGE = `Rows in one answer, at most: a page of events ends at ${PAGE_BYTES_MAX / 1024 / 1024} MiB of them. \`next_cursor\` says whether there are more.`;

/** Parameters of every list, in any order of rows. */
export const KEPT_PARAMETERS: readonly Parameter[] = [
  parameter("limit", ROWS_OF_A_PAGE, {
    type: "integer",
    minimum: 1,
    maximum: PAGE_ROWS_MAX,
    default: PAGE_ROWS_DEFAULT,
  }),
  parameter("cursor", "`next_cursor` of the page before, with the same filters."),
  parameter(
    "count",
    `Whether to count the rows that match: \`count.value\`, up to ${COUNT_EXACT_MAX}. Where \`count.exact\` is false there are at least so many.`,
    { type: "string", enum: ["true", "false"], default: "false" },
  ),
  parameter(
    "format",
    "`csv` and `ndjson` answer all rows that match as a file, whatever their number, without `limit`, `cursor` and `count`. That an export began is recorded as an event of the tenant `prooftrail-system`.",
    { type: "string", enum: [...FORMATS], default: "json" },
  ),
];

export const LIST_PARAMETERS: readonly Parameter[] = [
  parameter("order", "From the newest or from the oldest.", {
    type: "string",
    enum: ["desc", "asc"],
    default: "desc",
  }),
  ...KEPT_PARAMETERS,
  MIN_SEQUENCE,
];

/** A file is an export, which may find too many others, or a log that does not take its record. */
export const LIST_PROBLEMS: readonly ProblemCode[] = [
  "invalid_request",
  "view_behind",
  "overloaded",
  "log_unavailable",
];

export const listAnswer =
  <Asked>(dependencies: ListDependencies, source: ListSource<Asked>) =>
  async (call: Call): Promise<Response> => {
    const { views } = dependencies;
    const query = readQuery(call.request.url);
    const asked = source.ask(query);
    const form = readListForm(query);
    const awaited = sequenceWait(readMinSequence(query));
    const errors = query.errors();
    if (errors.length > 0) return problem(call.context, "invalid_request", { errors });
    const { format } = form;
    const seeing = { views, projections: source.views, awaited };
    const check = (): Promise<void> => call.madeViews.check(source.views);
    if (format === "json") {
      const response = await onceSeen(
        seeing,
        async () => {
          // After the wait, during which a view may become complete.
          await check();
          return inOwnTurn(() => answerPage(source, asked, form, call));
        },
        dropped,
      );
      return response ?? problem(call.context, "view_behind");
    }
    const end = await onceSeen(seeing, async () => {
      await check();
      return Math.min(...(await Promise.all(source.views.map((view) => views.position(view)))));
    });
    if (end === undefined) return problem(call.context, "view_behind");
    const pages = entryPages(source, asked, { order: form.order, tenant: call.principal.tenant, check });
    return answerExport(dependencies, call, {
      name: source.name,
      lastSequence: end,
      ...entryFile(format, source.columns, pages),
    });
  };

const answerPage = async <Asked>(
  source: ListSource<Asked>,
  asked: Asked,
  { isCounted, ...page }: ListForm,
  call: Call,
): Promise<Response> => {
  const { tenant } = call.principal;
  const found = await source.page(asked, tenant, page);
  if (found.kind === "invalid_cursor") return invalidCursor(call);
  return successList({
    context: call.context,
    rowTexts: found.entries.map((entry) => JSON.stringify(entry)),
    nextCursor: found.nextCursor,
    beside: {
      ...source.beside?.(asked),
      ...(isCounted && { count: await source.count(asked, tenant) }),
    },
  });
};

/** Every page, from the first. */
async function* entryPages<Asked>(
  source: ListSource<Asked>,
  asked: Asked,
  parts: { readonly order: Page["order"]; readonly tenant: string; readonly check: () => Promise<void> },
): AsyncGenerator<readonly Entry[]> {
  const { order, tenant, check } = parts;
  let cursor: string | undefined;
  do {
    // Throws while a view is being rebuilt, so the file ends early.
    await check();
    const page = await source.page(asked, tenant, { order, limit: PART_ROWS_MAX, cursor });
    if (page.kind !== "page") throw new Error("a list takes its own cursor");
    yield page.entries;
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined);
}

/** A list that is kept in memory as a whole. `rows` are in the order of byPlace. */
export const answerKeptList = async (
  dependencies: ExportDependencies,
  call: Call,
  kept: {
    readonly name: string;
    readonly columns: readonly string[];
    readonly rows: readonly (Placed & Entry)[];
    readonly tenant: string | undefined;
    readonly form: KeptForm;
  },
): Promise<Response> => {
  const { context, principal } = call;
  const { name, columns, tenant } = kept;
  const { format, limit, cursor, isCounted, from, to } = kept.form;
  const rows = kept.rows.filter(({ created_at }) => {
    const time = timeKey(created_at);
    return (from === undefined || time >= timeKey(from)) && (to === undefined || time < timeKey(to));
  });
  if (format !== "json")
    return answerExport(dependencies, call, { name, ...entryFile(format, columns, inOnePage(rows)) });
  // As in all other lists, any key that sees the same rows may send this cursor.
  const scope = JSON.stringify([name, principal.isAdmin, principal.tenant, tenant, from, to]);
  const start = cursor === undefined ? undefined : readCursor(cursor, scope);
  if (start?.kind === "invalid_cursor") return invalidCursor({ context });
  const [after = ""] = start?.place ?? [];
  const found = rows.filter((row) => placeOf(row) > String(after));
  const page = found.slice(0, limit);
  const last = found.length > limit ? page.at(-1) : undefined;
  return successList({
    context,
    rowTexts: page.map((row) => JSON.stringify(row)),
    nextCursor: last ? writeCursor({ place: [placeOf(last)], scope }) : null,
    beside: isCounted ? { count: { value: rows.length, exact: true } } : {},
  });
};

async function* inOnePage(rows: readonly Entry[]): AsyncGenerator<readonly Entry[]> {
  yield rows;
}
