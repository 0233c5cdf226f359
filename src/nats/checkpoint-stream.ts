/** Signed tree heads and public keys, on the stream CHECKPOINTS. */
import { headers as createHeaders } from "nats";
import {
  CHECKPOINT_KEY_SUBJECTS,
  checkpointKeySubject,
  checkpointSubject,
  tenantOfCheckpoint,
} from "../../streams/subjects.ts";
import { BROKER_REQUEST_MS_MAX, CHECKPOINTS_PER_READ } from "../limits.ts";
import type { LogReader } from "../log/event-log.ts";
import type { CheckpointStore } from "../proof/ports.ts";
import { fingerprintOf } from "../proof/signed-note.ts";
import { apiErrorCode, isWrongLastSequence } from "./api-errors.ts";
import { answered, type BrokerConnection } from "./connection.ts";
import { type LeaderMessage, type LeaderQuery, readFromLeader } from "./leader-read.ts";
import { createLogReader } from "./reader.ts";
import { createConnectedStallClock, type StallReport } from "./stall-clock.ts";

const STREAM = "CHECKPOINTS";

/** nats-server #5281, since 2.11; nats.js 2.29 has no option for it. It takes wildcards. */
const EXPECTED_AMONG = "Nats-Expected-Last-Subject-Sequence-Subject";

type CheckpointStream = CheckpointStore & StallReport;

export const createCheckpointStream = async (connection: BrokerConnection): Promise<CheckpointStream> => {
  const options = { timeout: BROKER_REQUEST_MS_MAX };
  const jetstream = connection.nats.jetstream(options);
  const manager = await connection.nats.jetstreamManager({ ...options, checkAPI: false });
  const reader = await createLogReader(connection, STREAM);
  const asked = <Result>(ask: () => Promise<Result>): Promise<Result> =>
    answered(connection, "The signed tree heads could not be asked for", ask);
  const clock = createConnectedStallClock(connection);
  /** `among`: `after` must be the last revision of all these subjects, and not only of this one. */
  const publish = async (subject: string, data: string | Uint8Array, after: number, among?: string) => {
    const headers = createHeaders();
    if (among !== undefined) headers.set(EXPECTED_AMONG, among);
    try {
      const expect = { lastSubjectSequence: after };
      const stored = await jetstream.publish(subject, data, { headers, expect });
      clock.cleared();
      return stored;
    } catch (error) {
      // A stream that refuses a revision can still store.
      if (!isWrongLastSequence(apiErrorCode(error))) clock.failed();
      throw error;
    }
  };

  const addPublicKey = async (key: Uint8Array, among?: string): Promise<boolean> => {
    try {
      await publish(checkpointKeySubject(fingerprintOf(key)), key, 0, among);
      return true;
    } catch (error) {
      if (isWrongLastSequence(apiErrorCode(error))) return false;
      throw error;
    }
  };

  return {
    stall: clock.stall,
    last: (tenant) =>
      asked(async () => {
        const message = await read(connection, { last_by_subj: checkpointSubject(tenant) });
        return message && { note: bytesOf(message).toString(), revision: message.seq };
      }),
    write: (tenant, note, after) =>
      asked(async () => {
        try {
          await publish(checkpointSubject(tenant), note, after);
          return true;
        } catch (error) {
          if (isWrongLastSequence(apiErrorCode(error))) return false;
          throw error;
        }
      }),
    publicKeys: () =>
      asked(async () => {
        const info = await manager.streams.info(STREAM, { subjects_filter: CHECKPOINT_KEY_SUBJECTS });
        const subjects = Object.keys(info.state.subjects ?? {});
        const messages = await Promise.all(
          subjects.map((subject) => read(connection, { last_by_subj: subject })),
        );
        return messages.flatMap((message) => (message ? bytesOf(message) : []));
      }),
    addFirstPublicKey: (key) => asked(() => addPublicKey(key, CHECKPOINT_KEY_SUBJECTS)),
    addPublicKey: async (key) => {
      await asked(() => addPublicKey(key));
    },
    since: (revision) => checkpointsSince(reader, revision),
  };
};

const read = (connection: BrokerConnection, query: LeaderQuery): Promise<LeaderMessage | undefined> =>
  readFromLeader(connection, STREAM, query, BROKER_REQUEST_MS_MAX);

const bytesOf = ({ data }: LeaderMessage): Buffer => Buffer.from(data ?? "", "base64");

async function* checkpointsSince(reader: LogReader, revision: number): ReturnType<CheckpointStore["since"]> {
  const last = await reader.lastSequence();
  if (last <= revision) return;
  const reading = new AbortController();
  try {
    const options = { from: revision + 1, messagesMax: CHECKPOINTS_PER_READ, signal: reading.signal };
    for await (const messages of reader.follow(options)) {
      for (const { subject, payload, sequence } of messages) {
        const tenant = tenantOfCheckpoint(subject);
        if (tenant !== undefined) yield { tenant, note: decoder.decode(payload), revision: sequence };
        // The newest message of a subject is never removed, so the last one comes.
        if (sequence >= last) return;
      }
    }
  } finally {
    reading.abort();
  }
}

const decoder = new TextDecoder();
