import { setTimeout as delay } from "node:timers/promises";
import type { Listener, ListenOptions } from "./listener.ts";

/** The part of Deno 2 that is used here; its own types cannot be loaded beside Bun's. */
declare const Deno: {
  serve(
    options: { hostname: string; port: number; onListen: () => void },
    handler: (request: Request, info: { remoteAddr: { hostname: string } }) => Promise<Response>,
  ): { readonly addr: { readonly port: number }; shutdown(): Promise<void> };
};

/**
 * Deno has no limit for bodies, where readers stop at their own (http/body.ts), and none for a connection that is quiet, for which README asks for a proxy.
 *
 * A shutdown of Deno makes every body that is on its way unreadable (github.com/denoland/deno/issues/36809), so that its sender would be told that it is
 * incomplete. So it waits until what is running is answered, and who comes meanwhile is sent away, as there is no other way to let nobody in.
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
      // What is left is closed by the end of the process: a server that shuts down already cannot be aborted (it throws, 2.9.6).
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
