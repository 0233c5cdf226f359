/** The stored API keys: one value per key id, and `admin` for the admin key. They are read twice a second, and reads are answered from memory. */
import { setTimeout as delay } from "node:timers/promises";
import { KEYS_BUCKET } from "../../streams/subjects.ts";
import { isApiKeyId } from "../access/api-key.ts";
import {
  ADMIN_KEY_ID,
  type AdminKeyRecord,
  type ApiKeyRecord,
  asAdminKeyRecord,
  asApiKeyRecord,
} from "../access/key-record.ts";
import type { KeyStore, KeyWrite } from "../access/key-store.ts";
import { KEY_STATE_AGE_MS_MAX, KEY_STATE_CHECK_MS } from "../limits.ts";
import { LogUnavailableError } from "../log/event-log.ts";
import { createRepeatFilter } from "../telemetry/repeat-filter.ts";
import { describeError } from "./api-errors.ts";
import { type BucketDependencies, type Entries, type Entry, openBucket } from "./bucket.ts";

export interface KeyBucket extends KeyStore, AsyncDisposable {}

type KeyValue =
  | { readonly kind: "key"; readonly record: ApiKeyRecord }
  | { readonly kind: "admin"; readonly record: AdminKeyRecord };

const parse = (key: string, stored: unknown): KeyValue | undefined => {
  if (key === ADMIN_KEY_ID) {
    const record = asAdminKeyRecord(stored);
    return record && { kind: "admin", record };
  }
  const record = asApiKeyRecord(stored, key);
  return record && { kind: "key", record };
};

/** Resolves when every key is in memory. Throws LogUnavailableError if the bucket cannot be read in time. `elapsedMs`: of a clock that never goes back. */
export const createKeyBucket = async (
  dependencies: BucketDependencies & { readonly elapsedMs: () => number },
): Promise<KeyBucket> => {
  const { logger, elapsedMs } = dependencies;
  const bucket = openBucket(dependencies, KEYS_BUCKET, parse);
  let entries: Entries<KeyValue> = new Map();
  const lost = new Map<string, Entry<KeyValue>>();
  let confirmedMs = elapsedMs();
  const refresh = async (): Promise<void> => {
    const askedMs = elapsedMs();
    const read = await bucket.refresh();
    if (read.replaced) noteLost(read.replaced, read.entries);
    ({ entries } = read);
    confirmedMs = askedMs;
  };
  /** A removal leaves a marker with a later revision: a value that the bucket lacks, or has at an earlier revision, was lost. */
  const noteLost = (before: Entries<KeyValue>, after: Entries<KeyValue>): void => {
    if (before.has(ADMIN_KEY_ID) && !after.has(ADMIN_KEY_ID))
      logger.error("the broker no longer has the admin key: its store was emptied or replaced", {
        detail: `keys before: ${before.size}, now: ${after.size}`,
      });
    for (const [name, entry] of [...lost, ...before])
      if (isAccountedFor(entry, after.get(name))) lost.delete(name);
      else lost.set(name, entry);
  };
  const following = follow(dependencies, refresh);
  const loaded = await Promise.race([following.loaded, delay(KEY_STATE_AGE_MS_MAX, "late", { ref: false })]);
  if (loaded === "late") {
    await following[Symbol.asyncDispose]();
    throw new LogUnavailableError(`the API keys could not be read within ${KEY_STATE_AGE_MS_MAX} ms`);
  }
  /** What is written is read back, so that it counts here at once. If that fails, it is read within a second. */
  const write = async (name: string, record: object, revision?: number): Promise<KeyWrite> => {
    const written = await bucket.put(name, record, revision);
    if (written.kind === "written") await refresh().catch(() => undefined);
    return written;
  };
  /** Of the marker that a removed value has left, 0 if there is none. */
  const removedAt = (name: string): number => {
    const entry = entries.get(name);
    return entry && entry.value === undefined ? entry.revision : 0;
  };
  return {
    ...recordsOf((name) => entries.get(name)?.value),
    lost: recordsOf((name) => lost.get(name)?.value),
    list: (tenant) =>
      [...entries.values()].flatMap(({ value }) =>
        value?.kind === "key" && (tenant === undefined || value.record.tenant === tenant)
          ? [value.record]
          : [],
      ),
    fetch: async (id) => {
      // Such a text is no key of the bucket.
      if (!isApiKeyId(id)) return { kind: "absent" };
      try {
        const { value, revision = 0 } = (await bucket.fetch(id)) ?? {};
        return value?.kind === "key" ? { kind: "found", record: value.record, revision } : { kind: "absent" };
      } catch (error) {
        return { kind: "unavailable", detail: describeError(error) };
      }
    },
    create: (record) => write(record.id, record, removedAt(record.id)),
    update: (record, revision) => write(record.id, record, revision),
    createAdmin: (record) => write(ADMIN_KEY_ID, record, removedAt(ADMIN_KEY_ID)),
    replaceAdmin: (record) => write(ADMIN_KEY_ID, record),
    readiness: () => {
      const ageMs = elapsedMs() - confirmedMs;
      return ageMs <= KEY_STATE_AGE_MS_MAX ? { kind: "ready" } : { kind: "stale", ageMs };
    },
    [Symbol.asyncDispose]: following[Symbol.asyncDispose],
  };
};

const recordsOf = (held: (name: string) => KeyValue | undefined): Pick<KeyStore, "get" | "admin"> => ({
  get: (id) => {
    const value = held(id);
    return value?.kind === "key" ? value.record : undefined;
  },
  admin: () => {
    const value = held(ADMIN_KEY_ID);
    return value?.kind === "admin" ? value.record : undefined;
  },
});

/** Equal revisions are compared by hash: the admin key is mostly the first value of a bucket, and so has the same revision in another one. */
const isAccountedFor = (before: Entry<KeyValue>, after: Entry<KeyValue> | undefined): boolean => {
  if (before.value === undefined) return true;
  if (after === undefined || after.revision < before.revision) return false;
  if (after.revision > before.revision) return true;
  return after.value?.record.secret_hash === before.value.record.secret_hash;
};

const follow = (
  { connection, elapsedMs, logger }: Parameters<typeof createKeyBucket>[0],
  refresh: () => Promise<void>,
): AsyncDisposable & { readonly loaded: Promise<void> } => {
  const loaded = Promise.withResolvers<void>();
  const closing = new AbortController();
  const isNews = createRepeatFilter(elapsedMs);
  const run = async (): Promise<void> => {
    while (!closing.signal.aborted) {
      try {
        if (connection.isConnected()) await refresh().then(loaded.resolve);
      } catch (error) {
        const detail = describeError(error);
        if (isNews(detail)) logger.warn("could not refresh the API keys; retrying", { detail });
      }
      await delay(KEY_STATE_CHECK_MS, undefined, { signal: closing.signal }).catch(() => undefined);
    }
  };
  const running = run();
  return {
    loaded: loaded.promise,
    [Symbol.asyncDispose]: async () => {
      closing.abort();
      await running;
    },
  };
};
