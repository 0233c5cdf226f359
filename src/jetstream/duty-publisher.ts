/** Transitions of duties, on the stream OBLIGATIONS. They go as events do, many in one commit: one by one each would have a sync of its own. */
import { obligationSubject } from "../../streams/subjects.ts";
import type { OutgoingRecord } from "../log/event-log.ts";
import { RECORD_END } from "../log/record.ts";
import type { Logger } from "../telemetry/logger.ts";
import { answered } from "./answered.ts";
import { createAppender } from "./appender.ts";
import type { BrokerConnection } from "./connection.ts";
import type { StallReport } from "./stall-clock.ts";

export interface DutyMessage {
  readonly tenant: string;
  readonly assetId: string;
  readonly deadline: string;
  readonly transition: string;
  readonly messageId: string;
  readonly payload: Readonly<Record<string, unknown>>;
}

export interface DutyPublisher extends StallReport {
  /** Stores messages in their order. Rejects where the broker did not say that all of them are stored, now or before. */
  publish(messages: readonly DutyMessage[]): Promise<void>;
  /** Whether anything was ever published, also where it is too old to be kept. Throws LogUnavailableError. */
  hasPublished(): Promise<boolean>;
}

export const createDutyPublisher = ({
  connection,
  logger,
}: {
  readonly connection: BrokerConnection;
  readonly logger: Logger;
}): DutyPublisher => {
  const appender = createAppender({
    connection,
    logger,
    elapsedMs: () => performance.now(),
    onOutcomes: () => {},
    onCommit: () => {},
  });
  const publish: DutyPublisher["publish"] = async (messages) => {
    const outcomes = await appender.append(messages.map(recordOf));
    for (const outcome of outcomes)
      if (outcome.kind === "refused" || outcome.kind === "unknown") throw new Error(outcome.detail);
  };
  const hasPublished: DutyPublisher["hasPublished"] = () =>
    answered(connection, "The stream of duties could not be read", async () => {
      const manager = await connection.nats.jetstreamManager({ checkAPI: false });
      return (await manager.streams.info("OBLIGATIONS")).state.last_seq > 0;
    });
  return { publish, hasPublished, stall: appender.stall };
};

const encoder = new TextEncoder();

/** The appender ends what it sends with the brace that ends a record, which is that of the payload here. */
const recordOf = ({ messageId, payload, ...duty }: DutyMessage): OutgoingRecord => {
  const source = encoder.encode(JSON.stringify(payload));
  return {
    subject: obligationSubject(duty),
    messageId,
    start: "",
    event: { source, from: 0, to: source.length - RECORD_END.length },
  };
};
