import { nanoseconds, type StreamDefinition, type TopologyOptions } from "./stream.ts";

/** The name under which a JetStream key-value client opens the bucket. Its stream is `KV_` + this name. */
export const RETENTION_BUCKET = "RETENTION";

const RECORD_BYTES_MAX = 16 * 1024;
const TWO_MINUTES_MS = 120_000;

/** The policy of a tenant. */
export const policySubject = (tenant: string): string => `$KV.${RETENTION_BUCKET}.policy.${tenant}`;
/** One hold. */
export const holdSubject = (tenant: string, id: string): string =>
  `$KV.${RETENTION_BUCKET}.hold.${tenant}.${id}`;

/** Policies and holds, one value each. A key-value bucket is a stream with these settings (NATS ADR-8). */
export const retentionStream = (options: TopologyOptions): StreamDefinition => ({
  name: `KV_${RETENTION_BUCKET}`,
  purpose: "Retention: how long the views of each tenant show events, and what is on hold.",
  writtenBy: "the retention endpoints (src/jetstream/retention-bucket.ts)",
  readBy: "the retention endpoints, and the projector before it lets events expire",
  settings: {
    subjects: [`$KV.${RETENTION_BUCKET}.>`],
    storage: "file",
    retention: "limits",
    discard: "new",
    num_replicas: options.replicas,
    max_age: 0,
    max_bytes: -1,
    max_msgs: -1,
    max_msgs_per_subject: 1,
    max_msg_size: RECORD_BYTES_MAX,
    duplicate_window: nanoseconds(TWO_MINUTES_MS),
    deny_delete: true,
    // Releasing is a new value, never a removal; without these two a client's purge could empty the bucket, and with it every hold.
    deny_purge: true,
    // Only the leader answers: a replica that is behind would not know of a hold yet.
    allow_direct: false,
    allow_atomic: false,
    allow_msg_counter: false,
    allow_rollup_hdrs: false,
    compression: "none",
  },
  updatable: ["num_replicas", "max_msg_size", "allow_direct"],
});
