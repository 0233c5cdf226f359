/** Looks at a broker and changes nothing: for `prooftrail doctor`. */
import type { NatsConnection } from "nats";
import { PERMISSION_ANSWER_MS_MAX } from "../limits.ts";

/** What the running service must not be able to do (streams/permissions.ts). */
const FORBIDDEN_OPERATIONS = ["STREAM.UPDATE", "STREAM.DELETE", "STREAM.PURGE", "STREAM.MSG.DELETE"] as const;

export type Right = "denied" | "granted" | "unknown";

/** Of a name that no stream has, so that asking for it can do nothing whatever the answer. */
const NO_STREAM = "PROOFTRAIL_DOCTOR_NO_SUCH_STREAM";

/** Whether this user has each of these rights, by asking the broker and looking who refuses: its permissions, or the stream that is not there. */
export const rightsOf = async (
  nats: NatsConnection,
): Promise<readonly { readonly operation: string; readonly right: Right }[]> =>
  Promise.all(
    FORBIDDEN_OPERATIONS.map(async (operation) => ({ operation, right: await rightTo(nats, operation) })),
  );

const rightTo = async (nats: NatsConnection, operation: string): Promise<Right> => {
  try {
    await nats.request(`$JS.API.${operation}.${NO_STREAM}`, "", { timeout: PERMISSION_ANSWER_MS_MAX });
    return "granted";
  } catch (error) {
    // nats.js 2.29: the code of a refused publish (measured on 2.15.1).
    return error instanceof Error && "code" in error && error.code === "PERMISSIONS_VIOLATION"
      ? "denied"
      : "unknown";
  }
};

export interface BrokerStorage {
  readonly bytes: number;
  /** Undefined where nothing bounds it. */
  readonly bytesMax: number | undefined;
}

/** What JetStream's account uses on disk, and may. Rejects where JetStream is off. */
export const storageOf = async (nats: NatsConnection): Promise<BrokerStorage> => {
  const manager = await nats.jetstreamManager({ checkAPI: false });
  const { storage, limits } = await manager.getAccountInfo();
  return { bytes: storage, bytesMax: limits.max_storage > 0 ? limits.max_storage : undefined };
};

/** The broker's clock against ours in milliseconds, positive where it is ahead; undefined where it does not tell its time. */
export const clockOffMs = async (nats: NatsConnection, stream: string): Promise<number | undefined> => {
  const manager = await nats.jetstreamManager({ checkAPI: false });
  const before = Date.now();
  const info: unknown = await manager.streams.info(stream);
  const after = Date.now();
  const told =
    typeof info === "object" && info !== null && "ts" in info ? Date.parse(String(info.ts)) : Number.NaN;
  return Number.isNaN(told) ? undefined : told - (before + after) / 2;
};
