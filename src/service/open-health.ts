/** Puts together what watches over this process and its installation: readiness, and the metrics of it. */
import { topology } from "../../streams/topology.ts";
import type { Readiness } from "../api/routes/operation.ts";
import type { CheckpointStore } from "../proof/checkpoint-store.ts";
import type { Logger } from "../telemetry/logger.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import type { MadeViews } from "../views/kit/made-views.ts";
import type { Projection } from "../views/kit/projection.ts";
import type { ViewStore } from "../views/store/view-store.ts";
import { inBackground } from "./background.ts";
import type { BrokerContact } from "./broker-contact.ts";
import { watchBrokers } from "./broker-watch.ts";
import type { Config } from "./config.ts";
import type { HeadsFolder } from "./heads-folder.ts";
import { createReadiness } from "./health.ts";
import { measureHealth } from "./health-metrics.ts";
import type { OpenedLog } from "./open-log.ts";
import { hasHeads, NO_HEADS } from "./proof-checks.ts";
import { freeBytes, type Work } from "./work-reasons.ts";

export const openHealth = (parts: {
  readonly config: Config;
  readonly contact: BrokerContact;
  readonly log: OpenedLog;
  readonly views: ViewStore;
  readonly projections: readonly Projection[];
  readonly madeViews: MadeViews;
  readonly sealer: Work["sealer"];
  readonly headsFolder: HeadsFolder | undefined;
  readonly checkpoints: CheckpointStore;
  readonly metrics: Metrics;
  readonly logger: Logger;
  readonly version: string;
  readonly now: () => Date;
  readonly stack: AsyncDisposableStack;
}): Readiness => {
  const { config, contact, log, sealer, headsFolder, checkpoints, logger, now, stack, ...shared } = parts;
  const { connection } = contact;
  const { reader } = log;
  const definitions = topology({ replicas: config.replicas });
  const brokers = watchBrokers({ connection, definitions, logger });
  stack.use(inBackground(brokers.run));
  const work: Work = {
    sealer,
    countsStall: log.accepted.stall,
    copyProblem: async () => {
      const problem = headsFolder?.problem();
      if (problem !== undefined) return `HEADS_COPY cannot be used: ${problem}.`;
      return headsFolder?.isEmpty() && (await hasHeads(checkpoints)) ? `${NO_HEADS}.` : undefined;
    },
    diskFree: () => freeBytes(config.dataDir),
    now,
  };
  const readiness = createReadiness({ ...contact, ...log, ...shared, brokers, work });
  measureHealth({ ...shared, config, connection, brokers, reader, work, reasons: readiness.reasons });
  return readiness;
};
