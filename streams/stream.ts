/** The definition of a stream. Data only: src/nats/reconcile.ts makes the broker agree with it. */
import { storedSubjects } from "./subjects.ts";

const NANOSECONDS_PER_MS = 1_000_000;

/** A copy of each stored message, for consumers that only read (streams/permissions.ts). */
export const SEND_STORED = { src: ">", dest: storedSubjects(">") };

/** The server's own default, for messages without an id. */
export const USUAL_DUPLICATE_WINDOW_MS = 2 * 60 * 1000;

/** A counter (NATS ADR-49) is a number in JSON, and what the broker adds. */
export const COUNTER_BYTES_MAX = 1024;

/** JetStream counts time in nanoseconds. */
export const nanoseconds = (milliseconds: number): number => milliseconds * NANOSECONDS_PER_MS;

/** Settings in JetStream's own spelling, so that they are as `nats stream info` shows them. */
export interface StreamSettings {
  readonly subjects: readonly string[];
  readonly storage: "file" | "memory";
  readonly retention: "limits";
  readonly discard: "new" | "old";
  readonly num_replicas: number;
  /** Of a stream that your own services may read: theirs, for Prooftrail needs none (src/nats/reader.ts). */
  readonly max_consumers?: number;
  readonly max_age: number;
  readonly max_bytes: number;
  readonly max_msgs: number;
  readonly max_msgs_per_subject: number;
  readonly max_msg_size: number;
  readonly duplicate_window: number;
  readonly deny_delete: boolean;
  readonly deny_purge: boolean;
  readonly allow_direct: boolean;
  readonly allow_atomic: boolean;
  readonly allow_msg_counter: boolean;
  readonly allow_rollup_hdrs: boolean;
  readonly compression: "none" | "s2";
  /** `null`: the setting must be absent. */
  readonly subject_transform?: null;
  readonly republish?: { readonly src: string; readonly dest: string };
}

export interface StreamDefinition {
  readonly name: string;
  /** One sentence; stored as the stream's description. */
  readonly purpose: string;
  readonly writtenBy: string;
  readonly readBy: string;
  readonly settings: StreamSettings;
  /**
   * Settings that may be changed on a stream with messages without losing or altering any. A difference in any other setting stops the start, with
   * the difference shown.
   */
  readonly updatable: readonly (keyof StreamSettings)[];
  /** Settings with which the broker keeps what it has acknowledged. While one of them differs, nothing may be acknowledged. */
  readonly keeping?: readonly (keyof StreamSettings)[];
  /** Settings because of which the broker may refuse messages: while one of them differs, a stream that stores nothing does not count as broken. */
  readonly refusing?: readonly (keyof StreamSettings)[];
}

/** Settings that depend on the installation. */
export interface TopologyOptions {
  /** Copies of each stream: 1 on a single broker, 3 on a three-node cluster. */
  readonly replicas: number;
}
