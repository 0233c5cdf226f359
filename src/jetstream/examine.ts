/** Looks at a broker and changes nothing: for `prooftrail doctor`, and for a start that was given two users. */
import { headers, type NatsConnection, NatsError } from "nats";
import { PERMISSIONS } from "../../streams/permissions.ts";
import { PERMISSION_ANSWER_MS_MAX } from "../limits.ts";
import { API_ERROR, apiErrorCode } from "./api-errors.ts";

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

const rightTo = (nats: NatsConnection, operation: string): Promise<Right> =>
  rightToPublish(nats, `$JS.API.${operation}.${NO_STREAM}`);

/** Their form is the server's choice (`js_ack_fc_v2`) and its domain's, and a right to one that it does not use is missed by nobody. */
const ACKNOWLEDGEMENT = /^\$JS\.(?:ACK|FC)\./;

/** Consumers hear these as they are published, so they would hear the question. Without one of them events are answered 503, or nothing is told, which the log says. */
export const UNASKED_RIGHTS: readonly string[] = PERMISSIONS.service.publish.filter((subject) =>
  PERMISSIONS.consumer.subscribe.includes(subject),
);

/** What the running service needs and this user may not: a broker keeps the permissions that it was given for an earlier version. */
export const missingRights = async (nats: NatsConnection): Promise<readonly string[]> => {
  const needed = PERMISSIONS.service.publish.filter(
    (subject) => !(ACKNOWLEDGEMENT.test(subject) || UNASKED_RIGHTS.includes(subject)),
  );
  const rights = await Promise.all(
    // A name that nothing has in the place of each wildcard.
    needed.map((subject) => rightToPublish(nats, subject.replaceAll(/[*>]/g, NO_STREAM))),
  );
  return needed.filter((_, index) => rights[index] === "denied");
};

/** No stream stores what expects another one, and none of the requests of JetStream does anything without a body. */
const rightToPublish = async (nats: NatsConnection, subject: string): Promise<Right> => {
  const expecting = headers();
  expecting.set("Nats-Expected-Stream", NO_STREAM);
  try {
    await nats.request(subject, "", { timeout: PERMISSION_ANSWER_MS_MAX, headers: expecting });
    return "granted";
  } catch (error) {
    return error instanceof NatsError && error.isPermissionError() ? "denied" : "unknown";
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

/** When this stream was made, as this user sees it; undefined where it sees none. */
export const madeAt = async (nats: NatsConnection, stream: string): Promise<string | undefined> => {
  try {
    const manager = await nats.jetstreamManager({ checkAPI: false });
    return (await manager.streams.info(stream)).created;
  } catch (error) {
    if (apiErrorCode(error) === API_ERROR.streamNotFound) return undefined;
    throw error;
  }
};

/** Whether two users see one and the same stream of this name, or none: of other accounts or servers they do not. Rejects where one of them gets no answer. */
export const seeOneStream = async (
  [one, other]: readonly [NatsConnection, NatsConnection],
  stream: string,
): Promise<boolean> => (await madeAt(one, stream)) === (await madeAt(other, stream));

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
