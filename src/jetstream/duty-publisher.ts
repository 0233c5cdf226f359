/** Transitions of duties, on the stream OBLIGATIONS. */
import { headers } from "nats";
import { obligationSubject } from "../../streams/subjects.ts";
import { ANNOUNCE_ACK_MS_MAX } from "../limits.ts";
import type { BrokerConnection } from "./connection.ts";

export interface DutyMessage {
  readonly tenant: string;
  readonly assetId: string;
  readonly deadline: string;
  readonly transition: string;
  readonly messageId: string;
  readonly payload: Readonly<Record<string, unknown>>;
}

/** Rejects where the broker did not say that it is stored, now or before. */
export const createDutyPublisher =
  (connection: BrokerConnection) =>
  async ({ tenant, assetId, deadline, transition, messageId, payload }: DutyMessage): Promise<void> => {
    const header = headers();
    header.set("Nats-Msg-Id", messageId);
    const subject = obligationSubject({ tenant, assetId, deadline, transition });
    const answer = await connection.untilLost(() =>
      connection.nats.request(subject, JSON.stringify(payload), {
        headers: header,
        timeout: ANNOUNCE_ACK_MS_MAX,
      }),
    );
    const { seq, error }: { seq?: number; error?: { description?: string } } = answer.json();
    if (typeof seq !== "number") throw new Error(error?.description ?? "the broker did not store it");
  };
