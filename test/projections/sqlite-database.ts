/** A SQLite file in its own folder, removed at the end. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createSqliteViews } from "../../src/views/store/sqlite.ts";
import type { ViewStore } from "../../src/views/store/view-store.ts";

export interface SqliteDatabase extends AsyncDisposable {
  readonly path: string;
  connect(): ViewStore;
}

export const createSqliteDatabase = (): SqliteDatabase => {
  const folder = mkdtempSync(join(tmpdir(), "prooftrail-views-"));
  const path = join(folder, "views.sqlite");
  return {
    path,
    connect: () => createSqliteViews({ path }),
    [Symbol.asyncDispose]: async () => rmSync(folder, { recursive: true, force: true }),
  };
};
