/**
 * The stored API keys, in a JetStream key-value bucket (NATS ADR-8): one value per key id, and `admin` for the admin key. Reads are answered
 * from memory; writes go to the broker with the revision they build on.
 *
 * Memory follows the bucket by the client's watch. That alone is not enough: when the server of its consumer is gone it says nothing for over
 * ten seconds (two missed heartbeats of 5 s), and a revoked key would live on. So twice a second the leader is asked for the bucket's last
 * message, and a watch that has not come that far is begun again. Measured on three nodes with the consumer's node killed: the next change was
 * seen after 0.9 to 3.1 s.
 */
import { setTimeout as delay } from "node:timers/promises";
import type { JetStreamManager, KV, KvEntry, QueuedIterator } from "nats";
import { KEYS_BUCKET } from "../../streams/keys.ts";
import { isApiKeyId } from "../access/api-key.ts";
import {
  ADMIN_KEY_ID,
  type AdminKeyRecord,
  type ApiKeyRecord,
  asAdminKeyRecord,
  asApiKeyRecord,
} from "../access/key-record.ts";
import type { FetchedKey, KeyStore, KeyWrite } from "../access/key-store.ts";
import {
  KEY_REQUEST_MS_MAX,
  KEY_STATE_AGE_MS_MAX,
  KEY_STATE_CATCH_UP_MS,
  KEY_STATE_CHECK_MS,
} from "../limits.ts";
import { LogUnavailableError } from "../log/event-log.ts";
import type { Logger } from "../telemetry/logger.ts";
import { createRepeatFilter } from "../telemetry/repeat-filter.ts";
import { API_ERROR, apiErrorCode, describeError, unwritten } from "./api-errors.ts";
import type { BrokerConnection } from "./connection.ts";

export interface KeyBucket extends KeyStore, AsyncDisposable {}

interface Dependencies {
  /** Owned by the caller: disposing the bucket does not close it. */
  readonly connection: Pick<BrokerConnection, "nats" | "isConnected" | "onChange">;
  readonly logger: Logger;
  /** Milliseconds of a clock that never goes back, such as `performance.now`. */
  readonly elapsedMs: () => number;
}

/**
 * Resolves when every key is in memory. Throws LogUnavailableError if the bucket cannot be read in time. The stream must exist:
 * reconcile.ts makes it.
 */
export const createKeyBucket = async (dependencies: Dependencies): Promise<KeyBucket> => {
  const { connection, elapsedMs } = dependencies;
  // `checkAPI: false` skips a question about the account, which only the leader of the whole cluster answers. What follows is retried; that
  // question would not be.
  const options = { timeout: KEY_REQUEST_MS_MAX, checkAPI: false };
  // Reads go to the leader. A direct get may be answered by a replica that is behind (NATS ADR-31): a rotation would build on an old value,
  // and not find the successor that it just made.
  const bucket = await connection.nats
    .jetstream(options)
    .views.kv(KEYS_BUCKET, { bindOnly: true, allow_direct: false });
  const memory = createKeyMemory(dependencies);
  const manager = await connection.nats.jetstreamManager(options);
  const following = follow({ ...dependencies, bucket, memory, manager });
  const loaded = await Promise.race([memory.loaded, delay(KEY_STATE_AGE_MS_MAX, "late", { ref: false })]);
  if (loaded === "late") {
    await following[Symbol.asyncDispose]();
    throw new LogUnavailableError(`the API keys could not be read within ${KEY_STATE_AGE_MS_MAX} ms`);
  }
  const write = async (
    name: string,
    value: NewValue,
    put: (name: string, bytes: Uint8Array) => Promise<number>,
  ): Promise<KeyWrite> => {
    if (!connection.isConnected()) return NOT_CONNECTED;
    try {
      const revision = await put(name, new TextEncoder().encode(JSON.stringify(value.record)));
      memory.remember(name, { ...value, revision });
      return { kind: "written" };
    } catch (error) {
      return unwritten(error);
    }
  };

  return {
    ...recordsOf(memory.held),
    lost: recordsOf(memory.lost),
    list: (tenant) =>
      [...memory.all()].flatMap((held) =>
        held.kind === "key" && (tenant === undefined || held.record.tenant === tenant) ? [held.record] : [],
      ),
    fetch: async (id): Promise<FetchedKey> => {
      // Such a text is no key of the bucket, and the client throws on some of them.
      if (!isApiKeyId(id)) return { kind: "absent" };
      if (!connection.isConnected()) return NOT_CONNECTED;
      try {
        const entry = await bucket.get(id);
        const value = entry ? heldValue(entry) : undefined;
        return value?.kind === "key" ? { ...value, kind: "found" } : { kind: "absent" };
      } catch (error) {
        return { kind: "unavailable", detail: describeError(error) };
      }
    },
    create: (record) => write(record.id, { kind: "key", record }, bucket.create.bind(bucket)),
    update: (record, revision) =>
      write(record.id, { kind: "key", record }, (name, bytes) => bucket.update(name, bytes, revision)),
    createAdmin: (record) => write(ADMIN_KEY_ID, { kind: "admin", record }, bucket.create.bind(bucket)),
    replaceAdmin: (record) => write(ADMIN_KEY_ID, { kind: "admin", record }, bucket.put.bind(bucket)),

    readiness: () => {
      const ageMs = elapsedMs() - memory.confirmedMs();
      return ageMs <= KEY_STATE_AGE_MS_MAX ? { kind: "ready" } : { kind: "stale", ageMs };
    },
    ...following,
  };
};

const recordsOf = (held: (name: string) => HeldValue | undefined): Pick<KeyStore, "get" | "admin"> => ({
  get: (id) => {
    const value = held(id);
    return value?.kind === "key" ? value.record : undefined;
  },
  admin: () => {
    const value = held(ADMIN_KEY_ID);
    return value?.kind === "admin" ? value.record : undefined;
  },
});

/** Not tried while disconnected: the message would be lost, and that would be known only after a timeout. */
const NOT_CONNECTED = { kind: "unavailable", detail: "not connected to the broker" } as const;

type NewValue =
  | { readonly kind: "key"; readonly record: ApiKeyRecord }
  | { readonly kind: "admin"; readonly record: AdminKeyRecord };

/** The value of one name. `nothing`: deleted, or not a value of ours; kept for its revision. */
type HeldValue = { readonly revision: number } & (
  | NewValue
  | { readonly kind: "nothing"; readonly isForeign: boolean }
);

/** The value of an entry. Never throws: anybody with rights on the bucket may have written it. */
const heldValue = (entry: KvEntry): HeldValue => {
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
const createKeyMemory = ({ logger, elapsedMs }: Dependencies) => {
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

interface Following extends Dependencies {
  readonly bucket: KV;
  readonly manager: JetStreamManager;
  readonly memory: ReturnType<typeof createKeyMemory>;
}

/** Pause between two watches. A restarting broker is back in about a second. */
const RETRY_MS = 200;

const follow = (following: Following): AsyncDisposable => {
  const { connection, elapsedMs, logger } = following;
  const closing = new AbortController();
  const isNews = createRepeatFilter(elapsedMs);
  const run = async (): Promise<void> => {
    while (!closing.signal.aborted) {
      try {
        if (connection.isConnected()) await followOnce(following, closing.signal);
      } catch (error) {
        const detail = describeError(error);
        if (isNews(detail)) logger.warn("the API keys are not being followed; trying again", { detail });
      }
      await pause(RETRY_MS, closing.signal);
    }
  };
  const running = run();
  return {
    [Symbol.asyncDispose]: async () => {
      closing.abort();
      await running;
    },
  };
};

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
  const { memory, elapsedMs, manager, logger, connection } = following;
  let seenBefore = 0;
  while (!ended.aborted) {
    const askedMs = elapsedMs();
    const seen = watch.revision;
    const last = connection.isConnected() ? await readLast(manager).catch(describeError) : undefined;
    if (typeof last === "string") {
      if (!ended.aborted) logger.warn("the key bucket did not answer", { detail: last });
    } else if (last !== undefined) {
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

interface LastValue {
  readonly revision: number;
  readonly storedMs: number;
}

/**
 * A bucket that was created anew may have reached the same revision, but its value was stored at another time. The client computes one of the
 * two times from nanoseconds that no double can hold, so it may be a millisecond off.
 */
const isAnother = (last: LastValue, { revision, storedMs }: Watch): boolean =>
  last.revision === revision && Math.abs(last.storedMs - storedMs) > 1;

/** Asks the stream's leader, because a follower may be behind (so no direct get). 0: the bucket is empty. */
const readLast = async ({ streams }: JetStreamManager): Promise<LastValue> => {
  try {
    const message = await streams.getMessage(`KV_${KEYS_BUCKET}`, { last_by_subj: `$KV.${KEYS_BUCKET}.>` });
    return { revision: message.seq, storedMs: message.time.getTime() };
  } catch (error) {
    if (apiErrorCode(error) === API_ERROR.messageNotFound) return { revision: 0, storedMs: 0 };
    throw error;
  }
};

const pause = (milliseconds: number, signal: AbortSignal): Promise<void> =>
  delay(milliseconds, undefined, { signal }).catch(() => undefined);
