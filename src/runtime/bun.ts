import type { Listener, ListenOptions } from "./listener.ts";

/** `reusePort: false`: with it a second process takes half of the requests without an error (measured). */
export const listenOnBun = (options: ListenOptions): Listener => {
  const server = Bun.serve({
    hostname: options.host,
    port: options.port,
    reusePort: false,
    maxRequestBodySize: options.bodyBytesMax,
    idleTimeout: options.idleMsMax / 1000,
    fetch: (request, bunServer) =>
      options.handle(request, () => bunServer.requestIP(request)?.address ?? "unknown"),
  });
  return {
    port: server.port ?? options.port,
    stop: async (waitMs) => {
      const timer = setTimeout(() => void server.stop(true), waitMs);
      await server.stop();
      clearTimeout(timer);
    },
  };
};
