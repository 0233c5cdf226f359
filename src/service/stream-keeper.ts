/** Keeps the streams as streams/ says: at the start, and again whenever the connection comes back. */
import type { StreamDefinition } from "../../streams/stream.ts";
import { AWAY_RETRY_MS, BROKER_MEMORY_HEADROOM } from "../limits.ts";
import { type BrokerConnection, BrokerRefusedError, connectToBroker } from "../nats/connection.ts";
import { differenceText, type Reconciliation, reconcileStreams } from "../nats/reconcile.ts";
import type { Logger } from "../telemetry/logger.ts";
import { loop } from "./background.ts";

export interface StreamsState {
  /** Why the streams are misconfigured; undefined if they are right. */
  problem(): string | undefined;
  /** Reconciles after each reconnect from now on. */
  watch(connection: Pick<BrokerConnection, "isConnected" | "onChange">): Disposable;
}

/** A reconnect ends it. */
const RIGHT_REST_MS = 60_000;

interface Keeper {
  readonly provisionUrl: string;
  readonly definitions: readonly StreamDefinition[];
  readonly logger: Logger;
}

/** Throws BrokerRefusedError if the broker does not answer, has a stream that must not be changed, or cannot keep as many copies. */
export const keepStreamsRight = async (keeper: Keeper): Promise<StreamsState> => {
  const first = await reconcileOnce(keeper);
  let problem = describe(first);
  // A cluster that is still starting may not know a stream yet, or have no server with JetStream.
  const mayPass = ["unavailable", "lost", "no_jetstream", "no_room"].includes(first.kind);
  if (problem !== undefined) throw new BrokerRefusedError(problem, { isFinal: !mayPass });

  const watch: StreamsState["watch"] = (connection) => {
    const stack = new AsyncDisposableStack();
    stack.use(
      connection.onChange((state) => {
        if (state === "restored") problem = "The streams have not been checked since the last reconnect.";
      }),
    );
    const look = async (): Promise<void> => {
      if (problem === undefined || !connection.isConnected()) return;
      problem = describe(await reconcileOnce(keeper).catch(unavailable));
      if (problem !== undefined) throw new Error(problem);
    };
    const onFailed = (): void => keeper.logger.error("the streams are not right", { detail: problem ?? "" });
    const restMs = (): number => (problem === undefined ? RIGHT_REST_MS : AWAY_RETRY_MS);
    stack.use(loop({ look, onFailed, restMs, connection }));
    // A stop does not wait for a broker that is silent.
    return { [Symbol.dispose]: () => void stack.disposeAsync() };
  };
  return { problem: () => problem, watch };
};

const reconcileOnce = async ({ provisionUrl, definitions, logger }: Keeper): Promise<Reconciliation> => {
  await using provisioner = await connectToBroker({
    url: provisionUrl,
    name: "prooftrail-provisioner",
    logger,
  });
  return await reconcileStreams({ provisioner: provisioner.nats, definitions, logger });
};

const unavailable = (error: unknown): Reconciliation => ({
  kind: "unavailable",
  detail: error instanceof Error ? error.message : String(error),
});

/** Undefined if the streams are right. */
const describe = (result: Reconciliation): string | undefined => {
  switch (result.kind) {
    case "agreed":
      return undefined;
    case "unavailable":
      return `The streams could not be checked: ${result.detail}.`;
    case "forbidden":
      return "The NATS user that streams are made with may not make them. Set NATS_PROVISION_URL to the same server with the provisioner's user of streams/permissions.ts.";
    case "no_jetstream":
      return "No NATS server answers for JetStream. Put a jetstream block into its configuration, or set NATS_URL, and NATS_PROVISION_URL where it is set, to a server that has one.";
    case "lost":
      return `The broker no longer has ${result.streams.join(", ")}, which it had before. ${BRING_BACK}`;
    case "no_cluster":
      return `The NATS server is no cluster and cannot keep ${result.replicas} copies of each stream. Set STREAM_REPLICAS to 1, or NATS_URL to a cluster of at least ${result.replicas} servers.`;
    case "no_room":
      return noRoom(result);
    case "refused":
      return `The broker has streams that Prooftrail must not change on its own:\n${result.differences.map((difference) => `  ${differenceText(difference)}`).join("\n")}`;
  }
};

/** Advice about streams that were made once and are missing. */
export const BRING_BACK =
  "Nothing is made in its place, as that could destroy what is left of it. A server leaves out a stream that it cannot recover, on a full disk for one, and its log says why (ours: DATA_DIR/broker/nats-server.log). Free space and start the server again, or bring its store back from a copy.";

const noRoom = ({ storage, bytesReserved }: Extract<Reconciliation, { kind: "no_room" }>): string => {
  const isMemory = storage === "memory";
  const reserved = `${(bytesReserved * (isMemory ? BROKER_MEMORY_HEADROOM : 1)) / 2 ** 20} MiB`;
  return isMemory
    ? `JetStream of the NATS server lacks the ${reserved} of memory that Prooftrail's streams need. Set max_memory_store in its jetstream block to at least ${reserved} plus what others use on this server.`
    : `JetStream of the NATS server lacks the ${reserved} of disk that Prooftrail's streams reserve beside the log. Set max_file_store in its jetstream block to at least ${reserved} plus what the log may grow to and what others use on this server, or free disk space.`;
};
