/** All streams and buckets of Prooftrail, as data: src/nats/reconcile.ts makes the broker agree with it. */
import {
  CHECKPOINTS_PER_TENANT_MAX,
  CONSUMERS_PER_STREAM_MAX,
  COUNTS_AGE_MS_MAX,
  COUNTS_BYTES_MAX,
  COUNTS_MESSAGE_BYTES_MAX,
  DUPLICATE_WINDOW_MS,
  EVENT_BYTES_MAX,
  OBLIGATIONS_AGE_MS_MAX,
  OBLIGATIONS_BYTES_MAX,
  RATES_AGE_MS_MAX,
  RATES_BYTES_MAX,
  RECORD_OVERHEAD_BYTES_MAX,
  SANDBOX_AGE_MS_MAX,
  SANDBOX_BYTES_MAX,
} from "../src/limits.ts";
import {
  AUDIT_SUBJECTS,
  CHECKPOINT_KEY_SUBJECTS,
  CHECKPOINT_SUBJECTS,
  COUNTS_SUBJECTS,
  KEYS_BUCKET,
  OBLIGATION_SUBJECTS,
  RATES_SUBJECTS,
  RETENTION_BUCKET,
  SANDBOX_SUBJECTS,
  storedSubjects,
} from "./subjects.ts";

/** Settings in JetStream's own spelling, so that they are as `nats stream info` shows them. */
export interface StreamSettings {
  readonly subjects: readonly string[];
  readonly storage: "file" | "memory";
  readonly retention: "limits";
  readonly discard: "new" | "old";
  readonly num_replicas: number;
  /** Of a stream that your own services may read: theirs, for Prooftrail needs none (src/nats/reader.ts). */
  readonly max_consumers?: number;
  readonly max_age: number;
  readonly max_bytes: number;
  readonly max_msgs: number;
  readonly max_msgs_per_subject: number;
  readonly max_msg_size: number;
  readonly duplicate_window: number;
  readonly deny_delete: boolean;
  readonly deny_purge: boolean;
  readonly allow_direct: boolean;
  readonly allow_atomic: boolean;
  readonly allow_msg_counter: boolean;
  readonly allow_rollup_hdrs: boolean;
  readonly compression: "none" | "s2";
  /** `null`: the setting must be absent. */
  readonly subject_transform?: null;
  readonly republish?: { readonly src: string; readonly dest: string };
}

export interface StreamDefinition {
  readonly name: string;
  /** One sentence; stored as the stream's description. */
  readonly purpose: string;
  readonly writtenBy: string;
  readonly readBy: string;
  readonly settings: StreamSettings;
  /**
   * Settings that may be changed on a stream with messages without losing or altering any. A difference in any other setting stops the start, with
   * the difference shown.
   */
  readonly updatable: readonly (keyof StreamSettings)[];
  /** Settings with which the broker keeps what it has acknowledged. While one of them differs, nothing may be acknowledged. */
  readonly keeping?: readonly (keyof StreamSettings)[];
}

/** JetStream counts time in nanoseconds. */
const nanoseconds = (milliseconds: number): number => milliseconds * 1_000_000;

const RECORD_BYTES_MAX = EVENT_BYTES_MAX + RECORD_OVERHEAD_BYTES_MAX;
/** A value of a bucket, or a signed tree head. */
const SMALL_BYTES_MAX = 16 * 1024;
/** A counter (NATS ADR-49) is a number in JSON, and what the broker adds. */
const COUNTER_BYTES_MAX = 1024;

/** A copy of each stored message, for consumers that only read (streams/permissions.ts). */
const SEND_STORED = { src: ">", dest: storedSubjects(">") };

/** What a stream has unless its entry says otherwise. */
const USUAL = {
  storage: "file",
  retention: "limits",
  discard: "old",
  max_age: 0,
  max_bytes: -1,
  max_msgs: -1,
  max_msgs_per_subject: -1,
  // The server's own default, for messages without an id.
  duplicate_window: nanoseconds(2 * 60 * 1000),
  deny_delete: false,
  deny_purge: false,
  allow_direct: true,
  allow_atomic: false,
  allow_msg_counter: false,
  allow_rollup_hdrs: false,
  compression: "none",
} as const;

const FOR_CONSUMERS = { max_consumers: CONSUMERS_PER_STREAM_MAX, republish: SEND_STORED };

/** Nothing in it is removed: without `deny_delete` and `deny_purge` a client could empty it. */
const KEPT = { deny_delete: true, deny_purge: true } as const;

const UPDATABLE = ["num_replicas", "allow_direct"] as const;
const BOUNDS_UPDATABLE = [...UPDATABLE, "max_age", "max_bytes", "duplicate_window"] as const;

/** The log itself. Nothing in it is ever changed, removed or expired. */
const audit = (replicas: number): StreamDefinition => ({
  name: "AUDIT",
  purpose: "Every accepted audit event, once, in order, forever.",
  writtenBy: "the front ends (src/nats/appender.ts)",
  readBy: "projections, duplicate replies, and your own consumers (streams/README.md)",
  settings: {
    ...USUAL,
    ...KEPT,
    num_replicas: replicas,
    subjects: [AUDIT_SUBJECTS],
    discard: "new",
    max_consumers: CONSUMERS_PER_STREAM_MAX,
    max_msg_size: RECORD_BYTES_MAX,
    duplicate_window: nanoseconds(DUPLICATE_WINDOW_MS),
    // Group commit (NATS ADR-50); needs nats-server 2.12.
    allow_atomic: true,
    // A subject transform would store a record under another subject, in the tree of another tenant (measured on nats-server 2.15.1).
    subject_transform: null,
    // With replicas nats-server 2.15.1 replays what it had not committed when it was killed, reads the last block as compressed although it is not,
    // and gives up the replica. After two of them the stream has no quorum any more (measured, `bun run chaos --scenario cluster`).
    compression: replicas > 1 ? "none" : "s2",
  },
  updatable: [...UPDATABLE, "max_consumers", "max_msg_size", "allow_atomic", "compression"],
  // A limit per subject removes the oldest messages even with `discard: "new"`.
  keeping: [
    "storage",
    "retention",
    "discard",
    "max_age",
    "max_msgs_per_subject",
    "deny_delete",
    "deny_purge",
    "allow_rollup_hdrs",
    "subject_transform",
  ],
});

/**
 * Signed tree heads, each the whole text of a C2SP checkpoint, and the public keys that sign them. Whoever keeps a copy is a witness: if two heads
 * contradict each other, the signatures prove that both were given out.
 */
const checkpoints = (replicas: number): StreamDefinition => ({
  name: "CHECKPOINTS",
  purpose:
    "Signed tree heads of each tenant's log (C2SP tlog-checkpoint), and the public keys that sign them.",
  writtenBy: "the sealer (src/nats/checkpoint-stream.ts)",
  readBy: "the sealer, the monitor, GET /v1/log/checkpoint, and your witnesses",
  settings: {
    ...USUAL,
    ...KEPT,
    ...FOR_CONSUMERS,
    num_replicas: replicas,
    subjects: [CHECKPOINT_SUBJECTS, CHECKPOINT_KEY_SUBJECTS],
    // The oldest heads of a tenant are removed. Any later one proves what they did, by a consistency proof.
    max_msgs_per_subject: CHECKPOINTS_PER_TENANT_MAX,
    max_msg_size: SMALL_BYTES_MAX,
  },
  updatable: [
    ...UPDATABLE,
    "max_consumers",
    "max_msgs_per_subject",
    "max_msg_size",
    "duplicate_window",
    "republish",
  ],
});

/**
 * How many events of each tenant the front ends have acknowledged, hour by hour: counted by the processes that gave the answers, so that
 * `GET /v1/reconciliation` can compare the log with what was promised. The hours of a day are folded into one message per front end and group of
 * tenants, which only that front end writes: a retry repeats a total and adds nothing.
 */
const counts = (replicas: number): StreamDefinition => ({
  name: "COUNTS",
  purpose: "How many events of each tenant were acknowledged, hour by hour.",
  writtenBy: "the front ends (src/nats/accepted-counter.ts)",
  readBy: "the front ends, for GET /v1/reconciliation, and the projector, each hour",
  settings: {
    ...USUAL,
    num_replicas: replicas,
    subjects: [COUNTS_SUBJECTS],
    // The oldest days go first, and their hours count as not counted.
    max_age: nanoseconds(COUNTS_AGE_MS_MAX),
    max_bytes: COUNTS_BYTES_MAX,
    max_msgs_per_subject: 1,
    max_msg_size: COUNTS_MESSAGE_BYTES_MAX,
    // Only the leader answers: a replica that is behind would give too low a total.
    allow_direct: false,
  },
  updatable: [...BOUNDS_UPDATABLE, "max_msg_size"],
});

/** Transitions of obligations. They follow from the log, so the oldest may be removed. */
const obligations = (replicas: number): StreamDefinition => ({
  name: "OBLIGATIONS",
  purpose: "Transitions of obligations: open, due, met, late, late_record, breached, waived.",
  writtenBy: "the projector (src/nats/duty-publisher.ts)",
  readBy: "your services",
  settings: {
    ...USUAL,
    ...FOR_CONSUMERS,
    num_replicas: replicas,
    subjects: [OBLIGATION_SUBJECTS],
    max_age: nanoseconds(OBLIGATIONS_AGE_MS_MAX),
    max_bytes: OBLIGATIONS_BYTES_MAX,
    max_msg_size: -1,
    duplicate_window: nanoseconds(DUPLICATE_WINDOW_MS),
    // Many transitions in one commit (NATS ADR-50).
    allow_atomic: true,
  },
  updatable: [...BOUNDS_UPDATABLE, "max_consumers", "allow_atomic", "republish"],
});

/** What each key, tenant and client of the sandbox has used of its rate, as counters (NATS ADR-49). In memory, because a lost count loses no event. */
const rates = (replicas: number): StreamDefinition => ({
  name: "RATES",
  purpose: "Counters of the rate limits, one per key, tenant or client of the sandbox, unit and window.",
  writtenBy: "the front ends (src/nats/rate-counter.ts)",
  readBy: "the front ends, in the acknowledgement",
  settings: {
    ...USUAL,
    num_replicas: replicas,
    subjects: [RATES_SUBJECTS],
    storage: "memory",
    max_age: nanoseconds(RATES_AGE_MS_MAX),
    max_bytes: RATES_BYTES_MAX,
    max_msgs_per_subject: 1,
    max_msg_size: COUNTER_BYTES_MAX,
    duplicate_window: nanoseconds(RATES_AGE_MS_MAX),
    allow_msg_counter: true,
  },
  updatable: [...BOUNDS_UPDATABLE, "max_msg_size"],
});

/** Test events. Kept in memory for one hour (SPEC 1.4); with one replica they are lost when the broker restarts. */
const sandbox = (replicas: number): StreamDefinition => ({
  name: "SANDBOX",
  purpose: "Sandbox events of the last hour. Not for production.",
  writtenBy: "the sandbox endpoints",
  readBy: "the sandbox endpoints",
  settings: {
    ...USUAL,
    num_replicas: replicas,
    subjects: [SANDBOX_SUBJECTS],
    storage: "memory",
    max_age: nanoseconds(SANDBOX_AGE_MS_MAX),
    max_bytes: SANDBOX_BYTES_MAX,
    max_msg_size: RECORD_BYTES_MAX,
    duplicate_window: nanoseconds(DUPLICATE_WINDOW_MS),
  },
  updatable: [...BOUNDS_UPDATABLE, "max_msg_size"],
});

/** A key-value bucket (NATS ADR-8). Ending something is a new value, never a removal. */
const bucket = (
  name: string,
  replicas: number,
  {
    allow_direct,
    ...described
  }: Pick<StreamDefinition, "purpose" | "writtenBy" | "readBy"> & { allow_direct: boolean },
): StreamDefinition => ({
  name: `KV_${name}`,
  ...described,
  settings: {
    ...USUAL,
    ...KEPT,
    num_replicas: replicas,
    subjects: [`$KV.${name}.>`],
    discard: "new",
    max_msgs_per_subject: 1,
    max_msg_size: SMALL_BYTES_MAX,
    allow_direct,
  },
  updatable: [...UPDATABLE, "max_msg_size"],
});

/** In order of creation. `replicas`: copies of each stream, 1 on a single broker, 3 on a cluster of three. */
export const topology = ({ replicas }: { readonly replicas: number }): readonly StreamDefinition[] => [
  audit(replicas),
  checkpoints(replicas),
  counts(replicas),
  bucket(KEYS_BUCKET, replicas, {
    purpose: "API keys: who may do what. Holds hashes, never a secret.",
    writtenBy: "the key endpoints (src/nats/key-bucket.ts)",
    readBy: "every front end, which watches it",
    allow_direct: true,
  }),
  obligations(replicas),
  rates(replicas),
  bucket(RETENTION_BUCKET, replicas, {
    purpose: "Retention: how long the views of each tenant show events, and what is on hold.",
    writtenBy: "the retention endpoints (src/nats/retention-bucket.ts)",
    readBy: "the retention endpoints, and the projector before it lets events expire",
    // Only the leader answers: a replica that is behind would not know of a new hold yet.
    allow_direct: false,
  }),
  sandbox(replicas),
];

/**
 * Streams of earlier versions that nothing reads any more. One in memory is reduced to one message, because an unbounded stream takes the room of
 * the others. Until v0.1.0 counts were in memory in a cluster.
 */
export const RETIRED_STREAMS: readonly string[] = ["ACCEPTED", "SANDBOX_CLIENTS"];

/** What the streams with this storage may take on one server. */
export const bytesReserved = (
  definitions: readonly StreamDefinition[],
  storage: StreamDefinition["settings"]["storage"],
): number =>
  definitions
    .filter(({ settings }) => settings.storage === storage)
    // An unbounded stream reserves nothing.
    .reduce((sum, { settings }) => sum + Math.max(0, settings.max_bytes), 0);
