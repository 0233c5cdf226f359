import {
  CONSUMERS_PER_STREAM_MAX,
  DUPLICATE_WINDOW_MS,
  OBLIGATIONS_AGE_MS_MAX,
  OBLIGATIONS_BYTES_MAX,
} from "../src/limits.ts";
import { nanoseconds, SEND_STORED, type StreamDefinition, type TopologyOptions } from "./stream.ts";
import { OBLIGATION_SUBJECTS } from "./subjects.ts";

/** Transitions of obligations: open, due, met, late, late_record, breached, waived. They follow from the log, so the oldest may be removed. */
export const obligationsStream = (options: TopologyOptions): StreamDefinition => ({
  name: "OBLIGATIONS",
  purpose: "Transitions of obligations: open, due, met, late, late_record, breached, waived.",
  writtenBy: "the projector (src/nats/duty-publisher.ts)",
  readBy: "your services",
  settings: {
    subjects: [OBLIGATION_SUBJECTS],
    storage: "file",
    retention: "limits",
    discard: "old",
    num_replicas: options.replicas,
    max_consumers: CONSUMERS_PER_STREAM_MAX,
    max_age: nanoseconds(OBLIGATIONS_AGE_MS_MAX),
    max_bytes: OBLIGATIONS_BYTES_MAX,
    max_msgs: -1,
    max_msgs_per_subject: -1,
    max_msg_size: -1,
    duplicate_window: nanoseconds(DUPLICATE_WINDOW_MS),
    deny_delete: false,
    deny_purge: false,
    allow_direct: true,
    // Many transitions in one commit (NATS ADR-50).
    allow_atomic: true,
    allow_msg_counter: false,
    allow_rollup_hdrs: false,
    compression: "none",
    republish: SEND_STORED,
  },
  updatable: [
    "num_replicas",
    "max_consumers",
    "max_age",
    "max_bytes",
    "duplicate_window",
    "allow_direct",
    "allow_atomic",
    "republish",
  ],
});
