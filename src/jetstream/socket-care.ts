/**
 * Closes sockets that nats.js 2.29.3 leaves open too long.
 *
 * After `timeout` it gives up an attempt to connect but leaves its socket open. If the server only stood still, that attempt comes alive
 * with it, beside the next one. The server closes it, nats.js takes this for the end of the good connection and makes another, while the
 * good one stays open with all its subscriptions. From then on the bytes of two connections go into one parser, and torn records cannot be
 * decoded by the views and the tree (measured, after a broker was stopped for 25 s). So each attempt ends the one before.
 *
 * And if a server does not answer any more, nats.js waits to send its buffer before it closes the socket. A machine that is gone takes
 * nothing, and the kernel retries for a quarter of an hour (tcp_retries2). So `cut` closes the socket at once.
 */
import { Socket } from "node:net";
import type { NatsConnection } from "nats";

interface Protocol {
  /** Begins an attempt with a transport of its own. */
  prepare(): unknown;
  readonly transport: { done: boolean };
}

const hasAttempts = (nats: object): nats is { protocol: Protocol } =>
  "protocol" in nats &&
  typeof nats.protocol === "object" &&
  nats.protocol !== null &&
  "prepare" in nats.protocol &&
  typeof nats.protocol.prepare === "function" &&
  "transport" in nats.protocol &&
  typeof nats.protocol.transport === "object" &&
  nats.protocol.transport !== null &&
  "done" in nats.protocol.transport &&
  typeof nats.protocol.transport.done === "boolean";

export interface SocketCare {
  /** Closes the socket at once, whatever waits to be sent: the connection is lost, and the next attempt begins. */
  cut(): void;
}

/** Uses members that are not in the types of nats.js. The version is pinned, and one without them is refused here, at the start. */
export const careForSockets = (nats: NatsConnection): SocketCare => {
  if (!hasAttempts(nats))
    throw new Error("this version of nats.js connects in another way; see socket-care.ts");
  const { protocol } = nats;
  const prepare = protocol.prepare.bind(protocol);
  protocol.prepare = () => {
    end(protocol.transport);
    return prepare();
  };
  return { cut: () => closeSocket(protocol.transport) };
};

/** Ends an attempt without telling the connection, even if its socket opens later. */
const end = (transport: Protocol["transport"]): void => {
  transport.done = true;
  closeSocket(transport);
};

const closeSocket = (transport: object): void => {
  if ("socket" in transport && transport.socket instanceof Socket) transport.socket.destroy();
};
