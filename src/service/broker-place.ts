/** Where the broker of a service is, for commands that only look. */
import { readFile } from "node:fs/promises";
import { brokerUrl, CredentialsError, loadCredentials, readLastPort } from "../nats/broker/broker-files.ts";
import { type BrokerConnection, BrokerRefusedError, connectToBroker } from "../nats/connection.ts";
import { isThere } from "../runtime/durable-file.ts";
import { createLogger } from "../telemetry/logger.ts";
import type { Config } from "./config.ts";
import { ownBrokerFiles } from "./data-folder.ts";

interface BrokerPlace {
  readonly kind: "known";
  readonly serviceUrl: string;
  readonly provisionUrl: string;
  /** Text of its configuration, if the broker is our own. */
  readonly configuration: string | undefined;
}

/** Never makes credentials or starts a broker: the service does. */
export const addressOf = async ({
  natsUrl,
  natsProvisionUrl,
  dataDir,
}: Config): Promise<BrokerPlace | { readonly kind: "unknown"; readonly detail: string }> => {
  if (natsUrl !== undefined)
    return {
      kind: "known",
      serviceUrl: natsUrl,
      provisionUrl: natsProvisionUrl ?? natsUrl,
      configuration: undefined,
    };
  const files = ownBrokerFiles({ dataDir });
  const [hasCredentials, port, configuration] = await Promise.all([
    isThere(files.credentials),
    readLastPort(files),
    readFile(files.configuration, "utf8").catch(() => ""),
  ]);
  if (!hasCredentials) return { kind: "unknown", detail: `no broker has run in ${files.directory} yet` };
  if (port === undefined) return { kind: "unknown", detail: `${files.port} has no port of a broker` };
  const credentials = await loadCredentials(files.credentials).catch((error: unknown) => {
    if (error instanceof CredentialsError) return error;
    throw error;
  });
  if (credentials instanceof CredentialsError) return { kind: "unknown", detail: credentials.message };
  const url = (user: "service" | "provisioner"): string => brokerUrl(user, credentials, port);
  return { kind: "known", serviceUrl: url("service"), provisionUrl: url("provisioner"), configuration };
};

export const connectAll = async (place: BrokerPlace, stack: AsyncDisposableStack) => {
  const logger = createLogger({ level: "silent", pretty: false });
  const connect = async (url: string): Promise<BrokerConnection> =>
    stack.use(await connectToBroker({ url, name: "prooftrail-doctor", logger }));
  try {
    const service = await connect(place.serviceUrl);
    return { kind: "connected", service, provisioner: await connect(place.provisionUrl) } as const;
  } catch (error) {
    if (!(error instanceof BrokerRefusedError)) throw error;
    const advice = error.isFinal
      ? "Correct the server's configuration or the URL: the reason is given above."
      : place.configuration === undefined
        ? "Check NATS_URL and NATS_PROVISION_URL, their users, and that the server runs."
        : "Start the service, or start it again where it runs: it runs the broker.";
    return { kind: "refused", detail: error.message, advice } as const;
  }
};
