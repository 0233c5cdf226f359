import { SANDBOX_CLIENTS_BYTES_MAX, SANDBOX_REQUESTS_PER_MINUTE } from "../src/limits.ts";
import { nanoseconds, type StreamDefinition, type TopologyOptions } from "./stream.ts";
import { SANDBOX_CLIENTS_SUBJECTS } from "./subjects.ts";

/** Only the last minute counts; kept twice as long, because the clocks of front ends and brokers differ. */
const AGE_MS_MAX = 2 * 60 * 1000;
const TIME_BYTES = 8;
/** Room for a header that names the expected revision, and for what the broker adds. */
const HEADER_BYTES_MAX = 1024;

/**
 * The requests of each client of the sandbox that were admitted during the last minute: 8 bytes per request, and no more requests than it may make,
 * so that a client takes at most a kilobyte. If all together are too large, the clients with the oldest requests are forgotten. In memory, because a
 * lost entry loses no event.
 */
export const sandboxClientsStream = (options: TopologyOptions): StreamDefinition => ({
  name: "SANDBOX_CLIENTS",
  purpose: "When each client of the sandbox was let in during the last minute, one message per client.",
  writtenBy: "the front ends (src/nats/client-times.ts)",
  readBy: "the front ends",
  settings: {
    subjects: [SANDBOX_CLIENTS_SUBJECTS],
    storage: "memory",
    retention: "limits",
    discard: "old",
    num_replicas: options.replicas,
    max_age: nanoseconds(AGE_MS_MAX),
    max_bytes: SANDBOX_CLIENTS_BYTES_MAX,
    max_msgs: -1,
    max_msgs_per_subject: 1,
    max_msg_size: SANDBOX_REQUESTS_PER_MINUTE * TIME_BYTES + HEADER_BYTES_MAX,
    duplicate_window: nanoseconds(AGE_MS_MAX),
    deny_delete: false,
    deny_purge: false,
    allow_direct: false,
    allow_atomic: false,
    allow_msg_counter: false,
    allow_rollup_hdrs: false,
    compression: "none",
  },
  updatable: ["num_replicas", "max_age", "max_bytes", "max_msg_size", "duplicate_window", "allow_direct"],
});
