/** What is wrong with this instance and its installation now, by the ids of health-reasons.ts, in sentences for the operator. */
import { KEYS_GONE, type KeyStore } from "../access/key-store.ts";
import type { Readiness } from "../api/routes/operation.ts";
import { READINESS_LOG_MS_MAX, READINESS_VIEWS_MS_MAX, VIEW_LAG_RECORDS_MAX } from "../limits.ts";
import { type LogReader, LogUnavailableError } from "../log/event-log.ts";
import type { BrokerConnection } from "../nats/connection.ts";
import type { MadeViews } from "../views/kit/made-views.ts";
import type { Projection } from "../views/kit/projection.ts";
import { VIEWS_MISSING, ViewsMissingError, ViewsUnavailableError } from "../views/store/unavailable.ts";
import type { ViewStore } from "../views/store/view-store.ts";
import type { BrokerWatch } from "./broker-watch.ts";
import { blocking, type HealthReason, type HealthReasonId, reasonOf } from "./health-reasons.ts";
import { inTime } from "./in-time.ts";
import { copyReason, END_UNKNOWN, type LogEnd } from "./log-end.ts";
import type { LogGuard } from "./log-guard.ts";
import type { LogKeeper } from "./log-keeper.ts";
import type { StreamsState } from "./stream-keeper.ts";
import { notOfThisLog, standing } from "./view-standing.ts";
import { type Work, workReasons } from "./work-reasons.ts";

interface ReadinessDependencies {
  readonly connection: BrokerConnection;
  readonly brokers: Pick<BrokerWatch, "state">;
  readonly streams: StreamsState;
  readonly logKeeper: LogKeeper;
  readonly logGuard: Pick<LogGuard, "problem">;
  readonly logEnd: Pick<LogEnd, "reasons" | "isKnown">;
  readonly keyBucket: KeyStore;
  readonly reader: LogReader;
  readonly views: ViewStore;
  readonly projections: readonly Projection[];
  readonly madeViews: Pick<MadeViews, "look" | "forget">;
  readonly work: Work;
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
      const working = workReasons(dependencies.work);
      if (!dependencies.connection.isConnected()) return [...reasons, ...(await working)];
      const [{ passing, lasting }, ofWork] = await Promise.all([askViews(), working]);
      return [...reasons, ...passing, ...lasting, ...ofWork];
    },
    reasonsWithoutViews: async () => {
      const reasons = logReasons(dependencies);
      const working = workReasons(dependencies.work);
      if (!dependencies.connection.isConnected()) return [...reasons, ...(await working)];
      // The log is asked separately: the look at the views asks it only after them, and not at all if they are away.
      const [seen, end, ofWork] = await Promise.all([
        inTime(askViews(), READINESS_VIEWS_MS_MAX),
        inTime(dependencies.reader.lastSequence(), READINESS_LOG_MS_MAX),
        working,
      ]);
      const silent = end === undefined ? [blocking("log_silent", LOG_SILENT)] : [];
      return [...reasons, ...silent, ...(seen?.lasting ?? []), ...ofWork];
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
  logEnd,
  keyBucket,
}: ReadinessDependencies): readonly HealthReason[] => {
  if (!connection.isConnected()) return [blocking("broker_disconnected", "The broker is not connected.")];
  const reasons = brokers.state().troubles.map(reasonOf);
  const add = (id: HealthReasonId, problem: string | undefined): void => {
    if (problem !== undefined) reasons.push(blocking(id, problem));
  };
  add("streams_wrong", streams.problem());
  add("log_stalled", logKeeper.problem());
  add("log_misconfigured", logGuard.problem());
  add("log_end_unknown", logEnd.isKnown() ? undefined : END_UNKNOWN);
  const { ofCopy } = logEnd.reasons();
  if (ofCopy) add(ofCopy.id, copyReason(ofCopy));
  const keys = keyBucket.readiness();
  if (keys.kind === "stale")
    add("keys_incomplete", `The keys were last known to be complete ${Math.round(keys.ageMs / 1000)} s ago.`);
  add("keys_incomplete", keyBucket.admin() === undefined ? KEYS_GONE : undefined);
  return reasons;
};

interface ViewReasons {
  /** The views are away, or will catch up. */
  readonly passing: readonly HealthReason[];
  /** The log does not answer, or is not the one that the views have seen. */
  readonly lasting: readonly HealthReason[];
}

const OTHERS =
  "a process of another version of Prooftrail, or with other rules of obligations, has made it again. End this one, or start it again where it is to stay.";

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
    const passing = others.map((name) =>
      blocking("views_missing", `The view ${name} is not there as this process has it: ${OTHERS}`),
    );
    madeViews.forget(missing);
    if (missing.length > 0)
      passing.push(blocking("views_missing", `Not there: ${missing.join(", ")}. ${VIEWS_MISSING}`));
    const unmadeReasons = await madeViews.look(
      new Map(positions.map(({ name, position }) => [name, position])),
      last,
    );
    for (const { name, position } of positions) {
      const lag = last - position;
      const unmade = unmadeReasons.get(name);
      if (unmade !== undefined) passing.push(blocking("views_behind", unmade));
      else if (lag > VIEW_LAG_RECORDS_MAX)
        passing.push(blocking("views_behind", `The view ${name} is ${lag} records behind the log.`));
    }
    const lasting = await notOfThisLog({ views, log: reader }, positions, last);
    return { passing, lasting: lasting.map((reason) => blocking("views_ahead", reason)) };
  } catch (error) {
    if (error instanceof LogUnavailableError)
      return { passing: [], lasting: [blocking("log_silent", error.message)] };
    if (error instanceof ViewsMissingError) {
      madeViews.forget(projections.map(({ name }) => name));
      return { passing: [blocking("views_missing", error.reason)], lasting: [] };
    }
    if (error instanceof ViewsUnavailableError)
      return { passing: [blocking("views_unavailable", error.reason)], lasting: [] };
    throw error;
  }
};
