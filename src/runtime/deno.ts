import { setTimeout as delay } from "node:timers/promises";
import type { Listener, ListenOptions } from "./listener.ts";

/** The part of Deno 2 that is used here; its own types cannot be loaded beside Bun's. */
declare const Deno: {
  serve(
    options: { hostname: string; port: number; onListen: () => void },
    handler: (request: Request, info: { remoteAddr: { hostname: string } }) => Promise<Response>,
  ): { readonly addr: { readonly port: number }; shutdown(): Promise<void> };
};

/** Deno has no limit for bodies, where readers stop at their own (http/body.ts), and none for a connection that is quiet. */
export const listenOnDeno = (options: ListenOptions): Listener => {
  let isStopping = false;
  const server = Deno.serve(
    { hostname: options.host, port: options.port, onListen: () => {} },
    (request, info) =>
      options.handle(request, {
        address: () => info.remoteAddr.hostname,
        keepOpen: () => {},
        isLast: () => isStopping,
      }),
  );
  return {
    port: server.addr.port,
    stop: async (waitMs) => {
      isStopping = true;
      // What is left is closed by the end of the process: a server that shuts down already cannot be aborted (it throws, 2.9.6).
      const waiting = new AbortController();
      const waited = delay(waitMs, undefined, { signal: waiting.signal }).catch(() => undefined);
      await Promise.race([server.shutdown(), waited]);
      waiting.abort();
    },
  };
};
