/** Creates clients for a program that records what its AI does: clients for the service and for its sandbox. */
import { resolve } from "node:path";
import { BackgroundClient, type Client } from "./background-client.ts";
import {
  type ClientOptions,
  readClientOptions,
  readSandboxOptions,
  type SandboxOptions,
} from "./client-options.ts";
import { createBatchDelivery, createSandboxDelivery } from "./delivery.ts";
import { EventMaker } from "./event-maker.ts";
import type { Hash } from "./hash.ts";
import { BATCH_BYTES_DEFAULT, FLUSH_INTERVAL_MS_DEFAULT, SANDBOX_BATCH_EVENTS } from "./limits.ts";
import { Outbox } from "./outbox.ts";
import { createReports } from "./reports.ts";
import { LOG_ROUTE, SANDBOX_ROUTE } from "./single-send.ts";
import { uuid7 } from "./uuid.ts";

/**
 * A client that keeps captured events in its outbox, and delivers them to the service in the background until it is closed. `Extra` names the event
 * types that the service admits beside the documented ones. Throws a TypeError or RangeError that names the wrong option, or the error of the file
 * system if the folder cannot be written to.
 */
export const createClient = <Extra extends string = never>(options: ClientOptions): Client<Extra> => {
  const service = readClientOptions(options);
  const { batch, heartbeat, outbox } = service;
  const { directory } = outbox;
  const reports = createReports(options);
  const maker = eventMaker(service);
  return new BackgroundClient({
    service,
    route: LOG_ROUTE,
    maker,
    reports,
    heartbeat,
    deliver: createBatchDelivery(service),
    limits: batch,
    flushIntervalMs: batch.intervalMs,
    outbox: new Outbox({
      ...outbox,
      // Resolved now, because the program may change its working directory later.
      directory: directory === undefined ? undefined : resolve(directory),
      reports,
      source: () => maker.source,
    }),
  });
};

/**
 * A client for the sandbox of a service, with an outbox in memory. Its events are not evidence: the sandbox marks them as such and forgets them after
 * an hour. Throws a TypeError or RangeError that names the wrong option.
 */
export const createSandboxClient = <Extra extends string = never>(options: SandboxOptions): Client<Extra> => {
  const service = { ...readSandboxOptions(options), apiKey: undefined };
  const reports = createReports(options);
  return new BackgroundClient({
    service,
    route: SANDBOX_ROUTE,
    maker: eventMaker(service),
    reports,
    heartbeat: undefined,
    deliver: createSandboxDelivery(service),
    limits: { events: SANDBOX_BATCH_EVENTS, bytes: BATCH_BYTES_DEFAULT },
    flushIntervalMs: FLUSH_INTERVAL_MS_DEFAULT,
    outbox: new Outbox({ ...service.outbox, directory: undefined, sync: "never", reports }),
  });
};

export const eventMaker = (options: {
  readonly source: string | undefined;
  readonly hashKey: Hash;
}): EventMaker => {
  const { source, hashKey: hash } = options;
  // Each client of each run of a program is a source of its own, because its numbers begin at 1.
  const sourceId = source === undefined ? undefined : `${source}/${uuid7(Date.now())}`;
  return new EventMaker({ hash, sourceId });
};
