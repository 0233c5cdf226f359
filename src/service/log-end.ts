/**
 * Whether the log still has its known end: what the views have seen, and what the heads in HEADS_COPY cover. A log restored from an older copy
 * lacks both. Nothing is acknowledged into it: new records would take the places of the lost ones.
 */
import { setTimeout as delay } from "node:timers/promises";
import { AWAY_RETRY_MS, LOG_END_MS, READINESS_PART_MS_MAX } from "../limits.ts";
import type { LogReader } from "../log/event-log.ts";
import type { BrokerConnection } from "../nats/connection.ts";
import type { KnownEnd } from "../proof/known-heads.ts";
import type { Logger } from "../telemetry/logger.ts";
import { recordHash } from "../views/kit/view-end.ts";
import { inTime, loop } from "./background.ts";
import { DamagedHeadsError, type HeadsFolder } from "./heads-folder.ts";
import { blocking, only, sentences, type Trouble } from "./health-reasons.ts";

/** A leader that was just elected may not have applied the last records yet. */
const CONFIRM_MS = 500;

export type LogEnd = ReturnType<typeof watchLogEnd>;

/** Looks repeatedly until it is disposed, and at once after a reconnect: the broker may have come back with another log. */
export const watchLogEnd = (dependencies: {
  readonly connection: Pick<BrokerConnection, "isConnected" | "onChange">;
  /** Why the views are not of this log. Rejects if log or views do not answer. */
  readonly viewReasons: () => Promise<readonly string[]>;
  /** The same of HEADS_COPY. Rejects if the log does not answer, or the folder cannot be read. */
  readonly copyTrouble: () => Promise<Trouble | undefined>;
  readonly logger: Pick<Logger, "info" | "error">;
}) => {
  const { connection, viewReasons, copyTrouble, logger } = dependencies;
  let ofViews: readonly string[] = [];
  let ofCopy: Trouble | undefined;
  let isKnown = false;
  let told = "";
  /** Changes with the connection: what was asked before says nothing about the log that is there after it. */
  let epoch = 0;
  /** What is known against appending. */
  const known = (): readonly Trouble[] => [
    ...(ofCopy ? [ofCopy] : []),
    ...ofViews.map((reason) => blocking("views_ahead", reason)),
  ];
  const isBehind = (): boolean => known().length > 0;
  /** Views that are away, or a log that does not answer, change nothing. Views may be away for long; events are accepted meanwhile. */
  const ask = async () => {
    const [views = ofViews, copy] = await Promise.all([
      inTime(viewReasons(), READINESS_PART_MS_MAX),
      copyTrouble().then(
        (trouble) => ({ trouble }),
        () => undefined,
      ),
    ]);
    return { views, copy: copy ? copy.trouble : ofCopy, isAnswered: copy !== undefined };
  };
  const look = async (): Promise<void> => {
    if (!connection.isConnected()) return;
    const asked = epoch;
    let seen = await ask();
    if (!isBehind() && (seen.views.length > 0 || seen.copy)) {
      // Nothing is accepted until that is clear.
      isKnown = false;
      await delay(CONFIRM_MS);
      seen = await ask();
    }
    if (epoch !== asked) return;
    [ofViews, ofCopy] = [seen.views, seen.copy];
    isKnown ||= seen.isAnswered;
    const detail = known().map(sentences).join(" ");
    if (detail === told) return;
    told = detail;
    if (detail === "") logger.info("the log has its known end again");
    else logger.error("the log may have lost its end or be another log, nothing is accepted", { detail });
  };
  const running = new AsyncDisposableStack();
  running.use(
    connection.onChange(() => {
      isKnown = false;
      epoch++;
    }),
  );
  const restMs = (): number => (isKnown ? LOG_END_MS : AWAY_RETRY_MS);
  running.use(loop({ look, restMs, connection }));
  return {
    troubles: () => [...only(!isKnown, blocking("log_end_unknown", END_UNKNOWN)), ...known()],
    isBehind,
    /** Whether the end was checked since the broker last connected. */
    isKnown: () => isKnown,
    /** Looks now. Never rejects. */
    look,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
};

/** Why nothing may be appended or signed, by what HEADS_COPY says; undefined if it may. Rejects if folder or log do not answer. */
export const troubleOfCopy = async (
  log: Pick<LogReader, "lastSequence" | "read">,
  folder: Pick<HeadsFolder, "read">,
): Promise<Trouble | undefined> => {
  try {
    const { end } = await folder.read();
    if (end === undefined || (await holds(log, end))) return undefined;
    const last = await log.lastSequence();
    const seen =
      last < end.sequence
        ? `The log ends at record ${last}, and heads in HEADS_COPY cover it up to record ${end.sequence}`
        : `Heads in HEADS_COPY cover a different record ${end.sequence} than the log holds`;
    return blocking(
      "heads_not_reached",
      `${seen}: it lost its end or is another log.`,
      "Restore the log that has it. If it is lost for good, accept that: prooftrail restore accept --reason …",
    );
  } catch (error) {
    if (!(error instanceof DamagedHeadsError)) throw error;
    return blocking(
      "heads_copy_unavailable",
      `${error.message}.`,
      "Restore this file from a copy of the folder. If there is none, check that the log is the newest one you have, and move the file out of the folder: this gives up the heads that only it holds.",
    );
  }
};

const holds = async (
  log: Pick<LogReader, "lastSequence" | "read">,
  { sequence, record }: KnownEnd,
): Promise<boolean> => {
  if (sequence > (await log.lastSequence())) return false;
  const message = await log.read(sequence);
  return message !== undefined && recordHash(message.payload) === record;
};

export const END_UNKNOWN = "The end of the event log has not been checked since the broker connected.";
