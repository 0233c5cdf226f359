import { connect, createServer, type Socket } from "node:net";

/** Before a broker: passes bytes on; what the broker says can be swallowed. */
export const startProxy = async (port: number) => {
  let isMute = false;
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const broker = connect({ host: "127.0.0.1", port });
    for (const socket of [client, broker]) {
      sockets.add(socket);
      socket.on("error", () => socket.destroy());
    }
    client.on("data", (bytes) => broker.write(bytes)).on("close", () => broker.destroy());
    broker.on("data", (bytes) => isMute || client.write(bytes)).on("close", () => client.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  return {
    port: typeof address === "object" && address ? address.port : 0,
    mute: () => {
      isMute = true;
    },
    unmute: () => {
      isMute = false;
    },
    [Symbol.dispose]: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
};
