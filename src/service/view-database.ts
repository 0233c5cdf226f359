/** Where the views are: the database of DATABASE_URL, or a file of SQLite in DATA_DIR. */
import { accessSync, constants, statSync } from "node:fs";
import { join } from "node:path";
import { isMissing } from "../runtime/durable-file.ts";
import { shellWord } from "../runtime/shell-word.ts";
import { createPostgresViews } from "../views/store/postgres.ts";
import { lacksRight } from "../views/store/postgres-errors.ts";
import { createSqliteViews } from "../views/store/sqlite.ts";
import { isAway } from "../views/store/unavailable.ts";
import type { ViewStore } from "../views/store/view-store.ts";
import type { Config } from "./config.ts";

type Place = Pick<Config, "databaseUrl" | "dataDir">;

/** The views cannot be used. The message is for the operator. */
export class ViewsRefusedError extends Error {
  override readonly name = "ViewsRefusedError";
}

export const connectViews = (place: Place): ViewStore => {
  const { databaseUrl } = place;
  if (databaseUrl !== undefined) return createPostgresViews({ url: databaseUrl });
  try {
    return createSqliteViews({ path: viewsFile(place) });
  } catch (error) {
    throw viewsRefused(error, place);
  }
};

export const viewsRefused = (error: unknown, place: Place): ViewsRefusedError => {
  const detail = error instanceof Error ? error.message : "no reason given";
  if (place.databaseUrl !== undefined)
    return new ViewsRefusedError(
      `The views in the database of DATABASE_URL cannot be opened: ${detail}.${adviceForDatabase(error)}`,
    );
  const file = viewsFile(place);
  return new ViewsRefusedError(`The views in ${file} cannot be opened: ${detail}.${adviceFor(detail, file)}`);
};

const adviceForDatabase = (error: unknown): string => {
  if (lacksRight(error)) return ` ${MAKE_TABLES}`;
  return isAway(error) ? ` ${REACH_DATABASE}` : "";
};

/** Advice if the database of DATABASE_URL does not answer or refuses the login. */
export const REACH_DATABASE =
  "See that DATABASE_URL names the database, its user and password, that PostgreSQL runs and has connections left, and that nobody holds its tables.";

/** Advice if the user of DATABASE_URL lacks rights. */
export const MAKE_TABLES =
  "Let its user make tables there: have it own the database (ALTER DATABASE … OWNER TO …), or be granted CREATE on the schema public. Tables that are there have to be its own too (REASSIGN OWNED BY … TO …).";

/** The message for an error of the SQLite file after it was opened; undefined if no advice is known. */
export const fileTrouble = (error: unknown, place: Place): string | undefined => {
  if (place.databaseUrl !== undefined || !(error instanceof Error)) return undefined;
  const file = viewsFile(place);
  const advice = adviceFor(error.message, file);
  return advice === "" ? undefined : `The views in ${file} cannot be used: ${error.message}.${advice}`;
};

const adviceFor = (detail: string, file: string): string => {
  if (DAMAGED.test(detail))
    return ` Views are made from the log: end what uses the file, remove it with ${file}-wal and ${file}-shm, and start again.`;
  if (CANNOT_OPEN.test(detail)) return ` ${BELONGS_TO_ITS_USER}`;
  if (NO_ROOM.test(detail))
    return " Where its disk is full, make room and start again: nothing is lost, as views are made from the log.";
  if (HELD.test(detail)) return " Another process holds it: ask again when that is done.";
  return "";
};

const BELONGS_TO_ITS_USER = "Have it, and what stands beside it, belong to the user that runs the service.";

/** Texts of SQLITE_NOTADB and SQLITE_CORRUPT (sqlite.org/rescode.html). Deno gives no code when a connection is opened. */
const DAMAGED = /file is not a database|disk image is malformed/;
/** Texts of SQLITE_CANTOPEN and SQLITE_READONLY. */
const CANNOT_OPEN = /unable to open database file|attempt to write a readonly database/;

/** Texts of SQLITE_FULL, of SQLITE_IOERR (if there is no room for the file that processes share, measured), and of sqlite.ts. */
const NO_ROOM = /disk is full|disk I\/O error|the disk has no room/;

/** Text of SQLITE_BUSY. */
const HELD = /database is locked/;

/** Throws ViewsRefusedError if this user can read the views but not write them. */
export const refuseClosedViews = (place: Place): void => {
  const closed = closedToWriting(place);
  if (closed) throw new ViewsRefusedError(`${closed.detail}. ${closed.advice}`);
};

/**
 * Why this user cannot write the file of the views, for example after another user restored a copy. SQLite opens such a file all the same,
 * read-only.
 */
export const closedToWriting = (
  place: Place,
): { readonly detail: string; readonly advice: string } | undefined => {
  if (place.databaseUrl !== undefined) return undefined;
  const file = viewsFile(place);
  for (const path of [file, `${file}-wal`, `${file}-shm`]) {
    try {
      accessSync(path, constants.W_OK);
    } catch (error) {
      // The files beside it disappear when the last process closes it.
      if (isMissing(error)) continue;
      const detail = `${path} cannot be written: ${error instanceof Error ? error.message : String(error)}`;
      return { detail, advice: BELONGS_TO_ITS_USER };
    }
  }
  return undefined;
};

/**
 * Whether other users of the machine can read the file of the views, and the command that closes it; undefined if they cannot. The file
 * keeps the mode that it was made with, by an earlier version or by an operator; that may be intended.
 */
export const openToOthers = (
  place: Place,
): { readonly detail: string; readonly advice: string } | undefined => {
  if (place.databaseUrl !== undefined) return undefined;
  const file = viewsFile(place);
  const [mode, folderMode] = [modeOf(file), modeOf(place.dataDir)];
  const isOpen = GROUP_AND_OTHERS.some(({ read, enter }) => mode & read && folderMode & enter);
  if (!isOpen) return undefined;
  return {
    detail: `${file} has mode ${(mode & 0o777).toString(8)}: others than its owner can read every event in it`,
    advice: `Unless that is meant so: chmod go= ${shellWord(file)}*`,
  };
};

/** Mode bits for reading a file and entering its folder. */
const GROUP_AND_OTHERS = [
  { read: 0o040, enter: 0o010 },
  { read: 0o004, enter: 0o001 },
] as const;

/** 0 if it cannot be read: other checks report that. */
const modeOf = (path: string): number => {
  try {
    return statSync(path).mode;
  } catch {
    return 0;
  }
};

export const viewsFile = ({ dataDir }: Pick<Config, "dataDir">): string => join(dataDir, "views.sqlite");
