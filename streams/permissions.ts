/**
 * Broker users, what each may publish and subscribe to, and the accounts that they are in (DESIGN 4). `deny_delete` and `deny_purge` do not stop an
 * update of `max_age` or the deletion of the whole stream (measured on 2.15.1), so the running service has no
 * right to STREAM.UPDATE, STREAM.DELETE, STREAM.PURGE or STREAM.MSG.DELETE. Read by the embedded broker,
 * by compose.yaml (a test compares them) and by people who run their own NATS.
 */
import {
  AUDIT_SUBJECTS,
  CHECKPOINT_KEY_SUBJECTS,
  CHECKPOINT_SUBJECTS,
  COUNTS_SUBJECTS,
  KEYS_BUCKET,
  OBLIGATION_SUBJECTS,
  RATES_SUBJECTS,
  RETENTION_BUCKET,
  SANDBOX_SUBJECTS,
  storedSubjects,
} from "./subjects.ts";

export interface BrokerPermissions {
  readonly publish: readonly string[];
  readonly subscribe: readonly string[];
}

export type BrokerUser = "service" | "provisioner" | "consumer";

const INBOX = "_INBOX.>";

/** The delivery subjects of push consumers: for clients, a prefix of inboxes. Answers and pulled messages arrive in any inbox. */
const DELIVERIES = "_INBOX_consumer.>";

/** Copies of stored messages that a consumer receives live (SEND_STORED). */
const COPIED: readonly string[] = [OBLIGATION_SUBJECTS, CHECKPOINT_SUBJECTS, CHECKPOINT_KEY_SUBJECTS];

/** Reading messages by sequence and subject, one or many at once (NATS ADR-31). */
const readMessages = (stream: string): readonly string[] => [
  `$JS.API.STREAM.INFO.${stream}`,
  `$JS.API.STREAM.MSG.GET.${stream}`,
  `$JS.API.DIRECT.GET.${stream}`,
  `$JS.API.DIRECT.GET.${stream}.>`,
];

/** The same, and by consumers of one's own, with acknowledgements and flow control. */
const readStream = (stream: string): readonly string[] => [
  ...readMessages(stream),
  `$JS.API.CONSUMER.CREATE.${stream}`,
  `$JS.API.CONSUMER.CREATE.${stream}.>`,
  `$JS.API.CONSUMER.DURABLE.CREATE.${stream}.*`,
  `$JS.API.CONSUMER.INFO.${stream}.*`,
  `$JS.API.CONSUMER.NAMES.${stream}`,
  `$JS.API.CONSUMER.LIST.${stream}`,
  `$JS.API.CONSUMER.DELETE.${stream}.*`,
  `$JS.API.CONSUMER.MSG.NEXT.${stream}.*`,
  `$JS.ACK.${stream}.>`,
  `$JS.FC.${stream}.>`,
  // The same subjects under their names in newer servers: without a domain, and with a hash of the account (NATS ADR-15; `js_ack_fc_v2` of
  // nats-server 2.14). The domain is no wildcard: a server with the older form takes that token for the stream, so a wildcard would be a right on all
  // streams.
  `$JS.ACK._.*.${stream}.>`,
  `$JS.FC._.*.${stream}.>`,
];

const EVERY_CLIENT: readonly string[] = ["$JS.API.INFO", "$JS.API.STREAM.NAMES"];

export const PERMISSIONS: Readonly<Record<BrokerUser, BrokerPermissions>> = {
  /** The running service: it appends and reads, and maintains the buckets of keys and of retention. */
  service: {
    publish: [
      AUDIT_SUBJECTS,
      SANDBOX_SUBJECTS,
      RATES_SUBJECTS,
      COUNTS_SUBJECTS,
      OBLIGATION_SUBJECTS,
      CHECKPOINT_SUBJECTS,
      CHECKPOINT_KEY_SUBJECTS,
      `$KV.${KEYS_BUCKET}.>`,
      `$KV.${RETENTION_BUCKET}.>`,
      ...EVERY_CLIENT,
      ...readMessages("AUDIT"),
      ...readMessages("SANDBOX"),
      "$JS.API.STREAM.INFO.RATES",
      ...readMessages("CHECKPOINTS"),
      "$JS.API.STREAM.INFO.OBLIGATIONS",
      "$JS.API.STREAM.INFO.COUNTS",
      "$JS.API.STREAM.MSG.GET.COUNTS",
      ...readStream(`KV_${KEYS_BUCKET}`),
      `$JS.API.STREAM.INFO.KV_${RETENTION_BUCKET}`,
      `$JS.API.STREAM.MSG.GET.KV_${RETENTION_BUCKET}`,
    ],
    subscribe: [INBOX],
  },
  /** Used only while streams are created or updated. It cannot publish an event, nor delete or purge a stream. */
  provisioner: {
    publish: [...EVERY_CLIENT, "$JS.API.STREAM.INFO.*", "$JS.API.STREAM.CREATE.*", "$JS.API.STREAM.UPDATE.*"],
    subscribe: [INBOX],
  },
  /** Your own services: they follow the log and can change nothing in it. */
  consumer: {
    publish: [
      ...EVERY_CLIENT,
      ...readStream("AUDIT"),
      ...readStream("OBLIGATIONS"),
      ...readStream("CHECKPOINTS"),
    ],
    subscribe: [INBOX, DELIVERIES, AUDIT_SUBJECTS, ...COPIED],
  },
};

export type BrokerAccount = "PROOFTRAIL" | "CONSUMERS";

/**
 * Permissions alone do not keep a consumer from writing, because they restrict what a client publishes and not what the server sends for it: the
 * answer to a request goes to the reply subject that the client names, and a push consumer delivers to any subject that somebody has subscribed to; a
 * stream with that subject stores it (measured on 2.15.1). So consumers have an account without streams: answers end there, and only what is listed
 * below crosses over.
 */
export const ACCOUNT_OF: Readonly<Record<BrokerUser, BrokerAccount>> = {
  service: "PROOFTRAIL",
  provisioner: "PROOFTRAIL",
  consumer: "CONSUMERS",
};

/** Requests with more than one answer. */
const STREAMED = /^\$JS\.(?:API\.(?:CONSUMER\.MSG\.NEXT|DIRECT\.GET)|ACK)\./;

/** What PROOFTRAIL answers for CONSUMERS. */
export const SHARED_REQUESTS: readonly { readonly subject: string; readonly isStreamed: boolean }[] =
  PERMISSIONS.consumer.publish.map((subject) => ({ subject, isStreamed: STREAMED.test(subject) }));

/**
 * What CONSUMERS receives live from PROOFTRAIL. If consumers receive the subject of a stream, a push consumer on another stream can deliver to it,
 * and so store messages there. So of obligations and tree heads consumers receive copies, which the streams send once something is stored. Copies of
 * events would cost the broker a fifth of its time and batches a seventh of theirs (measured), so events are received as they are published: anybody
 * with the consumer's password can have obligations and tree heads stored in AUDIT again, where nothing takes them for events.
 */
export const SHARED_SUBJECTS: readonly { readonly subject: string; readonly heardAs: string }[] = [
  { subject: AUDIT_SUBJECTS, heardAs: AUDIT_SUBJECTS },
  ...COPIED.map((subject) => ({ subject: storedSubjects(subject), heardAs: subject })),
  { subject: DELIVERIES, heardAs: DELIVERIES },
];
