import { nanoseconds, type StreamDefinition, type TopologyOptions } from "./stream.ts";

/** The name under which a JetStream key-value client opens the bucket. Its stream is `KV_` + this name. */
export const KEYS_BUCKET = "KEYS";

const KEY_RECORD_BYTES_MAX = 16 * 1024;
const TWO_MINUTES_MS = 120_000;

/** API keys, one value per key id, hashed. A key-value bucket is a stream with these settings (NATS ADR-8). */
export const keysStream = (options: TopologyOptions): StreamDefinition => ({
  name: `KV_${KEYS_BUCKET}`,
  purpose: "API keys: who may do what. Holds hashes, never a secret.",
  writtenBy: "the key endpoints (src/jetstream/key-bucket.ts)",
  readBy: "every front end, which watches it",
  settings: {
    subjects: [`$KV.${KEYS_BUCKET}.>`],
    storage: "file",
    retention: "limits",
    discard: "new",
    num_replicas: options.replicas,
    max_age: 0,
    max_bytes: -1,
    max_msgs: -1,
    max_msgs_per_subject: 1,
    max_msg_size: KEY_RECORD_BYTES_MAX,
    duplicate_window: nanoseconds(TWO_MINUTES_MS),
    deny_delete: true,
    // Revoking is a new value, never a removal; without these two a client's purge could empty the bucket.
    deny_purge: true,
    allow_direct: true,
    allow_atomic: false,
    allow_msg_counter: false,
    allow_rollup_hdrs: false,
    compression: "none",
  },
  updatable: ["num_replicas", "max_msg_size", "allow_direct"],
});
