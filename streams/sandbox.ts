import {
  DUPLICATE_WINDOW_MS,
  EVENT_BYTES_MAX,
  RECORD_OVERHEAD_BYTES_MAX,
  SANDBOX_AGE_MS_MAX,
  SANDBOX_BYTES_MAX,
} from "../src/limits.ts";
import { nanoseconds, type StreamDefinition, type TopologyOptions } from "./stream.ts";
import { SANDBOX_SUBJECTS } from "./subjects.ts";

/** Test events. Kept in memory for one hour (SPEC 1.4); with one replica they are lost when the broker restarts. */
export const sandboxStream = (options: TopologyOptions): StreamDefinition => ({
  name: "SANDBOX",
  purpose: "Sandbox events of the last hour. Not for production.",
  writtenBy: "the sandbox endpoints",
  readBy: "the sandbox endpoints",
  settings: {
    subjects: [SANDBOX_SUBJECTS],
    storage: "memory",
    retention: "limits",
    discard: "old",
    num_replicas: options.replicas,
    max_age: nanoseconds(SANDBOX_AGE_MS_MAX),
    max_bytes: SANDBOX_BYTES_MAX,
    max_msgs: -1,
    max_msgs_per_subject: -1,
    max_msg_size: EVENT_BYTES_MAX + RECORD_OVERHEAD_BYTES_MAX,
    duplicate_window: nanoseconds(DUPLICATE_WINDOW_MS),
    deny_delete: false,
    deny_purge: false,
    allow_direct: true,
    allow_atomic: false,
    allow_msg_counter: false,
    allow_rollup_hdrs: false,
    compression: "none",
  },
  updatable: ["num_replicas", "max_age", "max_bytes", "max_msg_size", "duplicate_window", "allow_direct"],
});
