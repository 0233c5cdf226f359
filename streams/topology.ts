import { auditStream } from "./audit.ts";
import { checkpointsStream } from "./checkpoints.ts";
import { countsStream } from "./counts.ts";
import { keysStream } from "./keys.ts";
import { obligationsStream } from "./obligations.ts";
import { ratesStream } from "./rates.ts";
import { retentionStream } from "./retention.ts";
import { sandboxStream } from "./sandbox.ts";
import type { StreamDefinition, TopologyOptions } from "./stream.ts";

/** All streams and buckets of Prooftrail, in order of creation. */
export const topology = (options: TopologyOptions): readonly StreamDefinition[] => [
  auditStream(options),
  checkpointsStream(options),
  countsStream(options),
  keysStream(options),
  obligationsStream(options),
  ratesStream(options),
  retentionStream(options),
  sandboxStream(options),
];

/**
 * Streams of earlier versions that nothing reads any more. One in memory is reduced to one message, because an unbounded stream takes the room of
 * the others. Until v0.1.0 counts were in memory in a cluster.
 */
export const RETIRED_STREAMS: readonly string[] = ["ACCEPTED", "SANDBOX_CLIENTS"];

/** What the streams with this storage may take on one server. */
export const bytesReserved = (
  definitions: readonly StreamDefinition[],
  storage: StreamDefinition["settings"]["storage"],
): number =>
  definitions
    .filter(({ settings }) => settings.storage === storage)
    // An unbounded stream reserves nothing.
    .reduce((sum, { settings }) => sum + Math.max(0, settings.max_bytes), 0);
