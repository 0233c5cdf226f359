import { CHECKPOINTS_PER_TENANT_MAX, CONSUMERS_PER_STREAM_MAX } from "../src/limits.ts";
import {
  nanoseconds,
  SEND_STORED,
  type StreamDefinition,
  type TopologyOptions,
  USUAL_DUPLICATE_WINDOW_MS,
} from "./stream.ts";
import { CHECKPOINT_KEY_SUBJECTS, CHECKPOINT_SUBJECTS } from "./subjects.ts";

const NOTE_BYTES_MAX = 16 * 1024;

/**
 * Signed tree heads, each the whole text of a C2SP checkpoint, and the public keys that sign them. Whoever keeps a copy is a witness: if two heads
 * contradict each other, the signatures prove that both were given out.
 */
export const checkpointsStream = (options: TopologyOptions): StreamDefinition => ({
  name: "CHECKPOINTS",
  purpose:
    "Signed tree heads of each tenant's log (C2SP tlog-checkpoint), and the public keys that sign them.",
  writtenBy: "the sealer (src/nats/checkpoint-stream.ts)",
  readBy: "the sealer, the monitor, GET /v1/log/checkpoint, and your witnesses",
  settings: {
    subjects: [CHECKPOINT_SUBJECTS, CHECKPOINT_KEY_SUBJECTS],
    storage: "file",
    retention: "limits",
    // The oldest heads of a tenant are removed. Any later one proves what they did, by a consistency proof.
    discard: "old",
    num_replicas: options.replicas,
    max_consumers: CONSUMERS_PER_STREAM_MAX,
    max_age: 0,
    max_bytes: -1,
    max_msgs: -1,
    max_msgs_per_subject: CHECKPOINTS_PER_TENANT_MAX,
    max_msg_size: NOTE_BYTES_MAX,
    duplicate_window: nanoseconds(USUAL_DUPLICATE_WINDOW_MS),
    deny_delete: true,
    deny_purge: true,
    // For reading from one head to the next. The last head is asked of the leader: a replica that is behind would let a second sealer sign beside the first.
    allow_direct: true,
    allow_atomic: false,
    allow_msg_counter: false,
    allow_rollup_hdrs: false,
    compression: "none",
    republish: SEND_STORED,
  },
  updatable: [
    "num_replicas",
    "max_consumers",
    "max_msgs_per_subject",
    "max_msg_size",
    "duplicate_window",
    "allow_direct",
    "republish",
  ],
});
