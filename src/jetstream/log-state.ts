import type { Sequence } from "../log/outcome.ts";
import type { BrokerConnection } from "./connection.ts";

export interface LogState {
  readonly lastSequence: Sequence;
  /**
   * Number of servers that have the whole log. A server whose disk was full stays behind, even when there is space again, and says nothing
   * about it until it is restarted (measured on nats-server 2.15.1). Until then each record is on one disk less.
   */
  readonly copies: number;
}

export const readLogState = async ({ nats }: Pick<BrokerConnection, "nats">): Promise<LogState> => {
  const manager = await nats.jetstreamManager({ checkAPI: false });
  const { state, cluster } = await manager.streams.info("AUDIT");
  const whole = (cluster?.replicas ?? []).filter(({ current, offline }) => current && offline !== true);
  // The leader itself is complete.
  return { lastSequence: state.last_seq, copies: 1 + whole.length };
};
