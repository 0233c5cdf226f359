import { acceptedStream } from "./accepted.ts";
import { auditStream } from "./audit.ts";
import { checkpointsStream } from "./checkpoints.ts";
import { keysStream } from "./keys.ts";
import { obligationsStream } from "./obligations.ts";
import { ratesStream } from "./rates.ts";
import { retentionStream } from "./retention.ts";
import { sandboxStream } from "./sandbox.ts";
import { sandboxClientsStream } from "./sandbox-clients.ts";
import type { StreamDefinition, TopologyOptions } from "./stream.ts";

/** All streams and buckets of Prooftrail, in order of creation. */
export const topology = (options: TopologyOptions): readonly StreamDefinition[] => [
  auditStream(options),
  acceptedStream(options),
  checkpointsStream(options),
  keysStream(options),
  obligationsStream(options),
  ratesStream(options),
  retentionStream(options),
  sandboxStream(options),
  sandboxClientsStream(options),
];
