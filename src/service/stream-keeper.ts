/** Keeps the streams as streams/ says: at the start, and again whenever the connection comes back. */
import type { StreamDefinition } from "../../streams/topology.ts";
import { AWAY_RETRY_MS, BROKER_MEMORY_HEADROOM } from "../limits.ts";
import { type BrokerConnection, BrokerRefusedError, connectToBroker } from "../nats/connection.ts";
import { differenceText, type Reconciliation, reconcileStreams } from "../nats/reconcile.ts";
import { messageOf } from "../runtime/error-text.ts";
import type { Logger } from "../telemetry/logger.ts";
import { loop } from "./background.ts";
import { blocking, only } from "./health-reasons.ts";

interface Keeper {
  readonly provisionUrl: string;
  readonly definitions: readonly StreamDefinition[];
  readonly logger: Logger;
}

/** Throws BrokerRefusedError if the broker does not answer, has a stream that must not be changed, or cannot keep as many copies. */
export const reconcile = async ({ provisionUrl, definitions, logger }: Keeper): Promise<void> => {
  const connecting = { url: provisionUrl, name: "prooftrail-provisioner", logger };
  await using provisioner = await connectToBroker(connecting);
  const result = await reconcileStreams({ provisioner: provisioner.nats, definitions, logger });
  // A cluster that is still starting may not know a stream yet, or have no server with JetStream.
  const isFinal = !["unavailable", "lost", "no_jetstream", "no_room"].includes(result.kind);
  if (result.kind !== "agreed") throw new BrokerRefusedError(describe(result), { isFinal });
};

/** A reconnect ends it. */
const RIGHT_REST_MS = 60_000;

/** Reconciles after each reconnect. */
export const keepStreams = (
  keeper: Keeper,
  connection: Pick<BrokerConnection, "isConnected" | "onChange">,
) => {
  /** Why the streams are not right, as far as is known. */
  let problem: string | undefined;
  const stack = new AsyncDisposableStack();
  stack.use(
    connection.onChange((state) => {
      if (state === "restored") problem = "The streams have not been checked since the last reconnect.";
    }),
  );
  const look = async (): Promise<void> => {
    if (problem === undefined || !connection.isConnected()) return;
    try {
      await reconcile(keeper);
      problem = undefined;
    } catch (error) {
      const isUnreachable = !(error instanceof BrokerRefusedError) || error.isUnreachable;
      const detail = messageOf(error);
      problem = isUnreachable ? describe({ kind: "unavailable", detail }) : detail;
      throw new Error(problem);
    }
  };
  const onFailed = (): void => keeper.logger.error("the streams are wrong", { detail: problem ?? "" });
  const restMs = (): number => (problem === undefined ? RIGHT_REST_MS : AWAY_RETRY_MS);
  stack.use(loop({ look, onFailed, restMs, connection }));
  // A stop does not wait for a broker that is silent.
  return {
    troubles: () => only(problem !== undefined, blocking("streams_wrong", problem ?? "")),
    [Symbol.dispose]: () => void stack.disposeAsync(),
  };
};

const describe = (result: Exclude<Reconciliation, { kind: "agreed" }>): string => {
  switch (result.kind) {
    case "unavailable":
      return `The streams could not be checked: ${result.detail}.`;
    case "forbidden":
      return "The NATS user for creating streams may not create them. Set NATS_PROVISION_URL to the same server with the provisioner's user of streams/permissions.ts.";
    case "no_jetstream":
      return "No NATS server answers for JetStream. Add a jetstream block to its configuration, or set NATS_URL, and NATS_PROVISION_URL if set, to a server that has one.";
    case "lost":
      return `The broker no longer has ${result.streams.join(", ")}, which it had before. ${BRING_BACK}`;
    case "no_cluster":
      return `The NATS server is not clustered and cannot keep ${result.replicas} copies of each stream. Set STREAM_REPLICAS to 1, or NATS_URL to a cluster of at least ${result.replicas} servers.`;
    case "no_room":
      return noRoom(result);
    case "refused":
      return `The broker has streams that Prooftrail must not change on its own:\n${result.differences.map((difference) => `  ${differenceText(difference)}`).join("\n")}`;
  }
};

/** Advice about streams that were made once and are missing. */
export const BRING_BACK =
  "Nothing is created in its place, as that could destroy what is left of it. A server leaves out a stream that it cannot recover, as on a full disk, and its log says why (ours: DATA_DIR/broker/nats-server.log). Free space and restart the server, or restore its store from a copy.";

const noRoom = ({ storage, bytesReserved }: Extract<Reconciliation, { kind: "no_room" }>): string => {
  const isMemory = storage === "memory";
  const reserved = `${(bytesReserved * (isMemory ? BROKER_MEMORY_HEADROOM : 1)) / 2 ** 20} MiB`;
  return isMemory
    ? `JetStream of the NATS server lacks the ${reserved} of memory that Prooftrail's streams need. Set max_memory_store in its jetstream block to at least ${reserved} plus what others use on this server.`
    : `JetStream of the NATS server lacks the ${reserved} of disk that Prooftrail's streams reserve beside the log. Set max_file_store in its jetstream block to at least ${reserved} plus what the log may grow to and what others use on this server, or free disk space.`;
};
