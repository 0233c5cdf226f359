import { COUNTS_AGE_MS_MAX, COUNTS_BYTES_MAX, COUNTS_MESSAGE_BYTES_MAX } from "../src/limits.ts";
import {
  nanoseconds,
  type StreamDefinition,
  type TopologyOptions,
  USUAL_DUPLICATE_WINDOW_MS,
} from "./stream.ts";
import { COUNTS_SUBJECTS } from "./subjects.ts";

/**
 * How many events of each tenant the front ends have acknowledged, hour by hour. Counted independently of the log, by the processes that gave the
 * answers, so that `GET /v1/reconciliation` can compare the log with what was promised. The hours of a day are folded into one message per front end
 * and group of tenants, which only that front end writes: a retry repeats a total and adds nothing.
 */
export const countsStream = (options: TopologyOptions): StreamDefinition => ({
  name: "COUNTS",
  purpose: "How many events of each tenant were acknowledged, hour by hour.",
  writtenBy: "the front ends (src/nats/accepted-counter.ts)",
  readBy: "the front ends, for GET /v1/reconciliation, and the projector, each hour",
  settings: {
    subjects: [COUNTS_SUBJECTS],
    storage: "file",
    retention: "limits",
    // The oldest days go first, and their hours count as not counted.
    discard: "old",
    num_replicas: options.replicas,
    max_age: nanoseconds(COUNTS_AGE_MS_MAX),
    max_bytes: COUNTS_BYTES_MAX,
    max_msgs: -1,
    max_msgs_per_subject: 1,
    max_msg_size: COUNTS_MESSAGE_BYTES_MAX,
    duplicate_window: nanoseconds(USUAL_DUPLICATE_WINDOW_MS),
    deny_delete: false,
    deny_purge: false,
    // Only the leader answers: a replica that is behind would give too low a total.
    allow_direct: false,
    allow_atomic: false,
    allow_msg_counter: false,
    allow_rollup_hdrs: false,
    compression: "none",
  },
  updatable: ["num_replicas", "max_age", "max_bytes", "max_msg_size", "duplicate_window", "allow_direct"],
});
