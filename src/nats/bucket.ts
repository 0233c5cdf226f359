/**
 * The values of a JetStream key-value bucket (NATS ADR-8), in memory. Each `refresh` asks the stream's leader for its last message and reads what is
 * new. No watch: one whose server is gone says nothing for ten seconds, and a revoked key would live on, or a new hold be missed.
 */
import pLimit from "p-limit";
import { BROKER_REQUEST_MS_MAX } from "../limits.ts";
import type { Logger } from "../telemetry/logger.ts";
import { unwritten } from "./api-errors.ts";
import type { BrokerConnection } from "./connection.ts";
import { jsonIn, type LeaderMessage, type LeaderQuery, readFromLeader } from "./leader-read.ts";

export interface BucketDependencies {
  /** Owned by the caller. */
  readonly connection: Pick<BrokerConnection, "nats" | "isConnected" | "onChange" | "untilLost">;
  readonly logger: Logger;
}

export interface Entry<Value> {
  readonly revision: number;
  /** Undefined for a value that was deleted, or is not one of ours. */
  readonly value: Value | undefined;
}

export type Entries<Value> = ReadonlyMap<string, Entry<Value>>;

/** What was read of one bucket, and how far. */
interface Generation<Value> {
  readonly entries: Map<string, Entry<Value>>;
  /** The message of the last revision that was read. */
  last: Pick<LeaderMessage, "seq" | "time">;
}

const newGeneration = <Value>(): Generation<Value> => ({ entries: new Map(), last: { seq: 0, time: "" } });

const READS_AT_ONCE = 64;

/** The stream must exist: reconcile.ts makes it. */
export const openBucket = <Value>(
  { connection, logger }: BucketDependencies,
  name: string,
  /** Never throws: anybody with rights on the bucket may have written what is stored. */
  parse: (key: string, stored: unknown) => Value | undefined,
) => {
  const root = `$KV.${name}.`;
  const subjects = `${root}>`;
  const jetstream = connection.nats.jetstream({ timeout: BROKER_REQUEST_MS_MAX, checkAPI: false });
  const inTurn = pLimit(1);
  let current = newGeneration<Value>();
  // After a reconnect the broker may have an older copy of the bucket that has grown past what was read.
  let connections = 0;
  let readOf = 0;
  connection.onChange(() => {
    connections++;
  });

  const ask = (query: LeaderQuery): Promise<LeaderMessage | undefined> =>
    readFromLeader(connection, `KV_${name}`, query, BROKER_REQUEST_MS_MAX);
  const entryOf = (key: string, message: LeaderMessage): Entry<Value> => ({
    revision: message.seq,
    value: parse(key, jsonIn(message)),
  });
  const take = (generation: Generation<Value>, message: LeaderMessage): void => {
    const key = message.subject.slice(root.length);
    const entry = entryOf(key, message);
    if (entry.value === undefined && message.data !== undefined)
      logger.warn("skipped a bucket value that is not ours", { stream: name, key_id: key });
    generation.entries.set(key, entry);
    generation.last = message;
  };
  /** Where updates have left gaps, some answers are the same message. */
  const readUpTo = async (end: number, generation: Generation<Value>): Promise<void> => {
    for (let before = -1; before < generation.last.seq && generation.last.seq < end; ) {
      before = generation.last.seq;
      const asked = Array.from({ length: Math.min(READS_AT_ONCE, end - before) }, (_, index) =>
        ask({ seq: before + 1 + index, next_by_subj: subjects }),
      );
      for (const message of await Promise.all(asked))
        if (message && message.seq > generation.last.seq) take(generation, message);
    }
  };
  const readNew = async (): Promise<{ entries: Entries<Value>; replaced?: Entries<Value> }> => {
    const asked = connections;
    const newest = await ask({ last_by_subj: subjects });
    const { last } = current;
    // A bucket that was recreated may have reached the same revision, but its value was stored at another time.
    const isForgotten = newest
      ? newest.seq < last.seq || (newest.seq === last.seq && newest.time !== last.time)
      : last.seq > 0;
    if (isForgotten) logger.warn("a bucket lost its newest values; reading it again", { stream: name });
    const generation = isForgotten || asked !== readOf ? newGeneration<Value>() : current;
    await readUpTo(newest?.seq ?? 0, generation);
    if (asked !== connections) throw new Error("the connection was lost meanwhile");
    const { entries: replaced } = current;
    const isNew = generation !== current;
    [current, readOf] = [generation, asked];
    return { entries: current.entries, ...(isNew && { replaced }) };
  };

  return {
    /**
     * One after another, each with its own request: an answer that was on its way before a write would not contain it. `replaced`: what was known of
     * a bucket that may be another one. Rejects with what prevents an answer.
     */
    refresh: () => inTurn(() => connection.untilLost(readNew)),
    /** The entry as it is stored now. */
    fetch: async (key: string): Promise<Entry<Value> | undefined> => {
      const message = await connection.untilLost(() => ask({ last_by_subj: root + key }));
      return message && entryOf(key, message);
    },
    /** `revision`: of the value that it replaces, 0 for none; undefined writes whatever is there. */
    put: async (key: string, record: object, revision?: number) => {
      const expect = revision === undefined ? {} : { expect: { lastSubjectSequence: revision } };
      try {
        await connection.untilLost(() => jetstream.publish(root + key, JSON.stringify(record), expect));
        return { kind: "written" } as const;
      } catch (error) {
        return unwritten(error);
      }
    },
  };
};
