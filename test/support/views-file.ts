import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { until } from "./until.ts";

export interface ViewsFile {
  /** Returns the number of changed rows. */
  exec(sql: string): Promise<number>;
  close(): void;
}

/**
 * The file in which a running service keeps its views, for tests that damage it. Its projector may be writing, and may be in this
 * process: SQLite's own waiting would block that write forever.
 */
export const openViewsFile = (dataDir: string): ViewsFile => {
  const database = new DatabaseSync(join(dataDir, "views.sqlite"), { timeout: 0 });
  const changes = (): number => Number(database.prepare("SELECT total_changes() AS n").get()?.n);
  return {
    exec: (sql) =>
      until("the file is free", () => {
        const before = changes();
        try {
          database.exec(sql);
        } catch (error) {
          if (error instanceof Error && error.message.includes("database is locked")) return undefined;
          throw error;
        }
        return changes() - before;
      }),
    close: () => database.close(),
  };
};
