/** Where the views are, the database of DATABASE_URL or a file of SQLite in DATA_DIR, and the rules by which they are built. */
import { readFile } from "node:fs/promises";
import { readRules } from "../law/obligations/overrides.ts";
import type { LogReader } from "../log/event-log.ts";
import type { Sequence } from "../log/outcome.ts";
import { messageOf } from "../runtime/error-text.ts";
import { RefusedError } from "../runtime/refused-error.ts";
import type { Logger } from "../telemetry/logger.ts";
import { successorOf } from "../views/kit/beside.ts";
import type { Projection } from "../views/kit/projection.ts";
import { isSameLog, seenBeyond } from "../views/kit/view-end.ts";
import { openView, type ViewReadiness } from "../views/kit/view-readiness.ts";
import { projectionsWith } from "../views/registry.ts";
import { createPostgresViews } from "../views/store/postgres.ts";
import { lacksRight } from "../views/store/postgres-errors.ts";
import { createSqliteViews } from "../views/store/sqlite.ts";
import { rowInteger, rowText } from "../views/store/tables.ts";
import { isAway, ViewsMissingError } from "../views/store/unavailable.ts";
import { VIEWS, type ViewStore } from "../views/store/view-store.ts";
import { waitAtStart } from "./background.ts";
import type { Config } from "./config.ts";
import { viewsFile } from "./data-folder.ts";

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
  const detail = messageOf(error);
  if (place.databaseUrl === undefined) {
    const file = viewsFile(place);
    return new RefusedError(`The views in ${file} cannot be used: ${detail}.${adviceForFile(detail, file)}`);
  }
  const advice = lacksRight(error) ? ` ${MAKE_TABLES}` : isAway(error) ? ` ${REACH_DATABASE}` : "";
  const message = `The views in the database of DATABASE_URL cannot be opened: ${detail}.${advice}`;
  // Any other error stays: waiting does not change tables.
  return new RefusedError(message, { isFinal: !isAway(error) });
};

/** The message for an error of the SQLite file after it was opened; undefined if no advice is known. */
export const fileTrouble = (error: unknown, place: Place): string | undefined =>
  place.databaseUrl === undefined && adviceForFile(messageOf(error), viewsFile(place)) !== ""
    ? viewsRefused(error, place).message
    : undefined;

const REACH_DATABASE =
  "Check that DATABASE_URL names the database, its user and password, that PostgreSQL runs and has connections left, and that nobody locks its tables.";
const MAKE_TABLES =
  "Let its user create tables there: make it own the database (ALTER DATABASE … OWNER TO …), or grant it CREATE on the schema public. It must own the existing tables too (REASSIGN OWNED BY … TO …).";

/** By the texts of SQLite (sqlite.org/rescode.html), because Deno gives no code when a connection is opened. */
const adviceForFile = (detail: string, file: string): string => {
  if (/file is not a database|disk image is malformed/.test(detail))
    return ` Views are built from the log: stop what uses the file, remove it with ${file}-wal and ${file}-shm, and start again.`;
  if (/unable to open database file|attempt to write a readonly database/.test(detail))
    return " The user that runs the service must own it and the files beside it.";
  // If there is no room for the file that processes share, it is an I/O error (measured).
  if (/disk is full|disk I\/O error|the disk has no room/.test(detail))
    return " If its disk is full, free space and start again: nothing is lost, as views are built from the log.";
  return /database is locked/.test(detail) ? " Another process locks it: try again when that is done." : "";
};

/** `others`: another version has rebuilt them since this process opened them, so their rows must not be read. */
export const standing = async (
  views: Pick<ViewStore, "load">,
  projections: readonly Projection[],
  older: ViewReadiness["older"],
) => {
  const rows = await views.load(
    VIEWS,
    projections.map(({ name }) => ({ name })),
  );
  const byName = new Map(rows.map((row) => [rowText(row, "name"), row]));
  const positions: { name: string; position: Sequence }[] = [];
  const [missing, others]: [string[], string[]] = [[], []];
  for (const { name, version } of projections) {
    const row = byName.get(name);
    if (!row) missing.push(name);
    else if (![version, older.get(name)].includes(rowInteger(row, "version"))) others.push(name);
    else positions.push({ name, position: rowInteger(row, "position") });
  }
  return { positions, missing, others };
};

/** With wrong settings the views may belong to another installation, and rebuilding them would destroy them. */
const OF_ONE_LOG =
  "Check that DATA_DIR, NATS_URL and DATABASE_URL are of one installation. Then restore the log, or rebuild these views to continue with it as it is.";

/** The versions of the views that are read while a service builds those of this version beside them. */
export const olderIn = async ({ views, projections }: Awaited<ReturnType<typeof connectViews>>) => {
  const there = await views.names();
  const built = projections.filter((each) => there.includes(successorOf(each).name));
  const keys = built.map(({ name }) => ({ name }));
  // An empty database has no table to ask.
  const rows = keys.length === 0 ? [] : await views.load(VIEWS, keys);
  return new Map(rows.map((row) => [rowText(row, "name"), rowInteger(row, "version")]));
};

/** Why views have seen what the log does not hold. Rejects if log or views do not answer. */
export const viewsNotOfLog = async (parts: {
  readonly views: Pick<ViewStore, "load">;
  readonly log: Pick<LogReader, "read" | "lastSequence">;
  readonly projections: readonly Projection[];
  readonly older: ViewReadiness["older"];
}): Promise<readonly string[]> => {
  const { views, log, projections, older } = parts;
  const seen = await standing(views, projections, older).catch((error: unknown) => {
    // They will be built from this log.
    if (error instanceof ViewsMissingError) return { positions: [] };
    throw error;
  });
  // Asked after the views, so that everything they have seen is in the log by then.
  const last = await log.lastSequence();
  const reasons: string[] = [];
  for (const [position, there] of Map.groupBy(seen.positions, ({ position }) => position)) {
    const names = there.map(({ name }) => name);
    const which = names.length === 1 ? `The view ${names[0]} has` : `The views ${names.join(", ")} have`;
    if (position > last) reasons.push(`${which} ${seenBeyond(position, last)}. ${OF_ONE_LOG}`);
    else if (!(await isSameLog(parts, names, position)))
      reasons.push(
        `${names.join(", ")}: the record ${position} that was seen is not the one in the log. ${OF_ONE_LOG}`,
      );
  }
  return reasons;
};
