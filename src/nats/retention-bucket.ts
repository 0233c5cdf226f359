/**
 * Policies and holds, in a JetStream key-value bucket (NATS ADR-8): `policy.<tenant>` and `hold.<tenant>.<id>`. Values are cached, but each
 * read asks the stream's leader for its last revision and fetches what is new. No watch, because a watch may be behind, and a hold must
 * count at once.
 */
import { holdSubject, policySubject, RETENTION_BUCKET } from "../../streams/retention.ts";
import type { ActionResult } from "../access/action.ts";
import {
  asHoldRecord,
  asPolicyRecord,
  type HoldRecord,
  type PolicyRecord,
} from "../access/retention/records.ts";
import type { RetentionStore, StoredRetention } from "../access/retention/retention-store.ts";
import { BROKER_REQUEST_MS_MAX } from "../limits.ts";
import type { Logger } from "../telemetry/logger.ts";
import { unwritten } from "./api-errors.ts";
import { answered, type BrokerConnection } from "./connection.ts";
import { jsonIn, type LeaderMessage, type LeaderQuery, readFromLeader, readOn } from "./leader-read.ts";

export const createRetentionBucket = ({
  connection,
  logger,
}: {
  readonly connection: BrokerConnection;
  readonly logger: Logger;
}): RetentionStore => {
  const jetstream = connection.nats.jetstream({ timeout: BROKER_REQUEST_MS_MAX });
  let memory = createMemory(logger);
  // After a reconnect the broker may have an older copy of the stream that has grown past what was read. A new memory, because a read that
  // is still running goes on with the old one.
  connection.onChange(() => {
    memory = createMemory(logger);
  });
  let last: Promise<unknown> = Promise.resolve();

  const refresh = (): Promise<StoredRetention> =>
    answered(connection, "Policies and holds could not be read", () => catchUp(connection, memory));
  const write = async (
    subject: string,
    record: PolicyRecord | HoldRecord,
    expected: number,
  ): Promise<ActionResult> => {
    try {
      const expect = { lastSubjectSequence: expected };
      await connection.untilLost(() => jetstream.publish(subject, JSON.stringify(record), { expect }));
      return { kind: "written" };
    } catch (error) {
      return unwritten(error);
    }
  };

  return {
    // One read after another, each with its own question: an answer that was on its way before a write would not contain it.
    read: () => {
      const turn = last.then(refresh);
      last = turn.catch(() => undefined);
      return turn;
    },
    putPolicy: (record, revision) => write(policySubject(record.tenant), record, revision),
    createHold: (record) => write(holdSubject(record.tenant, record.id), record, 0),
    updateHold: (record, revision) => write(holdSubject(record.tenant, record.id), record, revision),
  };
};

type Value =
  | { readonly kind: "policy"; readonly record: PolicyRecord }
  | { readonly kind: "hold"; readonly record: HoldRecord; readonly revision: number };

const createMemory = (logger: Logger) => {
  const values = new Map<string, Value>();
  const policyRevisions = new Map<string, number>();
  let revision = 0;
  return {
    revision: () => revision,
    forget: (): void => {
      values.clear();
      policyRevisions.clear();
      revision = 0;
    },
    take: (message: LeaderMessage): void => {
      const { subject, seq } = message;
      revision = seq;
      const { policyTenant } = partsOf(subject);
      if (policyTenant !== undefined) policyRevisions.set(policyTenant, seq);
      const value = storedValue(message);
      if (value) values.set(subject, value);
      else {
        values.delete(subject);
        logger.warn("a value of the retention bucket is not one of ours and is skipped", {
          sequence: seq,
        });
      }
    },
    stored: () => ({
      policies: [...values.values()].flatMap((value) => (value.kind === "policy" ? [value.record] : [])),
      policyRevisions: new Map(policyRevisions),
      holds: [...values.values()].flatMap((value) => (value.kind === "hold" ? [value] : [])),
    }),
  };
};

const SUBJECT = new RegExp(
  `^\\$KV\\.${RETENTION_BUCKET}\\.(?:policy\\.(?<policyTenant>[^.]+)|hold\\.(?<holdTenant>[^.]+)\\.(?<id>[^.]+))$`,
);

const partsOf = (subject: string): Readonly<Record<string, string | undefined>> =>
  SUBJECT.exec(subject)?.groups ?? {};

const storedValue = (message: LeaderMessage): Value | undefined => {
  const { policyTenant, holdTenant, id } = partsOf(message.subject);
  const parsed = jsonIn(message);
  if (policyTenant !== undefined) {
    const record = asPolicyRecord(parsed, policyTenant);
    return record && { kind: "policy", record };
  }
  const record =
    holdTenant === undefined || id === undefined ? undefined : asHoldRecord(parsed, holdTenant, id);
  return record && { kind: "hold", record, revision: message.seq };
};

/** What is stored now. Returned in the same turn in which the last value came: later the connection may be lost, and the memory empty. */
const catchUp = async (
  connection: BrokerConnection,
  memory: ReturnType<typeof createMemory>,
): Promise<StoredRetention> => {
  const newest = await readMessage(connection, { last_by_subj: ALL });
  const end = newest?.seq ?? 0;
  // The stream is behind what was seen: it was created anew, and its revisions start again.
  if (end < memory.revision()) memory.forget();
  const { take } = memory;
  const read = (query: LeaderQuery) => readMessage(connection, query);
  await readOn({ from: memory.revision(), end }, read, { subjects: ALL, take });
  return memory.stored();
};

const ALL = `$KV.${RETENTION_BUCKET}.>`;

const readMessage = (connection: BrokerConnection, query: LeaderQuery): Promise<LeaderMessage | undefined> =>
  readFromLeader(connection, `KV_${RETENTION_BUCKET}`, query, BROKER_REQUEST_MS_MAX);
