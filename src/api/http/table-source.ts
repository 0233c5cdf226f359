/** A list over one table, as a list of the API. */
import { timeKey } from "../../event/formats.ts";
import { countList, type List, type ListQuestion, readList } from "../../views/kit/list.ts";
import type { Row } from "../../views/store/tables.ts";
import type { Entry } from "./entry-file.ts";
import type { ListSource } from "./list-answer.ts";
import { listQuestion, readTimedFilter, type TimedFilter } from "./list-filter.ts";
import type { Query } from "./query.ts";
import type { ReadDependencies } from "./reading.ts";

interface TableAsked {
  /** The time of the answer, as text that sorts by time. */
  readonly at: string;
  readonly question: ListQuestion;
}

export const tableSource = (
  { views, now }: ReadDependencies,
  table: {
    readonly name: string;
    readonly list: List;
    readonly columns: readonly string[];
    readonly entry: (row: Row, at: string) => Entry;
    /** Default: by the parameters that the list describes. */
    readonly readFilter?: (query: Query, at: string) => TimedFilter;
  },
): ListSource<TableAsked> => {
  const { name, list, columns, entry, readFilter = (query: Query) => readTimedFilter(query, list) } = table;
  return {
    name,
    views: [list.view],
    columns,
    ask: (query) => {
      const at = timeKey(now().toISOString());
      return { at, question: listQuestion(readFilter(query, at), (row) => entry(row, at)) };
    },
    page: async ({ at, question }, tenant, page) => {
      const found = await readList(views, tenant, list, { ...page, ...question });
      if (found.kind === "invalid_cursor") return found;
      const { rows, nextCursor } = found;
      return { kind: "page", entries: rows.map((row) => entry(row, at)), nextCursor };
    },
    count: ({ question }, tenant) => countList(views, tenant, list, question),
  };
};
