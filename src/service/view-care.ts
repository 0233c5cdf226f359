/** The operations of `prooftrail views`, also while the service runs: positions, rebuild, verify, dead letters. */
import { existsSync } from "node:fs";
import { DEAD_LETTERS_LISTED_MAX } from "../limits.ts";
import { type LogReader, LogUnavailableError } from "../log/event-log.ts";
import { type BrokerConnection, BrokerRefusedError, connectToBroker } from "../nats/connection.ts";
import { createLogReader } from "../nats/reader.ts";
import { RefusedError } from "../runtime/refused-error.ts";
import { createLogger } from "../telemetry/logger.ts";
import { replayLetter } from "../views/kit/dead-letter-replay.ts";
import type { Projection } from "../views/kit/projection.ts";
import { rebuildView } from "../views/kit/rebuild.ts";
import { type Verified, verifyView } from "../views/kit/verify.ts";
import { DatabaseError } from "../views/store/postgres-errors.ts";
import { type Row, rowInteger, rowText } from "../views/store/tables.ts";
import { ViewsUnavailableError } from "../views/store/unavailable.ts";
import type { ViewStore } from "../views/store/view-store.ts";
import { findRunningBroker, provideBroker } from "./broker.ts";
import type { Config } from "./config.ts";
import { AS_ITS_USER, closedFolder, viewsFile } from "./data-folder.ts";
import { connectViews, fileTrouble, standing } from "./view-database.ts";

export interface ViewStatus {
  readonly name: string;
  readonly position: number;
  readonly behind: number;
  readonly dead_letters: number;
}

/** A record that a view could not process. */
export type Letter = ReturnType<typeof letterOf>;

/** The result of `verify`, under a name of this folder: src/cli may not import src/views. */
export type CheckedView = Verified;

interface Tools {
  readonly log: LogReader;
  readonly views: ViewStore;
  readonly projections: readonly [Projection, ...Projection[]];
}

interface Watched {
  readonly onProgress: (progress: { readonly position: number; readonly end: number }) => void;
  readonly signal: AbortSignal;
}

/** What the command line says about an error, and its code; undefined for a fault of ours. */
export const refusalIn = (error: unknown, config: Config) => {
  const ofFile = fileTrouble(error, config);
  if (error instanceof BrokerRefusedError || error instanceof LogUnavailableError)
    return { code: "broker_unreachable", reason: error.message } as const;
  if (error instanceof RefusedError) return { code: "wrong_use", reason: error.message } as const;
  if (error instanceof DatabaseError || error instanceof ViewsUnavailableError)
    return { code: "database_unreachable", reason: `DATABASE_URL: ${error.message}.` } as const;
  return ofFile === undefined ? undefined : ({ code: "failed", reason: ofFile } as const);
};

export type ViewCare = Awaited<ReturnType<typeof openViewCare>>;

/** Rejects with what `refusalIn` puts into words. A command that looks must not create anything: a wrong folder would get views and a broker. */
export const openViewCare = async (config: Config) => {
  const closed = await closedFolder(config);
  if (closed !== undefined) throw new RefusedError(`${closed}. ${AS_ITS_USER}`);
  if (config.databaseUrl === undefined && !existsSync(viewsFile(config)))
    throw new RefusedError(`There is no views.sqlite in ${config.dataDir}: no service has run there.`);
  await using stack = new AsyncDisposableStack();
  const { views, projections } = await connectViews(config, stack);
  // Fails here if the database is away, before a broker is started.
  await views.position(projections[0].name);
  const tools = { log: await openLog(config, stack), views, projections, now: () => new Date() };
  const running = stack.move();
  const projectionOf = (name: string): Projection => {
    const found = projections.find((each) => each.name === name);
    if (!found) throw new Error(`there is no view ${name}`);
    return found;
  };
  return {
    /** Names of all views, in the order in which they move. */
    names: projections.map(({ name }) => name),
    /** Why this program must not rebuild or verify one of these views; undefined if it may. */
    refusal: (names: readonly string[]) => refusalOf(views, names.map(projectionOf)),
    status: () => statusOf(tools),
    rebuild: (name: string, { onProgress, signal }: Watched) =>
      rebuildView({ ...tools, clock: tools.now, onProgress }, projectionOf(name), signal),
    verify: (name: string, { onProgress, signal }: Watched) =>
      verifyView({ ...tools, clock: tools.now, onProgress }, projectionOf(name), signal),
    deadLetters: (name: string) => lettersOf(views, name),
    /** All dead letters of the view, or the one at this sequence. */
    replay: (name: string, sequence: number | undefined) => replayLetters(tools, name, sequence),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
};

/** A view that was built by other rules has other rows, although nobody altered it. Checked before the log is read. */
const refusalOf = async (
  views: Pick<ViewStore, "load">,
  projections: readonly Projection[],
): Promise<string | undefined> => {
  const [other] = (await standing(views, projections, new Map())).others;
  return (
    other &&
    `The view ${other} was built by another version of Prooftrail, or with other obligation rules: use the program of the service, with its OBLIGATION_RULES_FILE and LATE_RECORD_GRACE.`
  );
};

export const statusOf = async ({
  log,
  views,
  projections,
}: Tools): Promise<{ readonly last_sequence: number; readonly views: readonly ViewStatus[] }> => {
  const positions = await Promise.all(projections.map(({ name }) => views.position(name)));
  // Asked after the positions. Otherwise a record that comes in between would make a view look as if the log had lost its end.
  const end = await log.lastSequence();
  const found: ViewStatus[] = [];
  for (const [index, { name }] of projections.entries()) {
    const position = positions[index] ?? 0;
    let dead_letters = 0;
    for await (const _ of lettersOf(views, name)) dead_letters++;
    found.push({ name, position, behind: Math.max(0, end - position), dead_letters });
  }
  return { last_sequence: end, views: found };
};

async function* lettersOf(views: ViewStore, name: string): AsyncGenerator<Letter> {
  for (let after = 0; ; ) {
    const rows = await views.deadLetters(name, after, DEAD_LETTERS_LISTED_MAX);
    for (const row of rows) yield letterOf(name, row);
    const last = rows.at(-1);
    if (!last || rows.length < DEAD_LETTERS_LISTED_MAX) return;
    after = rowInteger(last, "sequence");
  }
}

const letterOf = (view: string, row: Row) => ({
  view,
  sequence: rowInteger(row, "sequence"),
  tenant: row.tenant === null ? null : rowText(row, "tenant"),
  event_id: row.event_id === null ? null : rowText(row, "event_id"),
  code: rowText(row, "code"),
  detail: rowText(row, "detail"),
  recorded_at: rowText(row, "recorded_at"),
});

async function* replayLetters(
  { projections, ...tools }: Tools & { readonly now: () => Date },
  view: string,
  only: number | undefined,
) {
  for await (const { sequence, code: was } of lettersOf(tools.views, view)) {
    if (only !== undefined && only !== sequence) continue;
    const replayed = await replayLetter(tools, projections, { projection: view, sequence });
    if (replayed.kind === "taken") yield { view, sequence, outcome: "taken" } as const;
    else {
      const reason = replayed.kind === "refused" ? `${replayed.code}: ${replayed.detail}` : replayed.reason;
      // It stays a dead letter: why now, and why before.
      yield { view, sequence, outcome: "left", reason, was } as const;
    }
  }
}

/** Our own broker runs only while the service does. If it does not run, it is started for this command. */
const openLog = async (config: Config, stack: AsyncDisposableStack): Promise<LogReader> => {
  const logger = createLogger({ level: "silent", pretty: false });
  const connect = async (url: string): Promise<BrokerConnection> =>
    stack.use(await connectToBroker({ url, name: "prooftrail-views", logger }));
  if (config.natsUrl === undefined) {
    const running = await findRunningBroker(config);
    const url = typeof running === "string" ? undefined : running("service");
    const connection = url && (await connect(url).catch(() => undefined));
    if (connection) return createLogReader(connection);
  }
  const broker = stack.use(await provideBroker({ config, logger }));
  return createLogReader(await connect(broker.serviceUrl));
};
