/** Keeps the streams as streams/ says: at the start, and again whenever the connection comes back. */
import type { StreamDefinition } from "../../streams/stream.ts";
import { type BrokerConnection, BrokerRefusedError, connectToBroker } from "../jetstream/connection.ts";
import { type Reconciliation, reconcileStreams } from "../jetstream/reconcile.ts";
import { STREAMS_RETRY_MS, STREAMS_START_MS_MAX } from "../limits.ts";
import type { Logger } from "../telemetry/logger.ts";

export interface StreamsState {
  /** Why the streams are not right; undefined when they are. */
  problem(): string | undefined;
  /** From now on, reconcile after each reconnect. */
  watch(connection: BrokerConnection): Disposable;
}

interface Keeper {
  readonly provisionUrl: string;
  readonly definitions: readonly StreamDefinition[];
  readonly logger: Logger;
}

/** Throws BrokerRefusedError where the broker stays away, or holds a stream that must not be changed. */
export const keepStreamsRight = async (keeper: Keeper): Promise<StreamsState> => {
  let problem = await reconcileAtStart(keeper);
  if (problem !== undefined) throw new BrokerRefusedError(problem);

  const watch = (connection: BrokerConnection): Disposable => {
    let isWatching = true;
    const reconcileAgain = async (): Promise<void> => {
      problem = "The streams have not been checked since the last reconnect.";
      while (isWatching && connection.isConnected() && problem !== undefined) {
        const result = await reconcileOnce(keeper);
        problem = describe(result);
        if (problem === undefined) return;
        keeper.logger.error("the streams are not right", { detail: problem });
        await pause(STREAMS_RETRY_MS);
      }
    };
    const listener = connection.onChange((state) => {
      if (state === "restored") void reconcileAgain();
    });
    return {
      [Symbol.dispose]: () => {
        isWatching = false;
        listener[Symbol.dispose]();
      },
    };
  };
  return { problem: () => problem, watch };
};

/** A cluster that starts together with us has no leader for its first seconds: not answered is asked again. */
const reconcileAtStart = async (keeper: Keeper): Promise<string | undefined> => {
  const deadline = performance.now() + STREAMS_START_MS_MAX;
  for (;;) {
    const result = await reconcileOnce(keeper);
    if (result.kind !== "unavailable" || performance.now() > deadline) return describe(result);
    keeper.logger.warn("waiting for the broker", { detail: result.detail });
    await pause(STREAMS_RETRY_MS);
  }
};

const reconcileOnce = async ({ provisionUrl, definitions, logger }: Keeper): Promise<Reconciliation> => {
  try {
    await using provisioner = await connectToBroker({
      url: provisionUrl,
      name: "prooftrail-provisioner",
      logger,
    });
    return await reconcileStreams({ provisioner: provisioner.nats, definitions, logger });
  } catch (error) {
    if (error instanceof BrokerRefusedError && error.isFinal) throw error;
    return { kind: "unavailable", detail: error instanceof Error ? error.message : String(error) };
  }
};

const describe = (result: Reconciliation): string | undefined => {
  if (result.kind === "agreed") return undefined;
  if (result.kind === "unavailable") return `The streams could not be checked: ${result.detail}`;
  const lines = result.differences.map(
    ({ stream, setting, wanted, found }) => `  ${stream}.${setting}: must be ${wanted}, is ${found}`,
  );
  return `The broker holds streams that Prooftrail must not change by itself:\n${lines.join("\n")}`;
};

const pause = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, milliseconds));
