import {
  nanoseconds,
  type StreamSettings,
  type TopologyOptions,
  USUAL_DUPLICATE_WINDOW_MS,
} from "./stream.ts";

const RECORD_BYTES_MAX = 16 * 1024;

/**
 * A key-value bucket is a stream with these settings (NATS ADR-8). Ending something is a new value, never a removal: without `deny_delete` and
 * `deny_purge` a client could empty the bucket.
 */
export const bucketSettings = (
  bucket: string,
  { replicas }: TopologyOptions,
  { allow_direct }: Pick<StreamSettings, "allow_direct">,
): StreamSettings => ({
  subjects: [`$KV.${bucket}.>`],
  storage: "file",
  retention: "limits",
  discard: "new",
  num_replicas: replicas,
  max_age: 0,
  max_bytes: -1,
  max_msgs: -1,
  max_msgs_per_subject: 1,
  max_msg_size: RECORD_BYTES_MAX,
  duplicate_window: nanoseconds(USUAL_DUPLICATE_WINDOW_MS),
  deny_delete: true,
  deny_purge: true,
  allow_direct,
  allow_atomic: false,
  allow_msg_counter: false,
  allow_rollup_hdrs: false,
  compression: "none",
});

export const BUCKET_UPDATABLE = ["num_replicas", "max_msg_size", "allow_direct"] as const;
