/** Reads of views in PostgreSQL, as of the last commit or of one state for as long as a caller looks at it. */
import { SNAPSHOT_ROWS, VIEW_QUERY_MS_MAX } from "../../limits.ts";
import type { QueryParameter } from "./conditions.ts";
import { type Connection, createConnection, type RunSql } from "./postgres-connection.ts";
import { loadStatement } from "./postgres-writes.ts";
import { rowSql } from "./sql.ts";
import { fromStored, newViewRow, storedParameter, tablesIn } from "./stored-rows.ts";
import { toStored } from "./stored-values.ts";
import { keyValues, type Row, rowInteger, sqlName, type Table, type Value } from "./tables.ts";
import type { TenantQuery } from "./tenant-query.ts";
import { postgresMatchText } from "./text-index.ts";
import { type Snapshot, VIEWS, type ViewDefinition, type ViewStore } from "./view-store.ts";

export const selectRows = async (
  run: RunSql,
  { inPostgres: { sql, params } }: TenantQuery,
): Promise<readonly Row[]> => (await run(numbered(sql), params.map(parameterText))).rows.map(fromStored);

export const loadRows = async (
  run: RunSql,
  ...asked: Parameters<ViewStore["load"]>
): Promise<readonly Row[]> => {
  const { sql, params } = loadStatement(...asked);
  return (await run(sql, params)).rows.map(fromStored);
};

/** Each snapshot has a connection of its own, because its transaction stays open as long as the caller looks at it. */
export const createSnapshots = (url: string) => {
  const used = new Set<Connection>();
  // Kept for the next snapshot: a new connection takes both sides 7 ms of CPU (measured), and views are verified one after another.
  let spare: Connection | undefined;
  let isGivenUp = false;
  let isClosed = false;
  return {
    take: async <Result>(view: ViewDefinition, visit: (snapshot: Snapshot) => Promise<Result>) => {
      const connection = spare ?? createConnection(url);
      spare = undefined;
      if (isGivenUp) connection.giveUp();
      used.add(connection);
      try {
        return await inSnapshot(connection, view, visit);
      } finally {
        used.delete(connection);
        if (spare === undefined && !isClosed) spare = connection;
        else await connection.close();
      }
    },
    giveUp: (): void => {
      isGivenUp = true;
      for (const connection of used) connection.giveUp();
      spare?.giveUp();
    },
    close: async (): Promise<void> => {
      isClosed = true;
      await spare?.close();
    },
  };
};

const inSnapshot = <Result>(
  connection: Connection,
  view: ViewDefinition,
  visit: (snapshot: Snapshot) => Promise<Result>,
): Promise<Result> =>
  connection.transaction(async (run) => {
    await run("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY");
    // Before the first query: tables are found by name, and another table could have that name later.
    const tables = tablesOf(view).map(sqlName).join(", ");
    await run(`LOCK TABLE ${tables} IN ACCESS SHARE MODE`);
    // It locks no row, and a caller that compares may be busy with what it has read.
    await run(`SET LOCAL idle_in_transaction_session_timeout = ${VIEW_QUERY_MS_MAX}`);
    const [known] = await loadRows(run, VIEWS, [{ name: view.name }]);
    async function* rows(table: Table): AsyncGenerator<readonly Row[]> {
      const sql = rowSql(table);
      const ask = async (text: string, params: readonly Value[]): Promise<readonly Row[]> =>
        (await run(numbered(text), params)).rows.map(fromStored);
      let page = await ask(sql.firstPage, [SNAPSHOT_ROWS]);
      while (page.length > 0) {
        yield page;
        const last = page.at(-1);
        if (!last || page.length < SNAPSHOT_ROWS) return;
        page = await ask(sql.nextPage, [...keyValues(table, last).map(toStored), SNAPSHOT_ROWS]);
      }
    }
    const load: Snapshot["load"] = (...asked) => loadRows(run, ...asked);
    const select: Snapshot["select"] = (query) => selectRows(run, query);
    const position = known ? rowInteger(known, "position") : 0;
    return { result: await visit({ position, rows, load, select }), keep: false };
  });

export const tablesOf = (view: ViewDefinition): readonly string[] => tablesIn(newViewRow(view));

export const numbered = (sql: string): string => {
  let count = 0;
  return sql.replaceAll("?", () => `$${++count}`);
};

const parameterText = (parameter: QueryParameter): string | number =>
  typeof parameter === "object" ? postgresMatchText(parameter) : storedParameter(parameter);
