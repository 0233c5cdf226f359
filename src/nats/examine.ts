/** Examines the rights of a user without changing anything, for `prooftrail doctor`. */
import { headers, type NatsConnection, NatsError } from "nats";
import { PERMISSIONS } from "../../streams/permissions.ts";
import { BROKER_REQUEST_MS_MAX } from "../limits.ts";

/** What the running service must not be able to do (streams/permissions.ts). */
const FORBIDDEN_OPERATIONS = ["STREAM.UPDATE", "STREAM.DELETE", "STREAM.PURGE", "STREAM.MSG.DELETE"] as const;

/** No stream has this name, so the question can do nothing, whatever the answer. */
const NO_STREAM = "PROOFTRAIL_DOCTOR_NO_SUCH_STREAM";

/** Not asked: consumers hear these subjects live and would hear the question. */
export const UNASKED_RIGHTS: readonly string[] = PERMISSIONS.service.publish.filter((subject) =>
  PERMISSIONS.consumer.subscribe.includes(subject),
);

/** Acknowledgement subjects are left out: the server chooses their form (`js_ack_fc_v2`), and nobody misses the right to an unused form. */
const NEEDED = PERMISSIONS.service.publish.filter(
  (subject) => !(/^\$JS\.(?:ACK|FC)\./.test(subject) || UNASKED_RIGHTS.includes(subject)),
);

/**
 * The forbidden operations that this user may do, those about which no answer came, and the subjects that the service needs and this user may not
 * publish on: a broker keeps the permissions that it was given for an earlier version.
 */
export const examineRights = async (nats: NatsConnection) => {
  const ask = (names: readonly string[], subjectOf: (name: string) => string) =>
    Promise.all(names.map(async (name) => ({ name, right: await rightToPublish(nats, subjectOf(name)) })));
  const [forbidden, needed] = await Promise.all([
    ask(FORBIDDEN_OPERATIONS, (operation) => `$JS.API.${operation}.${NO_STREAM}`),
    ask(NEEDED, (subject) => subject.replaceAll(/[*>]/g, NO_STREAM)),
  ]);
  const named = (asked: typeof forbidden, right: Right): readonly string[] =>
    asked.filter((each) => each.right === right).map(({ name }) => name);
  return {
    granted: named(forbidden, "granted"),
    unknown: named(forbidden, "unknown"),
    missing: named(needed, "denied"),
  };
};

type Right = "denied" | "granted" | "unknown";

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
