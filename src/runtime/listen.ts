/** The one thing that Bun and Deno do differently: listening. This folder alone may name a runtime. */
import { listenOnBun } from "./bun.ts";
import { listenOnDeno } from "./deno.ts";
import type { Listener, ListenOptions } from "./listener.ts";

/** Another process has the port. */
export class PortInUseError extends Error {
  override readonly name = "PortInUseError";
}

export const runtimeName = "Bun" in globalThis ? "Bun" : "Deno";

/** Throws PortInUseError. */
export const listen = (options: ListenOptions): Listener => {
  try {
    return runtimeName === "Bun" ? listenOnBun(options) : listenOnDeno(options);
  } catch (error) {
    const isInUse =
      error instanceof Error &&
      (error.name === "AddrInUse" || ("code" in error && error.code === "EADDRINUSE"));
    if (isInUse)
      throw new PortInUseError(`Port ${options.port} on ${options.host} is in use by another program.`);
    throw error;
  }
};
