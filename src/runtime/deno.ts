import type { Listener, ListenOptions } from "./listener.ts";

/** The part of Deno 2 that is used here; its own types cannot be loaded beside Bun's. */
declare const Deno: {
  serve(
    options: { hostname: string; port: number; onListen: () => void; signal: AbortSignal },
    handler: (request: Request, info: { remoteAddr: { hostname: string } }) => Promise<Response>,
  ): { readonly addr: { readonly port: number }; shutdown(): Promise<void> };
};

/** Deno has no limit for bodies; readers stop at their own (http/body.ts). */
export const listenOnDeno = (options: ListenOptions): Listener => {
  const abort = new AbortController();
  const server = Deno.serve(
    { hostname: options.host, port: options.port, onListen: () => {}, signal: abort.signal },
    (request, info) => options.handle(request, () => info.remoteAddr.hostname),
  );
  return {
    port: server.addr.port,
    stop: async (waitMs) => {
      const timer = setTimeout(() => abort.abort(), waitMs);
      await server.shutdown();
      clearTimeout(timer);
    },
  };
};
