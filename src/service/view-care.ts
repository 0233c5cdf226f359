/** The operations of `prooftrail views`, also while the service runs: positions, rebuild, verify, dead letters. */
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { DEAD_LETTERS_LISTED_MAX } from "../limits.ts";
import type { LogReader } from "../log/event-log.ts";
import { BrokerStartError } from "../nats/broker/supervise.ts";
import { type BrokerConnection, BrokerRefusedError, connectToBroker } from "../nats/connection.ts";
import { createLogReader } from "../nats/reader.ts";
import { createLogger } from "../telemetry/logger.ts";
import { replayLetter } from "../views/kit/dead-letter-replay.ts";
import type { Projection } from "../views/kit/projection.ts";
import { type Rebuilt, rebuildView } from "../views/kit/rebuild.ts";
import { type Verified, verifyView } from "../views/kit/verify.ts";
import { projectionsWith } from "../views/registry.ts";
import { DatabaseError, isReadOnly, lacksRight } from "../views/store/postgres-errors.ts";
import { type Row, rowInteger, rowText } from "../views/store/tables.ts";
import { isAway, ViewsUnavailableError } from "../views/store/unavailable.ts";
import { VIEWS, type ViewStore } from "../views/store/view-store.ts";
import { provideBroker } from "./broker-contact.ts";
import type { Config } from "./config.ts";
import { AS_ITS_USER, closedFolder, ownBrokerFiles } from "./data-folder.ts";
import { loadRules, RulesRefusedError } from "./obligation-rules.ts";
import { connectViews, MAKE_TABLES, REACH_DATABASE, ViewsRefusedError, viewsFile } from "./view-database.ts";

export interface ViewStatus {
  readonly name: string;
  readonly position: number;
  readonly behind: number;
  readonly dead_letters: number;
}

/** A record that a view could not take. */
export interface Letter {
  readonly view: string;
  readonly sequence: number;
  readonly tenant: string | null;
  readonly event_id: string | null;
  readonly code: string;
  readonly detail: string;
  readonly recorded_at: string;
}

type ReplayedLetter = { readonly view: string; readonly sequence: number } & (
  | { readonly outcome: "taken" }
  /** It stays a dead letter: why now, and why before. */
  | { readonly outcome: "left"; readonly reason: string; readonly was: string }
);

type OnProgress = (progress: { readonly position: number; readonly end: number }) => void;

export interface ViewCare extends AsyncDisposable {
  /** Names of all views, in the order in which they move. */
  readonly names: readonly string[];
  /** Why this program must not rebuild or verify one of these views; undefined if it may. */
  refusal(names: readonly string[]): Promise<string | undefined>;
  status(): Promise<{ readonly last_sequence: number; readonly views: readonly ViewStatus[] }>;
  rebuild(name: string, options: { onProgress: OnProgress; signal: AbortSignal }): Promise<Rebuilt>;
  verify(name: string, options: { onProgress: OnProgress; signal: AbortSignal }): Promise<CheckedView>;
  deadLetters(name: string): AsyncIterable<Letter>;
  /** All dead letters of the view, or the one at this sequence. */
  replay(name: string, sequence: number | undefined): AsyncIterable<ReplayedLetter>;
}

/** The result of `verify`, under a name of this folder: src/cli may not import src/views. */
export type CheckedView = Verified;

interface Tools {
  readonly log: LogReader;
  readonly views: ViewStore;
  readonly projections: readonly [Projection, ...Projection[]];
}

const now = (): Date => new Date();

type OpenedViewCare =
  | { readonly kind: "opened"; readonly care: ViewCare }
  /** The broker does not answer, or was refused. The reason is for the operator. */
  | { readonly kind: "no_broker"; readonly reason: string }
  /** The database of DATABASE_URL does not answer. */
  | { readonly kind: "no_database"; readonly reason: string }
  /** There are no views at these settings, or the rules are not valid. */
  | { readonly kind: "refused"; readonly reason: string };

/** The message if the database of the views is away or cannot do now what was asked. */
export const databaseTrouble = (error: unknown): string | undefined =>
  error instanceof ViewsUnavailableError ? error.message : undefined;

/** Advice if the views cannot be read or written. */
export const adviceAbout = (error: unknown): string => {
  if (isReadOnly(error))
    return "See that the PostgreSQL of DATABASE_URL takes writes: one that follows another server does not, nor one that was set so, as some are when their disk is full. Views stand still until then; events are taken meanwhile, and nothing is lost.";
  if (lacksRight(error)) return MAKE_TABLES;
  return isAway(error)
    ? `${REACH_DATABASE} Events are taken meanwhile, and nothing is lost.`
    : "Check DATABASE_URL or the file; the views can be rebuilt from the log.";
};

export const openViewCare = async (config: Config): Promise<OpenedViewCare> => {
  const { databaseUrl, dataDir } = config;
  const closed = await closedFolder(config);
  if (closed !== undefined) return { kind: "refused", reason: `${closed}. ${AS_ITS_USER}` };
  // A command that looks must not create anything: a wrong folder would get views and a broker of its own.
  if (databaseUrl === undefined && !existsSync(viewsFile(config)))
    return { kind: "refused", reason: `There is no views.sqlite in ${dataDir}: no service has run there.` };
  try {
    return { kind: "opened", care: await openCare(config) };
  } catch (error) {
    if (error instanceof BrokerRefusedError || error instanceof BrokerStartError)
      return { kind: "no_broker", reason: error.message };
    if (error instanceof RulesRefusedError || error instanceof ViewsRefusedError)
      return { kind: "refused", reason: error.message };
    if (error instanceof DatabaseError || error instanceof ViewsUnavailableError)
      return { kind: "no_database", reason: error.message };
    throw error;
  }
};

const openCare = async (config: Config): Promise<ViewCare> => {
  await using stack = new AsyncDisposableStack();
  const { views, projections } = await openViewStore(config, stack);
  // Fails here if the database is away, before a broker is started.
  await views.position(projections[0].name);
  const tools = { log: await openLog(config, stack), views, projections };
  const running = stack.move();
  const projectionOf = (name: string): Projection => {
    const found = projections.find((each) => each.name === name);
    if (!found) throw new Error(`there is no view ${name}`);
    return found;
  };
  return {
    names: projections.map(({ name }) => name),
    refusal: (names) =>
      refusalOf(
        views,
        projections.filter(({ name }) => names.includes(name)),
      ),
    status: () => statusOf(tools),
    rebuild: (name, { onProgress, signal }) =>
      rebuildView({ ...tools, clock: now, onProgress }, projectionOf(name), signal),
    verify: (name, { onProgress, signal }) =>
      verifyView({ ...tools, clock: now, onProgress }, projectionOf(name), signal),
    deadLetters: (name) => lettersOf(views, name),
    replay: (name, sequence) => replayLetters(tools, name, sequence),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
};

/** A view that was made by other rules has other rows, although nobody altered it. Checked before the log is read. */
const refusalOf = async (
  views: Pick<ViewStore, "load">,
  projections: readonly Projection[],
): Promise<string | undefined> => {
  const rows = await views.load(
    VIEWS,
    projections.map(({ name }) => ({ name })),
  );
  const versions = new Map(rows.map((row) => [row.name, row.version]));
  const other = projections.find(({ name, version }) => (versions.get(name) ?? version) !== version);
  return (
    other &&
    `The view ${other.name} was made by another version of Prooftrail, or with other rules of obligations: use the program of the service, with its OBLIGATION_RULES_FILE and LATE_RECORD_GRACE.`
  );
};

/** The views as the service opens them, with the operator's own rules in their versions. */
export const openViewStore = async (
  config: Config,
  stack: AsyncDisposableStack,
): Promise<Pick<Tools, "views" | "projections">> => {
  const { rules, version } = await loadRules(config);
  const views = stack.use(connectViews(config));
  return { views, projections: projectionsWith(rules, version) };
};

export const statusOf = async ({ log, views, projections }: Tools): ReturnType<ViewCare["status"]> => {
  const positions = await Promise.all(projections.map(({ name }) => views.position(name)));
  // Asked after the positions. Otherwise a record that comes in between would make a view look as if the log had lost its end.
  const end = await log.lastSequence();
  const found: ViewStatus[] = [];
  for (const [index, { name }] of projections.entries()) {
    const position = positions[index] ?? 0;
    let letters = 0;
    for await (const _ of lettersOf(views, name)) letters++;
    found.push({ name, position, behind: Math.max(0, end - position), dead_letters: letters });
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

const letterOf = (view: string, row: Row): Letter => ({
  view,
  sequence: rowInteger(row, "sequence"),
  tenant: row.tenant === null ? null : rowText(row, "tenant"),
  event_id: row.event_id === null ? null : rowText(row, "event_id"),
  code: rowText(row, "code"),
  detail: rowText(row, "detail"),
  recorded_at: rowText(row, "recorded_at"),
});

async function* replayLetters(
  { log, views, projections }: Tools,
  view: string,
  only: number | undefined,
): AsyncGenerator<ReplayedLetter> {
  for await (const { sequence, code } of lettersOf(views, view)) {
    if (only !== undefined && only !== sequence) continue;
    const replayed = await replayLetter({ log, views, now }, projections, { projection: view, sequence });
    if (replayed.kind === "taken") yield { view, sequence, outcome: "taken" };
    else {
      const reason = replayed.kind === "refused" ? `${replayed.code}: ${replayed.detail}` : replayed.reason;
      yield { view, sequence, outcome: "left", reason, was: code };
    }
  }
}

/** Our own broker runs only while the service does. If it does not run, it is started for this command. */
const openLog = async (config: Config, stack: AsyncDisposableStack): Promise<LogReader> => {
  const logger = createLogger({ level: "silent", pretty: false });
  const connect = async (url: string): Promise<BrokerConnection> =>
    stack.use(await connectToBroker({ url, name: "prooftrail-views", logger }));
  if (config.natsUrl === undefined) {
    const running = await readFile(ownBrokerFiles(config).consumerUrl, "utf8").catch(() => "");
    const connection = running === "" ? undefined : await connect(running.trim()).catch(() => undefined);
    if (connection) return createLogReader(connection);
  }
  const broker = stack.use(await provideBroker({ config, logger }));
  return createLogReader(await connect(broker.serviceUrl));
};
