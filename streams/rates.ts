import { RATES_AGE_MS_MAX, RATES_BYTES_MAX } from "../src/limits.ts";
import { COUNTER_BYTES_MAX, nanoseconds, type StreamDefinition, type TopologyOptions } from "./stream.ts";
import { RATES_SUBJECTS } from "./subjects.ts";

/** What each key, tenant and client of the sandbox has used of its rate, as counters (NATS ADR-49), so that a limit holds over all front ends. In memory, because a lost count loses no event. */
export const ratesStream = (options: TopologyOptions): StreamDefinition => ({
  name: "RATES",
  purpose: "Counters of the rate limits, one per key, tenant or client of the sandbox, unit and window.",
  writtenBy: "the front ends (src/nats/rate-counter.ts)",
  readBy: "the front ends, in the acknowledgement",
  settings: {
    subjects: [RATES_SUBJECTS],
    storage: "memory",
    retention: "limits",
    discard: "old",
    num_replicas: options.replicas,
    max_age: nanoseconds(RATES_AGE_MS_MAX),
    max_bytes: RATES_BYTES_MAX,
    max_msgs: -1,
    max_msgs_per_subject: 1,
    max_msg_size: COUNTER_BYTES_MAX,
    duplicate_window: nanoseconds(RATES_AGE_MS_MAX),
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
