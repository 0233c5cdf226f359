/**
 * Whether the log still has the end that is known of it: what the views have seen, and what the heads in HEADS_COPY cover. An older copy of the
 * log that was put back lacks both. Nothing is acknowledged into such a log: its records would take the places of those that are lost.
 */
import type { BrokerConnection } from "../jetstream/connection.ts";
import { AWAY_RETRY_MS, LOG_END_MS, READINESS_VIEWS_MS_MAX } from "../limits.ts";
import type { LogReader } from "../log/event-log.ts";
import { recordHash } from "../projections/view-end.ts";
import type { KnownEnd, KnownHeads } from "../proof/known-heads.ts";
import type { Logger } from "../telemetry/logger.ts";
import { pause } from "./background.ts";
import { inTime } from "./in-time.ts";

export interface LogEnd {
  /** Why nothing may be appended, for the operator; empty if it may, as far as is known. */
  reasons(): { readonly ofViews: readonly string[]; readonly ofCopy: readonly string[] };
  isBehind(): boolean;
  /** Whether the end was looked at since the broker was last connected. */
  isKnown(): boolean;
  /** Looks now. Never rejects. */
  look(): Promise<void>;
  /** Looks until the signal is aborted, and at once after a reconnect: the broker may have come back with another log. */
  run(signal: AbortSignal): Promise<void>;
}

export const watchLogEnd = (dependencies: {
  readonly connection: Pick<BrokerConnection, "isConnected" | "onChange">;
  /** Why the views are not of this log. Rejects if log or views do not answer. */
  readonly viewReasons: () => Promise<readonly string[]>;
  /** The same of HEADS_COPY. Rejects if the log does not answer, or the folder cannot be read. */
  readonly copyReason: () => Promise<string | undefined>;
  readonly logger: Pick<Logger, "info" | "error">;
}): LogEnd => {
  const { connection, viewReasons, copyReason, logger } = dependencies;
  let ofViews: readonly string[] = [];
  let ofCopy: readonly string[] = [];
  let isKnown = false;
  let told = "";
  const look = async (): Promise<void> => {
    if (!connection.isConnected()) return;
    // Views that are away, or a log that does not answer, tell nothing new. Views may be away for long, and events are taken meanwhile.
    const [views, copy] = await Promise.all([
      inTime(viewReasons(), READINESS_VIEWS_MS_MAX),
      copyReason().then(
        (reason) => ({ reason }),
        () => undefined,
      ),
    ]);
    if (views) ofViews = views;
    if (copy) ofCopy = copy.reason === undefined ? [] : [copy.reason];
    isKnown ||= copy !== undefined;
    const detail = [...ofCopy, ...ofViews].join(" ");
    if (detail === told) return;
    told = detail;
    if (detail === "") logger.info("the log has the end that is known of it again");
    else logger.error("the log has lost its end or is another one, nothing is taken", { detail });
  };
  const run: LogEnd["run"] = async (signal) => {
    let wake = new AbortController();
    using _listening = connection.onChange((state) => {
      isKnown = false;
      if (state === "restored") wake.abort();
    });
    while (!signal.aborted) {
      await look();
      await pause(isKnown ? LOG_END_MS : AWAY_RETRY_MS, AbortSignal.any([signal, wake.signal]));
      if (wake.signal.aborted) wake = new AbortController();
    }
  };
  return {
    reasons: () => ({ ofViews, ofCopy }),
    isBehind: () => ofViews.length + ofCopy.length > 0,
    isKnown: () => isKnown,
    look,
    run,
  };
};

/** Why the log does not hold what HEADS_COPY knows; undefined if it does. Rejects if folder or log do not answer. */
export const behindCopy = async (
  log: Pick<LogReader, "lastSequence" | "read">,
  { end }: Pick<KnownHeads, "end">,
): Promise<{ readonly detail: string; readonly advice: string } | undefined> => {
  if (end === undefined || (await holds(log, end))) return undefined;
  const last = await log.lastSequence();
  const seen =
    last < end.sequence
      ? `The log ends at record ${last}, and heads in HEADS_COPY cover it up to record ${end.sequence}`
      : `Heads in HEADS_COPY cover another record ${end.sequence} than the log holds`;
  return { detail: `${seen}: it lost its end or is another one`, advice: ACCEPT_OR_BRING_BACK };
};

const holds = async (
  log: Pick<LogReader, "lastSequence" | "read">,
  { sequence, record }: KnownEnd,
): Promise<boolean> => {
  if (sequence > (await log.lastSequence())) return false;
  const message = await log.read(sequence);
  return message !== undefined && recordHash(message.payload) === record;
};

const ACCEPT_OR_BRING_BACK =
  "Bring back the log that has it. If it is lost for good, accept that: prooftrail restore accept --reason …";

export const END_UNKNOWN =
  "Whether the event log still has the end that is known of it was not checked since the broker was connected.";
