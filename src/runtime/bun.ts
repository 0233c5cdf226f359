import type { Listener, ListenOptions } from "./listener.ts";

/** `reusePort: false`: otherwise a second process could listen too and would silently take half of the requests (measured). */
export const listenOnBun = (options: ListenOptions): Listener => {
  const idleSeconds = options.idleMsMax / 1000;
  let isStopping = false;
  const server = Bun.serve({
    hostname: options.host,
    port: options.port,
    reusePort: false,
    maxRequestBodySize: options.bodyBytesMax,
    idleTimeout: idleSeconds,
    fetch: (request, bunServer) =>
      options.handle(request, {
        address: () => bunServer.requestIP(request)?.address ?? "unknown",
        keepOpen: (isKept) => bunServer.timeout(request, isKept ? 0 : idleSeconds),
        isLast: () => isStopping,
      }),
  });
  return {
    port: server.port ?? options.port,
    stop: async (waitMs) => {
      isStopping = true;
      const timer = setTimeout(() => void server.stop(true), waitMs);
      await server.stop();
      clearTimeout(timer);
    },
  };
};
