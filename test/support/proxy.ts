import { connect, createServer, type Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";

const HELD_BACK_MS = 20;

/**
 * Between client and broker or database: passes bytes on, and reports those of clients; it can swallow what the other side sends, or send
 * it in two pieces, split before a text, as a network may split it anywhere. It can cut all connections.
 */
export const startProxy = async (port: number, onSent: (bytes: Buffer) => void = () => undefined) => {
  let isMute = false;
  let cutBefore: string | undefined;
  const sockets = new Set<Socket>();
  const clients = new Set<Socket>();
  let taken = 0;
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  const server = createServer((client) => {
    const broker = connect({ host: "127.0.0.1", port });
    for (const socket of [client, broker]) {
      sockets.add(socket);
      socket.on("error", () => socket.destroy());
    }
    taken++;
    clients.add(client);
    client.on("close", () => {
      clients.delete(client);
      broker.destroy();
    });
    client.on("data", (bytes: Buffer) => {
      onSent(bytes);
      broker.write(bytes);
    });
    let passed: Promise<unknown> = Promise.resolve();
    const pass = (bytes: Buffer): void => {
      const cutAt = cutBefore === undefined ? -1 : bytes.indexOf(cutBefore);
      if (cutAt < 0) {
        passed = passed.then(() => client.write(bytes));
        return;
      }
      cutBefore = undefined;
      for (const piece of [bytes.subarray(0, cutAt), bytes.subarray(cutAt)]) {
        pass(piece);
        passed = passed.then(() => delay(HELD_BACK_MS));
      }
    };
    broker.on("data", (bytes: Buffer) => isMute || pass(bytes)).on("close", () => client.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  return {
    port: typeof address === "object" && address ? address.port : 0,
    /** Connections of clients: the number accepted so far, and the number open. */
    taken: () => taken,
    open: () => clients.size,
    cut,
    mute: () => {
      isMute = true;
    },
    unmute: () => {
      isMute = false;
    },
    /** Splits once. */
    cutBefore: (text: string) => {
      cutBefore = text;
    },
    [Symbol.dispose]: () => {
      cut();
      server.close();
    },
  };
};
