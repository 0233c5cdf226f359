import {
  CONSUMERS_PER_STREAM_MAX,
  DUPLICATE_WINDOW_MS,
  EVENT_BYTES_MAX,
  RECORD_OVERHEAD_BYTES_MAX,
} from "../src/limits.ts";
import { nanoseconds, type StreamDefinition, type TopologyOptions } from "./stream.ts";
import { AUDIT_SUBJECTS } from "./subjects.ts";

/** The log itself. Nothing in it is ever changed, removed or expired. */
export const auditStream = (options: TopologyOptions): StreamDefinition => ({
  name: "AUDIT",
  purpose: "Every accepted audit event, once, in order, forever.",
  writtenBy: "the front ends (src/nats/appender.ts)",
  readBy: "projections, duplicate replies, and your own consumers (streams/README.md)",
  settings: {
    subjects: [AUDIT_SUBJECTS],
    storage: "file",
    retention: "limits",
    discard: "new",
    num_replicas: options.replicas,
    max_consumers: CONSUMERS_PER_STREAM_MAX,
    max_age: 0,
    max_bytes: -1,
    max_msgs: -1,
    max_msgs_per_subject: -1,
    max_msg_size: EVENT_BYTES_MAX + RECORD_OVERHEAD_BYTES_MAX,
    duplicate_window: nanoseconds(DUPLICATE_WINDOW_MS),
    deny_delete: true,
    deny_purge: true,
    allow_direct: true,
    // Group commit (NATS ADR-50); needs nats-server 2.12.
    allow_atomic: true,
    allow_msg_counter: false,
    allow_rollup_hdrs: false,
    // A subject transform would store a record under another subject, in the tree of another tenant (measured on nats-server 2.15.1).
    subject_transform: null,
    // With replicas nats-server 2.15.1 replays what it had not committed when it was killed, reads the last block as compressed although it is not,
    // and gives up the replica. After two of them the stream has no quorum any more (measured, `bun run chaos --scenario cluster`).
    compression: options.replicas > 1 ? "none" : "s2",
  },
  updatable: ["num_replicas", "max_consumers", "max_msg_size", "allow_direct", "allow_atomic", "compression"],
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
  // Reasons why the stream may refuse messages: it is full with `discard: "new"`, or lacks their subjects.
  refusing: ["max_bytes", "max_msgs", "subjects"],
});
