/** Examines a broker without changing it: for `prooftrail doctor`, and for a start that has two users. */
import { headers, type NatsConnection, NatsError } from "nats";
import { PERMISSIONS } from "../../streams/permissions.ts";
import { BROKER_REQUEST_MS_MAX } from "../limits.ts";
import { API_ERROR, apiErrorCode } from "./api-errors.ts";

/** What the running service must not be able to do (streams/permissions.ts). */
const FORBIDDEN_OPERATIONS = ["STREAM.UPDATE", "STREAM.DELETE", "STREAM.PURGE", "STREAM.MSG.DELETE"] as const;

type Right = "denied" | "granted" | "unknown";

/** No stream has this name, so the question can do nothing, whatever the answer. */
const NO_STREAM = "PROOFTRAIL_DOCTOR_NO_SUCH_STREAM";

/** Whether this user has each of these rights. The broker is asked, and either its permissions or the missing stream refuse. */
export const rightsOf = async (
  nats: NatsConnection,
): Promise<readonly { readonly operation: string; readonly right: Right }[]> =>
  Promise.all(
    FORBIDDEN_OPERATIONS.map(async (operation) => ({ operation, right: await rightTo(nats, operation) })),
  );

const rightTo = (nats: NatsConnection, operation: string): Promise<Right> =>
  rightToPublish(nats, `$JS.API.${operation}.${NO_STREAM}`);

/** Acknowledgement subjects are left out: the server chooses their form (`js_ack_fc_v2`), and nobody misses the right to an unused form. */
const ACKNOWLEDGEMENT = /^\$JS\.(?:ACK|FC)\./;

/** Not asked: consumers hear these subjects live and would hear the question. */
export const UNASKED_RIGHTS: readonly string[] = PERMISSIONS.service.publish.filter((subject) =>
  PERMISSIONS.consumer.subscribe.includes(subject),
);

/** Rights that the service needs and this user lacks: a broker keeps the permissions that it was given for an earlier version. */
export const missingRights = async (nats: NatsConnection): Promise<readonly string[]> => {
  const needed = PERMISSIONS.service.publish.filter(
    (subject) => !(ACKNOWLEDGEMENT.test(subject) || UNASKED_RIGHTS.includes(subject)),
  );
  const rights = await Promise.all(
    needed.map((subject) => rightToPublish(nats, subject.replaceAll(/[*>]/g, NO_STREAM))),
  );
  return needed.filter((_, index) => rights[index] === "denied");
};

/** No stream stores a message that expects another stream, and no JetStream request does anything without a body. */
const rightToPublish = async (nats: NatsConnection, subject: string): Promise<Right> => {
  const expecting = headers();
  expecting.set("Nats-Expected-Stream", NO_STREAM);
  try {
    await nats.request(subject, "", { timeout: BROKER_REQUEST_MS_MAX, headers: expecting });
    return "granted";
  } catch (error) {
    return error instanceof NatsError && error.isPermissionError() ? "denied" : "unknown";
  }
};

/** When this stream was made, as this user sees it; undefined if the user sees none. */
export const madeAt = async (nats: NatsConnection, stream: string): Promise<string | undefined> => {
  try {
    const manager = await nats.jetstreamManager({ checkAPI: false });
    return (await manager.streams.info(stream)).created;
  } catch (error) {
    if (apiErrorCode(error) === API_ERROR.streamNotFound) return undefined;
    throw error;
  }
};
