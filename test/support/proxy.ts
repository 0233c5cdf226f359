import { connect, createServer, type Socket } from "node:net";

/** Before a broker or a database: passes bytes on, and shows those of clients; what the other side says can be swallowed, and all connections cut. */
export const startProxy = async (port: number, onSent: (bytes: Buffer) => void = () => undefined) => {
  let isMute = false;
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
    broker.on("data", (bytes) => isMute || client.write(bytes)).on("close", () => client.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  return {
    port: typeof address === "object" && address ? address.port : 0,
    /** Connections of clients: so many were taken, and so many are open. */
    taken: () => taken,
    open: () => clients.size,
    cut,
    mute: () => {
      isMute = true;
    },
    unmute: () => {
      isMute = false;
    },
    [Symbol.dispose]: () => {
      cut();
      server.close();
    },
  };
};
