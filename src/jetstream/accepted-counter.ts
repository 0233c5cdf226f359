/** The counts of acknowledged events, on the stream COUNTS. They are gathered here and stored once a second. */
import pLimit from "p-limit";
import { COUNTS_GROUPS, countsSubject } from "../../streams/subjects.ts";
import { COUNTS_DAYS_READ_AT_ONCE, COUNTS_FLUSH_MS, COUNTS_REQUEST_MS_MAX } from "../limits.ts";
import { type AcceptedCounts, type Hour, hourOf } from "../log/accepted-counts.ts";
import type { Logger } from "../telemetry/logger.ts";
import { answered } from "./answered.ts";
import { type ApiError, describeApiError, describeError } from "./api-errors.ts";
import type { BrokerConnection } from "./connection.ts";
import { readFromLeader } from "./leader-read.ts";
import { createConnectedStallClock, type StallReport } from "./stall-clock.ts";

type AcceptedCounter = AcceptedCounts & StallReport;

/** The counts of one tenant and day, by the hour of the day. */
type DayOfTenant = number[];

/** One message: what this process has acknowledged on one day, of the tenants of one group. */
interface Group {
  readonly subject: string;
  readonly tenants: Map<string, DayOfTenant>;
  /** Increases with each event. */
  revision: number;
  storedRevision: number;
}

interface Day {
  /** The writer of its messages: this process, and another one if it forgets the day and counts in it again. */
  readonly writer: string;
  readonly groups: Map<number, Group>;
}

/** Days that stay in memory although they are stored: around midnight events of both are counted. */
const DAYS_KEPT = 2;

export const createAcceptedCounter = ({
  connection,
  logger,
}: {
  readonly connection: BrokerConnection;
  readonly logger: Logger;
}): AcceptedCounter => {
  const clock = createConnectedStallClock(connection);
  const days = new Map<string, Day>();
  let latest: { tenant: string; hour: Hour; at: number; group: Group; counts: DayOfTenant } | undefined;
  let running: Promise<void> | undefined;

  const find = (tenant: string, hour: Hour): NonNullable<typeof latest> => {
    const day = dayOf(hour);
    const { writer, groups } = getOrSet(days, day, () => ({
      writer: crypto.randomUUID(),
      groups: new Map(),
    }));
    const group = getOrSet(groups, groupOf(tenant), (number) => ({
      subject: countsSubject(day, number, writer),
      tenants: new Map(),
      revision: 0,
      storedRevision: 0,
    }));
    const counts = getOrSet(group.tenants, tenant, () => []);
    return { tenant, hour, at: hourOfDay(hour), group, counts };
  };
  const store = async (group: Group): Promise<boolean> => {
    if (!connection.isConnected()) return false;
    const { subject, revision, tenants } = group;
    const payload = JSON.stringify(Object.fromEntries(tenants));
    try {
      const answer = await connection.untilLost(() =>
        connection.nats.request(subject, payload, { timeout: COUNTS_REQUEST_MS_MAX }),
      );
      const { seq, error }: { seq?: number; error?: ApiError } = answer.json();
      if (typeof seq !== "number") throw new Error(describeApiError(error ?? {}));
      group.storedRevision = revision;
      clock.cleared();
      return true;
    } catch (error) {
      clock.failed();
      logger.warn("the counts of acknowledged events were not stored yet", { detail: describeError(error) });
      return false;
    }
  };
  const send = async (): Promise<void> => {
    // If the broker does not take one, the others are not tried: each would wait for its timeout.
    for (const { groups } of [...days.values()])
      for (const group of [...groups.values()]) if (!isStored(group) && !(await store(group))) return;
    for (const [day, { groups }] of [...days].toSorted().slice(0, -DAYS_KEPT))
      if ([...groups.values()].every(isStored)) days.delete(day);
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
      const { group, counts, at } = latest;
      counts[at] = (counts[at] ?? 0) + events;
      group.revision += 1;
    },
    read: (tenant, hours) => readCounts(connection, tenant, hours),
    begin: () => readBegin(connection),
    tenants: async (hour) => {
      const found = await readDay(connection, countsSubject(dayOf(hour), "*", "*"));
      const at = hourOfDay(hour);
      return [
        ...new Set(
          found.flatMap((each) => [...each].filter(([, counts]) => counts[at]).map(([name]) => name)),
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

const isStored = ({ revision, storedRevision }: Group): boolean => revision === storedRevision;

const getOrSet = <Key, Value>(map: Map<Key, Value>, key: Key, make: (key: Key) => Value): Value => {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make(key);
  map.set(key, made);
  return made;
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

const readBegin = (connection: BrokerConnection): Promise<string> =>
  answered(connection, UNREADABLE, async () => {
    const options = { timeout: COUNTS_REQUEST_MS_MAX };
    const answer = await connection.nats.request("$JS.API.STREAM.INFO.COUNTS", undefined, options);
    const { created, error }: { created?: string; error?: ApiError } = answer.json();
    if (created === undefined) throw new Error(describeApiError(error ?? {}));
    return new Date(created).toISOString();
  });

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
      const counted = found.flatMap((each) => each.get(tenant)?.[hourOfDay(hour)] ?? []);
      const sum = counted.reduce((one, other) => one + other, 0);
      if (sum > 0) counts.set(hour, sum);
    }
  };
  await Promise.all(
    [...Map.groupBy(hours, dayOf)].map(([day, asked]) => inTurn(() => readHours(day, asked))),
  );
  return counts;
};

/** The newest message of each subject. One that is written again meanwhile comes once more, behind the others, and then replaces the older one. */
const readDay = (
  connection: BrokerConnection,
  subjects: string,
): Promise<readonly ReadonlyMap<string, DayOfTenant>[]> =>
  answered(connection, UNREADABLE, async () => {
    const found = new Map<string, ReadonlyMap<string, DayOfTenant>>();
    for (let seq = 1; ; ) {
      const query = { seq, next_by_subj: subjects };
      const message = await readFromLeader(connection, "COUNTS", query, COUNTS_REQUEST_MS_MAX);
      if (!message) return [...found.values()];
      found.set(message.subject, decode(message.data));
      seq = message.seq + 1;
    }
  });

const decode = (data: string | undefined): ReadonlyMap<string, DayOfTenant> => {
  const decoded: unknown = JSON.parse(Buffer.from(data ?? "", "base64").toString());
  if (typeof decoded !== "object" || decoded === null) return new Map();
  return new Map(
    Object.entries(decoded).flatMap(([tenant, counts]): [string, DayOfTenant][] =>
      Array.isArray(counts) ? [[tenant, counts.map(Number)]] : [],
    ),
  );
};
