/** Listening is the one thing that Bun and Deno do differently. Only this folder may name a runtime. */
import { isIP } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { messageOf } from "./error-text.ts";
import { RefusedError } from "./refused-error.ts";

/** The connections of requests. */
export interface Connections {
  /** Must be called before the answer is returned; it costs a system call. */
  address(request: Request): string;
  /** `idleMsMax` does not count while it is kept open: for answers that are quiet because of us. */
  keepOpen(request: Request, isKept: boolean): void;
  /** The listener is stopping: a request sent after this answer would be cut off, so its sender must be told. */
  isLast(): boolean;
}

export interface ListenOptions {
  readonly host: string;
  /** 0 for any free port. */
  readonly port: number;
  readonly handle: (request: Request, connections: Connections) => Promise<Response>;
  /** Larger than the limits that handlers enforce with a proper answer, because this limit closes the connection without an answer. */
  readonly bodyBytesMax: number;
  readonly idleMsMax: number;
}

export interface Listener {
  readonly port: number;
  /**
   * Accepts no new connections, lets running requests finish for at most `waitMs`, then closes the rest, or leaves that to the end of the process.
   */
  stop(waitMs: number): Promise<void>;
}

export const runtimeName = "Bun" in globalThis ? "Bun" : "Deno";

/** Throws RefusedError. */
export const listen = (options: ListenOptions): Listener => {
  try {
    return runtimeName === "Bun" ? listenOnBun(options) : listenOnDeno(options);
  } catch (error) {
    const isInUse =
      error instanceof Error &&
      (error.name === "AddrInUse" || ("code" in error && error.code === "EADDRINUSE"));
    if (isInUse)
      throw new RefusedError(
        `Port ${options.port} on ${options.host} is in use by another program. Stop it, or set PORT to a free one.`,
      );
    throw new RefusedError(
      `Cannot listen on port ${options.port} of HOST ${options.host}: ${reasonOf(error, options.host)}. Set HOST to an address of this machine, such as 127.0.0.1, or 0.0.0.0 for all of them, and PORT to one that this user may use.`,
    );
  }
};

/** For a host name that does not resolve, Bun 1.4.5 reports whatever error came before: EINVAL, or ENOTTY on a terminal (measured). */
const reasonOf = (error: unknown, host: string): string => {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (isIP(host) === 0 && code !== "EACCES" && code !== "EADDRNOTAVAIL")
    return "this machine knows no address of that name";
  return messageOf(error);
};

/** `reusePort: false`: otherwise a second process could listen too and would silently take half of the requests (measured). */
const listenOnBun = (options: ListenOptions): Listener => {
  const idleSeconds = options.idleMsMax / 1000;
  let isStopping = false;
  const connections: Connections = {
    address: (request) => server.requestIP(request)?.address ?? "unknown",
    keepOpen: (request, isKept) => server.timeout(request, isKept ? 0 : idleSeconds),
    isLast: () => isStopping,
  };
  const server = Bun.serve({
    hostname: options.host,
    port: options.port,
    reusePort: false,
    maxRequestBodySize: options.bodyBytesMax,
    idleTimeout: idleSeconds,
    fetch: (request) => options.handle(request, connections),
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

/** The part of Deno 2 that is used here; Deno's own types cannot be loaded beside Bun's. */
declare const Deno: {
  serve(
    options: { hostname: string; port: number; onListen: () => void },
    handler: (request: Request, info: { remoteAddr: { hostname: string } }) => Promise<Response>,
  ): { readonly addr: { readonly port: number }; shutdown(): Promise<void> };
};

/**
 * Deno has no limit for bodies (http/body.ts has its own), and none for idle connections, for which docs/how-to/install.md asks for a proxy. Its shutdown
 * makes bodies in transit unreadable (github.com/denoland/deno/issues/36809), so it waits for running requests; those that come meanwhile are refused.
 */
const listenOnDeno = (options: ListenOptions): Listener => {
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
