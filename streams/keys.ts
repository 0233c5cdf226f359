import { BUCKET_UPDATABLE, bucketSettings } from "./bucket.ts";
import type { StreamDefinition, TopologyOptions } from "./stream.ts";

/** The name under which a JetStream key-value client opens the bucket. Its stream is `KV_` + this name. */
export const KEYS_BUCKET = "KEYS";

/** API keys, one value per key id, hashed. Revoking is a new value, never a removal. */
export const keysStream = (options: TopologyOptions): StreamDefinition => ({
  name: `KV_${KEYS_BUCKET}`,
  purpose: "API keys: who may do what. Holds hashes, never a secret.",
  writtenBy: "the key endpoints (src/nats/key-bucket.ts)",
  readBy: "every front end, which watches it",
  settings: bucketSettings(KEYS_BUCKET, options, { allow_direct: true }),
  updatable: BUCKET_UPDATABLE,
});
