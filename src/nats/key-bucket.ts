/**
 * The stored API keys, in a JetStream key-value bucket (NATS ADR-8): one value per key id, and `admin` for the admin key. Reads are answered
 * from memory; writes go to the broker with the revision they build on. Twice a second the stream's leader is asked for its last message, and
 * what is new is read. No watch, because one whose server is gone says nothing for ten seconds, and a revoked key would live on.
 */
import { setTimeout as delay } from "node:timers/promises";
import { KEYS_BUCKET } from "../../streams/keys.ts";
import { isApiKeyId } from "../access/api-key.ts";
import {
  ADMIN_KEY_ID,
  type AdminKeyRecord,
  type ApiKeyRecord,
  asAdminKeyRecord,
  asApiKeyRecord,
} from "../access/key-record.ts";
import type { KeyStore, KeyWrite } from "../access/key-store.ts";
import { BROKER_REQUEST_MS_MAX, KEY_STATE_AGE_MS_MAX, KEY_STATE_CHECK_MS } from "../limits.ts";
import { LogUnavailableError } from "../log/event-log.ts";
import type { Logger } from "../telemetry/logger.ts";
import { createRepeatFilter } from "../telemetry/repeat-filter.ts";
import { describeError, unwritten } from "./api-errors.ts";
import type { BrokerConnection } from "./connection.ts";
import { jsonIn, type LeaderMessage, type LeaderQuery, readFromLeader, readOn } from "./leader-read.ts";

export interface KeyBucket extends KeyStore, AsyncDisposable {}

interface Dependencies {
  /** Owned by the caller: disposing the bucket does not close it. */
  readonly connection: Pick<BrokerConnection, "nats" | "isConnected" | "onChange" | "untilLost">;
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
  const jetstream = connection.nats.jetstream({ timeout: BROKER_REQUEST_MS_MAX, checkAPI: false });
  const memory = createKeyMemory(dependencies);
  const following = follow(dependencies, memory);
  const loaded = await Promise.race([following.loaded, delay(KEY_STATE_AGE_MS_MAX, "late", { ref: false })]);
  if (loaded === "late") {
    await following[Symbol.asyncDispose]();
    throw new LogUnavailableError(`the API keys could not be read within ${KEY_STATE_AGE_MS_MAX} ms`);
  }
  /** `revision`: of the value that it replaces, 0 for none; undefined writes whatever is there. */
  const write = async (name: string, value: NewValue, revision?: number): Promise<KeyWrite> => {
    if (!connection.isConnected()) return NOT_CONNECTED;
    try {
      const expect = revision === undefined ? {} : { expect: { lastSubjectSequence: revision } };
      const { seq } = await jetstream.publish(SUBJECT + name, JSON.stringify(value.record), expect);
      memory.remember(name, { ...value, revision: seq });
      return { kind: "written" };
    } catch (error) {
      return unwritten(error);
    }
  };
  /** Of the marker that a removed value has left, 0 if there is none. */
  const removedAt = (name: string): number => {
    const held = memory.held(name);
    return held?.kind === "nothing" ? held.revision : 0;
  };

  return {
    ...recordsOf(memory.held),
    lost: recordsOf(memory.lost),
    list: (tenant) =>
      [...memory.all()].flatMap((held) =>
        held.kind === "key" && (tenant === undefined || held.record.tenant === tenant) ? [held.record] : [],
      ),
    fetch: async (id) => {
      // Such a text is no key of the bucket.
      if (!isApiKeyId(id)) return { kind: "absent" };
      if (!connection.isConnected()) return NOT_CONNECTED;
      try {
        const message = await read(connection, { last_by_subj: SUBJECT + id });
        const value = message && heldValue(message);
        return value?.kind === "key" ? { ...value, kind: "found" } : { kind: "absent" };
      } catch (error) {
        return { kind: "unavailable", detail: describeError(error) };
      }
    },
    create: (record) => write(record.id, { kind: "key", record }, removedAt(record.id)),
    update: (record, revision) => write(record.id, { kind: "key", record }, revision),
    createAdmin: (record) => write(ADMIN_KEY_ID, { kind: "admin", record }, removedAt(ADMIN_KEY_ID)),
    replaceAdmin: (record) => write(ADMIN_KEY_ID, { kind: "admin", record }),

    readiness: () => {
      const ageMs = elapsedMs() - memory.confirmedMs();
      return ageMs <= KEY_STATE_AGE_MS_MAX ? { kind: "ready" } : { kind: "stale", ageMs };
    },
    [Symbol.asyncDispose]: following[Symbol.asyncDispose],
  };
};

const SUBJECT = `$KV.${KEYS_BUCKET}.`;
const ALL = `${SUBJECT}>`;

const read = (connection: Dependencies["connection"], query: LeaderQuery) =>
  readFromLeader(connection, `KV_${KEYS_BUCKET}`, query, BROKER_REQUEST_MS_MAX);

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
type HeldValue = { readonly revision: number } & (NewValue | { readonly kind: "nothing" });

const nameOf = ({ subject }: LeaderMessage): string => subject.slice(SUBJECT.length);

/** Never throws: anybody with rights on the bucket may have written it. */
const heldValue = (message: LeaderMessage): HeldValue => {
  const { seq: revision } = message;
  const [id, value] = [nameOf(message), jsonIn(message)];
  if (id === ADMIN_KEY_ID) {
    const record = asAdminKeyRecord(value);
    return record ? { kind: "admin", record, revision } : { kind: "nothing", revision };
  }
  const record = asApiKeyRecord(value, id);
  return record ? { kind: "key", record, revision } : { kind: "nothing", revision };
};

/** What was read of one bucket, and how far. */
interface Generation {
  readonly values: Map<string, HeldValue>;
  /** The message of the last revision that was read. */
  last: Pick<LeaderMessage, "seq" | "time">;
}

/**
 * A bucket that was emptied or replaced is read into a new generation, which replaces the current one when it is complete. So known keys stay
 * in use meanwhile. A removal leaves a marker with a later revision (ADR-8): a value that the new generation lacks, or has at an earlier
 * revision, was lost.
 */
const createKeyMemory = ({ logger, elapsedMs }: Dependencies) => {
  const lost = new Map<string, HeldValue>();
  let current: Generation = newGeneration();
  let next: Generation | undefined;
  let confirmedMs = elapsedMs();

  const replaceBy = ({ values }: Generation): void => {
    if (current.values.has(ADMIN_KEY_ID) && !values.has(ADMIN_KEY_ID))
      logger.error(
        "the broker no longer has the admin key: its store was emptied, or another one put in its place",
        { detail: `keys before: ${current.values.size}, now: ${values.size}` },
      );
    for (const [name, value] of lost) if (isAccountedFor(value, values.get(name))) lost.delete(name);
    for (const [name, value] of current.values)
      if (value.kind !== "nothing" && !isAccountedFor(value, values.get(name))) lost.set(name, value);
  };
  return {
    held: (name: string) => current.values.get(name),
    lost: (name: string) => lost.get(name),
    all: () => current.values.values(),
    confirmedMs: () => confirmedMs,
    remember: (name: string, value: HeldValue): void => {
      hold(current.values, name, value);
      if (next) hold(next.values, name, value);
    },
    /** Reads what is new of the bucket whose newest message this is. */
    catchUp: async (
      newest: LeaderMessage | undefined,
      options: { readonly isAnew: boolean; readonly askedMs: number },
      readUpTo: (generation: Generation, take: (message: LeaderMessage) => void) => Promise<void>,
    ): Promise<void> => {
      const { last } = current;
      const isForgotten = newest ? newest.seq < last.seq || isAnother(newest, last) : last.seq > 0;
      if (isForgotten)
        logger.warn("the API keys are read anew", { detail: "the bucket lost its newest values" });
      const generation = options.isAnew || isForgotten ? newGeneration() : current;
      next = generation;
      await readUpTo(generation, (message) => {
        const value = heldValue(message);
        const id = nameOf(message);
        if (value.kind === "nothing" && message.data !== undefined)
          logger.warn("a value of the key bucket is not one of ours and is skipped", { key_id: id });
        const known = generation.values.get(id);
        if (known?.revision === value.revision && !isAccountedFor(known, value))
          throw new Error("the bucket is another one");
        hold(generation.values, id, value);
        generation.last = message;
      });
      if (generation !== current) replaceBy(generation);
      current = generation;
      confirmedMs = options.askedMs;
    },
  };
};

const newGeneration = (): Generation => ({ values: new Map(), last: { seq: 0, time: "" } });

/** A bucket that was created anew may have reached the same revision, but its value was stored at another time. */
const isAnother = (newest: LeaderMessage, last: Generation["last"]): boolean =>
  newest.seq === last.seq && newest.time !== last.time;

/**
 * Equal revisions are compared by hash: the admin key is mostly the first value of a bucket, and so has the same revision in another
 * bucket.
 */
const isAccountedFor = (before: HeldValue, after: HeldValue | undefined): boolean => {
  if (after === undefined || after.revision < before.revision) return false;
  if (after.revision > before.revision || before.kind === "nothing") return true;
  return after.kind !== "nothing" && after.record.secret_hash === before.record.secret_hash;
};

/** Never goes back: our own write may be known before it is read. */
const hold = (values: Map<string, HeldValue>, name: string, value: HeldValue): void => {
  if ((values.get(name)?.revision ?? 0) < value.revision) values.set(name, value);
};

const follow = (
  { connection, elapsedMs, logger }: Dependencies,
  memory: ReturnType<typeof createKeyMemory>,
): AsyncDisposable & { readonly loaded: Promise<void> } => {
  const loaded = Promise.withResolvers<void>();
  const closing = new AbortController();
  const isNews = createRepeatFilter(elapsedMs);
  // After a reconnect the broker may have an older copy of the bucket that has grown past what was read.
  let isAnew = true;
  const listening = connection.onChange(() => {
    isAnew = true;
  });
  const refresh = async (): Promise<void> => {
    const askedMs = elapsedMs();
    const wasAnew = isAnew;
    isAnew = false;
    try {
      const newest = await read(connection, { last_by_subj: ALL });
      const end = newest?.seq ?? 0;
      await memory.catchUp(newest, { isAnew: wasAnew, askedMs }, ({ last }, take) =>
        readOn({ from: last.seq, end }, (query) => read(connection, query), { subjects: ALL, take }),
      );
    } catch (error) {
      isAnew = true;
      throw error;
    }
    loaded.resolve();
  };
  const run = async (): Promise<void> => {
    while (!closing.signal.aborted) {
      try {
        if (connection.isConnected()) await connection.untilLost(refresh);
      } catch (error) {
        const detail = describeError(error);
        if (isNews(detail)) logger.warn("the API keys are not being followed; trying again", { detail });
      }
      await delay(KEY_STATE_CHECK_MS, undefined, { signal: closing.signal }).catch(() => undefined);
    }
  };
  const running = run();
  return {
    loaded: loaded.promise,
    [Symbol.asyncDispose]: async () => {
      listening[Symbol.dispose]();
      closing.abort();
      await running;
    },
  };
};
