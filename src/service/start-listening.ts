import type { HttpHandler } from "../api/http/app.ts";
import type { OpenStreams } from "../api/http/open-streams.ts";
import { CONNECTION_BODY_BYTES_MAX, CONNECTION_IDLE_MS_MAX, REQUEST_DRAIN_MS_MAX } from "../limits.ts";
import { listen } from "../runtime/listen.ts";
import type { Config } from "./config.ts";

/**
 * Listens before the process can serve, so that liveness checks succeed. `serve` replaces the starting handler. Undefined if the process
 * does not listen.
 */
export const startListening = (options: {
  config: Config;
  starting: HttpHandler;
  stack: AsyncDisposableStack;
}): { url: string; serve(handle: HttpHandler, liveStreams: OpenStreams): void } | undefined => {
  const { config, starting, stack } = options;
  const { host, port } = config;
  if (port === undefined) return undefined;
  let handle = starting;
  const listener = listen({
    host,
    port,
    handle: (request, connection) => handle(request, connection),
    bodyBytesMax: CONNECTION_BODY_BYTES_MAX,
    idleMsMax: CONNECTION_IDLE_MS_MAX,
  });
  // For a start that fails.
  stack.defer(() => listener.stop(0));
  const isEverywhere = host === "0.0.0.0" || host === "::";
  const shownHost = isEverywhere ? "127.0.0.1" : host.includes(":") ? `[${host}]` : host;
  return {
    url: `http://${shownHost}:${listener.port}`,
    serve: (served, liveStreams) => {
      handle = served;
      // Runs before everything that requests need is closed.
      stack.defer(() => listener.stop(REQUEST_DRAIN_MS_MAX));
      // Runs first: live streams do not end by themselves.
      stack.defer(() => liveStreams.end());
    },
  };
};
