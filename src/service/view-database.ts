/** Where the views are, the database of DATABASE_URL or a file of SQLite in DATA_DIR, and the rules by which they are built. */
import { readFile } from "node:fs/promises";
import { readRules } from "../law/obligations/overrides.ts";
import { messageOf } from "../runtime/error-text.ts";
import { RefusedError } from "../runtime/refused-error.ts";
import type { Logger } from "../telemetry/logger.ts";
import type { Projection } from "../views/kit/projection.ts";
import { openView } from "../views/kit/view-readiness.ts";
import { projectionsWith } from "../views/registry.ts";
import { createPostgresViews } from "../views/store/postgres.ts";
import { isReadOnly, lacksRight } from "../views/store/postgres-errors.ts";
import { createSqliteViews } from "../views/store/sqlite.ts";
import { isAway } from "../views/store/unavailable.ts";
import type { ViewStore } from "../views/store/view-store.ts";
import { waitAtStart } from "./background.ts";
import type { Config } from "./config.ts";
import { BELONGS_TO_ITS_USER, viewsFile } from "./data-folder.ts";

type Place = Pick<Config, "databaseUrl" | "dataDir">;

/** The views as every program of ours sees them, with the operator's own rules in their versions. Throws RefusedError. */
export const connectViews = async (config: Config, stack: AsyncDisposableStack) => {
  const { rules, version } = await loadRules(config);
  const views = stack.use(connect(config));
  return { views, rules, projections: projectionsWith(rules, version) };
};

const connect = (place: Place): ViewStore => {
  if (place.databaseUrl !== undefined) return createPostgresViews({ url: place.databaseUrl });
  try {
    return createSqliteViews({ path: viewsFile(place) });
  } catch (error) {
    throw viewsRefused(error, place);
  }
};

const loadRules = async ({ obligationRulesFile: path, lateRecordGraceMs }: Config) => {
  const text =
    path === undefined
      ? "{}"
      : await readFile(path, "utf8").catch((error: unknown) => {
          throw new RefusedError(
            `OBLIGATION_RULES_FILE ${path} cannot be read: ${messageOf(error)}. Set it to a file that this user may read, or leave it out.`,
          );
        });
  const read = readRules(text, lateRecordGraceMs);
  if (read.kind === "rules") return read;
  throw new RefusedError(`OBLIGATION_RULES_FILE ${path} is not valid: ${read.errors.join("; ")}.`);
};

/**
 * Opens the views at the start, so that their tables exist before the first query. Waits for their database as a start waits for a broker. Throws
 * RefusedError: at once if waiting cannot help, otherwise after START_WAIT_MS_MAX.
 */
export const openViews = async (parts: {
  readonly config: Config;
  readonly logger: Logger;
  readonly stack: AsyncDisposableStack;
}) => {
  const { config, logger, stack } = parts;
  const connected = await connectViews(config, stack);
  /** The versions of views whose rows are of another version, and are read until those of this version have caught up. */
  const older = new Map<string, number>();
  const openOne = async (projection: Projection): Promise<void> => {
    const { code, version } = await openView(connected.views, projection);
    if (code === "older") older.set(projection.name, version);
    if (code === "older" || code === "rebuilt") logger.warn(REBUILT[code], { projection: projection.name });
  };
  await waitAtStart("waiting for the database of the views", logger, async () => {
    for (const projection of connected.projections)
      await openOne(projection).catch((error: unknown) => {
        throw viewsRefused(error, config);
      });
  });
  return { ...connected, older };
};

const OTHER_ROWS = "its rows are of another version of Prooftrail, or follow other rules of obligations";
const REBUILT = {
  older: `a view is rebuilt from the log, and the old one is read meanwhile: ${OTHER_ROWS}`,
  rebuilt: `a view is rebuilt from the log, and answers 503 until it is complete: ${OTHER_ROWS}`,
};

export const viewsRefused = (error: unknown, place: Place): RefusedError => {
  const detail = error instanceof Error ? error.message : "no reason given";
  if (place.databaseUrl === undefined) {
    const file = viewsFile(place);
    return new RefusedError(
      `The views in ${file} cannot be opened: ${detail}.${adviceForFile(detail, file)}`,
    );
  }
  const advice = lacksRight(error) ? ` ${MAKE_TABLES}` : isAway(error) ? ` ${REACH_DATABASE}` : "";
  const message = `The views in the database of DATABASE_URL cannot be opened: ${detail}.${advice}`;
  // Any other error stays: waiting does not change tables.
  return new RefusedError(message, { isFinal: !isAway(error) });
};

/** The message for an error of the SQLite file after it was opened; undefined if no advice is known. */
export const fileTrouble = (error: unknown, place: Place): string | undefined => {
  if (place.databaseUrl !== undefined || !(error instanceof Error)) return undefined;
  const file = viewsFile(place);
  const advice = adviceForFile(error.message, file);
  return advice === "" ? undefined : `The views in ${file} cannot be used: ${error.message}.${advice}`;
};

/** Advice if the views cannot be read or written. */
export const adviceAboutViews = (error: unknown): string => {
  if (isReadOnly(error))
    return "Check that the PostgreSQL of DATABASE_URL accepts writes: a standby does not, nor does a server set to read-only, as some are when their disk is full. Views do not move until then; events are still accepted, and nothing is lost.";
  if (lacksRight(error)) return MAKE_TABLES;
  return isAway(error)
    ? `${REACH_DATABASE} Events are still accepted, and nothing is lost.`
    : "Check DATABASE_URL or the file; the views can be rebuilt from the log.";
};

const REACH_DATABASE =
  "Check that DATABASE_URL names the database, its user and password, that PostgreSQL runs and has connections left, and that nobody locks its tables.";
const MAKE_TABLES =
  "Let its user create tables there: make it own the database (ALTER DATABASE … OWNER TO …), or grant it CREATE on the schema public. It must own the existing tables too (REASSIGN OWNED BY … TO …).";

/** By the texts of SQLite (sqlite.org/rescode.html), because Deno gives no code when a connection is opened. */
const adviceForFile = (detail: string, file: string): string => {
  if (/file is not a database|disk image is malformed/.test(detail))
    return ` Views are built from the log: stop what uses the file, remove it with ${file}-wal and ${file}-shm, and start again.`;
  if (/unable to open database file|attempt to write a readonly database/.test(detail))
    return ` ${BELONGS_TO_ITS_USER}`;
  // If there is no room for the file that processes share, it is an I/O error (measured).
  if (/disk is full|disk I\/O error|the disk has no room/.test(detail))
    return " If its disk is full, free space and start again: nothing is lost, as views are built from the log.";
  return /database is locked/.test(detail) ? " Another process locks it: try again when that is done." : "";
};
