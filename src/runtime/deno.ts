import { setTimeout as delay } from "node:timers/promises";
import type { Listener, ListenOptions } from "./listener.ts";

/** The part of Deno 2 that is used here; Deno's own types cannot be loaded beside Bun's. */
declare const Deno: {
  serve(
    options: { hostname: string; port: number; onListen: () => void },
    handler: (request: Request, info: { remoteAddr: { hostname: string } }) => Promise<Response>,
  ): { readonly addr: { readonly port: number }; shutdown(): Promise<void> };
};

/**
 * Deno has no limit for bodies (http/body.ts has its own), and none for idle connections, for which docs/how-to/install.md asks for a proxy.
 *
 * A shutdown of Deno makes every body in transit unreadable (github.com/denoland/deno/issues/36809), so that its sender would be told that the body
 * is incomplete. So the shutdown waits until running requests are answered. Requests that come meanwhile are refused, because there is no other way
 * to keep them out.
 */
export const listenOnDeno = (options: ListenOptions): Listener => {
  let isStopping = false;
  const running = new Set<Promise<Response>>();
  const server = Deno.serve(
    { hostname: options.host, port: options.port, onListen: () => {} },
    (request, info) => {
      if (isStopping) return sendAway();
      const answer = options.handle(request, {
        address: () => info.remoteAddr.hostname,
        keepOpen: () => {},
        isLast: () => isStopping,
      });
      const ended = (): void => void running.delete(answer);
      running.add(answer);
      answer.then(ended, ended);
      return answer;
    },
  );
  return {
    port: server.addr.port,
    stop: async (waitMs) => {
      isStopping = true;
      // The end of the process closes the rest: a server that is already shutting down cannot be aborted (it throws, 2.9.6).
      const waiting = new AbortController();
      const waited = delay(waitMs, undefined, { signal: waiting.signal }).catch(() => undefined);
      const shutDown = Promise.allSettled(running).then(() => server.shutdown());
      await Promise.race([shutDown, waited]);
      waiting.abort();
    },
  };
};

const sendAway = async (): Promise<Response> =>
  new Response(null, { status: 503, headers: { connection: "close", "retry-after": "1" } });
