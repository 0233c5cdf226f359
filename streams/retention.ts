import { BUCKET_UPDATABLE, bucketSettings } from "./bucket.ts";
import type { StreamDefinition, TopologyOptions } from "./stream.ts";

/** The name under which a JetStream key-value client opens the bucket. Its stream is `KV_` + this name. */
export const RETENTION_BUCKET = "RETENTION";

/** The policy of a tenant. */
export const policySubject = (tenant: string): string => `$KV.${RETENTION_BUCKET}.policy.${tenant}`;
/** One hold. */
export const holdSubject = (tenant: string, id: string): string =>
  `$KV.${RETENTION_BUCKET}.hold.${tenant}.${id}`;

/** Policies and holds, one value each. Releasing a hold is a new value, never a removal. */
export const retentionStream = (options: TopologyOptions): StreamDefinition => ({
  name: `KV_${RETENTION_BUCKET}`,
  purpose: "Retention: how long the views of each tenant show events, and what is on hold.",
  writtenBy: "the retention endpoints (src/nats/retention-bucket.ts)",
  readBy: "the retention endpoints, and the projector before it lets events expire",
  // Only the leader answers: a replica that is behind would not know of a new hold yet.
  settings: bucketSettings(RETENTION_BUCKET, options, { allow_direct: false }),
  updatable: BUCKET_UPDATABLE,
});
