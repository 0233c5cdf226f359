/** A broker with its streams, and a connection with the permissions of the running service: for tests of the log. */
import { connect } from "nats";
import { type OutgoingRecord, payloadText, type RecordAppender } from "../../src/log/event-log.ts";
import { createAppender } from "../../src/nats/appender.ts";
import type { BrokerConnection } from "../../src/nats/connection.ts";
import { reconcileStreams } from "../../src/nats/reconcile.ts";
import { auditSubject } from "../../streams/subjects.ts";
import { topology } from "../../streams/topology.ts";
import { connectionTo, silentLogger, startTestBroker, type TestBroker } from "./broker.ts";

export interface TestLog extends AsyncDisposable {
  readonly broker: TestBroker;
  readonly connection: BrokerConnection;
}

/** Connects with credentials in the URL, which nats.js itself ignores. */
export const connectAs = (broker: Pick<TestBroker, "url">, user: "service" | "provisioner" | "consumer") => {
  const { username, password, host } = new URL(broker.url(user));
  return connect({ servers: host, user: username, pass: password });
};

export const provision = async (broker: Pick<TestBroker, "url">): Promise<void> => {
  const provisioner = await connectAs(broker, "provisioner");
  try {
    const result = await reconcileStreams({
      provisioner,
      definitions: topology({ replicas: 1 }),
      logger: silentLogger,
    });
    if (result.kind !== "agreed") throw new Error(JSON.stringify(result));
  } finally {
    await provisioner.close();
  }
};

export const startTestLog = async (): Promise<TestLog> => {
  const broker = await startTestBroker();
  await provision(broker);
  const connection = await connectionTo(broker);
  return {
    broker,
    connection,
    [Symbol.asyncDispose]: async () => {
      await connection.close();
      await broker[Symbol.asyncDispose]();
    },
  };
};

/** A front end's access to the log, as the service makes it. */
export const appenderOn = (
  connection: BrokerConnection,
  elapsedMs = () => performance.now(),
): RecordAppender =>
  createAppender({
    connection,
    logger: silentLogger,
    elapsedMs,
    onOutcomes: () => {},
    onCommit: () => {},
  });

/** A small record with a known id. */
export const smallRecord = (
  id: string,
  { assetId = "a", event = "{}" }: { readonly assetId?: string; readonly event?: string } = {},
): OutgoingRecord => {
  return {
    tenant: "acme",
    subject: auditSubject("acme", assetId, "incident.detected"),
    messageId: id,
    ...payloadText(`{"id":"${id}","event":${event}}`),
  };
};
