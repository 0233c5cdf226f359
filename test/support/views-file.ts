import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

/** Its projector may be writing: without a wait, whoever comes between is refused. */
const WAIT_MS_MAX = 10_000;

/** The file in which a service at work keeps its views, for tests that damage it. */
export const openViewsFile = (dataDir: string): DatabaseSync =>
  new DatabaseSync(join(dataDir, "views.sqlite"), { timeout: WAIT_MS_MAX });
