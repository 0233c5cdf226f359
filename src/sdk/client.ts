/** Creates clients for a program that records what its AI does: clients for the service and for its sandbox. */
import { resolve } from "node:path";
import { activeSpan } from "./active-span.ts";
import { BackgroundClient, type Client } from "./background-client.ts";
import { createBatchDelivery } from "./batch-delivery.ts";
import {
  CLIENT_OPTIONS,
  type ClientOptions,
  checkOptions,
  type EventOptions,
  readBatch,
  readHash,
  readHeartbeat,
  readKey,
  readMemory,
  readOutbox,
  readProxy,
  readRequestTimeout,
  readSource,
  readUrl,
  SANDBOX_OPTIONS,
  type SandboxOptions,
} from "./client-options.ts";
import { createEventMaker, type EventMaker } from "./event-maker.ts";
import { ADOPT_INTERVAL_MS, SANDBOX_BATCH_EVENTS } from "./limits.ts";
import type { Outbox } from "./outbox.ts";
import { createReports, type Reports } from "./reports.ts";
import { createSandboxDelivery } from "./sandbox-delivery.ts";
import { LOG_ROUTE, SANDBOX_ROUTE } from "./single-send.ts";
import { createFileOutbox, createMemoryOutbox } from "./sqlite-outbox.ts";
import { uuid7 } from "./uuid.ts";

/**
 * A client that keeps captured events in its outbox, and delivers them to the service in the background until it is closed. `Extra` names the event
 * types that the service admits beside the documented ones. Throws a TypeError or RangeError that names the wrong option, or the error of the file
 * system if the folder cannot be written to.
 */
export const createClient = <Extra extends string = never>(options: ClientOptions): Client<Extra> => {
  checkOptions(options, CLIENT_OPTIONS);
  const service = {
    url: readUrl(options.url),
    apiKey: readKey(options.apiKey),
    requestTimeoutMs: readRequestTimeout(options.requestTimeoutMs),
    proxy: readProxy(options.proxy),
  };
  const heartbeat = readHeartbeat(options);
  const batch = readBatch(options.batch);
  const reports = createReports(options);
  const makers = eventMakers(options);
  return new BackgroundClient({
    service,
    route: LOG_ROUTE,
    ...makers,
    reports,
    heartbeat,
    deliver: createBatchDelivery(service),
    ...batch,
    outbox: openOutbox(options.outbox, makers.maker, reports),
  });
};

/**
 * A client for the sandbox of a service, with an outbox in memory. Its events are not evidence: the sandbox marks them as such and forgets them after
 * an hour. Throws a TypeError or RangeError that names the wrong option.
 */
export const createSandboxClient = <Extra extends string = never>(options: SandboxOptions): Client<Extra> => {
  checkOptions(options, SANDBOX_OPTIONS);
  const service = {
    url: readUrl(options.url),
    apiKey: undefined,
    requestTimeoutMs: readRequestTimeout(options.requestTimeoutMs),
    proxy: readProxy(options.proxy),
  };
  return new BackgroundClient({
    service,
    route: SANDBOX_ROUTE,
    ...eventMakers(options),
    reports: createReports(options),
    heartbeat: undefined,
    deliver: createSandboxDelivery(service),
    ...readBatch({ events: SANDBOX_BATCH_EVENTS }),
    outbox: createMemoryOutbox(readMemory(options.outbox)),
  });
};

export const eventMakers = (
  options: EventOptions,
): { readonly maker: EventMaker; readonly plainMaker: EventMaker } => {
  const parts = { hash: readHash(options), now: Date.now, activeSpan };
  return {
    maker: createEventMaker({ ...parts, sourceId: readSource(options, uuid7(Date.now())) }),
    plainMaker: createEventMaker({ ...parts, sourceId: undefined }),
  };
};

const openOutbox = (options: ClientOptions["outbox"], maker: EventMaker, reports: Reports): Outbox => {
  const choice = readOutbox(options);
  if ("memory" in choice) return createMemoryOutbox(choice.memory);
  return createFileOutbox({
    ...choice.folder,
    // Resolved now, because the program may change its working directory later.
    directory: resolve(choice.folder.directory),
    adoptIntervalMs: ADOPT_INTERVAL_MS,
    source: () => maker.source,
    onFailure: (reason) => reports.problem("outbox", reason),
    onLost: (events, message) =>
      reports.dropped({ reason: "outbox_damaged", message, eventId: undefined }, events),
  });
};
