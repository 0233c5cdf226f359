/**
 * Follows the key bucket into memory. The client's watch alone is not enough: when the server of its consumer is gone it says nothing for
 * over ten seconds (two missed heartbeats of 5 s), and a revoked key would live on. So twice a second the leader is asked for the bucket's
 * last message, and a watch that has not come that far is begun again. Measured on three nodes with the consumer's node killed: the next
 * change was seen after 0.9 to 3.1 s.
 */
import { setTimeout as delay } from "node:timers/promises";
import type { KV, KvEntry, NatsConnection, QueuedIterator } from "nats";
import { KEYS_BUCKET } from "../../streams/keys.ts";
import {
  ADMIN_KEY_ID,
  type AdminKeyRecord,
  type ApiKeyRecord,
  asAdminKeyRecord,
  asApiKeyRecord,
} from "../access/key-record.ts";
import {
  KEY_REQUEST_MS_MAX,
  KEY_STATE_AGE_MS_MAX,
  KEY_STATE_CATCH_UP_MS,
  KEY_STATE_CHECK_MS,
} from "../limits.ts";
import { LogUnavailableError } from "../log/event-log.ts";
import type { Logger } from "../telemetry/logger.ts";
import { createRepeatFilter } from "../telemetry/repeat-filter.ts";
import { API_ERROR, apiErrorCode, describeError } from "./api-errors.ts";
import type { BrokerConnection } from "./connection.ts";

/** The value of one name. `nothing`: deleted, or not a value of ours; kept for its revision. */
type HeldValue = { readonly revision: number } & (
  | { readonly kind: "key"; readonly record: ApiKeyRecord }
  | { readonly kind: "admin"; readonly record: AdminKeyRecord }
  | { readonly kind: "nothing"; readonly isForeign: boolean }
);

export interface KeyWatch extends AsyncDisposable {
  held(name: string): HeldValue | undefined;
  /** The value that the bucket once had under this name and has lost, although nobody removed it. */
  lost(name: string): HeldValue | undefined;
  all(): Iterable<HeldValue>;
  /** Adds an own write, so that it counts before the watch reports it. */
  remember(name: string, value: HeldValue): void;
  isConnected(): boolean;
  /** When memory was last known to be complete, by `elapsedMs`. */
  confirmedMs(): number;
}

export interface KeyWatchDependencies {
  /** Owned by the caller: disposing the watch does not close it. */
  readonly connection: Pick<BrokerConnection, "nats" | "isConnected" | "onChange">;
  readonly bucket: KV;
  readonly logger: Logger;
  /** Milliseconds of a clock that never goes back, such as `performance.now`. */
  readonly elapsedMs: () => number;
}

/** Resolves when all values are in memory. Throws LogUnavailableError if that takes too long. */
export const createKeyWatch = async (dependencies: KeyWatchDependencies): Promise<KeyWatch> => {
  const { connection, logger, elapsedMs } = dependencies;
  const closing = new AbortController();
  const isNews = createRepeatFilter(elapsedMs);
  const memory = createKeyMemory(dependencies);
  const readLast = await createLastReader(connection.nats);

  const follow = async (): Promise<void> => {
    while (!closing.signal.aborted) {
      try {
        if (connection.isConnected()) await followOnce({ ...dependencies, memory, readLast }, closing.signal);
      } catch (error) {
        const detail = describeError(error);
        if (isNews(detail)) logger.warn("the API keys are not being followed; trying again", { detail });
      }
      await pause(RETRY_MS, closing.signal);
    }
  };
  const following = follow();
  const dispose = async (): Promise<void> => {
    closing.abort();
    await following;
  };

  const isLoaded = await Promise.race([
    memory.loaded.then(() => true),
    pause(KEY_STATE_AGE_MS_MAX, closing.signal).then(() => false),
  ]);
  if (!isLoaded) {
    await dispose();
    throw new LogUnavailableError(`the API keys could not be read within ${KEY_STATE_AGE_MS_MAX} ms`);
  }
  return {
    held: memory.held,
    lost: memory.lost,
    all: memory.all,
    remember: memory.remember,
    confirmedMs: memory.confirmedMs,
    isConnected: connection.isConnected,
    [Symbol.asyncDispose]: dispose,
  };
};

/** The value of an entry. Never throws: anybody with rights on the bucket may have written it. */
export const heldValue = (entry: KvEntry): HeldValue => {
  const { revision, operation, key } = entry;
  if (operation !== "PUT") return { kind: "nothing", isForeign: false, revision };
  let value: unknown;
  try {
    value = JSON.parse(entry.string());
  } catch {
    return { kind: "nothing", isForeign: true, revision };
  }
  if (key === ADMIN_KEY_ID) {
    const admin = asAdminKeyRecord(value);
    return admin
      ? { kind: "admin", record: admin, revision }
      : { kind: "nothing", isForeign: true, revision };
  }
  const record = asApiKeyRecord(value, key);
  return record ? { kind: "key", record, revision } : { kind: "nothing", isForeign: true, revision };
};

/** Pause between two watches. A restarting broker is back in about a second. */
const RETRY_MS = 200;

/** One watch. `revision` is how far it has come, `expected` how far the bucket was when last asked. */
interface Watch {
  readonly changes: QueuedIterator<KvEntry>;
  readonly values: Map<string, HeldValue>;
  revision: number;
  /** When the message of that revision was stored. */
  storedMs: number;
  expected: number | undefined;
  askedMs: number;
}

/**
 * A new watch fills its own map, which replaces the current one when it is complete. So known keys stay in use while the broker is away,
 * and keys that were removed meanwhile disappear. Newer values are used at once. A removal leaves a marker with a later revision (ADR-8).
 * So a value that a complete watch lacks, or has at an earlier revision, was lost.
 */
const createKeyMemory = ({ logger, elapsedMs }: Pick<KeyWatchDependencies, "logger" | "elapsedMs">) => {
  const loading = Promise.withResolvers<void>();
  let values = new Map<string, HeldValue>();
  const lost = new Map<string, HeldValue>();
  let current: Watch | undefined;
  let confirmedMs = elapsedMs();

  const settle = (watch: Watch): void => {
    if (watch.expected === undefined || watch.revision < watch.expected) return;
    if (values.has(ADMIN_KEY_ID) && !watch.values.has(ADMIN_KEY_ID))
      logger.error(
        "the broker no longer has the admin key: its store was emptied, or another one put in its place",
        {
          detail: `keys before: ${values.size}, now: ${watch.values.size}`,
        },
      );
    if (values !== watch.values) {
      for (const [name, value] of lost) if (isAccountedFor(value, watch.values.get(name))) lost.delete(name);
      for (const [name, value] of values)
        if (value.kind !== "nothing" && !isAccountedFor(value, watch.values.get(name))) lost.set(name, value);
    }
    values = watch.values;
    confirmedMs = watch.askedMs;
    loading.resolve();
  };
  return {
    loaded: loading.promise,
    held: (name: string) => values.get(name),
    lost: (name: string) => lost.get(name),
    all: () => values.values(),
    confirmedMs: () => confirmedMs,
    remember: (name: string, value: HeldValue): void => {
      hold(values, name, value);
      if (current) hold(current.values, name, value);
    },
    begin: (changes: QueuedIterator<KvEntry>): Watch => {
      current = { changes, values: new Map(), revision: 0, storedMs: 0, expected: undefined, askedMs: 0 };
      return current;
    },
    take: (watch: Watch, entry: KvEntry): void => {
      const value = heldValue(entry);
      if (value.kind === "nothing" && value.isForeign) {
        logger.warn("a value of the key bucket is not one of ours and is skipped", { key_id: entry.key });
      }
      hold(watch.values, entry.key, value);
      hold(values, entry.key, value);
      if (entry.revision > watch.revision) {
        watch.revision = entry.revision;
        watch.storedMs = entry.created.getTime();
      }
      settle(watch);
    },
    expect: (watch: Watch, lastRevision: number, askedMs: number): void => {
      watch.expected = lastRevision;
      watch.askedMs = askedMs;
      settle(watch);
    },
  };
};

/**
 * Equal revisions are compared by hash: the admin key is mostly the first value of a bucket, and so has the same revision in another
 * bucket.
 */
const isAccountedFor = (before: HeldValue, after: HeldValue | undefined): boolean => {
  if (after === undefined || after.revision < before.revision) return false;
  if (after.revision > before.revision || before.kind === "nothing") return true;
  return after.kind !== "nothing" && after.record.secret_hash === before.record.secret_hash;
};

/** Never goes back: a consumer on a follower may report an older value after our own write. */
const hold = (values: Map<string, HeldValue>, name: string, value: HeldValue): void => {
  if ((values.get(name)?.revision ?? 0) < value.revision) values.set(name, value);
};

interface Following extends KeyWatchDependencies {
  readonly memory: ReturnType<typeof createKeyMemory>;
  readonly readLast: () => Promise<LastValue>;
}

interface LastValue {
  readonly revision: number;
  readonly storedMs: number;
}

/** Ends when the watch ends or falls silent, or after a reconnect. */
const followOnce = async (following: Following, closing: AbortSignal): Promise<void> => {
  const { bucket, memory, connection } = following;
  const changes = await bucket.watch();
  const watch = memory.begin(changes);
  const ended = new AbortController();
  const stop = (): void => changes.stop();
  closing.addEventListener("abort", stop);
  using _listening = connection.onChange((state) => {
    if (state === "restored") stop();
  });
  if (closing.aborted) stop();
  const checking = checkRepeatedly(following, watch, ended.signal);
  try {
    for await (const entry of changes) memory.take(watch, entry);
  } finally {
    closing.removeEventListener("abort", stop);
    ended.abort();
    await checking;
  }
};

const checkRepeatedly = async (following: Following, watch: Watch, ended: AbortSignal): Promise<void> => {
  const { memory, elapsedMs, readLast, logger, connection } = following;
  const ask = async (): Promise<LastValue | undefined> => {
    if (!connection.isConnected()) return undefined;
    try {
      return await readLast();
    } catch (error) {
      if (!ended.aborted) logger.warn("the key bucket did not answer", { detail: describeError(error) });
      return undefined;
    }
  };
  let seenBefore = 0;
  while (!ended.aborted) {
    const askedMs = elapsedMs();
    const seen = watch.revision;
    const last = await ask();
    if (last !== undefined) {
      const isSilent = seen === seenBefore && watch.revision === seen && seen < (watch.expected ?? 0);
      // The bucket is behind what was seen: it was purged or created anew, and its revisions start again.
      const isForgotten = last.revision < seen || isAnother(last, watch);
      if (isSilent || isForgotten) {
        const detail = isSilent ? "the watch fell silent" : "the bucket lost its newest values";
        logger.warn("the API keys are read anew", { detail });
        watch.changes.stop();
        return;
      }
      memory.expect(watch, last.revision, askedMs);
    }
    seenBefore = seen;
    const isBehind = watch.revision < (watch.expected ?? 0);
    await pause(isBehind ? KEY_STATE_CATCH_UP_MS : KEY_STATE_CHECK_MS, ended);
  }
};

/**
 * A bucket that was created anew may have reached the same revision, but its value was stored at another time. The client computes one of the
 * two times from nanoseconds that no double can hold, so it may be a millisecond off.
 */
const isAnother = (last: LastValue, { revision, storedMs }: Watch): boolean =>
  last.revision === revision && Math.abs(last.storedMs - storedMs) > 1;

/** Asks the stream's leader, because a follower may be behind (so no direct get). 0: the bucket is empty. */
const createLastReader = async (connection: NatsConnection): Promise<() => Promise<LastValue>> => {
  // `checkAPI: false` skips a question about the account: during an election nobody answers it, and the start would fail.
  const { streams } = await connection.jetstreamManager({ timeout: KEY_REQUEST_MS_MAX, checkAPI: false });
  return async () => {
    try {
      const message = await streams.getMessage(`KV_${KEYS_BUCKET}`, { last_by_subj: `$KV.${KEYS_BUCKET}.>` });
      return { revision: message.seq, storedMs: message.time.getTime() };
    } catch (error) {
      if (apiErrorCode(error) === API_ERROR.messageNotFound) return { revision: 0, storedMs: 0 };
      throw error;
    }
  };
};

const pause = (milliseconds: number, signal: AbortSignal): Promise<void> =>
  delay(milliseconds, undefined, { signal }).catch(() => undefined);
