import { ACCEPTED_AGE_MS_MAX, DUPLICATE_WINDOW_MS } from "../src/limits.ts";
import { COUNTER_BYTES_MAX, nanoseconds, type StreamDefinition, type TopologyOptions } from "./stream.ts";
import { ACCEPTED_SUBJECTS } from "./subjects.ts";

/**
 * How many events of each tenant the front ends have acknowledged, hour by hour, as counters (NATS ADR-49). Counted independently of the log, by the
 * processes that gave the answers, so that `GET /v1/reconciliation` can compare the log with what was promised.
 */
export const acceptedStream = (options: TopologyOptions): StreamDefinition => ({
  name: "ACCEPTED",
  purpose: "Counters of acknowledged events, one per tenant and hour.",
  writtenBy: "the front ends (src/jetstream/accepted-counter.ts)",
  readBy: "the front ends, for GET /v1/reconciliation, and the projector, each hour",
  settings: {
    subjects: [ACCEPTED_SUBJECTS],
    // On disk with three replicas nats-server 2.15.1 does not always recover after kill -9 (found by `bun run chaos`), nor with compression. So a
    // cluster keeps the counters in memory. If all of its servers end at once, too few events are counted, never too many.
    storage: options.replicas === 1 ? "file" : "memory",
    retention: "limits",
    discard: "old",
    num_replicas: options.replicas,
    max_age: nanoseconds(ACCEPTED_AGE_MS_MAX),
    max_bytes: -1,
    max_msgs: -1,
    max_msgs_per_subject: 1,
    max_msg_size: COUNTER_BYTES_MAX,
    duplicate_window: nanoseconds(DUPLICATE_WINDOW_MS),
    deny_delete: false,
    deny_purge: false,
    allow_direct: true,
    allow_atomic: false,
    allow_msg_counter: true,
    allow_rollup_hdrs: false,
    compression: "none",
  },
  updatable: ["num_replicas", "max_age", "max_bytes", "max_msg_size", "duplicate_window", "allow_direct"],
});
