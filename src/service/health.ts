/** Why this instance cannot serve now. Each reason is a sentence for the operator. */
import { KEYS_GONE, type KeyStore } from "../access/key-store.ts";
import type { Readiness } from "../http/routes/operation.ts";
import type { BrokerConnection } from "../jetstream/connection.ts";
import { READINESS_LOG_MS_MAX, READINESS_VIEWS_MS_MAX, VIEW_LAG_RECORDS_MAX } from "../limits.ts";
import { type LogReader, LogUnavailableError } from "../log/event-log.ts";
import type { Sequence } from "../log/outcome.ts";
import type { MadeViews } from "../projections/made-views.ts";
import type { Projection } from "../projections/projection.ts";
import { isSameLog, seenBeyond } from "../projections/view-end.ts";
import { rowInteger, rowText } from "../views/tables.ts";
import { VIEWS_MISSING, ViewsMissingError, ViewsUnavailableError } from "../views/unavailable.ts";
import { VIEWS, type ViewStore } from "../views/view-store.ts";
import type { BrokerWatch } from "./broker-watch.ts";
import { inTime } from "./in-time.ts";
import type { LogGuard } from "./log-guard.ts";
import type { LogKeeper } from "./log-keeper.ts";
import type { StreamsState } from "./stream-keeper.ts";

interface ReadinessDependencies {
  readonly connection: BrokerConnection;
  readonly brokers: Pick<BrokerWatch, "state">;
  readonly streams: StreamsState;
  readonly logKeeper: LogKeeper;
  readonly logGuard: Pick<LogGuard, "problem">;
  readonly keyBucket: KeyStore;
  readonly reader: LogReader;
  readonly views: ViewStore;
  readonly projections: readonly Projection[];
  readonly madeViews: Pick<MadeViews, "look" | "forget">;
}

export const createReadiness = (dependencies: ReadinessDependencies): Readiness => {
  let asked: Promise<ViewReasons> | undefined;
  /** One look for all who ask meanwhile: a database that is lost on the network does not answer for half a minute. */
  const askViews = (): Promise<ViewReasons> => {
    asked ??= viewReasons(dependencies).finally(() => {
      asked = undefined;
    });
    return asked;
  };
  return {
    reasons: async () => {
      const reasons = logReasons(dependencies);
      if (!dependencies.connection.isConnected()) return reasons;
      const { passing, lasting } = await askViews();
      return [...reasons, ...passing, ...lasting];
    },
    reasonsWithoutViews: async () => {
      const reasons = logReasons(dependencies);
      if (!dependencies.connection.isConnected()) return reasons;
      // The log is asked separately: the look at the views asks it only after them, and not at all if they are away.
      const [seen, end] = await Promise.all([
        inTime(askViews(), READINESS_VIEWS_MS_MAX),
        inTime(dependencies.reader.lastSequence(), READINESS_LOG_MS_MAX),
      ]);
      return [...reasons, ...(end === undefined ? [LOG_SILENT] : []), ...(seen?.lasting ?? [])];
    },
  };
};

const LOG_SILENT = "The event log does not say in time where it ends.";

const logReasons = ({
  connection,
  brokers,
  streams,
  logKeeper,
  logGuard,
  keyBucket,
}: ReadinessDependencies): readonly string[] => {
  if (!connection.isConnected()) return ["The broker is not connected."];
  const reasons = brokers
    .state()
    .troubles.flatMap(({ isBlocking, detail, advice }) => (isBlocking ? [`${detail} ${advice}`] : []));
  for (const problem of [streams.problem(), logKeeper.problem(), logGuard.problem()])
    if (problem !== undefined) reasons.push(problem);
  const keys = keyBucket.readiness();
  if (keys.kind === "stale")
    reasons.push(`The keys were last known to be complete ${Math.round(keys.ageMs / 1000)} s ago.`);
  if (keyBucket.admin() === undefined) reasons.push(KEYS_GONE);
  return reasons;
};

interface ViewReasons {
  /** The views are away, or will catch up. */
  readonly passing: readonly string[];
  /** The log does not answer, or is not the one that the views have seen. */
  readonly lasting: readonly string[];
}

const OTHERS =
  "a process of another version of Prooftrail, or with other deadlines, has made it again. End this one, or start it again where it is to stay.";

/**
 * Positions of the views, which ones are missing, and which ones another version has made since this process opened them: their rows must
 * not be read.
 */
const standing = async (views: ViewStore, projections: readonly Projection[]) => {
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
    else if (rowInteger(row, "version") !== version) others.push(name);
    else positions.push({ name, position: rowInteger(row, "position") });
  }
  return { positions, missing, others };
};

/** With wrong settings the views may belong to another installation, and making them again would destroy them. */
export const OF_ONE_LOG =
  "See that DATA_DIR, NATS_URL and DATABASE_URL are of one installation. Then bring the log back, or make these views again where it is to go on as it is.";

export const beyondLog = (names: readonly string[], position: Sequence, end: Sequence): string =>
  `${names.length === 1 ? "The view" : "The views"} ${names.join(", ")} ${names.length === 1 ? "has" : "have"} ${seenBeyond(position, end)}`;

const viewReasons = async ({
  reader,
  views,
  projections,
  madeViews,
}: ReadinessDependencies): Promise<ViewReasons> => {
  try {
    const { positions, missing, others } = await standing(views, projections);
    // Asked after the views, so that everything they have seen is in the log by then.
    const last = await reader.lastSequence();
    const passing = others.map((name) => `The view ${name} is not there as this process has it: ${OTHERS}`);
    madeViews.forget(missing);
    if (missing.length > 0) passing.push(`Not there: ${missing.join(", ")}. ${VIEWS_MISSING}`);
    const lasting: string[] = [];
    const unmadeReasons = await madeViews.look(
      new Map(positions.map(({ name, position }) => [name, position])),
      last,
    );
    for (const { name, position } of positions) {
      const lag = last - position;
      const unmade = unmadeReasons.get(name);
      if (unmade !== undefined) passing.push(unmade);
      else if (lag > VIEW_LAG_RECORDS_MAX) passing.push(`The view ${name} is ${lag} records behind the log.`);
    }
    for (const [position, there] of Map.groupBy(positions, ({ position }) => position)) {
      const names = there.map(({ name }) => name);
      if (position > last) lasting.push(`${beyondLog(names, position, last)}. ${OF_ONE_LOG}`);
      else if (!(await isSameLog({ views, log: reader }, names, position)))
        lasting.push(
          `${names.join(", ")}: the record ${position} that was seen is not the one in the log. ${OF_ONE_LOG}`,
        );
    }
    return { passing, lasting };
  } catch (error) {
    if (error instanceof LogUnavailableError) return { passing: [], lasting: [error.message] };
    if (error instanceof ViewsMissingError) madeViews.forget(projections.map(({ name }) => name));
    if (error instanceof ViewsUnavailableError) return { passing: [error.reason], lasting: [] };
    throw error;
  }
};
