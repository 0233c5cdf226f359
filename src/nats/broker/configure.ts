import { strict as assert } from "node:assert";
import {
  ACCOUNT_OF,
  type BrokerAccount,
  type BrokerPermissions,
  type BrokerUser,
  PERMISSIONS,
  SHARED_REQUESTS,
  SHARED_SUBJECTS,
} from "../../../streams/permissions.ts";
import { bytesReserved, topology } from "../../../streams/topology.ts";
import { BROKER_MEMORY_HEADROOM, EVENT_BYTES_MAX, RECORD_OVERHEAD_BYTES_MAX } from "../../limits.ts";
import type { BrokerCredentials, BrokerFiles } from "./broker-files.ts";

const MIB = 1024 * 1024;

/** Largest message, in bytes: the server's own default, written down because a record must fit. */
const PAYLOAD_BYTES_MAX = 1 * MIB;
/**
 * Bytes that may wait for one client before the server disconnects it. With the default of 64 MiB, four readers of 16 MiB at once broke our one
 * connection (measured).
 */
const PENDING_BYTES_MAX = 256 * MIB;
/** Memory for streams on each server. Past the limit all streams in memory lose their leader, and do not get it back (10023, measured on 2.15.1). */
const MEMORY_BYTES_MAX = bytesReserved(topology({ replicas: 1 }), "memory") * BROKER_MEMORY_HEADROOM;
/**
 * Larger than any disk, so that it never limits. With the default, 75 % of what is free at the start, a log that has filled half of its disk would
 * be refused after a restart (measured on 2.15.1).
 */
const STORE_BYTES_MAX = 2 ** 50;
const LOG_BYTES_MAX = 16 * MIB;
const LOG_FILES_MAX = 4;

assert(
  EVENT_BYTES_MAX + RECORD_OVERHEAD_BYTES_MAX <= PAYLOAD_BYTES_MAX,
  "one record must fit in one message",
);

interface BrokerConfiguration {
  readonly files: BrokerFiles;
  readonly credentials: BrokerCredentials;
  readonly port: number | undefined;
  readonly servers?: number;
}

/** One option per line: nats-server does not start with two on one line (measured on 2.15.1). */
export const configure = ({ files, credentials, port, servers = 1 }: BrokerConfiguration): string =>
  `# Written by Prooftrail at every start of the broker; changes here are lost.
listen: ${quote(`127.0.0.1:${port ?? -1}`)}
server_name: "prooftrail"
max_payload: ${PAYLOAD_BYTES_MAX}
max_pending: ${PENDING_BYTES_MAX}
# Otherwise publishers are slowed down to the slowest subscriber.
no_fast_producer_stall: true
pid_file: ${quote(files.pid)}
ports_file_dir: ${quote(files.run)}
log_file: ${quote(files.log)}
logfile_size_limit: ${LOG_BYTES_MAX}
logfile_max_num: ${LOG_FILES_MAX}
jetstream {
  store_dir: ${quote(files.store)}
  # JetStream acknowledges before it has written to disk unless told otherwise (nats-server #7564).
  sync_interval: always
  max_memory_store: ${MEMORY_BYTES_MAX}
  max_file_store: ${STORE_BYTES_MAX}
}
accounts {
  ${WITH_STREAMS} {
    # The account counts every copy of a stream. Its limit is what clients can see.
    jetstream: {
      max_memory: ${MEMORY_BYTES_MAX * servers}
    }
    exports: ${jsonLines([
      ...SHARED_REQUESTS.map(({ subject, isStreamed }) => ({
        service: subject,
        response_type: isStreamed ? "stream" : "singleton",
      })),
      ...SHARED_SUBJECTS.map(({ subject }) => ({ stream: subject })),
    ])}
    users: [
${userLines("service", credentials)}
${userLines("provisioner", credentials)}
    ]
  }
  ${ACCOUNT_OF.consumer} {
    imports: ${jsonLines([
      ...SHARED_REQUESTS.map(({ subject }) => ({ service: { account: WITH_STREAMS, subject } })),
      ...SHARED_SUBJECTS.map(({ subject, heardAs }) => ({
        stream: { account: WITH_STREAMS, subject },
        to: heardAs,
      })),
    ])}
    users: [
${userLines("consumer", credentials)}
    ]
  }
}
`;

const WITH_STREAMS: BrokerAccount = ACCOUNT_OF.service;

const userLines = (user: BrokerUser, credentials: BrokerCredentials): string => `      {
        user: ${quote(user)}
        password: ${quote(credentials[user])}
        permissions: ${permissionsText(PERMISSIONS[user])}
      }`;

// nats-server reads JSON inside its own syntax.
const permissionsText = ({ publish, subscribe }: BrokerPermissions): string =>
  JSON.stringify({ publish: { allow: publish }, subscribe: { allow: subscribe } });

const jsonLines = (entries: readonly object[]): string =>
  `[\n${entries.map((entry) => `      ${JSON.stringify(entry)}\n`).join("")}    ]`;

const quote = (text: string): string => JSON.stringify(text);
