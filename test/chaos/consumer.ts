/** A plain NATS client, like the ones in your own services. */
import { connect, type NatsConnection } from "nats";

/** `url`: the URL of one broker, or of several, separated by commas. */
export const connectConsumer = (url: string): Promise<NatsConnection> => {
  const servers = url.split(",").map((each) => new URL(each));
  return connect({
    servers: servers.map(({ host }) => host),
    user: servers[0]?.username ?? "",
    pass: servers[0]?.password ?? "",
  });
};
