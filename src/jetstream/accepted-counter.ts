/** The counts of acknowledged events, on the stream ACCEPTED (NATS ADR-49). They are gathered here and added once a second. */
import { Empty, headers, type JetStreamManager } from "nats";
import { acceptedSubject, tenantOfAccepted } from "../../streams/subjects.ts";
import {
  ACCEPTED_COUNT_MS_MAX,
  ACCEPTED_FLUSH_MS,
  ACCEPTED_READS_AT_ONCE,
  DUPLICATE_WINDOW_MS,
} from "../limits.ts";
import { type AcceptedCounts, type Hour, hourOf } from "../log/accepted-counts.ts";
import type { Logger } from "../telemetry/logger.ts";
import { answered } from "./answered.ts";
import { API_ERROR, apiErrorCode, describeError } from "./api-errors.ts";
import type { BrokerConnection } from "./connection.ts";
import { createConnectedStallClock, type StallReport } from "./stall-clock.ts";

/** A count on its way. Its message id makes the broker take a retry only once, as long as the broker remembers the id. */
interface Increment {
  readonly subject: string;
  readonly events: number;
  readonly messageId: string;
  /** When it may first have been added, and on which run of which server. */
  mayBeAdded: { readonly serverId: string | undefined; readonly sinceMs: number } | undefined;
}

/** The count of one tenant and hour since the last flush. */
interface Gathered {
  readonly tenant: string;
  readonly hour: Hour;
  events: number;
}

type AcceptedCounter = AcceptedCounts & StallReport;

export const createAcceptedCounter = async ({
  connection,
  logger,
}: {
  readonly connection: BrokerConnection;
  readonly logger: Logger;
}): Promise<AcceptedCounter> => {
  const clock = createConnectedStallClock(connection);
  const manager = await connection.nats.jetstreamManager({ checkAPI: false });
  const gathered = new Map<string, Gathered>();
  let latest: Gathered | undefined;
  let sending: Increment[] = [];
  let running: Promise<void> | undefined;

  /** `left`: to be tried again. `silent`: so too, and the broker has not answered. */
  const tryToAdd = async (increment: Increment): Promise<"settled" | "left" | "silent"> => {
    if (!connection.isConnected()) return "left";
    const serverId = connection.nats.info?.server_id;
    if (!isSafeAgain(increment, serverId)) {
      logger.warn("acknowledged events may have been counted, and are not counted again", {
        count: increment.events,
      });
      return "settled";
    }
    const sinceMs = performance.now();
    const outcome = await add(connection, increment, logger);
    if (outcome === "added") {
      clock.cleared();
      return "settled";
    }
    clock.failed();
    if (outcome === "refused") return "left";
    increment.mayBeAdded ??= { serverId, sinceMs };
    return "silent";
  };
  const send = async (): Promise<void> => {
    for (const [subject, { events }] of gathered) {
      sending.push({ subject, events, messageId: crypto.randomUUID(), mayBeAdded: undefined });
    }
    gathered.clear();
    latest = undefined;
    const left: Increment[] = [];
    let isSilent = false;
    for (const increment of sending) {
      // If the broker does not answer for one count, the others are not tried: each would wait for its timeout.
      const outcome = isSilent ? "left" : await tryToAdd(increment);
      if (outcome !== "settled") left.push(increment);
      if (outcome === "silent") isSilent = true;
    }
    sending = left;
  };
  const flush = (): Promise<void> => {
    running ??= send().finally(() => {
      running = undefined;
    });
    return running;
  };
  const timer = setInterval(() => {
    if ((gathered.size > 0 || sending.length > 0) && connection.isConnected()) void flush();
  }, ACCEPTED_FLUSH_MS);

  return {
    stall: clock.stall,
    add: ({ tenant, receivedAt, events }) => {
      // Mostly tenant and hour are the same as before: looking up a new text costs more than everything else here (measured).
      if (latest?.tenant !== tenant || !receivedAt.startsWith(latest.hour)) {
        const hour = hourOf(receivedAt);
        const subject = acceptedSubject(tenant, hour);
        latest = gathered.get(subject) ?? { tenant, hour, events: 0 };
        gathered.set(subject, latest);
      }
      latest.events += events;
    },
    read: (tenant, hours) => readCounts({ connection, manager, tenant, hours }),
    tenants: (hour) => readTenants(connection, manager, hour),
    close: async () => {
      clearInterval(timer);
      await running;
      if (connection.isConnected()) await flush();
    },
  };
};

/**
 * Whether a retry cannot be counted twice. A counter keeps only its last message, and a restarted server knows only the ids of kept
 * messages: if another front end has counted meanwhile, the server would add the same count again. Too small a count is no alarm; too large
 * a one is.
 */
const isSafeAgain = ({ mayBeAdded }: Increment, serverId: string | undefined): boolean =>
  mayBeAdded === undefined ||
  (mayBeAdded.serverId === serverId &&
    performance.now() - mayBeAdded.sinceMs < DUPLICATE_WINDOW_MS - ACCEPTED_COUNT_MS_MAX);

const add = async (
  connection: BrokerConnection,
  { subject, events, messageId }: Increment,
  logger: Logger,
): Promise<"added" | "refused" | "unknown"> => {
  const increment = headers();
  increment.set("Nats-Incr", `+${events}`);
  increment.set("Nats-Msg-Id", messageId);
  try {
    const answer = await connection.untilLost(() =>
      connection.nats.request(subject, Empty, { headers: increment, timeout: ACCEPTED_COUNT_MS_MAX }),
    );
    const { seq, error }: { seq?: number; error?: { description?: string } } = answer.json();
    if (typeof seq === "number") return "added";
    logger.warn("acknowledged events were not counted", {
      count: events,
      detail: error?.description ?? "no reason",
    });
    return "refused";
  } catch (error) {
    logger.warn("acknowledged events were not counted yet", { count: events, detail: describeError(error) });
    return "unknown";
  }
};

const readTenants = async (
  connection: BrokerConnection,
  manager: JetStreamManager,
  hour: Hour,
): Promise<readonly string[]> => {
  const asked = { subjects_filter: acceptedSubject("*", hour) };
  const { state } = await answered(connection, UNREADABLE, () => manager.streams.info("ACCEPTED", asked));
  return Object.keys(state.subjects ?? {}).flatMap((subject) => tenantOfAccepted(subject) ?? []);
};

const UNREADABLE = "The counts could not be read";

const readCounts = async (parts: {
  connection: BrokerConnection;
  manager: JetStreamManager;
  tenant: string;
  hours: readonly Hour[];
}): Promise<ReadonlyMap<Hour, number>> => {
  const { connection, manager, tenant, hours } = parts;
  const counts = new Map<Hour, number>();
  const readOne = async (hour: Hour): Promise<void> => {
    try {
      const subject = acceptedSubject(tenant, hour);
      const message = await manager.streams.getMessage("ACCEPTED", { last_by_subj: subject });
      const { val }: { val?: string } = message.json();
      counts.set(hour, Number(val));
    } catch (error) {
      if (apiErrorCode(error) !== API_ERROR.messageNotFound) throw error;
    }
  };
  for (let start = 0; start < hours.length; start += ACCEPTED_READS_AT_ONCE) {
    const some = hours.slice(start, start + ACCEPTED_READS_AT_ONCE);
    await answered(connection, UNREADABLE, () => Promise.all(some.map(readOne)));
  }
  return counts;
};
