/** The counts of acknowledged events, on the stream COUNTS. They are gathered here and stored once a second. */
import pLimit from "p-limit";
import { COUNTS_GROUPS, countsSubject } from "../../streams/subjects.ts";
import { BROKER_REQUEST_MS_MAX, COUNTS_DAYS_READ_AT_ONCE, COUNTS_FLUSH_MS } from "../limits.ts";
import { type AcceptedCounts, HOUR_MS, type Hour, hourAt, hourOf } from "../log/accepted-counts.ts";
import type { Logger } from "../telemetry/logger.ts";
import { type ApiError, describeApiError, describeError } from "./api-errors.ts";
import { answered, type BrokerConnection } from "./connection.ts";
import { readFromLeader } from "./leader-read.ts";
import { createConnectedStallClock, type StallReport } from "./stall-clock.ts";

type AcceptedCounter = AcceptedCounts & StallReport;

/** The counts of one tenant and day, by the hour of the day. */
type DayOfTenant = number[];

/** What this process has acknowledged on one day, of the tenants of one group. A message that was forgotten is followed by another one. */
interface Message {
  readonly day: string;
  readonly subject: string;
  readonly tenants: Map<string, DayOfTenant>;
  isStored: boolean;
}

export const createAcceptedCounter = ({
  connection,
  logger,
}: {
  readonly connection: BrokerConnection;
  readonly logger: Logger;
}): AcceptedCounter => {
  const clock = createConnectedStallClock(connection);
  const messages = new Map<string, Message>();
  let latest: { tenant: string; hour: Hour; at: number; message: Message; counts: DayOfTenant } | undefined;
  let running: Promise<void> | undefined;

  const find = (tenant: string, hour: Hour): NonNullable<typeof latest> => {
    const [day, group] = [dayOf(hour), groupOf(tenant)];
    const message = messages.get(`${day} ${group}`) ?? {
      day,
      subject: countsSubject(day, group, crypto.randomUUID()),
      tenants: new Map<string, DayOfTenant>(),
      isStored: true,
    };
    messages.set(`${day} ${group}`, message);
    const counts = message.tenants.get(tenant) ?? [];
    message.tenants.set(tenant, counts);
    return { tenant, hour, at: hourOfDay(hour), message, counts };
  };
  const store = async (message: Message): Promise<boolean> => {
    if (!connection.isConnected()) return false;
    const payload = JSON.stringify(Object.fromEntries(message.tenants));
    message.isStored = true;
    try {
      const answer = await connection.untilLost(() =>
        connection.nats.request(message.subject, payload, { timeout: BROKER_REQUEST_MS_MAX }),
      );
      const { seq, error }: { seq?: number; error?: ApiError } = answer.json();
      if (typeof seq !== "number") throw new Error(describeApiError(error ?? {}));
      clock.cleared();
    } catch (error) {
      message.isStored = false;
      clock.failed();
      logger.warn("the counts of acknowledged events were not stored yet", { detail: describeError(error) });
    }
    return message.isStored;
  };
  const send = async (): Promise<void> => {
    // If the broker does not accept one, the others are not tried: each would wait for its timeout.
    for (const message of [...messages.values()]) if (!message.isStored && !(await store(message))) return;
    const yesterday = dayOf(hourAt(Date.now() - 24 * HOUR_MS));
    for (const [key, { day, isStored }] of messages) if (isStored && day < yesterday) messages.delete(key);
    latest = undefined;
  };
  const flush = (): Promise<void> => {
    running ??= send().finally(() => {
      running = undefined;
    });
    return running;
  };
  const timer = setInterval(() => {
    if (connection.isConnected()) void flush();
  }, COUNTS_FLUSH_MS);

  return {
    stall: clock.stall,
    add: ({ tenant, receivedAt, events }) => {
      // Mostly tenant and hour are the same as before: looking up a new text costs more than everything else here (measured).
      if (latest?.tenant !== tenant || !receivedAt.startsWith(latest.hour))
        latest = find(tenant, hourOf(receivedAt));
      const { message, counts, at } = latest;
      counts[at] = (counts[at] ?? 0) + events;
      message.isStored = false;
    },
    read: (tenant, hours) => readCounts(connection, tenant, hours),
    tenants: async (hour) => {
      const found = await readDay(connection, countsSubject(dayOf(hour), "*", "*"));
      const at = hourOfDay(hour);
      return [
        ...new Set(
          found.flatMap((each) => Object.keys(each).filter((tenant) => countIn(each, tenant, at) > 0)),
        ),
      ];
    },
    close: async () => {
      clearInterval(timer);
      await running;
      if (connection.isConnected()) await flush();
    },
  };
};

const dayOf = (hour: Hour): string => hour.slice(0, "2026-11-20".length);
const hourOfDay = (hour: Hour): number => Number(hour.slice("2026-11-20T".length));

/** FNV-1a over UTF-16 units: the same in every process and version, because readers look for a tenant in one group. */
const groupOf = (tenant: string): number => {
  let hash = 0x811c9dc5;
  for (let index = 0; index < tenant.length; index++)
    hash = Math.imul(hash ^ tenant.charCodeAt(index), 0x01000193);
  return (hash >>> 0) % COUNTS_GROUPS;
};

const UNREADABLE = "The counts could not be read";

const readCounts = async (
  connection: BrokerConnection,
  tenant: string,
  hours: readonly Hour[],
): Promise<ReadonlyMap<Hour, number>> => {
  const inTurn = pLimit(COUNTS_DAYS_READ_AT_ONCE);
  const counts = new Map<Hour, number>();
  const readHours = async (day: string, asked: readonly Hour[]): Promise<void> => {
    const found = await readDay(connection, countsSubject(day, groupOf(tenant), "*"));
    for (const hour of asked) {
      const at = hourOfDay(hour);
      const sum = found.reduce((before, each) => before + countIn(each, tenant, at), 0);
      if (sum > 0) counts.set(hour, sum);
    }
  };
  await Promise.all(
    [...Map.groupBy(hours, dayOf)].map(([day, asked]) => inTurn(() => readHours(day, asked))),
  );
  return counts;
};

type Decoded = Readonly<Record<string, unknown>>;

const countIn = (decoded: Decoded, tenant: string, at: number): number => {
  const counts = decoded[tenant];
  return Array.isArray(counts) ? Number(counts[at] ?? 0) : 0;
};

/** The newest message of each subject. One that is rewritten meanwhile comes again, after the others, and then replaces the older one. */
const readDay = (connection: BrokerConnection, subjects: string): Promise<readonly Decoded[]> =>
  answered(connection, UNREADABLE, async () => {
    const found = new Map<string, Decoded>();
    for (let seq = 1; ; ) {
      const query = { seq, next_by_subj: subjects };
      const message = await readFromLeader(connection, "COUNTS", query, BROKER_REQUEST_MS_MAX);
      if (!message) return [...found.values()];
      found.set(message.subject, Object(JSON.parse(Buffer.from(message.data ?? "", "base64").toString())));
      seq = message.seq + 1;
    }
  });
