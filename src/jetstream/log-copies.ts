/**
 * On how many servers the whole log is. A server whose disk was full stays behind when there is space again, and says nothing of it before it is started
 * anew (measured on nats-server 2.15.1): until then each record is on one disk less.
 */
import type { BrokerConnection } from "./connection.ts";

export const readLogCopies = async ({ nats }: Pick<BrokerConnection, "nats">): Promise<number> => {
  const manager = await nats.jetstreamManager({ checkAPI: false });
  const { cluster } = await manager.streams.info("AUDIT");
  const whole = (cluster?.replicas ?? []).filter(({ current, offline }) => current && offline !== true);
  // The leader has all that there is.
  return 1 + whole.length;
};
